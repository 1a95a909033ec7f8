//! What a person asked for, and how it ended.

use alloc::{boxed::Box, collections::BTreeMap, string::String, vec::Vec};

use serde::{Deserialize, Serialize};

use crate::{
    budget::Budget,
    id::{ProjectId, RunId, SessionId},
    phases::{Phases, plan::Plan},
    usage::Used,
};

/// A repository or directory that is looked after.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Project {
    /// Its id.
    pub id: ProjectId,
    /// The canonical root of its main repository.
    pub root: String,
    /// What a person calls it.
    pub name: String,
    /// Whether it is a git repository; outside git fewer things can be promised.
    pub git: bool,
    /// When it was first seen.
    pub registered_at_ms: u64,
    /// What was used in it.
    #[serde(default)]
    pub used: Used,
    /// What a person lets it run.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub trusted: Vec<Trusted>,
    /// When they last said so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trusted_at_ms: Option<u64>,
    /// The session that had each role of its office last.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub seats: BTreeMap<String, SessionId>,
    /// The roles that are described in it, as of its last run.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub roles: Vec<String>,
}

impl Project {
    /// One that is seen for the first time.
    pub(crate) fn new(id: ProjectId, root: &str, name: &str, git: bool, at_ms: u64) -> Project {
        Project {
            id,
            root: root.into(),
            name: name.into(),
            git,
            registered_at_ms: at_ms,
            used: Used::default(),
            trusted: Vec::new(),
            trusted_at_ms: None,
            seats: BTreeMap::new(),
            roles: Vec::new(),
        }
    }

    /// A person lets it run more.
    pub(crate) fn trust(&mut self, commands: &[Trusted], at_ms: u64) {
        self.trusted.extend(commands.iter().cloned());
        self.trusted_at_ms = Some(at_ms);
    }
}

/// A command of a repository that a person lets run. The command itself is not kept: it may hold a key.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Trusted {
    /// What names it, such as `filter.lfs.clean`.
    pub key: String,
    /// The file that it stands in.
    pub file: String,
    /// Stands for name, command and file. Whatever differs is another command.
    pub hash: String,
}

/// Something that was asked for.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Run {
    /// Its id.
    pub id: RunId,
    /// Where it belongs.
    pub project: ProjectId,
    /// What was asked for, in one line.
    pub title: String,
    /// When.
    pub created_at_ms: u64,
    /// When it counts as done, and how far it may go.
    pub terms: Terms,
    /// Who works on it.
    pub sessions: Vec<SessionId>,
    /// How it ended.
    pub outcome: Option<Outcome>,
    /// When it ended.
    pub ended_at_ms: Option<u64>,
    /// What was used for it.
    #[serde(default)]
    pub used: Used,
    /// How much may be used before a person is asked; what they raised it by is in it.
    #[serde(default)]
    pub budget: Budget,
    /// When a report first said that so much was used.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub over_since_ms: Option<u64>,
    /// How far it has got, if it goes through phases.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub phases: Option<Box<Phases>>,
    /// The loop that asked for it, if no person did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parent: Option<SessionId>,
}

impl Run {
    /// The session that is meant where the run is named: who works on its phase, or the last one.
    pub fn session(&self) -> Option<SessionId> {
        let phase = self.phases.as_ref().and_then(|phases| phases.current());
        phase.map(|phase| phase.session).or_else(|| self.sessions.last().copied())
    }

    /// It goes through phases.
    pub(crate) fn begin(&mut self, plan: &Plan) {
        self.phases = Some(Box::new(Phases { plan: Box::new(plan.clone()), begun: Vec::new() }));
    }

    /// A person lets it use more.
    pub(crate) fn raise(&mut self, budget: Budget) {
        self.budget = budget;
        self.over_since_ms = None;
    }
}

/// When something counts as done, and how far it may go.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Terms {
    /// A shell command that exits with 0 only if the work is done.
    pub check: Option<String>,
    /// How often the agent may try until the check passes; once, if nobody said otherwise.
    pub attempts_max: Option<u32>,
    /// After how long a person is asked whether to go on. Waiting for a person does not count.
    pub time_ms_max: Option<u64>,
    /// After how long a check is ended and counts as failed. Waiting for a person does not count.
    #[serde(default)]
    pub check_time_ms_max: Option<u64>,
    /// How much may be used before a person is asked whether to go on.
    #[serde(default)]
    pub budget: Budget,
    /// The task of a task file that it does: whoever has that done tells what came of it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub task: Option<String>,
}

/// How something ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "outcome", rename_all = "snake_case")]
pub enum Outcome {
    /// It was done.
    Completed {
        /// Whether a check says so; without one it is the agent's word.
        verified: bool,
    },
    /// It was not.
    Failed {
        /// Why not.
        reason: Reason,
    },
    /// Somebody wanted it to end.
    Cancelled,
}

/// Why something failed. A closed list, so that it can be said in any language.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "key", rename_all = "snake_case")]
pub enum Reason {
    /// The agent could not be started.
    NotStarted {
        /// In the system's words.
        message: String,
    },
    /// Its exit code was not 0.
    ExitCode {
        /// The code.
        code: i32,
    },
    /// A signal ended it.
    KilledBy {
        /// The signal's number.
        signal: i32,
    },
    /// Its CLI reported a failure.
    AgentError {
        /// In its own words.
        message: Option<String>,
    },
    /// It ended without saying that it was through.
    NoEnd,
    /// Its account has hit a limit.
    RateLimited {
        /// When the limit resets, where the CLI said so.
        reset_at_ms: Option<u64>,
        /// In the CLI's own words.
        message: Option<String>,
    },
    /// The check says that it is not done.
    CheckFailed {
        /// The check's exit code.
        code: i32,
        /// How often it was tried.
        attempts: u32,
    },
    /// The check failed in the same way again and again.
    SameFailure {
        /// How often in a row.
        times: u32,
    },
    /// The agent reported an error, and a person gave up.
    Reported {
        /// The agent's words.
        message: String,
    },
    /// A person gave up when the time was over.
    TimeOver,
    /// A person gave up when it had cost as much as it may.
    CostOver,
    /// A person gave up when it had used as many tokens as it may.
    TokensOver,
    /// A person has rejected a phase.
    Rejected {
        /// Its number.
        phase: u32,
        /// Why, if they said so.
        message: Option<String>,
    },
    /// A verifier has taken too long.
    VerifierOverdue,
    /// What stood there before a phase could not be kept.
    NoBase {
        /// In git's words.
        message: String,
    },
    /// The place to work in could not be made.
    NoWorktree {
        /// In git's words.
        message: String,
    },
}
