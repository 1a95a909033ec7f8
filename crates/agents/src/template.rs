//! A text with places for values, such as `--model={model}`.
//!
//! `{name}` is the value as it is, `{name:json}` the value as JSON: a text with its quotes and escapes. `{{` is a
//! plain `{`; every other brace stands for itself, so that JSON can be written as it is. A value never becomes more
//! than the one argument or the one line that it stands in.

use alloc::{
    format,
    string::{String, ToString},
    vec::Vec,
};
use core::{fmt, marker::PhantomData};

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};
use serde_json::Value;

/// The values that a template may name.
pub trait Names {
    /// Their names.
    const ALL: &'static [&'static str];
}

/// The values of a launch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LaunchNames;

impl Names for LaunchNames {
    const ALL: &'static [&'static str] = &[
        "prompt",
        "guide",
        "guide_file",
        "model",
        "max_turns",
        "tools",
        "mcp_config",
        "conversation",
        "new_conversation",
    ];
}

/// The values of a message to a running agent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MessageNames;

impl Names for MessageNames {
    const ALL: &'static [&'static str] = &["text"];
}

/// The values of a reply to a permission request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PermissionNames;

impl Names for PermissionNames {
    const ALL: &'static [&'static str] = &["request_id", "tool", "input", "message"];
}

/// A template whose names are known to exist.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Template<N> {
    text: String,
    names: PhantomData<N>,
}

/// One piece of a template.
enum Piece<'a> {
    Literal(&'a str),
    Value { name: &'a str, json: bool },
}

impl<N: Names> Template<N> {
    /// Reads a template; the error says which name is not one.
    pub fn parse(text: &str) -> Result<Self, String> {
        for piece in pieces(text) {
            if let Piece::Value { name, .. } = piece
                && !N::ALL.contains(&name)
            {
                let expected = N::ALL.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ");
                return Err(format!("unknown placeholder `{name}`, expected one of {expected}"));
            }
        }
        Ok(Template { text: text.to_string(), names: PhantomData })
    }

    /// A template that gives just this text.
    pub fn literal(text: &str) -> Self {
        Template { text: text.replace('{', "{{"), names: PhantomData }
    }

    /// Whether it has a place for this value.
    pub fn names(&self, wanted: &str) -> bool {
        pieces(&self.text).iter().any(|piece| matches!(piece, Piece::Value { name, .. } if *name == wanted))
    }

    /// The text with its values, or the name of the first that is not given.
    pub fn fill(&self, value: impl Fn(&str) -> Option<Value>) -> Result<String, &str> {
        let mut filled = String::new();
        for piece in pieces(&self.text) {
            match piece {
                Piece::Literal(text) => filled.push_str(text),
                Piece::Value { name, json } => match value(name).ok_or(name)? {
                    Value::String(text) if !json => filled.push_str(&text),
                    other => filled.push_str(&other.to_string()),
                },
            }
        }
        Ok(filled)
    }
}

impl<N> fmt::Display for Template<N> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl<N> Serialize for Template<N> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.text)
    }
}

impl<'de, N: Names> Deserialize<'de> for Template<N> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        Template::parse(&text).map_err(de::Error::custom)
    }
}

fn pieces(text: &str) -> Vec<Piece<'_>> {
    let mut pieces = Vec::new();
    let mut literal_start = 0;
    let mut position = 0;
    while let Some(found) = text[position..].find('{') {
        let brace = position + found;
        let rest = &text[brace + 1..];
        if rest.starts_with('{') {
            pieces.push(Piece::Literal(&text[literal_start..=brace]));
            position = brace + 2;
            literal_start = position;
        } else if let Some((name, json, length)) = placeholder(rest) {
            pieces.push(Piece::Literal(&text[literal_start..brace]));
            pieces.push(Piece::Value { name, json });
            position = brace + 1 + length;
            literal_start = position;
        } else {
            position = brace + 1;
        }
    }
    pieces.push(Piece::Literal(&text[literal_start..]));
    pieces
}

/// The name behind an opening brace, whether it is wanted as JSON, and the length up to and with the closing brace.
fn placeholder(rest: &str) -> Option<(&str, bool, usize)> {
    let end = rest.find('}')?;
    let inside = &rest[..end];
    let (name, json) = inside.strip_suffix(":json").map_or((inside, false), |name| (name, true));
    let is_name = !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'_');
    is_name.then_some((name, json, end + 1))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn fill(text: &str) -> Result<String, String> {
        let template = Template::<PermissionNames>::parse(text)?;
        let filled = template.fill(|name| match name {
            "tool" => Some(json!("Ba\"sh\n")),
            "input" => Some(json!({ "command": "{tool} é" })),
            _ => None,
        });
        filled.map_err(|name| format!("no {name}"))
    }

    #[test]
    fn values_are_put_in_once_and_as_they_are() {
        for (text, expected) in [
            ("", ""),
            ("plain", "plain"),
            ("a{tool}b", "aBa\"sh\nb"),
            ("{tool:json}", r#""Ba\"sh\n""#),
            (r#"{"a":{"b":{input:json}}}"#, r#"{"a":{"b":{"command":"{tool} é"}}}"#),
            ("{input}", r#"{"command":"{tool} é"}"#),
            ("{{tool}", "{tool}"),
            ("{{{tool}", "{Ba\"sh\n"),
            ("{ tool }", "{ tool }"),
            ("{", "{"),
            ("{}", "{}"),
            ("}{tool", "}{tool"),
            ("{:json}", "{:json}"),
        ] {
            assert_eq!(fill(text).as_deref(), Ok(expected), "{text}");
        }
    }

    #[test]
    fn a_name_that_is_none_is_found_at_once() {
        assert_eq!(
            fill("{tol}").unwrap_err(),
            "unknown placeholder `tol`, expected one of `request_id`, `tool`, `input`, `message`"
        );
        assert_eq!(fill("{message}").unwrap_err(), "no message");
    }

    #[test]
    fn a_literal_gives_itself() {
        for text in ["awk '{print}'", "{prompt}", "{{x}}", "{{", ""] {
            let template = Template::<LaunchNames>::literal(text);
            assert_eq!(template.fill(|_| None).as_deref(), Ok(text));
            assert_eq!(Template::parse(&template.to_string()), Ok(template));
        }
    }
}
