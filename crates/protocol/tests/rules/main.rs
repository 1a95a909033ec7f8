//! The rules that hold for every dialect: framing, places, limits, silence, trust, faults.

mod blocks;
mod faults;
mod framing;
mod limits;
mod office;
mod silence;
mod trust;

use expect_test::Expect;
use ostler_protocol::{Format, Item, Parser, Settings};
use serde_json::{Value, json};

/// Parses raw output whole and byte by byte, and shows the items, one per line.
#[expect(clippy::needless_pass_by_value, reason = "an inline snapshot is written in the call")]
fn check(input: &str, expect: Expect) {
    expect.assert_eq(&show(&parse(input.as_bytes(), &Settings::default())));
}

fn parse(input: &[u8], settings: &Settings) -> Vec<Item> {
    let whole = parse_in_chunks(input, input.len().max(1), settings);
    assert_eq!(whole, parse_in_chunks(input, 1, settings), "the cuts must not matter");
    whole
}

fn parse_in_chunks(input: &[u8], length: usize, settings: &Settings) -> Vec<Item> {
    let mut parser = Parser::new(Format::Text, settings.clone());
    input.chunks(length).for_each(|chunk| parser.push(chunk));
    parser.finish();
    parser.collect()
}

/// Each item with its place, its end, and the fields that say something.
fn show(items: &[Item]) -> String {
    let line = |item: &Item| {
        let mut fields = json!(item);
        if let Value::Object(fields) = &mut fields {
            let shown = ["kind", "offset", "end", "index", "trust", "ended_by"];
            fields.retain(|key, value| !shown.contains(&key.as_str()) && !value.is_null());
        }
        let ended_by = json!(item.ended_by);
        format!("{}..{} {} by {ended_by} {fields}", item.offset, item.end, item.what.kind())
    };
    items.iter().map(line).collect::<Vec<_>>().join("\n")
}
