//! What clients see and say of tasks that are asked for by name, as `ostler exec` does.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use utoipa::ToSchema;

/// A task that is to be done.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct NewExecution {
    /// A directory of the project, absolute.
    pub directory: String,
    /// The id of the task.
    pub task: String,
    /// The task file, if not that of the project.
    #[serde(default)]
    pub tasks: Option<String>,
    /// The worktree in which it is done, relative to the project; without it the project itself.
    #[serde(default)]
    pub worktree: Option<String>,
    /// More about the task; `timeout` ends all its attempts together after so many seconds, and 0 never.
    #[serde(default)]
    #[schema(value_type = Option<Object>)]
    pub meta: Option<Map<String, Value>>,
    /// The agent, whoever the owner is.
    #[serde(default)]
    pub agent: Option<String>,
    /// Whether the agent is spoken to in Korean.
    #[serde(default)]
    pub korean: bool,
    /// The environment it runs in; that of the server, if nothing is said. A main agent's tasks run in its own.
    #[serde(default)]
    pub environment: Option<BTreeMap<String, String>>,
    /// Whether the client has heard before that the task is under way: a failure since then is told, and the task does not
    /// begin anew.
    #[serde(default)]
    pub again: bool,
}

/// How a task is that was asked for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct ExecutionView {
    /// Its id.
    pub task: String,
    /// How it is.
    pub state: ExecutionStatus,
    /// Why it has failed, in few words.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// How long its attempts took, once it has ended.
    pub elapsed_ms: u64,
    /// How often it was tried, as `retry_limit` counts it.
    pub tries: u32,
    /// How many tests its check says it has run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tests: Option<u32>,
}

/// How a task is that was asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum ExecutionStatus {
    /// It is under way: the client asks again, with `again`.
    Running,
    /// It is done.
    Done,
    /// It has failed, or may not begin.
    Failed,
}
