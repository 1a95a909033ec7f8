//! What an agent is to do, and how it is run.

use alloc::{string::String, vec::Vec};

use ostler_agents::{Agent, InputWay};
use ostler_protocol::fact::Usage;
use serde::{Deserialize, Serialize};

use super::CheckEnding;
use crate::{
    checkpoint::CheckpointTerms,
    id::{GraphId, MessageId},
    office::About,
    orchestrate::LoopSpec,
    usage::Prices,
};

/// What an agent is to do and how it is run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Order {
    /// How its CLI is used.
    pub agent: Agent,
    /// What it is to do.
    pub prompt: String,
    /// Where it runs, unless it has a worktree.
    pub directory: String,
    /// Where its environment is kept: values do not belong into a journal.
    pub environment: String,
    /// The model, where one was named.
    pub model: Option<String>,
    /// The most turns, where a number was given.
    pub turns_max: Option<u32>,
    /// The word that makes its tags trustworthy.
    pub nonce: Option<String>,
    /// The id for a new conversation, for CLIs that are given one.
    pub new_conversation: String,
    /// Whether it is told how to ask.
    pub guide: bool,
    /// Whether it is given the tools with which it asks, where its table says how.
    #[serde(default)]
    pub channel: bool,
    /// Whether it is spoken to in Korean.
    pub korean: bool,
    /// How long things may take.
    pub patience: Patience,
    /// Whose allowance it uses: what its table calls an account, in words that hold no key.
    #[serde(default)]
    pub account: Option<String>,
    /// What the user says models cost, for CLIs that do not say it.
    #[serde(default)]
    pub prices: Prices,
    /// Which checkpoints it gets; none of itself, if nothing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub checkpoints: Option<CheckpointTerms>,
    /// What it is there for.
    #[serde(default, skip_serializing_if = "Role::is_work")]
    pub role: Role,
    /// What its role is told beside the guide.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub instruction: Option<String>,
    /// The tools that need no permission, where its role names them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tools: Vec<String>,
    /// How large its first terminal is, if it has one and somebody looks at it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub screen: Option<Screen>,
}

impl Order {
    /// Whether its program reads lines and began without a prompt on its input: then what later launches are told is
    /// only in their environment.
    pub fn reads_answers_only(&self) -> bool {
        // What a phase is about takes more than a line.
        let is_of_phase = !matches!(self.role, Role::Work | Role::Main);
        self.agent.input.way == InputWay::Line && (self.prompt.is_empty() || is_of_phase)
    }
}

/// The size of a terminal.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Screen {
    /// Lines.
    pub rows: u16,
    /// Characters in a line.
    pub columns: u16,
}

/// A terminal that has another size now.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Resized {
    /// Of which launch.
    pub launch: u32,
    /// Lines.
    pub rows: u16,
    /// Characters in a line.
    pub columns: u16,
}

/// A record of a shim that changes nothing.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Noted {
    /// Which launch.
    pub launch: u32,
    /// The shim's record.
    pub spool_seq: u64,
    /// What it says.
    pub what: String,
}

/// A secret of a project that is kept from now on.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct StoredSecret {
    /// Its name.
    pub secret: String,
    /// What is kept: `stored`, or where it is looked up (`env`, `file`, `cmd`).
    pub what: String,
    /// Whether it may be given to an agent without asking.
    pub reuse: bool,
    /// The change of the vault that made it.
    pub version: u64,
}

/// Items of an agent's output that were counted and not recorded.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct UnrecordedItems {
    /// Which launch.
    pub launch: u32,
    /// The shim's last record of them; none if the log was read again after the shim was lost.
    pub spool_seq: Option<u64>,
    /// How many.
    pub items: u64,
    /// The place of the last one: offset and index.
    pub last: Option<(u64, u32)>,
    /// What they say was used, summed up.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub usage: Vec<Usage>,
}

/// A check that was told to end.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct CheckRecall {
    /// Its number.
    pub number: u32,
    /// Why.
    pub why: CheckEnding,
}

/// Words for an agent.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Written {
    /// Their id.
    pub message: MessageId,
    /// The words.
    pub text: String,
    /// What they carry, if they are from another agent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub about: Option<About>,
    /// Whether they are a person's.
    #[serde(default, skip_serializing_if = "core::ops::Not::not")]
    pub personal: bool,
    /// How far the log of its process was written by then, where a person wrote to a process that ran.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub printed: Option<LogPlace>,
}

/// A place in the log of a launch.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct LogPlace {
    /// Which launch.
    pub launch: u32,
    /// The byte of its standard output.
    pub offset: u64,
}

impl Screen {
    /// Of a terminal that nobody looks at yet.
    pub const USUAL: Screen = Screen { rows: 40, columns: 120 };
}

/// What a session is there for.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(tag = "role", rename_all = "snake_case")]
pub enum Role {
    /// To do what was asked for.
    #[default]
    Work,
    /// To work on a phase.
    Phase {
        /// Its number.
        phase: u32,
    },
    /// To say whether what somebody else has done is as it has to be.
    Verify {
        /// How long it may take.
        time_ms_max: u64,
        /// Whether it is kept from writing anywhere but in its place, where the kernel can do that.
        confined: bool,
        /// The directory of the project, where it has nothing to write.
        project: String,
    },
    /// To have the tasks of a task file done: what it says in the thin dialect is answered.
    Main,
    /// To be the handle of a graph. It has no agent and is never launched.
    Graph {
        /// The graph.
        graph: GraphId,
    },
    /// The same, as journals have it from before there were graphs: a loop through a task file.
    Conduct(LoopSpec),
    /// To be called by others of its office.
    Office {
        /// The name by which they call it.
        name: String,
        /// Stands for all that its role says. Whatever differs is another role.
        hash: String,
        /// How long it is kept when it has nothing to do.
        idle_ms: u64,
    },
}

impl Role {
    /// Whether it says what it thinks of somebody else's work.
    pub(crate) fn verifies(&self) -> bool {
        matches!(self, Role::Verify { .. })
    }

    /// Whether what it says in the thin dialect is answered.
    pub fn is_main(&self) -> bool {
        matches!(self, Role::Main)
    }

    /// The name by which others of its office call it.
    pub fn seat(&self) -> Option<&str> {
        match self {
            Role::Office { name, .. } => Some(name),
            _ => None,
        }
    }

    fn is_work(&self) -> bool {
        *self == Role::Work
    }
}

/// How long things may take.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Patience {
    /// Until an optional question answers itself.
    pub question_ms: u64,
    /// Until an office agent is told that nobody answered.
    pub ask_user_ms: u64,
    /// Until an agent that can be resumed is not held any longer: connections of a stopped process die.
    pub stopped_ms: u64,
    /// Between being asked to end and being ended.
    pub grace_ms: u64,
    /// Until an account is tried again whose limit names no reset; longer each time.
    #[serde(default = "Patience::limit_ms")]
    pub limit_ms: u64,
    /// Between two sessions of an account that go on after a limit, unless the first shows that it is over.
    #[serde(default = "Patience::stagger_ms")]
    pub stagger_ms: u64,
}

impl Patience {
    fn limit_ms() -> u64 {
        Patience::default().limit_ms
    }

    fn stagger_ms() -> u64 {
        Patience::default().stagger_ms
    }
}

impl Default for Patience {
    fn default() -> Self {
        const MINUTE_MS: u64 = 60_000;
        Patience {
            question_ms: 24 * 60 * MINUTE_MS,
            ask_user_ms: 5 * MINUTE_MS,
            stopped_ms: 5 * MINUTE_MS,
            grace_ms: 10_000,
            limit_ms: 5 * MINUTE_MS,
            stagger_ms: 30_000,
        }
    }
}
