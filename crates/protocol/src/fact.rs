//! What an agent's CLI reports about itself in a structured stream: conversation, usage, limits, permissions, end.
//!
//! Facts come from the CLI's own events, never from words of the model.

use alloc::{string::String, vec::Vec};

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// One report of the CLI.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(untagged)]
pub enum Fact {
    /// Which conversation this is.
    AgentSession(AgentSession),
    /// What was used so far.
    Usage(Usage),
    /// The account's limit was hit.
    RateLimit(RateLimit),
    /// The CLI asks whether a tool may run.
    PermissionRequest(PermissionRequest),
    /// The conversation holds something that the agent was told.
    InputHeard(InputHeard),
    /// The CLI says that it is through.
    End(End),
}

impl Fact {
    /// The kind as it is written in JSON.
    pub fn kind(&self) -> &'static str {
        match self {
            Fact::AgentSession(_) => "agent_session",
            Fact::Usage(_) => "usage",
            Fact::RateLimit(_) => "rate_limit",
            Fact::PermissionRequest(_) => "permission_request",
            Fact::InputHeard(_) => "input_heard",
            Fact::End(_) => "end",
        }
    }
}

/// The conversation that the CLI can resume.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct AgentSession {
    /// The CLI's own id of the conversation.
    pub id: String,
    /// The model it runs on.
    pub model: Option<String>,
    /// The CLI's version.
    pub version: Option<String>,
}

/// Tokens and cost. What a CLI does not say stays `None`. No token is counted in two of the figures.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Usage {
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
    /// Cost in US dollars.
    pub cost_usd: Option<f64>,
    /// What the tokens cover; where nothing says so, the process so far.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tokens_span: Option<Span>,
    /// What the cost covers; where nothing says so, the process so far.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cost_span: Option<Span>,
}

/// What a figure of usage covers. Of the first two every report adds to the sum; of the others a report says again
/// what earlier ones said.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Span {
    /// One call of the model.
    Step,
    /// From what the agent was told to its answer.
    Turn,
    /// Everything since the process began.
    Process,
    /// Everything since the conversation began, also in earlier processes.
    Conversation,
}

impl Usage {
    /// Adds a report to earlier ones of the same spans. Together they say what each said in turn.
    pub fn merge_into(self, reports: &mut Vec<Usage>) {
        let spans = |it: &Usage| (it.tokens_span, it.cost_span);
        let Some(known) = reports.iter_mut().find(|it| spans(it) == spans(&self)) else {
            return reports.push(self);
        };
        let is_sum = |span: Option<Span>| matches!(span, Some(Span::Step | Span::Turn));
        let sums = is_sum(self.tokens_span);
        let tokens = [
            (&mut known.input_tokens, self.input_tokens),
            (&mut known.output_tokens, self.output_tokens),
            (&mut known.cache_read_tokens, self.cache_read_tokens),
            (&mut known.cache_write_tokens, self.cache_write_tokens),
            (&mut known.reasoning_tokens, self.reasoning_tokens),
        ];
        for (known, more) in tokens {
            let both = |one: u64, other: u64| if sums { one.saturating_add(other) } else { one.max(other) };
            *known = known.zip(more).map(|(one, other)| both(one, other)).or(*known).or(more);
        }
        let sums = is_sum(self.cost_span);
        let both = |one: f64, other: f64| if sums { one + other } else { one.max(other) };
        let cost = known.cost_usd.zip(self.cost_usd).map(|(one, other)| both(one, other));
        known.cost_usd = cost.or(known.cost_usd).or(self.cost_usd);
    }
}

/// A limit of the account. A time is given only when the stream names one.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct RateLimit {
    /// When the limit resets, in milliseconds since 1970 (UTC).
    pub reset_at_ms: Option<u64>,
    /// How long to wait from now.
    pub retry_after_ms: Option<u64>,
    /// Whether the CLI tries again by itself.
    pub retrying: bool,
    /// The CLI's own words.
    pub message: Option<String>,
}

/// A tool that waits for a person's permission.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct PermissionRequest {
    /// The id that the reply has to name.
    pub request_id: String,
    /// The tool.
    pub tool: String,
    /// What it would be called with.
    pub input: Value,
    /// The CLI's own words.
    pub description: Option<String>,
}

/// The proof that an input is part of the conversation: a resumed process knows it.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct InputHeard {
    /// The id under which the input was written; none for the prompt in the arguments of the process.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
}

/// How a CLI ended its work.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct End {
    /// Whether it went well, by its own account.
    pub status: EndStatus,
    /// Why, where it says so.
    pub reason: Option<String>,
}

/// The three ways to end.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum EndStatus {
    /// The work was ended in the ordinary way.
    Success,
    /// It failed.
    Error,
    /// Somebody interrupted it.
    Aborted,
}
