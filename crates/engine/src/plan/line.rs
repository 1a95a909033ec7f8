//! What a single line of Markdown is, without what stands around it.

/// A code fence: its letter and how many of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Fence {
    letter: u8,
    length: usize,
}

impl Fence {
    /// The fence that a line opens, and what it says about what is inside.
    pub(super) fn open(rest: &[u8]) -> Option<(Fence, &[u8])> {
        let letter = *rest.first().filter(|first| matches!(first, b'`' | b'~'))?;
        let length = rest.iter().take_while(|&&byte| byte == letter).count();
        let info = rest[length..].trim_ascii();
        // Three backticks and more of them later are code within a line.
        let is_fence = length >= 3 && !(letter == b'`' && info.contains(&b'`'));
        is_fence.then_some((Fence { letter, length }, info))
    }

    /// Whether a line closes it.
    pub(super) fn is_closed_by(self, rest: &[u8]) -> bool {
        let length = rest.iter().take_while(|&&byte| byte == self.letter).count();
        length >= self.length && rest[length..].trim_ascii().is_empty()
    }
}

/// The columns of white space at the beginning, and the rest.
pub(super) fn indent(line: &[u8]) -> (usize, &[u8]) {
    let mut columns = 0;
    for (at, byte) in line.iter().enumerate() {
        match byte {
            b' ' => columns += 1,
            b'\t' => columns += 4 - columns % 4,
            _ => return (columns, &line[at..]),
        }
    }
    (columns, &[])
}

/// The level of a heading, and its text.
pub(super) fn heading(rest: &[u8]) -> Option<(usize, &[u8])> {
    let level = rest.iter().take_while(|&&byte| byte == b'#').count();
    let text = &rest[level..];
    let is_heading = (1..=6).contains(&level) && text.first().is_none_or(u8::is_ascii_whitespace);
    if !is_heading {
        return None;
    }
    let text = text.trim_ascii();
    // Hashes at the end belong to the heading's form, if they stand apart.
    let bare = text.trim_ascii_end();
    let hashes = bare.iter().rev().take_while(|&&byte| byte == b'#').count();
    let before = &bare[..bare.len() - hashes];
    let is_apart = before.last().is_none_or(u8::is_ascii_whitespace);
    Some((level, if is_apart { before.trim_ascii_end() } else { text }))
}

/// What stands behind the bullet or the number of an item.
pub(super) fn item(rest: &[u8]) -> Option<&[u8]> {
    let after = match rest.first()? {
        b'-' | b'*' | b'+' => &rest[1..],
        first if first.is_ascii_digit() => {
            let digits = rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
            let after = rest.get(digits + 1..)?;
            (digits <= 9 && matches!(rest[digits], b'.' | b')')).then_some(after)?
        }
        _ => return None,
    };
    match after.first() {
        None => Some(after),
        Some(b' ' | b'\t') => Some(after.trim_ascii_start()),
        Some(_) => None,
    }
}

/// Whether a line is the one below the header of a table.
pub(super) fn is_table_rule(rest: &[u8]) -> bool {
    let fits = |byte: &u8| matches!(byte, b'|' | b'-' | b':' | b' ' | b'\t');
    rest.iter().all(fits) && rest.contains(&b'|') && rest.contains(&b'-')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn indents_count_tabs() {
        assert_eq!(indent(b"  x"), (2, &b"x"[..]));
        assert_eq!(indent(b"\tx"), (4, &b"x"[..]));
        assert_eq!(indent(b"  \tx"), (4, &b"x"[..]));
        assert_eq!(indent(b"   "), (3, &b""[..]));
    }

    #[test]
    fn headings() {
        assert_eq!(heading(b"### x y"), Some((3, &b"x y"[..])));
        assert_eq!(heading(b"## x ##"), Some((2, &b"x"[..])));
        assert_eq!(heading(b"## x C#"), Some((2, &b"x C#"[..])));
        assert_eq!(heading(b"#"), Some((1, &b""[..])));
        assert_eq!(heading(b"#x"), None);
        assert_eq!(heading(b"####### x"), None);
    }

    #[test]
    fn items() {
        for line in ["- x", "* x", "+ x", "1. x", "12) x", "-\tx"] {
            assert_eq!(item(line.as_bytes()), Some(&b"x"[..]), "{line}");
        }
        for line in ["-x", "**x**", "---", "1.x", "1x", "x", "1"] {
            assert_eq!(item(line.as_bytes()), None, "{line}");
        }
        assert_eq!(item(b"-"), Some(&b""[..]));
    }

    #[test]
    fn fences() {
        let (fence, info) = Fence::open(b"```mermaid").expect("a fence");
        assert_eq!(info, b"mermaid");
        assert!(fence.is_closed_by(b"````"));
        assert!(!fence.is_closed_by(b"``"));
        assert!(!fence.is_closed_by(b"```x"));
        assert!(!fence.is_closed_by(b"~~~"));
        assert!(Fence::open(b"``` a ` b").is_none());
        assert!(Fence::open(b"``x").is_none());
    }
}
