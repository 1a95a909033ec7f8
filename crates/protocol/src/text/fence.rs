//! Follows the Markdown code fences of an assistant message, because quoting is not speaking.

/// A fence that is open.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Fence {
    mark: u8,
    length: usize,
    /// Whether it stands in a block quote.
    in_quote: bool,
}

impl Fence {
    /// The fence that the line opens: three or more marks, and no backtick in what stands behind backticks.
    ///
    /// It may stand behind list and quote marks and at any depth: taking too much for a quotation is the mistake that
    /// does no harm.
    pub(crate) fn opened_by(line: &str) -> Option<Fence> {
        let (text, in_quote) = behind_marks(line);
        let (mark, length, behind) = fence_marks(text)?;
        (mark == b'~' || !behind.contains('`')).then_some(Fence { mark, length, in_quote })
    }

    /// Whether the line closes this fence.
    pub(crate) fn closed_by(self, line: &str) -> bool {
        let text = if self.in_quote { behind_marks(line).0 } else { line.trim_start() };
        fence_marks(text).is_some_and(|(mark, length, behind)| {
            mark == self.mark && length >= self.length && behind.trim().is_empty()
        })
    }

    /// Whether the line stands outside the block quote that holds this fence.
    pub(crate) fn is_left_by(self, line: &str) -> bool {
        self.in_quote && !behind_marks(line).1
    }
}

/// The kind and number of the marks, and what stands behind them.
fn fence_marks(text: &str) -> Option<(u8, usize, &str)> {
    let mark = *text.as_bytes().first().filter(|mark| matches!(mark, b'`' | b'~'))?;
    let length = text.bytes().take_while(|&byte| byte == mark).count();
    (length >= 3).then(|| (mark, length, &text[length..]))
}

/// The text behind `-`, `*`, `+`, `>`, `1.` and `1)`, and whether one of them was `>`.
fn behind_marks(line: &str) -> (&str, bool) {
    let mut rest = line.trim_start();
    let mut in_quote = false;
    loop {
        let digits = rest.len() - rest.trim_start_matches(|c: char| c.is_ascii_digit()).len();
        let mark = &rest[digits..];
        let is_mark = match digits {
            0 => mark.starts_with(['-', '*', '+', '>']),
            _ => mark.starts_with(['.', ')']),
        };
        in_quote |= digits == 0 && mark.starts_with('>');
        match mark.get(1..).filter(|_| is_mark) {
            Some(behind) => rest = behind.trim_start(),
            None => return (rest, in_quote),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fences_open_wherever_markdown_lets_them() {
        for line in ["```", "   ~~~~ text", "        ```rust", "- ```", "1. ```js", "> ```", "  * 2) ```"] {
            assert!(Fence::opened_by(line).is_some(), "{line}");
        }
        for line in ["``", "``` a `b`", "text ```", "", "1", "-", "12", "- "] {
            assert!(Fence::opened_by(line).is_none(), "{line}");
        }
    }

    #[test]
    fn a_fence_is_closed_by_its_like_alone() {
        let fence = Fence::opened_by("````md").expect("a fence");
        assert!(fence.closed_by("````") && fence.closed_by("      `````  "));
        assert!(!fence.closed_by("```") && !fence.closed_by("~~~~") && !fence.closed_by("```` x"));
    }

    #[test]
    fn a_fence_in_a_quote_ends_with_the_quote() {
        let fence = Fence::opened_by("> ```").expect("a fence");
        assert!(fence.closed_by("> ```") && !fence.is_left_by("> text"));
        assert!(fence.is_left_by("text") && fence.is_left_by(""));
        let fence = Fence::opened_by("```").expect("a fence");
        assert!(!fence.closed_by("> ```") && !fence.is_left_by("text"));
    }
}
