//! Every message that the five source documents show, and what has to come of it.
//!
//! 000 and 002 define the block dialect, 001 the office dialect, 003 the thin dialect. 004 is about graphs of
//! agents and has no messages of its own: what its agents report after `=== AGENT_RESULT ===` is for whoever
//! reads their output, and to this parser it is text.

use expect_test::Expect;
use ostler_protocol::{
    Format, Item, Parser, Settings, What,
    fact::Fact,
    stream::{Cli, Table},
};
use serde_json::{Value, json};

mod document_000;
mod document_001;
mod document_002;
mod document_003;
mod text;

/// Parses what a program prints and shows the items, one per line, without their places.
#[expect(clippy::needless_pass_by_value, reason = "an inline snapshot is written in the call")]
fn check(input: &str, expect: Expect) {
    expect.assert_eq(&parse(input).iter().map(show).collect::<Vec<_>>().join("\n"));
}

fn parse(input: &str) -> Vec<Item> {
    let whole = parse_in_chunks(input, input.len().max(1));
    assert_eq!(whole, parse_in_chunks(input, 1), "the cuts must not matter");
    let printed: Vec<_> = whole.iter().map(|item| &item.what).collect();
    for cli in Cli::ALL {
        let mut said = say(cli, input);
        // That the model replies is the stream's own word.
        said.retain(|item| !matches!(item.what, What::Fact(Fact::InputHeard(_))));
        assert!(said.iter().all(|item| item.mark.is_none()), "{}: nobody else said it", cli.name());
        assert_eq!(said.iter().map(|item| &item.what).collect::<Vec<_>>(), printed, "{}", cli.name());
    }
    whole
}

/// The same as an assistant says it in a structured stream.
fn say(cli: Cli, input: &str) -> Vec<Item> {
    let event = match cli {
        Cli::Claude => {
            json!({ "type": "assistant", "message": { "content": [{ "type": "text", "text": input }] } })
        }
        Cli::Codex => json!({ "type": "item.completed", "item": { "type": "agent_message", "text": input } }),
        Cli::Gemini => json!({ "type": "message", "role": "assistant", "content": input }),
        Cli::Opencode => json!({ "type": "text", "part": { "text": input } }),
    };
    let settings = Settings { thin_role: true, ..Settings::default() };
    let mut parser = Parser::new(Format::Structured(Table::builtin(cli)), settings);
    parser.push(event.to_string().as_bytes());
    parser.finish();
    parser.collect()
}

fn parse_in_chunks(input: &str, length: usize) -> Vec<Item> {
    let mut parser = Parser::new(Format::Text, Settings { thin_role: true, ..Settings::default() });
    input.as_bytes().chunks(length).for_each(|chunk| parser.push(chunk));
    parser.finish();
    parser.collect()
}

/// The kind and the fields that say something.
fn show(item: &Item) -> String {
    let mut fields = json!(item);
    if let Value::Object(fields) = &mut fields {
        let place = ["kind", "offset", "end", "index", "trust", "ended_by"];
        fields.retain(|key, value| !place.contains(&key.as_str()) && !value.is_null());
    }
    format!("{} {fields}", item.what.kind())
}
