//! `cargo xtask demo`: the parser at work on a sample stream.
//!
//! Builds the `ostler` binary and shows, one after the other, the stream as it looks on a terminal and what
//! `ostler parse` hears in it.

use std::fs;

use serde_json::Value;

use crate::{
    error::Error,
    process::{cargo, executable, output, program, root},
};

const SAMPLE: &str = "demo/stream.txt";

/// Fields that every item has, or that say what the stream shows anyway; the line shows the others.
const LEFT_OUT: [&str; 10] =
    ["kind", "offset", "end", "index", "trust", "ended_by", "raw", "extra", "warnings", "severity"];

pub(crate) fn run() -> Result<(), Error> {
    println!("Building ostler …");
    let ostler = executable(cargo().args(["build", "--quiet", "--package", "ostler"]), "ostler")?;

    println!("\nAn agent prints text: logs, colours, progress bars, and now and then a request.");
    println!("This is {SAMPLE} as it looks on a terminal:\n");
    let path = root().join(SAMPLE);
    let stream = fs::read(&path).map_err(|source| Error::Read { path, source })?;
    for line in String::from_utf8_lossy(&stream).lines() {
        let reset = if line.contains('\x1b') { "\x1b[0m" } else { "" };
        println!("  │ {}{reset}", last_state(line));
    }

    println!("\nAnd this is what Ostler hears in it, with the byte at which each item begins:\n");
    for line in output(program(&ostler).args(["parse", SAMPLE]))?.lines() {
        println!("{}", readable(line));
    }

    println!("\nTo try next:");
    println!("  cargo run -p ostler -- parse {SAMPLE}            every field, one JSON object per item");
    println!("  cargo run -p ostler -- parse --chunk 1 {SAMPLE}  the same items, read byte by byte");
    println!("  cargo run -p ostler -- guide                            what an agent is told about asking");
    Ok(())
}

/// What a terminal shows of a line that a progress bar has drawn over and over.
fn last_state(line: &str) -> &str {
    line.trim_end_matches('\r').rsplit('\r').next().unwrap_or(line)
}

/// One item on one line. What is not a JSON object is shown as it is.
fn readable(line: &str) -> String {
    let Ok(Value::Object(item)) = serde_json::from_str(line) else {
        return line.to_owned();
    };
    let fields: Vec<String> = item
        .iter()
        .filter(|(key, value)| !LEFT_OUT.contains(&key.as_str()) && !is_empty(value))
        .map(|(key, value)| format!("{key}={}", shortened(value)))
        .collect();
    let kind = item.get("kind").and_then(Value::as_str).unwrap_or("?");
    let offset = item.get("offset").map(Value::to_string).unwrap_or_default();
    format!("  {offset:>5}  {kind:<19} {}", fields.join("  ")).trim_end().to_owned()
}

fn is_empty(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::Array(values) => values.is_empty(),
        Value::Object(values) => values.is_empty(),
        _ => false,
    }
}

fn shortened(value: &Value) -> String {
    const WIDTH: usize = 44;
    let text = value.to_string();
    if text.chars().count() <= WIDTH {
        return text;
    }
    text.chars().take(WIDTH - 1).chain(['…']).collect()
}

#[cfg(test)]
mod tests {
    use super::{last_state, readable};

    #[test]
    fn an_item_becomes_one_line() {
        let line = r#"{"kind":"wait","offset":7,"end":11,"index":0,"trust":"plain","note":"x","none":[]}"#;
        assert_eq!(readable(line), "      7  wait                note=\"x\"");
        assert_eq!(readable("not json"), "not json");
    }

    #[test]
    fn a_progress_bar_shows_its_last_state() {
        assert_eq!(last_state("10 %\r50 %\r100 %"), "100 %");
        assert_eq!(last_state("plain\r"), "plain");
    }
}
