//! What layout puts between the characters of a text.
//!
//! | left out | by `Shown` | by `Drawn` | by `Quoted` | by `Skeleton` |
//! |---|---|---|---|---|
//! | escape sequences of a terminal | yes | yes | yes | yes |
//! | other control characters, such as the zero bytes of UTF-16 | yes | no | no | no |
//! | characters without width, such as a soft hyphen | no | yes | yes | yes |
//! | a character printed over itself or over `_`, as `man` does for bold and underlined text | no | yes | yes | yes |
//! | line breaks, with a backslash before them | no | yes | yes | yes |
//! | white space and backslashes | no | as indentation after a line break | likewise | anywhere |
//! | borders of tables, `>` | no | no | `|` and `>` after a line break | anywhere |
//! | other marks of quotations, comments and differences: `#`, `*`, `+`, `-`, `/`, `;` | no | no | after a line break | no |
//!
//! A skeleton is compared with the skeletons of the secrets, so it makes no difference whether a line was wrapped at a
//! space of the secret or within a word.

use std::str;

use super::escape::{Escape, whole};

const ESCAPE: u8 = 0x1b;
const BELL: u8 = 0x07;
const BACKSPACE: u8 = 0x08;

/// Where in an escape sequence of a terminal a stream is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Sequence {
    /// In none.
    None,
    /// Behind the escape character.
    Escape,
    /// In a control sequence, such as a colour.
    Control,
    /// In a string, such as a title or the address of a link.
    Words,
}

impl Sequence {
    /// Where a stream is after one more byte.
    pub(super) fn after(self, byte: u8) -> Sequence {
        match (self, byte) {
            // A terminal obeys other control characters within a sequence, and the sequence goes on.
            (Sequence::Escape | Sequence::Control, byte) if byte != ESCAPE && is_control(byte) => self,
            // From 0x20 on come the bytes between the first and the last of a sequence.
            (Sequence::None | Sequence::Words, ESCAPE) | (Sequence::Escape, 0x20..=0x2f) => Sequence::Escape,
            (Sequence::Escape, b'[') | (Sequence::Control, 0x20..=0x3f) => Sequence::Control,
            (Sequence::Escape, b']' | b'P' | b'X' | b'^' | b'_') => Sequence::Words,
            (Sequence::Words, byte) if byte != BELL => Sequence::Words,
            _ => Sequence::None,
        }
    }
}

/// Whether a byte is a control character that is no white space.
pub(super) fn is_control(byte: u8) -> bool {
    byte.is_ascii_control() && !matches!(byte, b'\t' | b'\n' | b'\r')
}

/// Whether a byte is what quotations, comments, differences and tables put before each line.
pub(super) fn is_mark(byte: u8) -> bool {
    matches!(byte, b'>' | b'|' | b'#' | b'*' | b'+' | b'-' | b'/' | b';')
}

/// Whether a byte may begin something that a terminal does not show as a character of its own.
pub(super) fn is_hidden(byte: u8) -> bool {
    matches!(byte, b'\n' | b'\r' | ESCAPE | b'\\' | b'_' | BACKSPACE | 0xc2 | 0xe2 | 0xef)
}

/// Whether a byte may begin white space or a border.
pub(super) fn is_padding(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'|' | b'>' | 0xc2 | 0xe2)
}

/// What the beginning of a gap is, right behind this byte.
pub(super) fn escape(bytes: &[u8], last: Option<u8>, is_loose: bool) -> Escape {
    match bytes {
        [b'\n' | b'\r' | ESCAPE] | [b'\\', b'\n'] | [b'\\', b'\r', b'\n'] => Escape::LeftOut,
        [b'\\' | b' ' | b'\t' | b'|' | b'>'] if is_loose => Escape::LeftOut,
        [b'\\' | b'_' | BACKSPACE] | [b'\\', b'\r'] | [b'_', BACKSPACE] => Escape::Open,
        [b'_', BACKSPACE, over] => whole(&[*over]),
        [BACKSPACE, over @ ..] if over.len() < character_length(over[0]) => Escape::Open,
        [BACKSPACE, b'_'] if last.is_some() => Escape::Overprint,
        [BACKSPACE, .., over] if last == Some(*over) => Escape::Overprint,
        [first, ..] if bytes.len() < character_length(*first) => Escape::Open,
        _ => match str::from_utf8(bytes).ok().and_then(|text| text.chars().next()) {
            // Without width: the soft hyphen, joiners and marks of direction, the byte order mark.
            Some(
                '\u{ad}'
                | '\u{200b}'..='\u{200f}'
                | '\u{202a}'..='\u{202e}'
                | '\u{2060}'..='\u{206f}'
                | '\u{feff}',
            ) => Escape::LeftOut,
            // A space that does not break, and what draws boxes.
            Some('\u{a0}' | '\u{2500}'..='\u{257f}') if is_loose => Escape::LeftOut,
            _ => Escape::None,
        },
    }
}

/// How many bytes a character has, by its first.
fn character_length(first: u8) -> usize {
    match first {
        0xc2..=0xdf => 2,
        0xe0..=0xef => 3,
        0xf0..=0xf4 => 4,
        _ => 1,
    }
}
