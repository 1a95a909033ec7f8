//! What clients see of checkpoints, and what they ask for.

use serde::{Deserialize, Serialize};
use serde_json::Value;
use utoipa::ToSchema;

/// What stood in a session's directory at one moment.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct CheckpointView {
    /// Its id.
    pub id: String,
    /// Whose work it is.
    pub session: String,
    /// To which run it belongs.
    pub run: String,
    /// Why it was made: `request`, `time`, `person`, `rest` or `restore`.
    pub why: String,
    /// How it stands: `wanted`, `made`, `skipped` or `pruned`.
    pub state: String,
    /// When it was wanted, in UTC milliseconds.
    pub at_ms: u64,
    /// The place in the journal.
    pub seq: u64,
    /// What was open by then.
    pub requests: Vec<String>,
    /// The agent's conversation by then.
    pub conversation: Option<String>,
    /// Whether the agent can be taken back to where it was in its conversation.
    pub rewindable: bool,
    /// The ref that leads to it.
    pub reference: Option<String>,
    /// Its commit.
    pub commit: Option<String>,
    /// What is not in it, the first of them by name and why.
    pub left_out: Vec<String>,
    /// How many are not in it.
    pub left_out_count: u64,
    /// Why there is none: a `key` (`no_repository`, `unchanged`, `failed`) with its parameters.
    #[serde(default, skip_serializing_if = "Value::is_null")]
    #[schema(value_type = Option<Object>)]
    pub reason: Value,
}

/// How to go back to a checkpoint.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct NewRestore {
    /// Whether the conversation goes back too; yes, if nothing is said.
    #[serde(default)]
    pub conversation: Option<bool>,
}

/// What came of going back.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct RestoreView {
    /// The checkpoint that was wanted.
    pub checkpoint: CheckpointView,
    /// Whether files are as they were then.
    pub restored: bool,
    /// Why not.
    pub message: Option<String>,
    /// What stood there before: a checkpoint of its own, or the wanted one if nothing was to be changed.
    pub before: Option<CheckpointView>,
    /// How many files were written or removed.
    pub changed: u64,
    /// Files that are still not as they were.
    pub different: Vec<String>,
    /// Submodules that were at another commit; they are left where they are.
    pub submodules: Vec<String>,
    /// What the next process of the session knows: `kept` everything that was said, `rewound` what was said by then,
    /// `new` nothing of it, for its CLI cannot go back.
    pub conversation: String,
}

/// Which checkpoints are to go.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct NewPrune {
    /// A directory of the repository, absolute.
    pub directory: String,
    /// Whether only to say what would go.
    #[serde(default)]
    pub dry_run: bool,
}

/// Something that was let go, or would be.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct PrunedView {
    /// The ref.
    pub reference: String,
    /// Where it led.
    pub commit: String,
    /// The checkpoint; none if it was the work of a discarded worktree.
    pub checkpoint: Option<String>,
    /// Whose work it was.
    pub session: String,
}
