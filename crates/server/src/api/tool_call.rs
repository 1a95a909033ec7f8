//! A call of a tool that waits for a person's permission.

use serde::{Deserialize, Serialize};
use serde_json::Value;
use utoipa::ToSchema;

/// A call, in the parts that a person reads. The parts together are the whole input.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct ToolCallView {
    /// The shell command.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub command: Option<String>,
    /// The file, relative to the session's directory or its project if it is below one of them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
    /// The lines that change in the file, with up to three around them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub changes: Vec<ChangedLine>,
    /// All other fields of the input, as the CLI gave them.
    #[schema(value_type = Object)]
    pub rest: Value,
}

/// A line of an edit.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct ChangedLine {
    /// What becomes of it.
    pub change: LineChange,
    /// The line without its end.
    pub text: String,
}

/// What becomes of a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum LineChange {
    /// Nothing.
    Same,
    /// It goes.
    Removed,
    /// It comes.
    Added,
}
