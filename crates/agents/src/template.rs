//! A text with places for values, such as `--model={model}`.
//!
//! `{name}` is the value as it is, `{name:json}` the value as JSON: a text with its quotes and escapes.
//! `{name:words}`, which has to stand alone, is one argument per word: the value, cut at each single space. A number
//! stays with the word before it, by a tab: a CLI may take it for something else than text. `{{` is a plain `{`; every
//! other brace stands for itself, so that JSON can be written as it is.
//!
//! Nothing here is ever read by a shell: a value cannot become a flag, a command or a second line.

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
        "permission_mode",
        "mcp_config",
        "conversation",
        "anchor",
        "new_conversation",
        "ostler",
        "channel",
    ];
}

/// The values of a message to a running agent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MessageNames;

impl Names for MessageNames {
    const ALL: &'static [&'static str] = &["text", "id"];
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
    Value { name: &'a str, form: Form },
}

/// How a value is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Form {
    Plain,
    Json,
    Words,
}

/// What ends a name in a template, and the form it asks for.
const FORMS: [(&str, Form); 2] = [(":json", Form::Json), (":words", Form::Words)];

impl<N: Names> Template<N> {
    /// Reads a template; the error says which name is not one.
    pub fn parse(text: &str) -> Result<Self, String> {
        for piece in pieces(text) {
            let Piece::Value { name, form } = piece else { continue };
            if form == Form::Words && !stands_alone(text) {
                return Err(format!("`{{{name}:words}}` has to stand alone"));
            }
            if !N::ALL.contains(&name) {
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

    /// The text as it stands in its table.
    pub fn text(&self) -> &str {
        &self.text
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
                Piece::Value { name, form } => match value(name).ok_or(name)? {
                    Value::String(text) if form != Form::Json => filled.push_str(&text),
                    other => filled.push_str(&other.to_string()),
                },
            }
        }
        Ok(filled)
    }

    /// The arguments that it stands for: one, except for `{name:words}`.
    pub fn fill_arguments(&self, value: impl Fn(&str) -> Option<Value>) -> Result<Vec<String>, &str> {
        let filled = self.fill(value)?;
        let in_words = matches!(pieces(&self.text)[..], [_, Piece::Value { form: Form::Words, .. }, _]);
        Ok(if in_words { words(&filled) } else { alloc::vec![filled] })
    }
}

fn words(text: &str) -> Vec<String> {
    let mut words: Vec<String> = Vec::new();
    for word in text.split(' ') {
        if !is_number(word) {
            words.push(word.to_string());
            continue;
        }
        let mut joined = words.pop().unwrap_or_default();
        joined.push('\t');
        joined.push_str(word);
        words.push(joined);
    }
    words
}

/// Whether a parser of arguments may take a word for a number.
fn is_number(word: &str) -> bool {
    let word = word.trim_end();
    let begins = word.trim_start_matches(['-', '+', '.']).starts_with(|c: char| c.is_ascii_digit());
    begins && (word.parse::<f64>().is_ok() || word.starts_with("0x") || word.starts_with("0X"))
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
        } else if let Some((name, form, length)) = placeholder(rest) {
            pieces.push(Piece::Literal(&text[literal_start..brace]));
            pieces.push(Piece::Value { name, form });
            position = brace + 1 + length;
            literal_start = position;
        } else {
            position = brace + 1;
        }
    }
    pieces.push(Piece::Literal(&text[literal_start..]));
    pieces
}

/// The name behind an opening brace, its form, and the length up to and with the closing brace.
fn placeholder(rest: &str) -> Option<(&str, Form, usize)> {
    let end = rest.find('}')?;
    let inside = &rest[..end];
    let (name, form) = FORMS
        .into_iter()
        .find_map(|(suffix, form)| Some((inside.strip_suffix(suffix)?, form)))
        .unwrap_or((inside, Form::Plain));
    let is_name = !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'_');
    is_name.then_some((name, form, end + 1))
}

/// Whether the template is a single place for a value.
fn stands_alone(text: &str) -> bool {
    matches!(pieces(text)[..], [Piece::Literal(""), Piece::Value { .. }, Piece::Literal("")])
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
    fn words_are_arguments_that_a_space_joins_again() {
        let template = Template::<LaunchNames>::parse("{prompt:words}").unwrap();
        for text in ["", "one", "a  b\n c ", " -x {prompt}"] {
            let arguments = template.fill_arguments(|_| Some(json!(text))).unwrap();
            assert_eq!(arguments.join(" "), text);
            assert!(arguments.iter().all(|argument| !argument.contains(' ')), "{text:?}");
        }
        for (text, arguments) in [
            ("add 2 and  3", &["add\t2", "and", "\t3"][..]),
            ("42\n", &["\t42\n"]),
            ("-1.5e3 0x1f", &["\t-1.5e3\t0x1f"]),
            ("v2 2nd 1, . inf", &["v2", "2nd", "1,", ".", "inf"]),
        ] {
            assert_eq!(template.fill_arguments(|_| Some(json!(text))).unwrap(), arguments, "{text}");
        }
        assert_eq!(template.fill_arguments(|_| None), Err("prompt"));
        let error = Template::<LaunchNames>::parse("--x={prompt:words}").unwrap_err();
        assert_eq!(error, "`{prompt:words}` has to stand alone");
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
