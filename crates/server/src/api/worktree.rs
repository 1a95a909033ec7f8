//! A branch and directory of its own, as clients see it.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// A branch and directory of its own.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct WorktreeView {
    /// The directory.
    pub path: String,
    /// The branch.
    pub branch: String,
    /// The branch it is merged into.
    pub target: Option<String>,
    /// How far it has got: `wanted`, `made`, `testing`, `merging`, `not_merged`, `merged`, `discarding`,
    /// `not_discarded` or `discarded`.
    pub state: String,
    /// Why not, or where its work is kept.
    pub message: Option<String>,
    /// Which files are in the way.
    pub files: Vec<String>,
    /// Whether it is not merged because both sides changed the same places.
    #[serde(default)]
    pub conflict: bool,
    /// The first files that the checkout held, no commit had, and it began without.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub left_out: Vec<String>,
    /// How many more such files there are.
    #[serde(default)]
    pub left_out_more: u64,
}
