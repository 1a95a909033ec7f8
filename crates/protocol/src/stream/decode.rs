//! Applies a table to one event.
//!
//! The parser calls it for each line of a structured stream. It never fails: an event that no rule knows
//! gives nothing, since CLIs add events with every version. It keeps no state; the caller joins fragments.

use alloc::{string::String, vec::Vec};

use serde_json::Value;

use super::table::{Rule, Table};
use crate::{fact::Fact, recent::Tool};

/// Something that an event holds.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Heard {
    /// Text in which signals may stand, spoken or quoted.
    Text {
        /// Whose text it is.
        provenance: Provenance,
        /// The text, never empty.
        text: String,
        /// Whether it goes on the running message; otherwise it is a whole one.
        fragment: bool,
        /// The id of the tool that printed it.
        tool: Option<String>,
    },
    /// A report of the CLI about itself.
    Fact(Fact),
    /// Nothing but that the message before has ended.
    MessageEnd,
}

/// Whose text it is. Only speech is said to Ostler; everything else is quoted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Provenance {
    /// The agent speaks.
    Speech,
    /// A tool printed it.
    ToolOutput,
    /// The CLI echoes what the agent was told.
    Prompt,
    /// An agent that the agent started speaks.
    SubAgent,
}

/// What an event holds: the session first and the end last, so that everything lies between them.
pub(crate) fn decode(table: &Table, event: &Value) -> Vec<Heard> {
    let table = &*table.rules;
    let mut heard = hear(&table.agent_session, event, |give, item| give.read(item).map(Fact::AgentSession));
    for (provenance, rules) in [
        (Provenance::Prompt, &table.prompt),
        (Provenance::ToolOutput, &table.tool_output),
        (Provenance::SubAgent, &table.sub_agent),
        (Provenance::Speech, &table.speech),
    ] {
        heard.extend(hear(rules, event, |give, item| {
            let text = give.read(item)?;
            Some(Heard::Text { provenance, text, fragment: give.fragment, tool: give.tool(item) })
        }));
    }
    heard.extend(hear(&table.permission_request, event, |give, item| {
        give.read(item).map(Fact::PermissionRequest)
    }));
    heard.extend(hear(&table.rate_limit, event, |give, item| Some(Fact::RateLimit(give.read(item)))));
    heard.extend(hear(&table.usage, event, |give, item| give.read(item).map(Fact::Usage)));
    heard.extend(hear(&table.end, event, |give, item| Some(Fact::End(give.read(item)))));
    if table.message_end.iter().any(|end| end.when.hold(event)) {
        heard.push(Heard::MessageEnd);
    }
    heard
}

/// The tools that begin in an event.
pub(super) fn tools(table: &Table, event: &Value) -> Vec<Tool> {
    first(&table.rules.tool, event, super::give::GiveTool::read)
}

/// The ids of the inputs that the CLI takes in an event.
pub(super) fn taken_inputs(table: &Table, event: &Value) -> Vec<String> {
    first(&table.rules.input_taken, event, super::give::GiveInputTaken::read)
}

/// Whether an event is a reply of the model.
pub(super) fn is_model_reply(table: &Table, event: &Value) -> bool {
    table.rules.model_reply.iter().any(|rule| rule.when.hold(event))
}

fn hear<G, T: Into<Heard>>(
    rules: &[Rule<G>],
    event: &Value,
    read: impl Fn(&G, &Value) -> Option<T>,
) -> Vec<Heard> {
    first(rules, event, |give, item| read(give, item).map(Into::into))
}

/// What the first rule gives that gives anything.
fn first<G, T>(rules: &[Rule<G>], event: &Value, read: impl Fn(&G, &Value) -> Option<T>) -> Vec<T> {
    rules
        .iter()
        .map(|rule| rule.items(event).into_iter().filter_map(|item| read(&rule.give, item)).collect())
        .find(|found: &Vec<T>| !found.is_empty())
        .unwrap_or_default()
}

impl From<Fact> for Heard {
    fn from(fact: Fact) -> Self {
        Heard::Fact(fact)
    }
}
