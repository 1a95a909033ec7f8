//! Something that somebody has to settle. It stands in the inbox until then.

use alloc::{format, string::String, vec::Vec};

use ostler_protocol::{
    fact::PermissionRequest,
    mark::Mark,
    signal::{
        AskUser, DependencyRequest, DependencyType, ErrorReport, ErrorSeverity, Recovery, UserQuestion,
    },
};
use serde::{Deserialize, Serialize};

use crate::{
    answer::{self, Answer, Given, dependency_options},
    id::{ProjectId, RequestId, RunId, SessionId},
    permission::{self, PermissionRule},
    phases::problem::Problem,
    session::Process,
};

/// Something that waits for somebody.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Request {
    /// Its id.
    pub id: RequestId,
    /// Where it belongs.
    pub project: ProjectId,
    /// To which run.
    pub run: RunId,
    /// Who asks.
    pub session: SessionId,
    /// The launch that asked last.
    pub launch: u32,
    /// What is asked.
    pub ask: Ask,
    /// Who said it, as the parser names it; `ostler` where Ostler itself asks.
    pub trust: String,
    /// Where the same also stands: somebody else may have written it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mark: Option<Mark>,
    /// When it was opened.
    pub opened_at_ms: u64,
    /// When nobody waits for it any more.
    pub expires_at_ms: Option<u64>,
    /// When that happened.
    pub expired_at_ms: Option<u64>,
    /// How it was settled.
    pub settled: Option<Settled>,
    /// Whether the process that asked is gone and the next began from nothing: nobody waits for it, unless it is
    /// asked again.
    pub left: bool,
    /// How far what came of it has got.
    pub bringing: Bringing,
    /// The call that waits for it, where it was asked over the session's own socket.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub call: Option<Call>,
    /// The number of the retry that settles it when it expires, where that is what happens to an error.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub retry: Option<u32>,
    /// Whether the package that it asks for is being installed.
    #[serde(default, skip_serializing_if = "core::ops::Not::not")]
    pub installing: bool,
    /// What came of that.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub install: Option<Install>,
    /// The rules that a person can allow with it, the narrowest first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub rules: Vec<PermissionRule>,
}

/// Somebody who asks over the session's own socket and is blocked there until it is settled.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Call {
    /// The caller's own name for it: who asks again under it asks the same.
    pub key: String,
    /// Which of the signals over the session's socket it is, counted from 1.
    pub number: u64,
    /// The process that is blocked.
    pub process: Process,
    /// Whether anybody still listens.
    pub caller: Caller,
}

/// Whether anybody still listens to a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Caller {
    /// It is blocked, and reads what came of it by itself.
    Blocked,
    /// It has gone, and its agent goes on without it: what comes of it is brought as a message.
    Gone,
    /// Its agent's process has ended: what comes of it starts the next.
    Ended,
}

/// What came of an installation.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Install {
    /// Whether the package is there now.
    pub installed: bool,
    /// Why not.
    pub reason: Option<String>,
}

/// What is asked.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Ask {
    /// `[USER_QUESTION]`
    Question(UserQuestion),
    /// `[ASK_USER]`
    AskUser(AskUser),
    /// `[DEPENDENCY_REQUEST]`
    Dependency(DependencyRequest),
    /// `[ERROR]`
    Error(ErrorReport),
    /// A message that could not be understood.
    Fault(FaultReport),
    /// The CLI wants to use a tool.
    Permission(PermissionRequest),
    /// The agent's output has nowhere to go.
    Stall {
        /// Why not.
        reason: String,
    },
    /// A process that is not the server has steered the agent: its shim did something that the engine had not ordered.
    Steered {
        /// What was done.
        what: Steering,
    },
    /// The run has used the time it was given.
    TimeOver {
        /// How much that was.
        time_ms_max: u64,
    },
    /// The run has cost as much as it may.
    CostOver {
        /// How much that is, in billionths of a US dollar.
        cost_nusd_max: u64,
        /// What it has cost.
        cost_nusd: u64,
    },
    /// The run has used as many tokens as it may.
    TokensOver {
        /// How many that are.
        tokens_max: u64,
        /// How many it has used.
        tokens: u64,
    },
    /// A person is to look at the work of a phase.
    Review(Review),
}

/// A message that could not be understood, in the form in which agents report errors. Faults that older versions
/// recorded have only `details` and `raw`, and so have those that no message caused.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct FaultReport {
    /// Whether going on is thinkable: `fatal`.
    #[serde(rename = "type", default, skip_serializing_if = "Option::is_none")]
    pub severity: Option<ErrorSeverity>,
    /// `Invalid protocol format`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
    /// What is wrong with it.
    #[serde(default)]
    pub details: String,
    /// What should happen now: `notify_user`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub recovery: Option<Recovery>,
    /// As it stood.
    #[serde(default)]
    pub raw: String,
}

/// What another process did to an agent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Steering {
    /// It continued the agent, which was stopped.
    WentOn,
    /// It wrote to the agent's input.
    TookInput,
    /// It closed the agent's input.
    ClosedInput,
    /// It answered the server in place of the agent's shim.
    Displaced,
}

impl Steering {
    /// What happened, for people.
    pub fn sentence(self) -> &'static str {
        match self {
            Steering::WentOn | Steering::TookInput | Steering::ClosedInput => {
                "another process steered this session"
            }
            Steering::Displaced => "another process answered in place of this session's shim",
        }
    }
}

/// The work of a phase, as a person is asked about it. It is about one tree and never about another.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Review {
    /// The number of the phase.
    pub phase: u32,
    /// Its name.
    pub name: String,
    /// The number of the gate.
    pub gate: u32,
    /// The tree; none if the agent has ended before there was one to look at.
    pub tree: Option<String>,
    /// The commit that has it.
    pub commit: Option<String>,
    /// Whether the gate has found nothing wrong.
    pub passed: bool,
    /// What it has found.
    pub problems: Vec<Problem>,
}

/// How a request was settled.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Settled {
    /// When.
    pub at_ms: u64,
    /// By whom.
    pub by: By,
    /// With what.
    pub answer: Answer,
    /// Whether the agent had been told by then that nobody answered.
    pub late: bool,
}

/// Who settles a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum By {
    /// A person.
    Person,
    /// Nobody, in time.
    Expiry,
    /// The answer that the same question got before.
    Repetition,
    /// The vault: a person allowed before that it is given again.
    Vault,
    /// The session is over.
    End,
    /// Its account has hit a limit: it is tried again when that is over.
    Limit,
    /// What it is about is not there any more.
    Change,
    /// A rule that a person allowed for the session.
    Rule,
}

/// How far something on its way to an agent has got.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "state", rename_all = "snake_case")]
pub enum Bringing {
    /// There is nothing to bring yet.
    Nothing,
    /// It waits for its turn.
    Waiting,
    /// It was handed to this launch's shim.
    Sent {
        /// The launch.
        launch: u32,
    },
    /// This launch's shim did not take it. Another one may.
    Refused {
        /// The launch.
        launch: u32,
    },
    /// It stands in this launch's prompt.
    Prompted {
        /// The launch.
        launch: u32,
    },
    /// The shim has taken it.
    Delivered {
        /// The launch.
        launch: u32,
    },
    /// The process has read it, and its stream is yet to prove that the conversation holds it.
    Unproven {
        /// The launch.
        launch: u32,
    },
    /// The agent has read it, and its stream proves nothing beyond that.
    Consumed {
        /// The launch.
        launch: u32,
    },
    /// The conversation holds it.
    Heard {
        /// The launch.
        launch: u32,
    },
    /// There is nobody left to bring it to, or nobody who could take it.
    Undeliverable,
}

impl Bringing {
    /// Whether it has set out, or is about to, and is not known to have arrived.
    pub fn is_under_way(self) -> bool {
        match self {
            Bringing::Waiting
            | Bringing::Sent { .. }
            | Bringing::Refused { .. }
            | Bringing::Prompted { .. }
            | Bringing::Delivered { .. }
            | Bringing::Unproven { .. } => true,
            Bringing::Nothing
            | Bringing::Consumed { .. }
            | Bringing::Heard { .. }
            | Bringing::Undeliverable => false,
        }
    }

    /// The launch that may have told it to the conversation, though nothing proves that it did.
    pub(crate) fn may_be_known_from(self) -> Option<u32> {
        match self {
            Bringing::Prompted { launch }
            | Bringing::Delivered { launch }
            | Bringing::Unproven { launch } => Some(launch),
            _ => None,
        }
    }
}

impl Request {
    /// Whether it can still be settled.
    pub fn is_open(&self) -> bool {
        self.settled.is_none()
    }

    /// Whether the agent waits for it.
    pub fn blocks(&self) -> bool {
        let goes_on = self.call.as_ref().is_some_and(|call| call.caller == Caller::Gone);
        let is_waited_for = self.is_open() && self.expired_at_ms.is_none();
        (is_waited_for || self.installing) && !self.left && !goes_on
    }

    /// Whether the agent's tree stands still for it. Who asks over the session's socket is blocked already.
    pub fn holds(&self) -> bool {
        self.blocks() && self.call.is_none()
    }

    /// Whether a caller is blocked until it is settled, and reads the answer by itself.
    pub fn has_caller(&self) -> bool {
        self.call.as_ref().is_some_and(|call| call.caller == Caller::Blocked)
    }

    /// Whether anything but a person may settle it: a default in time, an earlier answer, a value that is kept, a retry.
    /// Who reads out what somebody else wrote must not get by that what was never meant for it.
    pub fn may_be_settled_by_policy(&self) -> bool {
        self.mark.is_none()
    }

    /// Whether it is open, or what came of it has not arrived yet.
    pub fn is_pending(&self) -> bool {
        self.is_open() || self.installing || self.bringing.is_under_way()
    }

    /// What can be chosen; empty where anything can be said.
    pub fn options(&self) -> Vec<String> {
        match self.ask {
            Ask::Permission(_) => permission::options(&self.rules),
            _ => self.ask.options(),
        }
    }

    /// Whether the same is asked again.
    pub fn asks_the_same(&self, ask: &Ask) -> bool {
        match (&self.ask, ask) {
            // A CLI numbers its prompts anew in every launch.
            (Ask::Permission(a), Ask::Permission(b)) => a.tool == b.tool && a.input == b.input,
            (a, b) => a == b,
        }
    }
}

impl FaultReport {
    /// What is wrong, with what kind of error it is.
    pub fn sentence(&self) -> String {
        match &self.message {
            Some(message) => format!("{message}: {}", self.details),
            None => self.details.clone(),
        }
    }
}

impl Ask {
    /// What can be chosen, rules aside; empty where anything can be said.
    pub fn options(&self) -> Vec<String> {
        let words = |words: &[&str]| words.iter().map(|&word| word.into()).collect();
        match self {
            Ask::Question(question) if !question.options.is_empty() => question.options.clone(),
            Ask::Question(question) if question.is_confirmation() => words(&["Yes", "No"]),
            Ask::AskUser(ask) if !ask.options.is_empty() => ask.options.clone(),
            Ask::AskUser(ask) if ask.is_confirmation() => words(&["Yes", "No"]),
            Ask::Dependency(dependency) => dependency_options(dependency),
            Ask::Question(_) | Ask::AskUser(_) => Vec::new(),
            Ask::Error(_) => words(&["retry", "continue", "fail"]),
            Ask::Fault { .. } | Ask::Stall { .. } | Ask::Steered { .. } => words(&["continue", "fail"]),
            Ask::TimeOver { .. } | Ask::CostOver { .. } | Ask::TokensOver { .. } => words(&["raise", "stop"]),
            Ask::Permission(_) => permission::options(&[]),
            Ask::Review(_) => words(&["approve", "changes", "reject", "again"]),
        }
    }

    /// Which turn it has among the requests of one session, the first being 0: errors, the end of a phase, dependencies,
    /// questions.
    pub fn turn(&self) -> u8 {
        match self {
            Ask::Error(_)
            | Ask::Fault { .. }
            | Ask::Stall { .. }
            | Ask::Steered { .. }
            | Ask::TimeOver { .. }
            | Ask::CostOver { .. }
            | Ask::TokensOver { .. } => 0,
            Ask::Review(_) => 1,
            Ask::Dependency(_) | Ask::Permission(_) => 2,
            Ask::Question(_) | Ask::AskUser(_) => 3,
        }
    }

    /// Whether its agent cannot do without it.
    pub fn is_required(&self) -> bool {
        match self {
            Ask::Question(question) => question.required,
            Ask::Dependency(dependency) => dependency.required,
            Ask::AskUser(_) => false,
            _ => true,
        }
    }

    /// Whether a person can decline it: the agent goes on with the default, or without.
    pub fn can_be_skipped(&self) -> bool {
        let skip = Given { skip: true, ..Given::default() };
        answer::read(self, &[], &skip).is_ok()
    }

    /// Its length as JSON.
    pub(crate) fn bytes(&self) -> usize {
        serde_json::to_string(self).map_or(0, |text| text.len())
    }

    /// The answer that stands for none. A default stands for a value or a file; that somebody may do something, or has a
    /// service, cannot be said by who asks for it.
    pub fn default_answer(&self) -> Option<&str> {
        match self {
            Ask::Question(question) => question.default.as_deref(),
            Ask::Dependency(dependency) => match dependency.dependency_type {
                DependencyType::ApiKey | DependencyType::EnvVariable | DependencyType::File => {
                    dependency.default.as_deref()
                }
                DependencyType::Service | DependencyType::Permission | DependencyType::Package => None,
            },
            _ => None,
        }
    }

    /// Whether it asks if more may be used than was given.
    pub fn is_about_budget(&self) -> bool {
        matches!(self, Ask::TimeOver { .. } | Ask::CostOver { .. } | Ask::TokensOver { .. })
    }

    /// Whether it asks for values, which go to the vault and reach the agent another way than words do.
    pub fn wants_values(&self) -> bool {
        let Ask::Dependency(dependency) = self else { return false };
        match dependency.dependency_type {
            DependencyType::ApiKey | DependencyType::EnvVariable | DependencyType::Service => true,
            DependencyType::File | DependencyType::Permission | DependencyType::Package => false,
        }
    }

    /// Whether both ask for the same values: for one variable, whatever sort of value it has, or for one service.
    pub fn wants_same_values(&self, other: &Ask) -> bool {
        let (Ask::Dependency(a), Ask::Dependency(b)) = (self, other) else { return false };
        let is_service = |it: &DependencyRequest| it.dependency_type == DependencyType::Service;
        self.wants_values() && other.wants_values() && a.name == b.name && is_service(a) == is_service(b)
    }

    /// Whether it asks for a package.
    pub fn wants_package(&self) -> bool {
        let Ask::Dependency(dependency) = self else { return false };
        dependency.dependency_type == DependencyType::Package
    }
}
