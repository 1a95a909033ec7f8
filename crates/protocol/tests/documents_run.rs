//! Runs the examples of the documents, so that what they show is what happens.
//!
//! An example is a fenced block called `ostler`, directly followed by one called `jsonl` with the expected items.
//! Only the keys that are shown are compared, but every item has to be shown. Words behind `ostler` say how to
//! read it: `format=` with the name of a CLI, or `table` for the last `toml table` block above it; `nonce=` with the
//! session's nonce; `escapes` if `\e` and `\r` stand for the bytes. Blocks called `reply` and `thin` hold what
//! Ostler says, and have to survive being read and written again; the engine's tests write those called `delivery`.

use std::{fs, path::PathBuf};

use ostler_protocol::{
    Format, Parser, Settings,
    reply::Reply,
    stream::{Cli, Table},
    thin::Thin,
};
use serde_json::Value;

#[test]
fn the_protocol_pages_hold() {
    let english = check("docs/protocol.md");
    let korean = check("docs/ko/protocol.md");
    assert!(english.examples >= 15, "only {} examples were found", english.examples);
    assert!(english.replies >= 6, "only {} replies were found", english.replies);
    assert!(english.texts >= 2, "only {} line messages were found", english.texts);
    assert_eq!(english, korean, "both languages show the same");
}

/// How much of everything a page shows.
#[derive(Debug, Default, PartialEq)]
struct Shown {
    examples: usize,
    items: usize,
    replies: usize,
    texts: usize,
}

/// Checks everything that a page shows.
fn check(page: &str) -> Shown {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../..").join(page);
    let document = fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let blocks = blocks(&document);
    let mut table = None;
    let mut shown = Shown::default();
    for (block, next) in blocks.iter().zip(blocks.iter().skip(1).map(Some).chain([None])) {
        let place = format!("{page}:{}", block.first_line);
        match block.info.split_whitespace().collect::<Vec<_>>()[..] {
            ["toml", "table"] => {
                table = Some(Table::parse(block.text).unwrap_or_else(|error| panic!("{place}: {error}")));
            }
            ["ostler", ref words @ ..] => {
                let expected =
                    next.filter(|next| next.info == "jsonl" && next.first_line == block.last_line + 1);
                let expected = expected.unwrap_or_else(|| panic!("{place}: no `jsonl` block follows"));
                shown.examples += 1;
                shown.items += check_example(&place, words, block.text, expected.text, table.as_ref());
            }
            ["reply"] => shown.replies += check_replies(&place, block.text),
            ["thin"] => {
                let thin =
                    Thin::parse(block.text).unwrap_or_else(|| panic!("{place}: is not a thin message"));
                assert_eq!(format!("{thin}\n"), block.text, "{place}");
                shown.texts += 1;
            }
            _ => {}
        }
    }
    shown
}

/// Reads an example whole and byte by byte. Gives the number of its items.
fn check_example(place: &str, words: &[&str], text: &str, expected: &str, table: Option<&Table>) -> usize {
    let mut format = Format::Text;
    let mut settings = Settings { thin_role: true, ..Settings::default() };
    let mut text = text.to_owned();
    for word in words {
        match word.split_once('=') {
            Some(("format", "table")) => {
                format = Format::Structured(table.expect("a table stands above the example").clone());
            }
            Some(("format", name)) => {
                let cli = Cli::ALL.into_iter().find(|cli| cli.name() == name);
                let cli = cli.unwrap_or_else(|| panic!("{place}: no CLI is called {name}"));
                format = Format::Structured(Table::builtin(cli));
            }
            Some(("nonce", nonce)) => settings.nonce = Some(nonce.parse().expect("a valid nonce")),
            None if *word == "escapes" => text = text.replace("\\e", "\x1b").replace("\\r", "\r"),
            _ => panic!("{place}: nobody knows `{word}`"),
        }
    }
    let heard = hear(Parser::new(format.clone(), settings.clone()), text.as_bytes(), text.len());
    assert_eq!(hear(Parser::new(format, settings), text.as_bytes(), 1), heard, "{place}: byte by byte");

    let expected: Vec<Value> = expected
        .lines()
        .map(|line| serde_json::from_str(line).unwrap_or_else(|error| panic!("{place}: {error} in {line}")))
        .collect();
    for (heard, expected) in heard.iter().zip(&expected) {
        assert!(holds(heard, expected), "{place}:\n   heard {heard}\nexpected {expected}");
    }
    assert_eq!(heard.len(), expected.len(), "{place}: the number of items in {heard:#?}");
    heard.len()
}

/// The items of a stream that comes in pieces of some size.
fn hear(mut parser: Parser, stream: &[u8], size: usize) -> Vec<Value> {
    let mut items = Vec::new();
    for piece in stream.chunks(size.max(1)) {
        parser.push(piece);
        items.extend(parser.by_ref());
    }
    parser.finish();
    items.extend(parser);
    items.iter().map(|item| serde_json::to_value(item).expect("an item can be written as JSON")).collect()
}

/// Whether everything expected is there. Objects may hold more, lists may not.
fn holds(heard: &Value, expected: &Value) -> bool {
    match (heard, expected) {
        (Value::Object(heard), Value::Object(expected)) => {
            expected.iter().all(|(key, value)| heard.get(key).is_some_and(|heard| holds(heard, value)))
        }
        _ => heard == expected,
    }
}

fn check_replies(place: &str, text: &str) -> usize {
    for line in text.lines() {
        let reply = Reply::decode(line).unwrap_or_else(|error| panic!("{place}: {error} in {line}"));
        assert_eq!(reply.encode(), format!("{line}\n"), "{place}");
    }
    text.lines().count()
}

/// A fenced block of a page.
struct Block<'a> {
    info: &'a str,
    text: &'a str,
    /// The lines of its fences, from 1.
    first_line: usize,
    last_line: usize,
}

fn blocks(document: &str) -> Vec<Block<'_>> {
    const FENCE: &str = "```";
    let mut blocks = Vec::new();
    let mut open = None;
    let mut start = 0;
    for (number, line) in document.split_inclusive('\n').enumerate() {
        let end = start + line.len();
        match (open, line.trim_end().strip_prefix(FENCE)) {
            (None, Some(info)) => open = Some((info, end, number + 1)),
            (Some((info, from, first_line)), Some("")) => {
                let text = &document[from..start];
                blocks.push(Block { info, text, first_line, last_line: number + 1 });
                open = None;
            }
            _ => {}
        }
        start = end;
    }
    assert!(open.is_none(), "a code block is never closed");
    blocks
}

#[test]
fn a_page_that_shows_something_else_is_found_out() {
    let value = |text: &str| serde_json::from_str::<Value>(text).expect("JSON");
    let heard = value(r#"{"kind":"ready","groups":[["T1"]],"quoted":{"kind":"wait","x":1}}"#);
    assert!(holds(&heard, &value(r#"{"kind":"ready","quoted":{"kind":"wait"}}"#)));
    assert!(!holds(&heard, &value(r#"{"kind":"ready","phase":null}"#)));
    assert!(!holds(&heard, &value(r#"{"groups":[["T1"],["T2"]]}"#)));
    assert!(!holds(&heard, &value(r#"{"quoted":{"kind":"done"}}"#)));
}
