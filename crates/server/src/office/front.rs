//! Reads the head of a role's file: the part of YAML that these files use, which is scalars, quoted or not, folded text,
//! and lists in both forms. What is not understood is an error with its line; nothing is guessed.

use std::{fmt, iter::Peekable, str::Lines};

/// A file: what stands at its head, and the rest.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct Front {
    /// In order.
    pub(super) fields: Vec<Field>,
    /// What is not its head.
    pub(super) body: String,
}

/// One key of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Field {
    pub(super) key: String,
    pub(super) value: Value,
    /// From 1.
    pub(super) line: usize,
}

/// What stands behind a key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Value {
    Text(String),
    List(Vec<String>),
}

/// What is not understood.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Wrong {
    pub(super) line: usize,
    pub(super) message: String,
}

impl fmt::Display for Wrong {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.line, self.message)
    }
}

type Numbered<'a> = Peekable<std::iter::Zip<std::ops::RangeFrom<usize>, Lines<'a>>>;

const FENCE: &str = "---";

/// Reads a file. One without a head is all body.
pub(super) fn read(text: &str) -> Result<Front, Wrong> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let mut lines = (1..).zip(text.lines()).peekable();
    if lines.next_if(|(_, line)| line.trim_end() == FENCE).is_none() {
        return Ok(Front { fields: Vec::new(), body: text.to_owned() });
    }
    let mut fields: Vec<Field> = Vec::new();
    loop {
        let Some((number, line)) = lines.next() else {
            return Err(Wrong {
                line: 1,
                message: "the head does not end: there is no second `---`".to_owned(),
            });
        };
        if line.trim_end() == FENCE {
            let rest: Vec<&str> = lines.map(|(_, line)| line).collect();
            return Ok(Front { fields, body: rest.join("\n").trim().to_owned() });
        }
        if is_nothing(line) {
            continue;
        }
        let field = field(number, line, &mut lines)?;
        if fields.iter().any(|it| it.key == field.key) {
            return Err(Wrong { line: number, message: format!("`{}` stands there twice", field.key) });
        }
        fields.push(field);
    }
}

fn is_nothing(line: &str) -> bool {
    let line = line.trim();
    line.is_empty() || line.starts_with('#')
}

fn indent(line: &str) -> usize {
    line.len() - line.trim_start_matches(' ').len()
}

fn field(number: usize, line: &str, lines: &mut Numbered<'_>) -> Result<Field, Wrong> {
    let wrong = |message: &str| Wrong { line: number, message: message.to_owned() };
    if line.contains('\t') && line.trim_start().len() < line.len() {
        return Err(wrong("a tab at the beginning of a line"));
    }
    if indent(line) > 0 {
        return Err(wrong("a key that is not at the beginning of its line"));
    }
    let (key, rest) = line.split_once(':').ok_or_else(|| wrong("expected `key: value`"))?;
    let key = key.trim_end();
    if key.is_empty() || !key.chars().all(|c| c.is_alphanumeric() || matches!(c, '_' | '-')) {
        return Err(wrong("expected `key: value`"));
    }
    if !rest.is_empty() && !rest.starts_with(' ') {
        return Err(wrong("a space is missing behind the colon"));
    }
    let value = value(number, rest.trim(), lines)?;
    Ok(Field { key: key.to_owned(), value, line: number })
}

fn value(number: usize, text: &str, lines: &mut Numbered<'_>) -> Result<Value, Wrong> {
    match text.chars().next() {
        None | Some('#') => below(lines),
        Some('[') => flow(number, text).map(Value::List),
        Some('|') => block(number, text, lines, "\n").map(Value::Text),
        Some('>') => block(number, text, lines, " ").map(Value::Text),
        Some('"' | '\'') => scalar(number, text).map(Value::Text),
        Some(first @ ('{' | '&' | '*' | '!' | '%' | '@' | '`')) => Err(Wrong {
            line: number,
            message: format!("a value that begins with `{first}` is not understood"),
        }),
        Some(_) => {
            let mut words = uncommented(text).to_owned();
            // Text that goes on in lines that are further in.
            while let Some((_, line)) = lines.next_if(|(_, line)| indent(line) > 0 && !is_nothing(line)) {
                words.push(' ');
                words.push_str(uncommented(line.trim()));
            }
            Ok(Value::Text(words))
        }
    }
}

/// A list below its key, or nothing.
fn below(lines: &mut Numbered<'_>) -> Result<Value, Wrong> {
    let mut items = Vec::new();
    loop {
        while lines.next_if(|(_, line)| is_nothing(line)).is_some() {}
        let is_item = |line: &str| {
            let line = line.trim_start();
            line == "-" || line.starts_with("- ")
        };
        let Some((at, line)) = lines.next_if(|(_, line)| line.trim_end() != FENCE && is_item(line)) else {
            break;
        };
        let item = line.trim_start().trim_start_matches('-').trim();
        items.push(scalar(at, item)?);
    }
    if let Some((at, _)) = lines.next_if(|(_, line)| indent(line) > 0) {
        return Err(Wrong { line: at, message: "only a list can stand below a key".to_owned() });
    }
    Ok(if items.is_empty() { Value::Text(String::new()) } else { Value::List(items) })
}

/// `|` and `>`: lines that are further in than their key.
fn block(number: usize, mark: &str, lines: &mut Numbered<'_>, between: &str) -> Result<String, Wrong> {
    if !matches!(uncommented(mark).get(1..), Some("" | "-" | "+")) {
        return Err(Wrong { line: number, message: format!("`{mark}` is not understood") });
    }
    let mut found: Vec<&str> = Vec::new();
    while let Some((_, line)) = lines.next_if(|(_, line)| indent(line) > 0 || line.trim().is_empty()) {
        found.push(line.trim_end());
    }
    let margin = found.iter().filter(|line| !line.is_empty()).map(|line| indent(line)).min().unwrap_or(0);
    let mut text = String::new();
    for line in found.iter().map(|line| line.get(margin..).unwrap_or_default()) {
        let is_new_paragraph = line.is_empty() || text.is_empty() || text.ends_with('\n');
        if !text.is_empty() {
            text.push_str(if line.is_empty() {
                "\n"
            } else if is_new_paragraph && between == " " {
                ""
            } else {
                between
            });
        }
        text.push_str(line);
    }
    Ok(text.trim_end().to_owned())
}

/// `[a, "b"]`
fn flow(number: usize, text: &str) -> Result<Vec<String>, Wrong> {
    let wrong = |message: &str| Wrong { line: number, message: message.to_owned() };
    let inner = uncommented(text).strip_prefix('[').and_then(|text| text.strip_suffix(']'));
    let inner = inner.ok_or_else(|| wrong("a list that does not end in its line"))?;
    let mut items = Vec::new();
    let (mut start, mut quote) = (0, None);
    for (at, c) in inner.char_indices().chain([(inner.len(), ',')]) {
        match (quote, c) {
            (None, ',') => {
                let item = inner[start..at].trim();
                if !item.is_empty() {
                    items.push(scalar(number, item)?);
                } else if at < inner.len() {
                    return Err(wrong("an empty place in a list"));
                }
                start = at + 1;
            }
            (None, '"' | '\'') if inner[start..at].trim().is_empty() => quote = Some(c),
            (None, '[' | '{') => return Err(wrong("a list in a list is not understood")),
            (Some(open), _) if open == c => quote = None,
            _ => {}
        }
    }
    if quote.is_some() {
        return Err(wrong("a quotation mark is missing"));
    }
    Ok(items)
}

fn scalar(number: usize, text: &str) -> Result<String, Wrong> {
    let wrong = |message: &str| Wrong { line: number, message: message.to_owned() };
    let Some(quote) = text.chars().next().filter(|c| matches!(c, '"' | '\'')) else {
        return Ok(uncommented(text).to_owned());
    };
    let mut out = String::new();
    let mut rest = text[1..].chars();
    loop {
        match (rest.next(), quote) {
            (None, _) => return Err(wrong("a quotation mark is missing")),
            (Some('\''), '\'') if rest.as_str().starts_with('\'') => {
                rest.next();
                out.push('\'');
            }
            (Some(c), _) if c == quote => break,
            (Some('\\'), '"') => match rest.next() {
                Some('n') => out.push('\n'),
                Some('t') => out.push('\t'),
                Some(c @ ('"' | '\\' | '/')) => out.push(c),
                _ => return Err(wrong("an escape that is not understood")),
            },
            (Some(c), _) => out.push(c),
        }
    }
    if uncommented(rest.as_str()).trim().is_empty() { Ok(out) } else { Err(wrong("text behind a quotation")) }
}

/// Without a comment at its end.
fn uncommented(text: &str) -> &str {
    let text = if text.starts_with('#') { "" } else { text };
    text.split_once(" #").map_or(text, |(text, _)| text).trim_end()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fields(head: &str) -> Vec<(String, Value)> {
        let front = read(&format!("---\n{head}\n---\nBody.\n")).expect("it is understood");
        assert_eq!(front.body, "Body.");
        front.fields.into_iter().map(|field| (field.key, field.value)).collect()
    }

    fn text(text: &str) -> Value {
        Value::Text(text.to_owned())
    }

    fn list(items: &[&str]) -> Value {
        Value::List(items.iter().map(|&item| item.to_owned()).collect())
    }

    #[test]
    fn scalars_lists_and_folded_text_are_read() {
        for (head, value) in [
            ("k: PO", text("PO")),
            ("k: 기획자 # 이름", text("기획자")),
            ("k: \"a \\\"b\\\"\\n\" # c", text("a \"b\"\n")),
            ("k: 'it''s'", text("it's")),
            ("k: Use it when: now", text("Use it when: now")),
            ("k: one\n  two", text("one two")),
            ("k:", text("")),
            ("k: [a, \"b, c\", 'd']", list(&["a", "b, c", "d"])),
            ("k: []", list(&[])),
            ("k:\n  - a\n  - \"b\"", list(&["a", "b"])),
            ("k:\n- a\n# nothing\n- b", list(&["a", "b"])),
            ("k: |\n  one\n    two\n\n  three", text("one\n  two\n\nthree")),
            ("k: >-\n  one\n  two\n\n  three", text("one two\nthree")),
        ] {
            assert_eq!(fields(head), [("k".to_owned(), value)], "{head}");
        }
    }

    #[test]
    fn what_is_not_understood_is_an_error_with_its_line() {
        for (head, line) in [
            ("name: a\nwhat", 3),
            ("a: 1\na: 2", 3),
            ("a: {b: c}", 2),
            ("a: &b c", 2),
            ("a: \"b", 2),
            ("a: 'b' c", 2),
            ("a: [b", 2),
            ("a: [b, [c]]", 2),
            ("a: [b,, c]", 2),
            ("a:b", 2),
            ("  a: b", 2),
            ("\ta: b", 2),
            ("a:\n  b: c", 3),
            ("a: \"\\x\"", 2),
            ("a: >x\n  b", 2),
        ] {
            let wrong = read(&format!("---\n{head}\n---\n")).expect_err(head);
            assert_eq!(wrong.line, line, "{head}: {}", wrong.message);
        }
        assert_eq!(read("---\na: b\n").expect_err("it does not end").line, 1);
    }

    #[test]
    fn a_file_without_a_head_is_all_body() {
        assert_eq!(read("You are a tester.").expect("it is read").body, "You are a tester.");
    }
}
