//! What of an agent's bytes may reach somebody's terminal: text and colours.
//!
//! An agent can print whatever it likes, also an escape that sets the clipboard, the title or the keys of the
//! terminal it is shown on. Here only text, line ends and colours come through, in chunks of any size.

use alloc::vec::Vec;

use crate::escape::{C1_LEAD, Escape, Step};

/// No colour needs more than this.
const COLOUR_BYTES_MAX: usize = 64;

/// Lets text through, and colours where they are wanted.
#[derive(Debug, Default)]
pub struct Shown {
    colours: bool,
    escape: Escape,
    /// The control sequence that is being read, from its `[` on.
    sequence: Vec<u8>,
}

impl Shown {
    /// With or without colours.
    pub fn new(colours: bool) -> Shown {
        Shown { colours, ..Shown::default() }
    }

    /// Adds what may be shown of the bytes.
    pub fn push(&mut self, bytes: &[u8], shown: &mut Vec<u8>) {
        for &byte in bytes {
            if matches!(byte, b'\n' | b'\r') {
                // A line end always begins anew, as in the parser: an open escape hides no more than its line.
                self.escape = Escape::Ground;
                shown.push(byte);
                continue;
            }
            loop {
                let before = self.escape;
                match self.escape.step(byte) {
                    Step::Drop => break self.dropped(before, byte, shown),
                    Step::Keep => break shown.push(byte),
                    Step::Again => {}
                    Step::KeepLead => shown.push(C1_LEAD),
                }
            }
        }
    }

    /// Whether the byte that was taken out ends a colour.
    fn dropped(&mut self, before: Escape, byte: u8, shown: &mut Vec<u8>) {
        match (before, self.escape) {
            (Escape::Csi, Escape::Csi) if self.sequence.len() < COLOUR_BYTES_MAX => self.sequence.push(byte),
            (Escape::Csi, Escape::Ground) => {
                let is_colour = |byte: &u8| byte.is_ascii_digit() || matches!(byte, b';' | b':');
                if self.colours && byte == b'm' && self.sequence.iter().all(is_colour) {
                    shown.extend_from_slice(b"\x1b[");
                    shown.extend_from_slice(&self.sequence);
                    shown.push(b'm');
                }
            }
            (_, Escape::Csi) => self.sequence.clear(),
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use alloc::string::String;

    use super::*;

    fn check(colours: bool, input: &str, expected: &str) {
        for size in [1, 3, 100] {
            let mut shown = Vec::new();
            let mut filter = Shown::new(colours);
            for chunk in input.as_bytes().chunks(size) {
                filter.push(chunk, &mut shown);
            }
            assert_eq!(String::from_utf8_lossy(&shown), expected, "{input:?} in pieces of {size}");
        }
    }

    #[test]
    fn colours_come_through() {
        check(true, "\x1b[1;31mred\x1b[0m\n", "\x1b[1;31mred\x1b[0m\n");
        check(true, "\x1b[38:2::1:2:3mx\u{9b}0m", "\x1b[38:2::1:2:3mx\x1b[0m");
        check(false, "\x1b[1;31mred\x1b[0m\n", "red\n");
    }

    #[test]
    fn nothing_else_does() {
        check(true, "a\x1b]52;c;aGVsbG8=\x07b\x1b]0;title\x1b\\c\x1b[2Jd\x1b[?25le\x1b[>4;1mf", "abcdef");
        check(true, "a\x07\x08\x1bPq\x1b\\b\u{9d}0;t\u{9c}한글", "ab한글");
        check(true, "10%\r20%\r\n\x1b]0;open\nnext", "10%\r20%\r\n\nnext");
    }
}
