//! What people call sessions, and what they find in what sessions printed.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::OutputStream;

/// Another name for a session.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct NewSessionName {
    /// 1 to 40 letters and digits of any script, `-`, `_` and `.`, a letter first; null takes the name away.
    pub name: Option<String>,
}

/// Lines of what sessions printed, those of the newest session first.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct SearchView {
    /// The lines.
    pub hits: Vec<SearchHitView>,
    /// How many sessions were searched.
    pub sessions: u64,
    /// Where a search stopped that had read or found as much as it may: older sessions than this one are left.
    pub before: Option<String>,
    /// How much of the logs of these sessions was not searched, because they are too long.
    #[serde(default)]
    pub unsearched_bytes: u64,
}

/// A line of what a session printed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct SearchHitView {
    /// Who printed it.
    pub session: String,
    /// What a person calls that session.
    pub name: Option<String>,
    /// The agent's name.
    pub agent: String,
    /// Which process of it.
    pub launch: u32,
    /// When that process began, in UTC milliseconds.
    pub at_ms: u64,
    /// `out` or `err`.
    pub stream: OutputStream,
    /// The byte of the log at which the line begins, or at which the event begins that has it.
    pub offset: u64,
    /// The line before it.
    pub before: Option<String>,
    /// The line; of a long one, its beginning.
    pub text: String,
    /// The line after it.
    pub after: Option<String>,
}
