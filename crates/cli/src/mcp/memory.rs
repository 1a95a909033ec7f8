//! The tool with which an agent searches the memory of its project.

use ostler_server::{channel::Channel, client::encoded};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::{
    commands::memory::{notes, shown},
    screen::Screen,
    words::{Language, Words},
};

/// The name of the tool.
pub(super) const NAME: &str = "search_memory";

/// So many files are named where the model says nothing.
const FILES: u32 = 10;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Searching {
    words: Vec<String>,
    #[serde(default)]
    layer: Option<u8>,
    #[serde(default, rename = "in")]
    inside: Option<String>,
    #[serde(default)]
    limit: Option<u32>,
}

/// The tool, with what it takes.
pub(super) fn tool() -> Value {
    json!({
        "name": NAME,
        "title": "Search the project's memory",
        "description": "Find what is written down about this project: context, plans, notes, decisions and reports below \
                        .claude/memory. Gives the files that hold every word, best first. Begin with layer 1 or 2, and read \
                        whole files only where you need them.",
        "inputSchema": {
            "type": "object",
            "properties": {
                "words": {
                    "type": "array",
                    "items": { "type": "string" },
                    "description": "Words that a file must hold, all of them, in any case; also parts of words and identifiers.",
                },
                "layer": {
                    "type": "integer",
                    "minimum": 1,
                    "maximum": 3,
                    "description": "1: names of files; 2: the lines with a word, with five around them; 3: whole files. \
                                    Without it: names, and layer 2 of the best five.",
                },
                "in": { "type": "string", "description": "Another directory of the project with Markdown files." },
                "limit": { "type": "integer", "minimum": 1, "maximum": 1000, "description": "At most so many files; 10, if you say nothing." },
            },
            "required": ["words"],
            "additionalProperties": false,
        },
    })
}

/// The query with these arguments, or what is wrong with them.
pub(super) fn query(arguments: &Value) -> Result<String, String> {
    let read = serde_json::from_value(arguments.clone());
    let Searching { words, layer, inside, limit } =
        read.map_err(|error| format!("The arguments make no sense: {error}"))?;
    let mut query = format!("text={}&limit={}", encoded(&words.join("\n")), limit.unwrap_or(FILES));
    query.extend(layer.map(|layer| format!("&layer={layer}")));
    query.extend(inside.map(|inside| format!("&in={}", encoded(&inside))));
    Ok(query)
}

/// What came of a search, and whether that is an error.
pub(super) async fn run(channel: &Channel, query: &str) -> (String, bool) {
    match channel.search_memory(query).await {
        Ok(found) => {
            let words = Words::new(Language::En);
            let mut said = shown(words, Screen::plain(), &found);
            for note in notes(words, &found) {
                said.extend([format!("({note})\n")]);
            }
            (said, false)
        }
        Err(error) => (error.to_string(), true),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arguments_become_a_query() {
        let check = |arguments: Value, expected: Option<&str>| {
            assert_eq!(query(&arguments).ok().as_deref(), expected, "{arguments}");
        };
        check(json!({ "words": ["인", "a b"] }), Some("text=%EC%9D%B8%0Aa%20b&limit=10"));
        check(
            json!({ "words": ["x"], "layer": 2, "in": "docs", "limit": 3 }),
            Some("text=x&limit=3&layer=2&in=docs"),
        );
        check(json!({}), None);
        check(json!({ "words": ["x"], "zzz": 1 }), None);
        check(json!({ "words": "x" }), None);
    }
}
