//! What a repository would run, as clients see it.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// What a repository would run, and what of it a person lets it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct TrustView {
    /// The root of the project.
    pub root: String,
    /// When somebody last agreed to something; none if nobody did.
    pub given_at_ms: Option<u64>,
    /// The commands.
    pub commands: Vec<TrustedView>,
}

/// A command of a repository.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct TrustedView {
    /// What names it, such as `filter.lfs.clean` or `agents.reviewer`.
    pub key: String,
    /// The command; none where only what was agreed to is listed, since it is not kept.
    pub value: Option<String>,
    /// The file that it stands in.
    pub file: String,
    /// Stands for all of it.
    pub hash: String,
    /// Whether somebody agreed to it.
    pub trusted: bool,
}
