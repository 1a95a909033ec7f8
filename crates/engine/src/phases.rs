//! Phases: how far a run has got with its plan, and what its gates have found.
//!
//! Everything here is data. What follows from it is decided elsewhere, and what is found is looked for by the driver.

pub mod plan;
pub mod problem;

use alloc::{boxed::Box, string::String, vec::Vec};

use serde::{Deserialize, Serialize};

use crate::id::{CheckpointId, RequestId, RunId, SessionId};

use self::{
    plan::{CommandKind, GateCommand, PhasePlan, Plan},
    problem::{Problem, VerifierFailure},
};

/// So many gates of a phase are kept; the reports of all of them are.
const GATES_MAX: usize = 12;

/// How often a verifier is asked before a person is.
pub(crate) const ROUNDS_MAX: u32 = 2;

/// How far a run has got.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Phases {
    /// What it is going to do.
    pub plan: Box<Plan>,
    /// The phases that have begun; the last is the current one.
    pub begun: Vec<Phase>,
}

/// A phase that has begun.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Phase {
    /// From 1.
    pub number: u32,
    /// Who works on it.
    pub session: SessionId,
    /// Since when.
    pub started_at_ms: u64,
    /// The commit of what stood there before.
    pub base: Option<String>,
    /// Its last gates.
    pub gates: Vec<Gate>,
    /// How many there were.
    pub gates_count: u32,
    /// How often it went back by itself since a person last had it.
    pub reworks: u32,
    /// Whether its agent was started again because it had not read what it was told, and has come to no gate since.
    #[serde(default, skip_serializing_if = "core::ops::Not::not")]
    pub unread: bool,
    /// How many questions were asked.
    pub questions: u32,
    /// What its agent is told when it is started next.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub words: Option<String>,
    /// What it was told last, when the phase came back to it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub told: Option<String>,
    /// What was approved.
    pub approved: Option<Approved>,
    /// When it was over.
    pub ended_at_ms: Option<u64>,
}

/// What a person has approved.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Approved {
    /// When.
    pub at_ms: u64,
    /// The gate.
    pub gate: u32,
    /// Exactly this tree.
    pub tree: String,
    /// The commit that has it.
    pub commit: String,
    /// Whether the gate had failed.
    pub insisted: bool,
}

/// A look at the work of a phase.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Gate {
    /// From 1, in its phase.
    pub number: u32,
    /// Why there is one.
    pub why: Why,
    /// What the agent has said.
    pub announced: Option<Announced>,
    /// Since when.
    pub at_ms: u64,
    /// How far it has got.
    pub step: Step,
    /// The checkpoint that it is about.
    pub checkpoint: Option<CheckpointId>,
    /// Its commit.
    pub commit: Option<String>,
    /// What was collected.
    pub collected: Option<Collected>,
    /// What commands have said.
    pub checks: Vec<CheckResult>,
    /// What verifiers have said.
    pub rounds: Vec<Round>,
    /// What is wrong.
    pub problems: Vec<Problem>,
    /// Whether nothing is; not known yet, if nothing.
    pub passed: Option<bool>,
    /// Where a person is asked.
    pub request: Option<RequestId>,
    /// When it was over.
    pub ended_at_ms: Option<u64>,
}

/// Why there is a gate.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Why {
    /// The agent says that the phase is done.
    Said,
    /// The agent has ended, and has not said it.
    Ended,
    /// A person wants it gone through again.
    Again,
    /// The tree was another one when a person wanted to approve.
    Changed,
}

/// What an agent says of a phase that it has done.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Announced {
    /// The number of the phase.
    pub phase: u32,
    /// Its name.
    pub name: Option<String>,
    /// The documents it has written.
    #[serde(default)]
    pub documents: Vec<String>,
}

/// How far a gate has got.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "step", rename_all = "snake_case")]
pub enum Step {
    /// Something that the agent asked is still open.
    Waiting,
    /// What stands there is being kept.
    Checkpoint {
        /// As this one.
        checkpoint: CheckpointId,
    },
    /// It is being collected.
    Collect {
        /// From this commit.
        commit: String,
    },
    /// A command is being run.
    Check {
        /// Which one, from 0.
        index: u32,
    },
    /// The verifier's place is being made.
    Place {
        /// For which of the verifiers, from 1.
        round: u32,
    },
    /// The verifier is at work.
    Verifier {
        /// Which one.
        session: SessionId,
    },
    /// What it said is being read.
    Verdict {
        /// Who said it.
        session: SessionId,
    },
    /// The report is being written.
    Report,
    /// A person is asked.
    Review {
        /// Where.
        request: RequestId,
    },
    /// It is over.
    Done,
}

/// Something that is known at a gate.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "found", rename_all = "snake_case")]
pub enum Found {
    /// What is in the tree.
    Collected(Box<Collected>),
    /// What a command has said.
    Checked(CheckResult),
    /// What a verifier has said.
    Verified(Round),
    /// What all of it comes to.
    Judged {
        /// What is wrong.
        problems: Vec<Problem>,
    },
}

/// What is in the tree of a gate.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Collected {
    /// The tree.
    pub tree: String,
    /// What is announced, expected or changed, the first of them.
    pub files: Vec<FileFound>,
    /// How many there are.
    pub files_count: u64,
    /// What is to be run.
    pub commands: Vec<GateCommand>,
    /// What is wrong.
    pub problems: Vec<Problem>,
    /// What was announced and is expected by no rule.
    pub extra: Vec<String>,
}

/// A file at a gate.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileFound {
    /// Its path in the repository.
    pub path: String,
    /// How large it is; none if it is not there.
    pub bytes: Option<u64>,
    /// Whether the agent has announced it.
    pub announced: bool,
    /// Whether a rule expects it.
    pub expected: bool,
    /// What has become of it since the phase began.
    pub change: Option<Change>,
}

/// What has become of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Change {
    /// It was not there.
    Added,
    /// It was another.
    Modified,
    /// It is gone.
    Deleted,
}

/// What a command has said.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CheckResult {
    /// The command.
    pub run: String,
    /// What it was run for.
    pub kind: CommandKind,
    /// Its exit code; a signal counts as 128 and its number.
    pub code: i32,
    /// How long it was given, if it has taken longer.
    pub overdue_ms: Option<u64>,
    /// How long it took.
    pub time_ms: u64,
    /// What it said at the end.
    pub output: String,
    /// What it wrote about its tests.
    pub junit: Option<Junit>,
}

/// What was written about tests.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Junit {
    /// How many.
    pub tests: u64,
    /// How many of them failed.
    pub failures: u64,
    /// How many could not be run.
    pub errors: u64,
    /// How many were left out.
    pub skipped: u64,
    /// The first of those that failed, by name.
    pub failed: Vec<String>,
}

/// What a verifier has said.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Round {
    /// Who it was; none if its place could not be made.
    pub session: Option<SessionId>,
    /// Its verdict.
    pub verdict: Option<Verdict>,
    /// Why it has none.
    pub failure: Option<VerifierFailure>,
}

/// A verdict that is valid.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Verdict {
    /// Whether everything is as it has to be.
    pub passed: bool,
    /// One by one.
    pub criteria: Vec<CriterionResult>,
    /// In a sentence.
    #[serde(default)]
    pub summary: String,
}

/// What was found about a criterion.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CriterionResult {
    /// Which one.
    pub id: String,
    /// Whether it is so.
    pub passed: bool,
    /// How one can see that.
    pub evidence: String,
    /// Where.
    #[serde(default)]
    pub files: Vec<String>,
}

/// Why a phase goes back to its agent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Return {
    /// The gate has failed.
    Rework,
    /// A person wants something changed.
    Changes,
    /// The agent has ended without reading what it was told.
    Unread,
}

/// How a phase is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PhaseState {
    /// Its turn has not come.
    Waiting,
    /// What stands there is being kept before it begins.
    Preparing,
    /// Its agent works.
    Working,
    /// Its work is looked at.
    Gate,
    /// A person is asked.
    Review,
    /// It is approved, and its agent is about to end.
    Ending,
    /// It is approved.
    Approved,
    /// The run ended in it.
    Ended,
}

impl Phases {
    /// The phase that is worked on.
    pub fn current(&self) -> Option<&Phase> {
        self.begun.last()
    }

    pub(crate) fn current_mut(&mut self) -> Option<&mut Phase> {
        self.begun.last_mut()
    }

    /// What the current phase is to be.
    pub fn current_plan(&self) -> Option<&PhasePlan> {
        self.plan.phase(self.current()?.number)
    }

    /// How a phase is, by its number.
    pub fn state(&self, number: u32, run_is_over: bool) -> PhaseState {
        let Some(phase) = self.begun.iter().find(|phase| phase.number == number) else {
            return PhaseState::Waiting;
        };
        match phase.gate().map(|gate| &gate.step) {
            _ if phase.ended_at_ms.is_some() && phase.approved.is_some() => PhaseState::Approved,
            _ if phase.approved.is_some() => PhaseState::Ending,
            _ if run_is_over => PhaseState::Ended,
            _ if phase.base.is_none() => PhaseState::Preparing,
            None => PhaseState::Working,
            Some(Step::Review { .. }) => PhaseState::Review,
            Some(_) => PhaseState::Gate,
        }
    }
}

impl Phase {
    pub(crate) fn new(number: u32, session: SessionId, at_ms: u64) -> Phase {
        Phase {
            number,
            session,
            started_at_ms: at_ms,
            base: None,
            gates: Vec::new(),
            gates_count: 0,
            reworks: 0,
            unread: false,
            questions: 0,
            words: None,
            told: None,
            approved: None,
            ended_at_ms: None,
        }
    }

    /// The gate that is gone through.
    pub fn gate(&self) -> Option<&Gate> {
        self.gates.last().filter(|gate| gate.step != Step::Done)
    }

    /// A gate by its number.
    pub fn gate_at(&self, number: u32) -> Option<&Gate> {
        self.gates.iter().find(|gate| gate.number == number)
    }

    pub(crate) fn gate_mut(&mut self, number: u32) -> Option<&mut Gate> {
        self.gates.iter_mut().find(|gate| gate.number == number)
    }

    /// Another gate; the oldest goes if there are too many.
    pub(crate) fn push_gate(&mut self, gate: Gate) {
        self.gates_count = gate.number;
        self.gates.push(gate);
        let too_many = self.gates.len().saturating_sub(GATES_MAX);
        self.gates.drain(..too_many);
    }
}

impl Gate {
    pub(crate) fn new(number: u32, why: Why, announced: Option<Announced>, at_ms: u64) -> Gate {
        Gate {
            number,
            why,
            announced,
            at_ms,
            step: Step::Waiting,
            checkpoint: None,
            commit: None,
            collected: None,
            checks: Vec::new(),
            rounds: Vec::new(),
            problems: Vec::new(),
            passed: None,
            request: None,
            ended_at_ms: None,
        }
    }

    /// The tree that it is about.
    pub fn tree(&self) -> Option<&str> {
        self.collected.as_ref().map(|it| it.tree.as_str()).filter(|tree| !tree.is_empty())
    }

    /// The verdict that counts.
    pub fn verdict(&self) -> Option<&Verdict> {
        self.rounds.last()?.verdict.as_ref()
    }
}

/// A gate among all: what the driver is asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct GateName {
    /// The run.
    pub run: RunId,
    /// The phase.
    pub phase: u32,
    /// Its own number.
    pub gate: u32,
}
