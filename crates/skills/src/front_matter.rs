//! The lines between two `---` at the head of a `SKILL.md`: only the name and the description are read.

/// What is known from the head of a file, and the text after it.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct FrontMatter<'a> {
    pub(crate) name: Option<String>,
    pub(crate) description: Option<String>,
    pub(crate) body: &'a str,
}

pub(crate) fn front_matter(text: &str) -> FrontMatter<'_> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let without = FrontMatter { body: text, ..FrontMatter::default() };
    let Some(head) = text.strip_prefix("---\n").or_else(|| text.strip_prefix("---\r\n")) else {
        return without;
    };
    let mut offset = text.len() - head.len();
    let mut lines = Vec::new();
    for line in head.split_inclusive('\n') {
        offset += line.len();
        if line.trim_end() == "---" {
            let (name, description) = (value(&lines, "name"), value(&lines, "description"));
            return FrontMatter { name, description, body: &text[offset..] };
        }
        lines.push(line.trim_end());
    }
    // A head that never ends is no head.
    without
}

/// The value of a key: on its line, quoted or not, or folded over the indented lines after it.
fn value(lines: &[&str], key: &str) -> Option<String> {
    let of_key = |line: &&str| line.strip_prefix(key).is_some_and(|rest| rest.starts_with(':'));
    let at = lines.iter().position(of_key)?;
    let first = lines[at][key.len() + 1..].trim();
    let is_block = first.is_empty() || first.starts_with(['>', '|']);
    let text = if is_block {
        let block =
            lines[at + 1..].iter().take_while(|line| line.is_empty() || line.starts_with([' ', '\t']));
        block.map(|line| line.trim()).collect::<Vec<_>>().join(" ").trim().to_owned()
    } else {
        unquoted(first).to_owned()
    };
    (!text.is_empty()).then_some(text)
}

fn unquoted(text: &str) -> &str {
    for mark in ['"', '\''] {
        if let Some(inner) = text.strip_prefix(mark).and_then(|rest| rest.strip_suffix(mark)) {
            return inner;
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_head_is_read() {
        let check = |text: &str, name: Option<&str>, description: Option<&str>, body: &str| {
            let found = front_matter(text);
            assert_eq!(
                (found.name.as_deref(), found.description.as_deref(), found.body),
                (name, description, body)
            );
        };
        check("# x", None, None, "# x");
        check(
            "---\nname: pdf\ndescription: \"Reads: all\"\n---\n# x",
            Some("pdf"),
            Some("Reads: all"),
            "# x",
        );
        check(
            "---\r\nname: 'a'\r\ndescription: >\r\n  one\r\n  two\r\n---\r\nx",
            Some("a"),
            Some("one two"),
            "x",
        );
        check("---\nname: a\n", None, None, "---\nname: a\n");
        check("\u{feff}---\nnames: b\n---\n", None, None, "");
    }
}
