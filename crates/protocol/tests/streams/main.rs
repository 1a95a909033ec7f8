//! Structured streams from end to end: whole sessions of each CLI in, items out.

use expect_test::Expect;
use ostler_protocol::{
    Format, Item, Parser, Settings,
    stream::{Cli, Table},
};
use serde_json::{Value, json};

mod bytes;
mod claude;
mod codex;
mod fences;
mod gemini;
mod marks;
mod opencode;
mod recorded;

/// A question as an agent prints it, escaped for JSON.
const QUESTION: &str =
    r"[USER_QUESTION]\ncategory: business\nquestion: Which?\nrequired: true\n[/USER_QUESTION]";

/// Parses events, with [`QUESTION`] where `<question>` stands in them, and shows the items.
fn check(cli: Cli, events: &[&str], expect: Expect) {
    let stream = events.join("\n") + "\n";
    check_bytes(cli, Settings::default(), stream.replace("<question>", QUESTION).as_bytes(), expect);
}

/// Shows each item with the numbers of its first and last line and, unless it is the first there, its index.
#[expect(clippy::needless_pass_by_value, reason = "an inline snapshot is written in the call")]
fn check_bytes(cli: Cli, settings: Settings, stream: &[u8], expect: Expect) {
    let items = parse(cli, &settings, stream, usize::MAX);
    for length in [1, 7] {
        assert_eq!(items, parse(cli, &settings, stream, length), "chunks of {length}");
    }
    expect.assert_eq(&items.iter().map(|item| show(item, stream)).collect::<Vec<_>>().join("\n"));
}

fn parse(cli: Cli, settings: &Settings, stream: &[u8], length: usize) -> Vec<Item> {
    let mut parser = Parser::new(Format::Structured(Table::builtin(cli)), settings.clone());
    stream.chunks(length).for_each(|chunk| parser.push(chunk));
    parser.finish();
    parser.collect()
}

fn show(item: &Item, stream: &[u8]) -> String {
    let line = |offset| {
        let before = usize::try_from(offset).ok().and_then(|offset| stream.get(..offset));
        before.expect("an offset in the stream").split(|&byte| byte == b'\n').count()
    };
    let (first, last) = (line(item.offset), line(item.end));
    let lines = if first == last { first.to_string() } else { format!("{first}-{last}") };
    let mut fields = json!(item);
    if let Value::Object(fields) = &mut fields {
        let place = ["kind", "offset", "end", "index"];
        fields.retain(|key, value| !place.contains(&key.as_str()) && !value.is_null());
        // Where nothing else is said, it is an event of the CLI, complete in its line.
        if fields["trust"] == "stream" {
            fields.retain(|key, _| key != "trust" && key != "ended_by");
        }
    }
    let index = if item.index == 0 { String::new() } else { format!("+{}", item.index) };
    format!("{lines}{index} {} {fields}", item.what.kind())
}
