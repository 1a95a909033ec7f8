//! What clients see and say of loops through a task file.

use std::{collections::BTreeMap, num::NonZeroU32};

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::{Outcome, ProjectView, RequestView};

/// A task file that is to be worked through.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct NewLoop {
    /// A directory of the project, absolute.
    pub directory: String,
    /// The task file, if not that of the project.
    #[serde(default)]
    pub tasks: Option<String>,
    /// This phase alone.
    #[serde(default)]
    pub phase: Option<u32>,
    /// How many tasks run at once; 3, if nobody says otherwise.
    #[serde(default)]
    #[schema(value_type = Option<u32>, minimum = 1)]
    pub parallel_max: Option<NonZeroU32>,
    /// Who does all tasks, whoever their owners are.
    #[serde(default)]
    pub agent: Option<String>,
    /// Whether the agents are spoken to in Korean.
    #[serde(default)]
    pub korean: bool,
    /// The environment they run in; that of the server, if nothing is said.
    #[serde(default)]
    pub environment: Option<BTreeMap<String, String>>,
}

/// A loop through a task file.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct LoopView {
    /// Its run.
    pub run: String,
    /// Its session: to pause, continue and cancel it.
    pub session: String,
    /// Where it belongs.
    pub project: ProjectView,
    /// How it is.
    pub status: String,
    /// The request that waits for a person, if one does.
    pub request: Option<String>,
    /// How many tasks run at once.
    pub parallel_max: u32,
    /// The tasks of the file, in its order.
    pub tasks: Vec<LoopTaskView>,
    /// The phases of the file.
    pub phases: Vec<LoopPhaseView>,
    /// How many tasks are in each state.
    pub counts: LoopCounts,
    /// What came of it so far: all of it, once it is over.
    pub report: LoopReport,
    /// How it ended.
    pub outcome: Option<Outcome>,
    /// When it began.
    pub created_at_ms: u64,
    /// When it ended.
    pub ended_at_ms: Option<u64>,
}

/// A task in a loop.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct LoopTaskView {
    /// Its id.
    pub id: String,
    /// What it is called.
    pub title: String,
    /// Its phase.
    pub phase: u32,
    /// The tasks that it waits for.
    #[serde(default)]
    pub needs: Vec<String>,
    /// `pending`, `ready`, `in_progress`, `completed`, `failed`, `blocked` or `skipped`.
    pub state: String,
    /// The run that works on it, or did last.
    pub run: Option<String>,
    /// What whoever works on it has asked, and nobody has answered: it waits for a person then.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub request: Option<RequestView>,
    /// When this loop began it.
    pub began_at_ms: Option<u64>,
    /// When it was over.
    pub ended_at_ms: Option<u64>,
    /// What was said of it then.
    pub line: Option<String>,
    /// How often it was tried.
    pub tries: u32,
    /// For how long somebody worked on it.
    pub worked_ms: u64,
    /// How many tests its check says it has run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tests: Option<u32>,
}

/// A phase in a loop.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct LoopPhaseView {
    /// Its number.
    pub number: u32,
    /// Its title.
    pub title: String,
    /// Where it is worked on, relative to the project, if in a place of its own.
    pub worktree: Option<String>,
    /// The command that tested it.
    pub test: Option<String>,
    /// The exit code of that.
    pub test_code: Option<i32>,
    /// Why it could not be merged.
    pub unmerged: Option<String>,
    /// The commit that has its work.
    pub merged: Option<String>,
    /// When its checkpoint was recorded by this loop.
    pub ended_at_ms: Option<u64>,
}

/// How many tasks are in each state.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct LoopCounts {
    /// All of them.
    pub total: usize,
    /// Done.
    pub completed: usize,
    /// Given up.
    pub failed: usize,
    /// Waiting for what was given up.
    pub blocked: usize,
    /// Done without.
    pub skipped: usize,
    /// Under way.
    pub in_progress: usize,
}

/// What a loop has come to.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct LoopReport {
    /// The tasks that it has done.
    pub done: usize,
    /// How often one had to be tried again.
    pub retries: u32,
    /// How long it took.
    pub wall_ms: u64,
    /// For how long of that nothing was done, because the loop waited for a person or was paused.
    #[serde(default)]
    pub waited_ms: u64,
    /// For how long somebody worked, all together.
    pub agent_ms: u64,
    /// For how long the tasks waited besides, all together: for answers, or because they could not go on.
    #[serde(default)]
    pub tasks_waited_ms: u64,
    /// How many times faster than one after the other: what all tasks took, each with its own waiting, beside the time
    /// in which the loop did not wait itself.
    pub speed_up: f64,
    /// The chain of tasks that took longest, and could not have been faster with more at once.
    pub critical_path: Vec<String>,
    /// How long these took, with their waiting.
    pub critical_ms: u64,
    /// What it has said and read, once it is over.
    #[serde(default)]
    pub exchange: Option<LoopExchange>,
}

/// What a loop has said and read, beside what a main agent would have that hands out whole prompts and reads whole
/// reports. Both are kept as files.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct LoopExchange {
    /// Where: `thin.txt`, and a file for each call in `full`.
    pub directory: String,
    /// How often somebody was called.
    pub calls: u64,
    /// What the tokens were counted with; nothing, if this build cannot count them.
    pub tokenizer: Option<String>,
    /// The tokens of its own lines.
    pub thin_tokens: Option<u64>,
    /// The tokens of the prompts and the reports.
    pub full_tokens: Option<u64>,
    /// How much less that is, in percent of the whole prompts and reports.
    pub saved_percent: Option<f64>,
}
