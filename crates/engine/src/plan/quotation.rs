//! The part of the reader that takes what stands in a quotation, and several keys in one line.

use super::{
    key::{Key, Pair, pair},
    line::item,
    passed_over::PassedKind,
    reader::{At, Reader},
};

impl<'a> Reader<'a> {
    /// A quotation below a task may say something about it, as `> **의존성**: P2-R1` does. Nothing else in it is read.
    pub(super) fn quotation(&mut self, at: At, columns: usize, rest: &'a [u8]) {
        let mut content = rest;
        while let Some(behind) = content.strip_prefix(b">") {
            content = behind.trim_ascii_start();
        }
        let in_list = item(content);
        let content = in_list.unwrap_or(content);
        // Outside of every task it may be a legend; below the heading of a phase somebody means its tasks.
        let has_owner = self.current().is_some() || self.phase_around().is_some();
        if has_owner && !content.starts_with(b"[") && !content.is_empty() {
            if self.pair(at, columns, content, false) || self.without_colon(at, columns, content, false) {
                return;
            }
            if let (Some(open), Some(content)) = (self.open, in_list) {
                return self.value(at, open, content);
            }
        }
        self.open = None;
        self.pass_over(at, PassedKind::Quoted, content);
    }
}

/// Cuts a value before the next key of the line: `backend | **의존성**: T1.1`, `backend (depends on: T1.1)`.
pub(super) fn next_key(key: Key, value: &[u8]) -> (&[u8], Option<(Key, &[u8])>) {
    if memchr::memchr2(b':', "：".as_bytes()[0], value).is_none() {
        return (value, None);
    }
    // A command has bars and colons of its own.
    let is_code = matches!(key, Key::Verify | Key::Meta | Key::Criteria);
    let mut is_quoted = false;
    for (at, byte) in value.iter().enumerate() {
        is_quoted ^= *byte == b'`';
        let length = match value[at..] {
            _ if is_quoted => continue,
            [b'*', b'*', ..] if at > 0 => 0,
            [b'|' | b'(' | b'[' | b';', ..] => 1,
            [0xc2, 0xb7, ..] => 2,
            [0xe2, 0x80, 0xa2, ..] => 3,
            _ => continue,
        };
        let behind = value[at + length..].trim_ascii_start();
        let is_bold = behind.starts_with(b"**");
        let Some(found) = pair(behind).and_then(|Pair { key, value }| Some((Key::of(key)?, value))) else {
            continue;
        };
        let is_apart = matches!(byte, b'|' | 0xc2 | 0xe2) && !is_code;
        if is_bold || is_apart || found.0 == Key::Needs && !is_code {
            return (value[..at].trim_ascii_end(), Some(found));
        }
    }
    (value, None)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_in_one_line() {
        let cut = |value: &'static str| {
            let (value, next) = next_key(Key::Owner, value.as_bytes());
            (
                core::str::from_utf8(value).unwrap(),
                next.map(|(_, value)| core::str::from_utf8(value).unwrap()),
            )
        };
        assert_eq!(cut("backend | **의존성**: T1.1"), ("backend", Some("T1.1")));
        assert_eq!(cut("backend · 의존성: T1.1"), ("backend", Some("T1.1")));
        assert_eq!(cut("backend, **Depends on:** T1.1"), ("backend,", Some("T1.1")));
        assert_eq!(cut("backend (depends on: T1.1)"), ("backend", Some("T1.1)")));
        assert_eq!(cut("backend (files: a)"), ("backend (files: a)", None));
        assert_eq!(cut("`a | deps: T1.1`"), ("`a | deps: T1.1`", None));
        assert_eq!(next_key(Key::Verify, b"x | after: y"), (&b"x | after: y"[..], None));
    }
}
