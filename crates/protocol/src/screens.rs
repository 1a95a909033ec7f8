//! Notices when a program on a terminal begins its screen anew.
//!
//! Fed the same bytes as the text parser, and like it independent of how they are cut. It keeps no picture of the screen: that
//! the cursor goes home or up, or that everything is erased, is all that is looked for.

use crate::escape::{Escape, Step};

/// The longest parameters of a control sequence that are looked at.
const PARAMETER_BYTES_MAX: usize = 16;

/// Where in the escapes of a stream it is, and whether anything was shown since the screen was last begun.
#[derive(Debug, Default)]
pub(crate) struct Screens {
    escape: Escape,
    /// Of the control sequence, as far as it was read.
    parameters: [u8; PARAMETER_BYTES_MAX],
    length: usize,
    /// Several escapes in a row begin one screen.
    has_text: bool,
}

impl Screens {
    /// The place just behind the first escape in these bytes that begins a screen; without one, all of them were read.
    pub(crate) fn begun(&mut self, bytes: &[u8]) -> Option<usize> {
        let at = bytes.iter().position(|&byte| self.step(byte))?;
        self.has_text = false;
        Some(at + 1)
    }

    /// Takes a byte, and says whether a screen begins behind it.
    fn step(&mut self, byte: u8) -> bool {
        if matches!(byte, b'\n' | b'\r') {
            self.escape = Escape::Ground;
            return false;
        }
        let before = self.escape;
        loop {
            match self.escape.step(byte) {
                Step::Drop => break,
                Step::Again => {}
                Step::KeepLead => self.has_text = true,
                Step::Keep => {
                    self.has_text |= !byte.is_ascii_whitespace();
                    return false;
                }
            }
        }
        let is_over = self.escape == Escape::Ground;
        match before {
            Escape::Csi if is_over => self.has_text && self.goes_back(byte),
            Escape::Csi if self.length < PARAMETER_BYTES_MAX => {
                self.parameters[self.length] = byte;
                self.length += 1;
                false
            }
            // Reset, reverse line feed, and back to a place that was saved.
            Escape::Begun if is_over => self.has_text && matches!(byte, b'c' | b'M' | b'8'),
            _ => {
                self.length = 0;
                false
            }
        }
    }

    /// Whether a control sequence takes the cursor home or up, or everything away.
    fn goes_back(&self, last: u8) -> bool {
        let parameters = &self.parameters[..self.length];
        let first = parameters.split(|byte| *byte == b';').next().unwrap_or_default();
        match last {
            b'A' | b'F' | b'u' => true,
            b'H' | b'f' | b'd' => matches!(first, b"" | b"0" | b"1"),
            b'J' => matches!(first, b"2" | b"3"),
            b'h' | b'l' => matches!(parameters, b"?1049" | b"?1047" | b"?47"),
            _ => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use alloc::format;

    use super::*;

    /// How many screens begin, whatever the cuts.
    #[track_caller]
    fn check(text: &str, expected: usize) {
        for length in [1, 2, 3, 5, text.len()] {
            let (mut screens, mut count) = (Screens::default(), 0);
            for mut chunk in text.as_bytes().chunks(length) {
                while let Some(end) = screens.begun(chunk) {
                    count += 1;
                    chunk = &chunk[end..];
                }
            }
            assert_eq!(count, expected, "{text:?} by {length}");
        }
    }

    #[test]
    fn a_screen_begins_where_the_cursor_goes_back() {
        for escape in [
            "[2J", "[3J", "[H", "[1;1H", "[;5H", "[f", "[2A", "[A", "[F", "[u", "[1d", "[?1049h", "[?47l",
            "c", "M", "8",
        ] {
            check(&format!("one\x1b{escape}two"), 1);
        }
        for escape in
            ["[5;1H", "[K", "[2K", "[J", "[0J", "[1J", "[3B", "[31m", "[?25l", "7", "(B", "]0;[2J\x07"]
        {
            check(&format!("one\x1b{escape}two"), 0);
        }
    }

    #[test]
    fn escapes_in_a_row_begin_one_screen() {
        check("\x1b[?1049h\x1b[2J\x1b[Hone", 0);
        check("one\x1b[2K\x1b[1A\x1b[2K\x1b[1A\x1b[2K\x1b[Gtwo", 1);
        check("one\r\n\x1b[2J \x1b[H\r\n\x1b[H\x1b[1;1Htwo\x1b[2;1Hthree\x1b[Hone", 2);
        check("\u{a0}\x1b[Hé\x1b[H", 2);
        check("\u{9b}Hone\u{9b}2Jtwo", 1);
    }

    #[test]
    fn a_broken_escape_hides_no_more_than_its_line() {
        check("one\x1b[2\n\x1b[H", 1);
        check("one\x1b]0;title\n\x1b[H", 1);
        check("one\x1b[11111111111111111111H", 0);
    }
}
