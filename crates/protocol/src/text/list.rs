//! Reads lists as agents write them: `- item` lines or `[a, 'b', "c"]` on one line.

use alloc::{
    string::{String, ToString},
    vec::Vec,
};

use serde_json::Value;

/// The items of a list, or nothing if it cannot be read. No text is an empty list.
pub(crate) fn parse(text: &str) -> Option<Vec<String>> {
    let text = text.trim();
    if text.is_empty() {
        Some(Vec::new())
    } else if text.starts_with('[') {
        inline(text)
    } else if is_dash_line(text) {
        Some(dashes(text))
    } else {
        None
    }
}

/// Whether a line is an item of a dash list.
pub(crate) fn is_dash_line(line: &str) -> bool {
    line.trim_start()
        .strip_prefix('-')
        .is_some_and(|rest| rest.is_empty() || rest.starts_with([' ', '\t', '\n']))
}

/// A line without a dash goes on with the item before it.
fn dashes(text: &str) -> Vec<String> {
    let mut items: Vec<String> = Vec::new();
    for line in text.lines().map(str::trim).filter(|line| !line.is_empty()) {
        match items.last_mut() {
            Some(item) if !is_dash_line(line) => {
                item.push(' ');
                item.push_str(line);
            }
            _ => items.push(line[1..].trim().to_string()),
        }
    }
    items.retain(|item| !item.is_empty());
    items
}

/// JSON where it is JSON, else the loose form that people write by hand.
fn inline(text: &str) -> Option<Vec<String>> {
    if let Ok(values) = serde_json::from_str::<Vec<Value>>(text) {
        return values.into_iter().map(scalar).collect();
    }
    let mut rest = text.strip_prefix('[')?.strip_suffix(']')?.trim();
    let mut items = Vec::new();
    while !rest.is_empty() {
        let (item, behind) = item(rest)?;
        if !item.is_empty() {
            items.push(item);
        }
        rest = behind.trim_start();
        if !rest.is_empty() {
            rest = rest.strip_prefix(',')?.trim_start();
        }
    }
    Some(items)
}

fn scalar(value: Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text),
        Value::Bool(_) | Value::Number(_) => Some(value.to_string()),
        Value::Null | Value::Array(_) | Value::Object(_) => None,
    }
}

/// The first item and what stands behind it.
fn item(text: &str) -> Option<(String, &str)> {
    const QUOTES: [(char, char); 4] = [('\'', '\''), ('"', '"'), ('‘', '’'), ('“', '”')];
    let Some(&(open, close)) = QUOTES.iter().find(|(open, _)| text.starts_with(*open)) else {
        let end = text.find(',').unwrap_or(text.len());
        return Some((text[..end].trim().to_string(), &text[end..]));
    };
    let inner = &text[open.len_utf8()..];
    let mut escaped = false;
    for (at, c) in inner.char_indices() {
        // A quote closes only where an item can end: in 'don't know' the first does not.
        let behind = inner.get(at + c.len_utf8()..).unwrap_or_default();
        if c == close && !escaped && ends_item(behind) {
            return Some((unescape(&inner[..at], close), behind));
        }
        escaped = c == '\\' && !escaped;
    }
    None
}

fn ends_item(behind: &str) -> bool {
    let behind = behind.trim_start();
    behind.is_empty() || behind.starts_with(',')
}

fn unescape(text: &str, quote: char) -> String {
    let mut out = String::with_capacity(text.len());
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        match chars.peek() {
            Some(&next) if c == '\\' && (next == quote || next == '\\') => {
                out.push(next);
                chars.next();
            }
            _ => out.push(c),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expected: Option<&[&str]>) {
        let expected = expected.map(|items| items.iter().map(ToString::to_string).collect::<Vec<_>>());
        assert_eq!(parse(text), expected, "{text}");
    }

    #[test]
    fn inline_lists() {
        check("['이메일', '소셜', 'SSO']", Some(&["이메일", "소셜", "SSO"]));
        check(r#"["a", "b, c", "d\"e"]"#, Some(&["a", "b, c", "d\"e"]));
        check(r#"['a', "b"]"#, Some(&["a", "b"]));
        check("['I don't know', 'it's fine, really']", Some(&["I don't know", "it's fine, really"]));
        check(r"['don\'t', 'x']", Some(&["don't", "x"]));
        check("[one, two words, don't]", Some(&["one", "two words", "don't"]));
        check("[‘가’, “나”,]", Some(&["가", "나"]));
        check("[1, true]", Some(&["1", "true"]));
        check("[]", Some(&[]));
        check("", Some(&[]));
    }

    #[test]
    fn dash_lists() {
        check("- one\n- two", Some(&["one", "two"]));
        check("  - one\n    goes on\n\n  - two", Some(&["one goes on", "two"]));
        check("- -1\n-\n- it's", Some(&["-1", "it's"]));
    }

    #[test]
    fn what_cannot_be_read() {
        check("a, b", None);
        check("['a', 'b'", None);
        check("['a' 'b', c", None);
        check("['a, b]", None);
        check(r#"["a", ["b"]]"#, None);
        check("[null]", None);
    }
}
