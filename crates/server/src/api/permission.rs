//! What a person allows an agent's CLI for the rest of a session.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// A rule, in a form that can be shown.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct RuleView {
    /// The option of a card that allows it.
    pub option: String,
    /// `call`, `prefix`, `file`, `directory` or `tool`.
    pub scope: String,
    /// The tool that it is about.
    pub tool: String,
    /// Exactly what it allows: the command or the whole input, the beginning of commands, the file, the directory, or
    /// the tool.
    pub text: String,
}

/// A rule that is in force.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct PermissionView {
    /// Its number in the session.
    pub number: u64,
    /// The rule.
    pub rule: RuleView,
    /// The request on which it was chosen.
    pub request: String,
    /// When, in UTC milliseconds.
    pub at_ms: u64,
}
