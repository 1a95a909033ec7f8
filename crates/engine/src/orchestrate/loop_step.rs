//! Steps of loops, as journals have them from before graphs had rows and events of their own. They are read for ever, and
//! nothing writes them any more.

use alloc::{string::String, vec::Vec};

use serde::{Deserialize, Serialize};

use super::Choice;
use crate::{
    graph::{GraphHold, GroupTest, MergeFailure, RunSummary},
    id::{RequestId, RunId},
};

/// A step of a loop.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "step", rename_all = "snake_case")]
pub enum LoopStep {
    /// A task is worked on by this run.
    TaskBegun {
        /// The task.
        task: String,
        /// The run.
        run: RunId,
    },
    /// A task is over.
    TaskEnded {
        /// The task.
        task: String,
        /// What was said of it.
        line: String,
        /// For how long somebody worked on it.
        worked_ms: u64,
        /// For how long they waited besides.
        #[serde(default)]
        waited_ms: u64,
        /// How often it was tried.
        tries: u32,
    },
    /// A phase begins.
    PhaseBegun {
        /// The phase.
        phase: u32,
        /// Its place, where it has one of its own.
        worktree: Option<String>,
        /// The branch that its work goes to.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        target: Option<String>,
        /// What was changed there before.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        foreign: Vec<String>,
    },
    /// A run that it asked for has ended.
    RunOver {
        /// Which.
        run: RunId,
        /// How.
        over: RunSummary,
    },
    /// Its tests have ended.
    Tested {
        /// The phase.
        phase: u32,
        /// What they said.
        tested: GroupTest,
    },
    /// It could not be merged.
    NotMerged {
        /// The phase.
        phase: u32,
        /// Why not.
        unmerged: MergeFailure,
    },
    /// An agent is to bring the two sides together.
    Mending {
        /// The phase.
        phase: u32,
        /// Its run.
        run: RunId,
    },
    /// It is merged.
    Merged {
        /// The phase.
        phase: u32,
        /// The commit.
        commit: String,
    },
    /// Its checkpoint is recorded.
    Recorded {
        /// The phase.
        phase: u32,
    },
    /// A person was asked.
    Asked {
        /// Where.
        card: GraphHold,
    },
    /// What they said is done, or is not wanted any more.
    Settled {
        /// Where they were asked.
        request: RequestId,
        /// What they said, unless the question has settled itself.
        choice: Option<Choice>,
    },
}
