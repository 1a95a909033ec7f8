//! Tells code from comments and literals, so that the checks do not trip over words inside strings.
//!
//! It knows strings (raw and byte strings too), character literals, lifetimes and nested block comments. It does
//! not expand macros and does not parse.

/// A source text twice, each with the rest blanked out; lines and columns stay where they were.
#[derive(Default)]
pub(super) struct Split {
    /// Neither comments nor literals.
    pub(super) code: String,
    /// Only comments.
    pub(super) comments: String,
}

#[derive(Clone, Copy, PartialEq)]
enum Kind {
    Code,
    Comment,
    Literal,
}

pub(super) fn split(text: &str) -> Split {
    let mut split = Split::default();
    let mut rest = text;
    let mut in_word = false;
    while let Some(first) = rest.chars().next() {
        let (kind, length) = piece(rest, first, in_word);
        let (piece, after) = rest.split_at(length);
        push(&mut split.code, piece, kind == Kind::Code);
        push(&mut split.comments, piece, kind == Kind::Comment);
        in_word = kind == Kind::Code && (first.is_alphanumeric() || first == '_');
        rest = after;
    }
    split
}

fn push(out: &mut String, piece: &str, keep: bool) {
    if keep {
        out.push_str(piece);
    } else {
        out.extend(piece.chars().map(|c| if c == '\n' { '\n' } else { ' ' }));
    }
}

/// What stands at the start of `rest`, and its length in bytes.
fn piece(rest: &str, first: char, in_word: bool) -> (Kind, usize) {
    if rest.starts_with("//") {
        return (Kind::Comment, rest.find('\n').unwrap_or(rest.len()));
    }
    if rest.starts_with("/*") {
        return (Kind::Comment, block_comment(rest));
    }
    let literal = match first {
        '"' => Some(string(rest)),
        '\'' => character(rest),
        'r' | 'b' | 'c' if !in_word => raw_string(rest),
        _ => None,
    };
    literal.map_or((Kind::Code, first.len_utf8()), |length| (Kind::Literal, length))
}

fn block_comment(rest: &str) -> usize {
    let mut depth = 0;
    let mut at = 0;
    while at < rest.len() {
        if rest[at..].starts_with("/*") {
            depth += 1;
            at += 2;
        } else if rest[at..].starts_with("*/") {
            depth -= 1;
            at += 2;
            if depth == 0 {
                return at;
            }
        } else {
            at += rest[at..].chars().next().map_or(1, char::len_utf8);
        }
    }
    rest.len()
}

fn string(rest: &str) -> usize {
    let mut escaped = false;
    for (at, c) in rest.char_indices().skip(1) {
        match c {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            '"' => return at + 1,
            _ => {}
        }
    }
    rest.len()
}

/// The length of a character literal; none for a lifetime.
fn character(rest: &str) -> Option<usize> {
    let mut chars = rest.char_indices().skip(1);
    let (_, first) = chars.next()?;
    if first == '\\' {
        chars.next()?;
        return chars.find(|&(_, c)| c == '\'').map(|(at, _)| at + 1);
    }
    chars.next().filter(|&(_, c)| c == '\'').map(|(at, _)| at + 1)
}

/// The length of `r"…"`, `br#"…"#` and their like; none for anything else that begins with such a letter.
fn raw_string(rest: &str) -> Option<usize> {
    let inner = rest.strip_prefix(['b', 'c']).unwrap_or(rest).strip_prefix('r')?;
    let body = inner.trim_start_matches('#');
    let hashes = inner.len() - body.len();
    let body = body.strip_prefix('"')?;
    let end = format!("\"{}", "#".repeat(hashes));
    let start = rest.len() - body.len();
    Some(body.find(&end).map_or(rest.len(), |at| start + at + end.len()))
}

#[cfg(test)]
mod tests {
    use super::split;

    fn check(text: &str, code: &str, comments: &str) {
        let split = split(text);
        let words = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
        assert_eq!(
            (words(&split.code).as_str(), words(&split.comments).as_str()),
            (code, comments),
            "{text}"
        );
        assert_eq!(split.code.lines().count(), text.lines().count(), "{text}");
    }

    #[test]
    fn code_comments_and_literals() {
        check("a // b\nc", "a c", "// b");
        check("a /* b /* c */ d */ e", "a e", "/* b /* c */ d */");
        check(r#"a("{ \" // x"); b"#, "a( ); b", "");
        check("a(r#\"{ \" }\"#, br\"\\\"); b", "a( , ); b", "");
        check("r#type for\n'x' '\\'' '{' &'a b", "r#type for &'a b", "");
        check("한 // 글\n'글'", "한", "// 글");
    }

    #[test]
    fn ends_with_the_text_when_something_is_never_closed() {
        check("a \"b", "a", "");
        check("a /* b", "a", "/* b");
        check("a r#\"b\"", "a", "");
        check("a '", "a '", "");
    }
}
