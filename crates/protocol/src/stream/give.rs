//! What the rules of a table give: the fields of a text or a fact, and how they are read out of an event.
//!
//! A field holds the place of a value, except where a literal is named as such. A value of the wrong type is
//! absent, and so is a number that makes no sense; a fact without a field that it needs is not given at all.

use alloc::string::String;
use core::time::Duration;

use serde::Deserialize;
use serde_json::Value;

use super::path::Field;
use crate::{
    fact::{AgentSession, End, EndStatus, PermissionRequest, RateLimit, Span, Usage},
    recent::Tool,
};

/// Something said or shown.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct GiveText {
    text: Field,
    /// Literal: the text goes on the running message.
    #[serde(default)]
    pub(super) fragment: bool,
    /// The id of the tool that printed it.
    tool: Option<Field>,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct GiveTool {
    name: Field,
    /// What it is used on, where one text says it: a command, a path.
    about: Option<Field>,
    /// By what its output names it.
    id: Option<Field>,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct GiveAgentSession {
    id: Field,
    model: Option<Field>,
    version: Option<Field>,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct GiveAnchor {
    id: Field,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct GiveInputTaken {
    id: Field,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct GiveUsage {
    input_tokens: Option<Field>,
    output_tokens: Option<Field>,
    cache_read_tokens: Option<Field>,
    cache_write_tokens: Option<Field>,
    reasoning_tokens: Option<Field>,
    cost_usd: Option<Field>,
    /// Literal: what the tokens cover.
    tokens_span: Option<Span>,
    /// Literal: what the cost covers.
    cost_span: Option<Span>,
    /// Literal: the tokens of the cache are counted in those that were sent.
    #[serde(default)]
    input_has_cache: bool,
    /// Literal: the tokens of reasoning are counted in those that were received.
    #[serde(default)]
    output_has_reasoning: bool,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct GiveRateLimit {
    /// Seconds or milliseconds since 1970.
    reset_at: Option<Field>,
    retry_after_s: Option<Field>,
    retry_after_ms: Option<Field>,
    /// Literal: the CLI tries again by itself.
    #[serde(default)]
    retrying: bool,
    message: Option<Field>,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct GivePermissionRequest {
    request_id: Field,
    tool: Field,
    input: Option<Field>,
    description: Option<Field>,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct GiveEnd {
    /// Literal.
    status: EndStatus,
    reason: Option<Field>,
}

impl GiveText {
    pub(super) fn read(&self, item: &Value) -> Option<String> {
        self.text.text(item)
    }

    pub(super) fn tool(&self, item: &Value) -> Option<String> {
        text(self.tool.as_ref(), item)
    }
}

impl GiveTool {
    pub(super) fn read(&self, item: &Value) -> Option<Tool> {
        Some(Tool {
            id: text(self.id.as_ref(), item),
            name: self.name.text(item)?,
            about: text(self.about.as_ref(), item),
        })
    }
}

impl GiveAnchor {
    pub(super) fn read(&self, item: &Value) -> Option<String> {
        self.id.text(item)
    }
}

impl GiveInputTaken {
    pub(super) fn read(&self, item: &Value) -> Option<String> {
        self.id.text(item)
    }
}

impl GiveAgentSession {
    pub(super) fn has_model(&self) -> bool {
        self.model.is_some()
    }

    pub(super) fn read(&self, item: &Value) -> Option<AgentSession> {
        Some(AgentSession {
            id: self.id.text(item)?,
            model: text(self.model.as_ref(), item),
            version: text(self.version.as_ref(), item),
        })
    }
}

impl GiveUsage {
    pub(super) fn has_tokens(&self) -> bool {
        self.input_tokens.is_some() || self.output_tokens.is_some()
    }

    pub(super) fn has_cost(&self) -> bool {
        self.cost_usd.is_some()
    }

    /// An event that holds none of the figures reports no usage.
    pub(super) fn read(&self, item: &Value) -> Option<Usage> {
        let count = |field: &Option<Field>| field.as_ref()?.read(item, whole_number);
        let mut usage = Usage {
            input_tokens: count(&self.input_tokens),
            output_tokens: count(&self.output_tokens),
            cache_read_tokens: count(&self.cache_read_tokens),
            cache_write_tokens: count(&self.cache_write_tokens),
            reasoning_tokens: count(&self.reasoning_tokens),
            cost_usd: self.cost_usd.as_ref().and_then(|field| field.read(item, cost)),
            tokens_span: None,
            cost_span: None,
        };
        if usage == Usage::default() {
            return None;
        }
        let without = |all: Option<u64>, part: Option<u64>| Some(all?.saturating_sub(part.unwrap_or(0)));
        if self.input_has_cache {
            usage.input_tokens = without(usage.input_tokens, usage.cache_read_tokens);
            usage.input_tokens = without(usage.input_tokens, usage.cache_write_tokens);
        }
        if self.output_has_reasoning {
            usage.output_tokens = without(usage.output_tokens, usage.reasoning_tokens);
        }
        (usage.tokens_span, usage.cost_span) = (self.tokens_span, self.cost_span);
        Some(usage)
    }
}

impl GiveRateLimit {
    pub(super) fn read(&self, item: &Value) -> RateLimit {
        let time = |field: &Option<Field>, unit: fn(&Value) -> Option<u64>| field.as_ref()?.read(item, unit);
        RateLimit {
            reset_at_ms: time(&self.reset_at, instant),
            retry_after_ms: time(&self.retry_after_ms, whole_number).or(time(&self.retry_after_s, seconds)),
            retrying: self.retrying,
            message: text(self.message.as_ref(), item),
        }
    }
}

impl GivePermissionRequest {
    pub(super) fn read(&self, item: &Value) -> Option<PermissionRequest> {
        Some(PermissionRequest {
            request_id: self.request_id.text(item)?,
            tool: self.tool.text(item)?,
            input: self.input.as_ref().and_then(|field| field.read(item, Some)).cloned().unwrap_or_default(),
            description: text(self.description.as_ref(), item),
        })
    }
}

impl GiveEnd {
    pub(super) fn read(&self, item: &Value) -> End {
        End { status: self.status, reason: text(self.reason.as_ref(), item) }
    }
}

fn text(field: Option<&Field>, item: &Value) -> Option<String> {
    field?.text(item)
}

fn cost(value: &Value) -> Option<f64> {
    value.as_f64().filter(|cost| cost.is_finite() && *cost >= 0.0)
}

/// A point in time. No time that a CLI means lies before 1973 in milliseconds or after 5138 in seconds.
fn instant(value: &Value) -> Option<u64> {
    const MILLISECONDS_FROM: f64 = 1e11;
    if number(value)? < MILLISECONDS_FROM { seconds(value) } else { whole_number(value) }
}

/// A span in seconds, as milliseconds.
fn seconds(value: &Value) -> Option<u64> {
    whole(number(value)? * 1000.0)
}

fn whole_number(value: &Value) -> Option<u64> {
    whole(number(value)?)
}

/// HTTP headers arrive as texts, so a number may be one.
fn number(value: &Value) -> Option<f64> {
    value.as_f64().or_else(|| value.as_str()?.trim().parse().ok())
}

/// A `Duration` refuses what is negative, too large or no number; a cast would make something of it.
fn whole(number: f64) -> Option<u64> {
    Duration::try_from_secs_f64(number).ok().map(|duration| duration.as_secs())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_wait_may_be_a_fraction_or_a_text() {
        assert_eq!(seconds(&json!(1.5)), Some(1_500));
        assert_eq!(seconds(&json!(" 3600 ")), Some(3_600_000));
        assert_eq!(seconds(&json!(1.001)), Some(1_001));
        assert_eq!(whole_number(&json!(553.87)), Some(553));
        assert_eq!(whole_number(&json!(2000)), Some(2_000));
    }

    #[test]
    fn an_instant_is_in_seconds_or_milliseconds() {
        assert_eq!(instant(&json!(1_794_767_169)), Some(1_794_767_169_000));
        assert_eq!(instant(&json!(1_794_767_169_123_u64)), Some(1_794_767_169_123));
        assert_eq!(instant(&json!("1794767169")), Some(1_794_767_169_000));
    }

    #[test]
    fn senseless_numbers_are_absent() {
        for value in [
            json!(-1),
            json!(-0.5),
            json!(1e300),
            json!(u64::MAX),
            json!("NaN"),
            json!("inf"),
            json!("1e400"),
            json!("Sun, 15 Nov 2026 18:54:33 GMT"),
            json!(""),
            json!(true),
            json!([1]),
            json!({}),
            json!(null),
        ] {
            assert_eq!(seconds(&value), None, "{value}");
        }
        assert_eq!(cost(&json!(-0.01)), None);
        assert_eq!(cost(&json!("0.01")), None);
        assert_eq!(cost(&json!(0.01)), Some(0.01));
    }
}
