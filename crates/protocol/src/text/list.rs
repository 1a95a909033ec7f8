//! Reads lists as agents write them: `- item` lines or `[a, 'b', "c"]` on one line.

use alloc::{
    string::{String, ToString},
    vec::Vec,
};

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
    let mut items: Vec<String> = items.iter().map(|item| without_quotes(item).to_string()).collect();
    items.retain(|item| !item.is_empty());
    items
}

/// Quotes around a whole item are how some write a list, not part of what can be answered.
fn without_quotes(item: &str) -> &str {
    let inner = QUOTES.iter().find_map(|(open, close)| item.strip_prefix(*open)?.strip_suffix(*close));
    inner.filter(|inner| !inner.contains(['\'', '"', '‘', '’', '“', '”'])).unwrap_or(item)
}

/// JSON where it is JSON, else the loose form that people write by hand.
fn inline(text: &str) -> Option<Vec<String>> {
    // Only strings: a number would lose the form in which it was written, and 3.10 is not 3.1.
    if let Ok(mut items) = serde_json::from_str::<Vec<String>>(text) {
        items.retain(|item| !item.is_empty());
        return Some(items);
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

const QUOTES: [(char, char); 4] = [('\'', '\''), ('"', '"'), ('‘', '’'), ('“', '”')];

/// The first item and what stands behind it. A list within a list is none that can be chosen from.
fn item(text: &str) -> Option<(String, &str)> {
    if text.starts_with(['[', '{']) {
        return None;
    }
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
        check("[3.9, 3.10, 1e3, true]", Some(&["3.9", "3.10", "1e3", "true"]));
        check(r#"["", "a"]"#, Some(&["a"]));
        check("[]", Some(&[]));
        check("", Some(&[]));
    }

    #[test]
    fn dash_lists() {
        check("- one\n- two", Some(&["one", "two"]));
        check("  - one\n    goes on\n\n  - two", Some(&["one goes on", "two"]));
        check("- -1\n-\n- it's", Some(&["-1", "it's"]));
        check("- \"Yes\"\n- 'No'\n- 'a' or 'b'", Some(&["Yes", "No", "'a' or 'b'"]));
    }

    #[test]
    fn what_cannot_be_read() {
        check("a, b", None);
        check("['a', 'b'", None);
        check("['a' 'b', c", None);
        check("['a, b]", None);
        check(r#"["a", ["b"]]"#, None);
        check(r#"[{"a": 1}]"#, None);
    }
}
