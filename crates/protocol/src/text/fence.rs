//! Follows the Markdown code fences of an assistant message, because quoting is not speaking.

/// A fence that is open.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Fence {
    mark: u8,
    length: usize,
}

impl Fence {
    /// The fence that the line opens: three or more marks, and no backtick in what stands behind backticks.
    ///
    /// It may stand behind list and quote marks and at any depth: taking too much for a quotation is the mistake that
    /// does no harm.
    pub(crate) fn opened_by(line: &str) -> Option<Fence> {
        let (fence, behind) = Self::marks(behind_list_marks(line))?;
        (fence.mark == b'~' || !behind.contains('`')).then_some(fence)
    }

    /// Whether the line closes this fence.
    pub(crate) fn closed_by(self, line: &str) -> bool {
        Self::marks(line.trim_start()).is_some_and(|(fence, behind)| {
            fence.mark == self.mark && fence.length >= self.length && behind.trim().is_empty()
        })
    }

    fn marks(text: &str) -> Option<(Fence, &str)> {
        let mark = *text.as_bytes().first().filter(|mark| matches!(mark, b'`' | b'~'))?;
        let length = text.bytes().take_while(|&byte| byte == mark).count();
        (length >= 3).then(|| (Fence { mark, length }, &text[length..]))
    }
}

/// The text behind `-`, `*`, `+`, `>`, `1.` and `1)`.
fn behind_list_marks(line: &str) -> &str {
    let mut rest = line.trim_start();
    loop {
        let digits = rest.len() - rest.trim_start_matches(|c: char| c.is_ascii_digit()).len();
        let mark = &rest[digits..];
        let is_mark = match digits {
            0 => mark.starts_with(['-', '*', '+', '>']),
            _ => mark.starts_with(['.', ')']),
        };
        match mark.get(1..).filter(|_| is_mark) {
            Some(behind) => rest = behind.trim_start(),
            None => return rest,
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
}
