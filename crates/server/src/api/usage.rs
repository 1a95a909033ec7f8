//! What clients see of what was used.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// Tokens and cost. What no CLI reported is null; no token is counted in two of the figures.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize, ToSchema)]
pub struct UsageView {
    /// All tokens together.
    pub tokens: Option<u64>,
    /// Tokens sent, without those of the cache.
    pub input_tokens: Option<u64>,
    /// Tokens received, without those of reasoning.
    pub output_tokens: Option<u64>,
    /// Tokens read from the provider's cache.
    pub cache_read_tokens: Option<u64>,
    /// Tokens written to the provider's cache.
    pub cache_write_tokens: Option<u64>,
    /// Tokens spent on reasoning.
    pub reasoning_tokens: Option<u64>,
    /// Cost in US dollars: what CLIs state, or what the configured prices give.
    pub cost_usd: Option<f64>,
}

/// How much may be used before a person is asked. What is not limited is null.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, ToSchema)]
pub struct BudgetView {
    /// In US dollars, with what a person has raised it by.
    pub cost_usd_max: Option<f64>,
    /// In tokens of every kind, with what a person has raised it by.
    pub tokens_max: Option<u64>,
    /// In seconds of work.
    pub time_s_max: Option<u64>,
}

/// What was used, by something.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct UsageReport {
    /// By what: `session`, `run`, `project`, `agent`, `account` or `day`.
    pub by: String,
    /// Only what was reported since then, in UTC milliseconds, to a quarter of an hour.
    pub since_ms: Option<u64>,
    /// The parts, those that used most first; days in their order.
    pub rows: Vec<UsageRow>,
    /// All of them together.
    pub total: UsageRow,
}

/// What was used by one session, run, project, agent, account, or on one day.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, ToSchema)]
pub struct UsageRow {
    /// Which: an id, a name, or a date such as 2026-11-16. Empty for what has none.
    pub key: String,
    /// What a person calls it.
    pub name: String,
    /// How many sessions reported something.
    pub sessions: u64,
    /// How many of them stated no cost: the sum is then too low.
    pub sessions_without_cost: u64,
    /// What was used.
    pub usage: UsageView,
    /// For a session or a run: how much the run may use.
    #[serde(default)]
    pub budget: BudgetView,
}
