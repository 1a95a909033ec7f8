//! What clients see and say of the task files of projects.

use serde::{Deserialize, Serialize};
use serde_json::Value;
use utoipa::ToSchema;

use super::ProjectView;

/// A project that has a task file, and how far it is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct TasksSummary {
    /// The project.
    pub project: ProjectView,
    /// The task file, relative to its root.
    pub file: String,
    /// How many tasks there are.
    pub tasks: u64,
    /// How many are completed or skipped.
    pub settled: u64,
    /// How many somebody works on.
    pub in_progress: u64,
    /// How many were given up.
    pub failed: u64,
    /// How many things in the file keep it from being worked with.
    pub problems: u64,
}

/// The tasks of a project: its task file with its state and log.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct TasksView {
    /// The project.
    pub project: ProjectView,
    /// The task file, relative to the project's root; null if there is none.
    pub file: Option<String>,
    /// Where a task file is looked for, in this order.
    pub looked_for: Vec<String>,
    /// What `ostler resolve` would answer.
    pub line: String,
    /// Why the state file cannot be used; the done marks of the task file count alone then.
    pub state_problem: Option<String>,
    /// The phases that have tasks, by number.
    pub phases: Vec<TaskPhaseView>,
    /// The tasks, in the order of the file.
    pub tasks: Vec<TaskView>,
    /// How many tasks are left off here because there are too many.
    pub left_off: u64,
    /// What keeps the file from being worked with, most important first.
    pub problems: Vec<TaskProblemView>,
    /// What is strange in it, and how it was taken.
    pub warnings: Vec<TaskProblemView>,
}

/// A phase of a task file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct TaskPhaseView {
    /// Its number.
    pub number: u32,
    /// What its heading says.
    pub title: Option<String>,
    /// How it is.
    pub state: TaskPhaseState,
}

/// How a phase of a task file is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum TaskPhaseState {
    /// Some of its tasks are not settled.
    Open,
    /// All of its tasks are completed or skipped, and nobody has recorded that it is over.
    Settled,
    /// It is recorded that it is over.
    Closed,
}

/// One task.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct TaskView {
    /// Its id.
    pub id: String,
    /// What it is called.
    pub title: String,
    /// Its phase.
    pub phase: u32,
    /// The line of the file that it begins in.
    pub line: u32,
    /// How it is.
    pub state: TaskState,
    /// Who is to do it.
    pub owner: Option<String>,
    /// The tasks that it depends on.
    pub needs: Vec<String>,
    /// The phase that it waits for, with all before that.
    pub after_phase: Option<u32>,
    /// The files that it may change, as patterns.
    pub files: Vec<String>,
    /// The command that shows that it is done.
    pub verify: Option<String>,
    /// How much can go wrong: `low`, `medium`, `high` or `critical`.
    pub risk: Option<String>,
    /// How urgent it is: `first`, `critical`, `high`, `medium` or `low`.
    pub priority: String,
    /// Where it is to be done, if it says so.
    pub worktree: Option<String>,
    /// What has to hold when it is done.
    pub criteria: Vec<TaskCriterionView>,
    /// What it waits for, if it cannot be begun.
    pub waits: Option<TaskWaitView>,
    /// Whether it is on the longest chain of open tasks, which decides how long the rest takes.
    pub critical: bool,
    /// The times that somebody worked on it, oldest first, as far as the log knows them.
    pub attempts: Vec<TaskAttemptView>,
    /// The run that was asked for to do it, last.
    pub run: Option<String>,
    /// Who works or worked on it.
    pub session: Option<String>,
    /// What they have asked, and nobody has answered: it waits for a person then.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub request: Option<String>,
}

/// How a task is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum TaskState {
    /// It waits for others.
    Pending,
    /// It can be begun.
    Ready,
    /// Somebody works on it.
    InProgress,
    /// It is done.
    Completed,
    /// It was given up.
    Failed,
    /// It waits, directly or not, for one that was given up.
    Blocked,
    /// A person decided to do without it.
    Skipped,
}

/// One of a task's criteria.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct TaskCriterionView {
    /// What has to hold.
    pub text: String,
    /// Whether its box is marked.
    pub done: bool,
}

/// What a task waits for.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct TaskWaitView {
    /// Tasks that have to be settled first.
    pub tasks: Vec<String>,
    /// The phase that has to be settled first.
    pub phase: Option<u32>,
    /// The task that runs, and that it may not run beside.
    pub beside: Option<String>,
}

/// A time that somebody worked on a task.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct TaskAttemptView {
    /// When it was begun, in UTC milliseconds.
    pub begun_at_ms: u64,
    /// When it was over, if it is.
    pub ended_at_ms: Option<u64>,
    /// Why it was not done; null if it was, or is not over.
    pub failed: Option<String>,
}

/// Something that is wrong or strange in a task file.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct TaskProblemView {
    /// Where.
    pub line: u32,
    /// What, in a sentence.
    pub message: String,
    /// The same for programs.
    #[schema(value_type = Object)]
    pub about: Value,
}

/// Everything about a task.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct TaskDetailView {
    /// What the list shows of it.
    #[serde(flatten)]
    pub task: TaskView,
    /// What stands below it in the file.
    pub body: String,
    /// The tasks that depend on it.
    pub then: Vec<String>,
}

/// The end of a phase.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct NewClose {
    /// Whether what was given up in it, and what waits for that, is done without.
    #[serde(default)]
    pub with_failures: bool,
}

/// A phase that is over.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct ClosedView {
    /// The phase.
    pub phase: u32,
    /// What is done without for that.
    pub skipped: Vec<String>,
}
