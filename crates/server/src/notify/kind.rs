//! What somebody can be told of. A closed list, so that a configuration that names something else is a mistake.

use std::collections::BTreeSet;

use ostler_engine::request::Ask;
use ostler_protocol::signal::DependencyType;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// What somebody can be told of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
#[schema(as = NotifyKind)]
pub enum Kind {
    /// An agent asks.
    Question,
    /// It needs a key, a file, a package …
    Dependency,
    /// It wants to be allowed something.
    Permission,
    /// It reports an error, and does not go on by itself.
    Error,
    /// What it said could not be understood, or has nowhere to go.
    Fault,
    /// Its run has used what it was given.
    Budget,
    /// A session is done.
    Done,
    /// A session has failed.
    Failed,
    /// Its process was lost.
    Interrupted,
    /// An account has hit a limit.
    Limit,
    /// A phase of a task file is over.
    Phase,
}

impl Kind {
    /// All of them.
    pub(crate) const ALL: [Kind; 11] = [
        Kind::Question,
        Kind::Dependency,
        Kind::Permission,
        Kind::Error,
        Kind::Fault,
        Kind::Budget,
        Kind::Done,
        Kind::Failed,
        Kind::Interrupted,
        Kind::Limit,
        Kind::Phase,
    ];

    /// What a person wants to hear of who has not said: what needs them, what went wrong, and how far long work has got.
    pub(crate) fn usual() -> BTreeSet<Kind> {
        Kind::ALL.into_iter().filter(|kind| !matches!(kind, Kind::Done | Kind::Limit)).collect()
    }

    /// The word for it.
    pub fn as_str(self) -> &'static str {
        match self {
            Kind::Question => "question",
            Kind::Dependency => "dependency",
            Kind::Permission => "permission",
            Kind::Error => "error",
            Kind::Fault => "fault",
            Kind::Budget => "budget",
            Kind::Done => "done",
            Kind::Failed => "failed",
            Kind::Interrupted => "interrupted",
            Kind::Limit => "limit",
            Kind::Phase => "phase",
        }
    }

    pub(crate) fn parse(word: &str) -> Option<Kind> {
        Kind::ALL.into_iter().find(|kind| kind.as_str() == word)
    }

    /// Whether somebody has to do something before it goes on.
    pub(crate) fn needs_somebody(self) -> bool {
        !matches!(self, Kind::Done | Kind::Failed | Kind::Limit | Kind::Phase)
    }

    /// Whether it may be settled before long, so that it is worth waiting for that. What is over is over.
    pub(crate) fn may_pass(self) -> bool {
        !matches!(self, Kind::Done | Kind::Failed | Kind::Phase)
    }

    /// What a request is.
    pub(crate) fn of(ask: &Ask) -> Kind {
        match ask {
            Ask::Question(_) | Ask::AskUser(_) => Kind::Question,
            Ask::Dependency(it) if it.dependency_type == DependencyType::Permission => Kind::Permission,
            Ask::Dependency(_) => Kind::Dependency,
            // A person is asked whether something may go on.
            Ask::Permission(_) | Ask::Review(_) => Kind::Permission,
            Ask::Error(_) => Kind::Error,
            Ask::Fault { .. } | Ask::Stall { .. } | Ask::Steered { .. } => Kind::Fault,
            Ask::TimeOver { .. } | Ask::CostOver { .. } | Ask::TokensOver { .. } => Kind::Budget,
        }
    }
}
