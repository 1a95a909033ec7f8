//! What went wrong, as `application/problem+json`. The `type` never changes; the sentences may.

use serde::{Deserialize, Serialize};
use serde_json::Value;
use utoipa::ToSchema;

/// Why a request was not done. Nothing has changed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct Problem {
    /// Which problem: a word that does not change, such as `settled` or `not_an_option`.
    #[serde(rename = "type")]
    pub kind: String,
    /// The status of the answer.
    pub status: u16,
    /// What happened, in a sentence.
    pub title: String,
    /// What to do next.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hint: Option<String>,
    /// What there is to know about it, by its kind.
    #[serde(default, skip_serializing_if = "Value::is_null")]
    pub details: Value,
}
