//! Where things stand in a CLI's structured stream: data, not code.
//!
//! A table is TOML, with one list of rules per kind of thing:
//!
//! ```toml
//! [[speech]]
//! when = { type = "assistant", "message.model" = { not = "<synthetic>" } }
//! each = "message.content[]"
//! item = { type = "text" }
//! give = { text = "text" }
//! ```
//!
//! `when` says which events a rule is for: a place in the event and what stands there, a literal, a list of
//! which one stands there, or tests (`present`, `not`, `starts_with`, `contains`). With `each`, the rule
//! looks at every value of that place instead of the whole event, and `item` picks among them. `give` names
//! the fields, each by its place or by several places of which the first that finds something counts. Of
//! the rules of one kind, the first that gives something for an event is the only one that counts.
//!
//! A message that comes in fragments ends at the next event that gives anything else, or that a `message_end` rule
//! names; an event that no rule knows does not end it.
//!
//! An input is heard when an `input_taken` rule has given its id and a `model_reply` rule holds after that. Without
//! `input_taken` rules, the first reply proves that the conversation holds the prompt of the process.
//!
//! Tables are read here and applied by the decoder; a mistake in one is found when it is read, never later.

use alloc::{borrow::ToOwned, string::String, sync::Arc, vec, vec::Vec};
use core::fmt;

use serde::Deserialize;
use serde_json::Value;

use super::{
    cli::Cli,
    condition::Conditions,
    give::{
        GiveAgentSession, GiveAnchor, GiveEnd, GiveInputTaken, GivePermissionRequest, GiveRateLimit,
        GiveText, GiveTool, GiveUsage,
    },
    path::Path,
};

/// How to read the events of one CLI. Cheap to clone: all sessions of a CLI share one.
#[derive(Debug, Clone, Deserialize)]
#[serde(from = "Rules")]
pub struct Table {
    pub(super) rules: Arc<Rules>,
}

/// The rules of a table, by what they give.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(super) struct Rules {
    pub(super) speech: Vec<Rule<GiveText>>,
    pub(super) tool_output: Vec<Rule<GiveText>>,
    pub(super) prompt: Vec<Rule<GiveText>>,
    pub(super) sub_agent: Vec<Rule<GiveText>>,
    /// A tool that begins. Only shown to people: it says nothing and is no fact.
    pub(super) tool: Vec<Rule<GiveTool>>,
    pub(super) agent_session: Vec<Rule<GiveAgentSession>>,
    pub(super) usage: Vec<Rule<GiveUsage>>,
    pub(super) rate_limit: Vec<Rule<GiveRateLimit>>,
    pub(super) permission_request: Vec<Rule<GivePermissionRequest>>,
    pub(super) end: Vec<Rule<GiveEnd>>,
    /// Places in the conversation that the CLI can go back to. They are looked up in what was printed when somebody
    /// needs one, and give no item.
    pub(super) anchor: Vec<Rule<GiveAnchor>>,
    /// Inputs that the CLI takes from its queue for the model's next request.
    pub(super) input_taken: Vec<Rule<GiveInputTaken>>,
    /// Replies of the model. Every input that was taken before is part of the conversation.
    pub(super) model_reply: Vec<PlainRule>,
    /// Events that give nothing and still end a message that came in fragments.
    pub(super) message_end: Vec<PlainRule>,
}

/// Events that say something by being there.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct PlainRule {
    pub(super) when: Conditions,
}

/// One way in which a thing of some kind stands in an event.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Rule<G> {
    #[serde(default)]
    when: Conditions,
    each: Option<Path>,
    #[serde(default)]
    item: Conditions,
    pub(super) give: G,
}

/// Why a table cannot be used.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TableError {
    /// It is not TOML, or not a table of rules.
    Invalid {
        /// The line, from 1, where the error tells it.
        line: Option<usize>,
        /// What is wrong there.
        reason: String,
    },
    /// No rule hears speech, so no signal would ever arrive.
    NoSpeech,
}

impl Table {
    /// Reads a table.
    pub fn parse(toml: &str) -> Result<Table, TableError> {
        let table: Table = toml::from_str(toml).map_err(|error| TableError::Invalid {
            line: error
                .span()
                .and_then(|span| toml.get(..span.start))
                .map(|before| before.split('\n').count()),
            reason: error.message().to_owned(),
        })?;
        if table.rules.speech.is_empty() { Err(TableError::NoSpeech) } else { Ok(table) }
    }

    /// The place in the conversation that an event names, if the CLI can go back to it.
    pub fn anchor(&self, event: &Value) -> Option<String> {
        let mut found = self.rules.anchor.iter().flat_map(|rule| {
            let items = rule.items(event).into_iter();
            items.filter_map(|item| rule.give.read(item))
        });
        found.next()
    }

    /// The table that comes with Ostler.
    pub fn builtin(cli: Cli) -> Table {
        Table::parse(cli.table_toml()).expect("a built-in table is part of the program and tested")
    }

    /// Whether some event says how many tokens were used.
    pub fn states_tokens(&self) -> bool {
        self.rules.usage.iter().any(|rule| rule.give.has_tokens())
    }

    /// Whether some event says what it cost.
    pub fn states_cost(&self) -> bool {
        self.rules.usage.iter().any(|rule| rule.give.has_cost())
    }

    /// Whether the stream proves that the conversation holds the prompt in the arguments of the process.
    pub fn proves_prompt(&self) -> bool {
        self.rules.input_taken.is_empty() && !self.rules.model_reply.is_empty()
    }

    /// Whether the stream proves that the conversation holds an input, by the id under which it was written.
    pub fn proves_input(&self) -> bool {
        !self.rules.input_taken.is_empty() && !self.rules.model_reply.is_empty()
    }

    /// Whether some event names the model.
    pub fn names_model(&self) -> bool {
        self.rules.agent_session.iter().any(|rule| rule.give.has_model())
    }
}

impl From<Rules> for Table {
    fn from(rules: Rules) -> Self {
        Table { rules: Arc::new(rules) }
    }
}

impl<G> Rule<G> {
    /// What the rule reads from: nothing, the event, or the values that `each` and `item` pick from it.
    pub(super) fn items<'v>(&self, event: &'v Value) -> Vec<&'v Value> {
        let mut items = match &self.each {
            _ if !self.when.hold(event) => Vec::new(),
            Some(path) => path.all(event),
            None => vec![event],
        };
        items.retain(|item| self.item.hold(item));
        items
    }
}

impl fmt::Display for TableError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            TableError::Invalid { line: Some(line), reason } => write!(f, "line {line}: {reason}"),
            TableError::Invalid { line: None, reason } => f.write_str(reason),
            TableError::NoSpeech => f.write_str("no `speech` rule, so no signal would ever arrive"),
        }
    }
}

impl core::error::Error for TableError {}

#[cfg(test)]
mod tests {
    use alloc::string::ToString;

    use expect_test::{Expect, expect};

    use super::*;

    #[expect(clippy::needless_pass_by_value, reason = "an inline snapshot is written in the call")]
    fn check(toml: &str, expect: Expect) {
        expect.assert_eq(&Table::parse(toml).expect_err("a table with a mistake").to_string());
    }

    #[test]
    fn every_builtin_table_parses() {
        for cli in Cli::ALL {
            assert!(Table::parse(cli.table_toml()).is_ok(), "{}", cli.name());
        }
    }

    #[test]
    fn an_unknown_key_is_an_error() {
        check(
            "[[speech]]\ngive = { text = 'a' }\nwhere = {}\n",
            expect!["line 3: unknown field `where`, expected one of `when`, `each`, `item`, `give`"],
        );
        check(
            "[[speech]]\ngive = { text = 'a', texts = 'b' }\n",
            expect!["line 2: unknown field `texts`, expected one of `text`, `fragment`, `tool`"],
        );
        check(
            "[[speech]]\nwhen = { a = { like = 'x' } }\ngive = { text = 'a' }\n",
            expect![
                "line 2: unknown field `like`, expected one of `present`, `not`, `starts_with`, `contains`"
            ],
        );
        check(
            "[[speech]]\nwhen = { a.b = 'x' }\ngive = { text = 'a' }\n",
            expect!["line 2: unknown field `b`, expected one of `present`, `not`, `starts_with`, `contains`"],
        );
    }

    #[test]
    fn an_unknown_kind_is_an_error() {
        check(
            "[[speech]]\ngive = { text = 'a' }\n\n[[song]]\ngive = { text = 'a' }\n",
            expect![
                "line 4: unknown field `song`, expected one of `speech`, `tool_output`, `prompt`, `sub_agent`, `tool`, `agent_session`, `usage`, `rate_limit`, `permission_request`, `end`, `anchor`, `input_taken`, `model_reply`, `message_end`"
            ],
        );
        check(
            "[[end]]\ngive = { status = 'maybe' }\n",
            expect!["line 2: unknown variant `maybe`, expected one of `success`, `error`, `aborted`"],
        );
    }

    #[test]
    fn a_missing_field_is_an_error() {
        check("[[speech]]\nwhen = { type = 'text' }\n", expect!["line 1: missing field `give`"]);
        check("[[speech]]\ngive = { fragment = true }\n", expect!["line 2: missing field `text`"]);
        check("[[agent_session]]\ngive = { model = 'm' }\n", expect!["line 2: missing field `id`"]);
        check(
            "[[permission_request]]\ngive = { request_id = 'i' }\n",
            expect!["line 2: missing field `tool`"],
        );
        check(
            "[[permission_request]]\ngive = { tool = 't' }\n",
            expect!["line 2: missing field `request_id`"],
        );
    }

    #[test]
    fn a_wrong_type_is_an_error() {
        check(
            "[[speech]]\ngive = { text = 7 }\n",
            expect!["line 2: invalid type: integer `7`, expected a string"],
        );
        check(
            "[[speech]]\neach = 'a..b'\ngive = { text = 'a' }\n",
            expect!["line 2: path `a..b` has an empty key"],
        );
        check(
            "[[speech]]\nwhen = { 'a.' = 1 }\ngive = { text = 'a' }\n",
            expect!["line 2: path `a.` has an empty key"],
        );
        check("speech = 'text'\n", expect![[r#"line 1: invalid type: string "text", expected a sequence"#]]);
        check("[[speech]\n", expect!["line 1: unclosed array table, expected `]`"]);
    }

    #[test]
    fn a_table_without_speech_is_an_error() {
        check("", expect!["no `speech` rule, so no signal would ever arrive"]);
    }
}
