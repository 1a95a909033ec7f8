//! What an agent on a terminal is told where a line of it is too long: what is long stands in a file, and the line says
//! in which. Who brings something renders it here, whatever it is.
//!
//! It is pure: whoever calls it says how a text is kept. The same text kept in the same place is told in the same words.

use alloc::{
    format,
    string::{String, ToString},
    vec::Vec,
};

use ostler_agents::Agent;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::{office::Reference, words};

/// The longest line that a terminal in its usual mode passes on, without its newline; it cuts the rest without a word.
pub const TERMINAL_LINE_BYTES_MAX: usize = 4095;

/// So much is left for each file that a line names.
const REFERENCE_BYTES: usize = 512;

/// How something is told that is too long for a terminal.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Long {
    /// They are words, which the agent's table wraps: all of them stand in a file.
    Words,
    /// It is an object in JSON: of a text that is too long, it has the file instead.
    Line,
}

/// Whether an agent reads all of this when it is written to its input.
pub fn fits(agent: &Agent, text: &str) -> bool {
    !agent.reads_terminal() || text.lines().all(|line| line.len() <= TERMINAL_LINE_BYTES_MAX)
}

/// The bytes for the input of an agent that cannot be told this as it is.
pub fn by_file<E>(
    korean: bool,
    (text, long): (&str, Long),
    mut keep: impl FnMut(&str) -> Result<Reference, E>,
) -> Result<String, E> {
    match long {
        Long::Words => {
            // Who speaks is said in a line of its own, and agents go by it.
            let is_head = |head: &str| head.starts_with('[') && head.len() <= REFERENCE_BYTES;
            let (head, rest) = text.split_once('\n').filter(|(head, _)| is_head(head)).unzip();
            // So is where it ends.
            let is_tail = |tail: &str| tail.starts_with("[/") && tail.len() <= REFERENCE_BYTES;
            let (rest, tail) = match rest.and_then(|rest| rest.rsplit_once('\n')) {
                Some((rest, tail)) if is_tail(tail) => (rest, Some(tail)),
                _ => (rest.unwrap_or(text), None),
            };
            let file = words::office::read_file(korean, &keep(rest)?);
            let lines = [head, Some(file.as_str()), tail];
            let words = lines.into_iter().flatten().collect::<Vec<&str>>().join("\n");
            // Who reads a terminal reads lines, or nothing but its prompt.
            Ok(format!("{}\n", words.trim_end_matches('\n')))
        }
        Long::Line => match object(text) {
            Some(line) => shortened(line, keep),
            None => Ok(text.to_string()),
        },
    }
}

/// What a line of JSON says, if it is an object with a type.
pub(crate) fn object(line: &str) -> Option<Map<String, Value>> {
    let fields: Map<String, Value> = serde_json::from_str(line).ok()?;
    fields.get("type").is_some_and(Value::is_string).then_some(fields)
}

/// Puts the longest texts of a line into files, one after the other, until the rest is short enough. Type and ids stay.
fn shortened<E>(
    mut fields: Map<String, Value>,
    mut keep: impl FnMut(&str) -> Result<Reference, E>,
) -> Result<String, E> {
    let mut files = 0;
    while length(&fields) > TERMINAL_LINE_BYTES_MAX.saturating_sub(files * REFERENCE_BYTES) {
        let texts = fields.iter().filter_map(|(name, value)| Some((name, value.as_str()?)));
        let texts = texts.filter(|(name, text)| *name != "type" && text.len() > REFERENCE_BYTES);
        let longest = texts.max_by_key(|(_, text)| text.len());
        let Some((name, text)) = longest.map(|(name, text)| (name.clone(), text.to_string())) else { break };
        fields.remove(&name);
        files += 1;
        let Reference { path, bytes, sha256 } = keep(&text)?;
        fields.insert(
            format!("{name}File"),
            serde_json::json!({ "path": path, "bytes": bytes, "sha256": sha256 }),
        );
    }
    Ok(format!("{}\n", Value::Object(fields)))
}

/// How long a line is without the files that it names.
fn length(fields: &Map<String, Value>) -> usize {
    let own = fields.iter().filter(|(_, value)| !value.is_object());
    own.map(|(name, value)| name.len() + value.to_string().len() + 4).sum::<usize>() + 2
}

#[cfg(test)]
mod tests;
