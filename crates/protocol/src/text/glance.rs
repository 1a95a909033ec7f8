//! The quick look at a line's beginning that lets almost all output pass unread.
//!
//! It may be wrong in one direction only: a line that it lets pass can never matter, a line that it holds back may
//! still turn out to be nothing. That makes the parser fast without making it less careful.

use crate::escape::{C1_LEAD, ESC, is_plain};

/// Whether the line that begins here may begin a message.
///
/// An answer that needs bytes not seen yet is yes.
#[expect(
    clippy::inline_always,
    reason = "asked for every line there is, and most are decided by their first byte"
)]
#[inline(always)]
pub(crate) fn may_speak(line: &[u8]) -> bool {
    !line.first().is_some_and(|&first| matches!(FIRST[first as usize], First::Never)) && may_speak_after(line)
}

/// The same where the first byte leaves it open.
#[inline(never)]
fn may_speak_after(mut line: &[u8]) -> bool {
    loop {
        let Some(&first) = line.first() else { return true };
        match FIRST[first as usize] {
            First::Never => return false,
            First::Space => {
                while let [b' ' | b'\t', behind @ ..] = line {
                    line = behind;
                }
            }
            First::Bracket => return may_be_tag(line),
            First::Equals => return begins(line, b"==="),
            First::Letter => return may_be_thin(line),
            First::Escape => match behind_csi(line) {
                Some(behind) => line = behind,
                None => return true,
            },
            First::Unsure => return may_be_invisible(line),
        }
    }
}

#[derive(Clone, Copy)]
enum First {
    /// No message begins so.
    Never,
    Space,
    Bracket,
    Equals,
    /// A capital that begins a word of the thin dialect.
    Letter,
    Escape,
    /// A control, or the first byte of a character that may be white space.
    Unsure,
}

const FIRST: [First; 256] = {
    let mut table = [First::Never; 256];
    let mut byte = 0;
    while byte < 256 {
        #[expect(clippy::cast_possible_truncation, reason = "the loop stops at 255")]
        let class = match byte as u8 {
            b'\n' => First::Never,
            b' ' | b'\t' => First::Space,
            b'[' => First::Bracket,
            b'=' => First::Equals,
            b'R' | b'P' | b'A' | b'W' | b'E' | b'T' | b'D' | b'F' | b'C' => First::Letter,
            ESC => First::Escape,
            0..0x20 | 0x7f | C1_LEAD | 0xe1..=0xe3 | 0xef => First::Unsure,
            _ => First::Never,
        };
        table[byte] = class;
        byte += 1;
    }
    table
};

/// Whether the line may be a tag: many programs print `[ERROR] and more`, which is none.
fn may_be_tag(line: &[u8]) -> bool {
    let names: &[&[u8]] = match line.get(1) {
        Some(b'D') => &[b"[DEPENDENCY_REQUEST", b"[DELIVER_RESULT"],
        Some(b'U') => &[b"[USER_QUESTION"],
        Some(b'E') => &[b"[ERROR"],
        Some(b'A') => &[b"[ASK_USER"],
        Some(b'I') => &[b"[INVOKE"],
        Some(b'S') => &[b"[STEP_COMPLETE"],
        Some(&second) => return is_unclear(second),
        None => return true,
    };
    names.iter().any(|name| match compare(line, name) {
        Compared::Different => false,
        Compared::Unclear => true,
        Compared::Same => match line[name.len()..] {
            [b']', ref behind @ ..] => may_be_blank(behind),
            [byte, ..] => matches!(byte, b' ' | b'\t' | b':') || is_unclear(byte),
            [] => true,
        },
    })
}

/// Whether nothing but space may stand up to the end of the line.
fn may_be_blank(line: &[u8]) -> bool {
    match line.iter().find(|byte| !matches!(byte, b' ' | b'\t')) {
        Some(&byte) => byte == b'\n' || !byte.is_ascii() || is_unclear(byte),
        None => true,
    }
}

/// Whether the line may begin with a word of the thin dialect.
fn may_be_thin(line: &[u8]) -> bool {
    // No two words begin with the same two letters but for these, and most lines differ in the second.
    let words: &[&[u8]] = match line {
        [b'R', b'E', ..] => &[b"READY:", b"RESOLVE_NEXT"],
        [b'P', b'H', ..] => &[b"PHASE_DONE:"],
        [b'A', b'L', ..] => &[b"ALL_DONE"],
        [b'W', b'A', ..] => &[b"WAIT"],
        [b'E', b'R', ..] => &[b"ERROR:"],
        [b'T', b'A', ..] => &[b"TASK_ID:"],
        [b'D', b'O', ..] => &[b"DONE:"],
        [b'F', b'A', ..] => &[b"FAIL:"],
        [b'C', b'U', ..] => &[b"CUSTOM:"],
        [_, second, ..] => return is_unclear(*second),
        _ => return true,
    };
    words.iter().any(|word| begins(line, word))
}

enum Compared {
    Same,
    Different,
    /// The line is not there yet, or an escape may hide in it.
    Unclear,
}

/// Compares the beginning of a line with a word.
#[inline]
fn compare(line: &[u8], word: &[u8]) -> Compared {
    for (at, &expected) in word.iter().enumerate() {
        match line.get(at) {
            Some(&byte) if byte == expected => {}
            Some(&byte) if !is_unclear(byte) => return Compared::Different,
            _ => return Compared::Unclear,
        }
    }
    Compared::Same
}

fn begins(line: &[u8], word: &[u8]) -> bool {
    !matches!(compare(line, word), Compared::Different)
}

/// Whether a byte may vanish when escapes are removed.
fn is_unclear(byte: u8) -> bool {
    byte != b'\n' && !is_plain(byte)
}

/// What stands behind a control sequence that is whole and ordinary.
fn behind_csi(line: &[u8]) -> Option<&[u8]> {
    let parameters = line.strip_prefix(&[ESC, b'['])?;
    let end = parameters.iter().position(|byte| !(0x20..0x40).contains(byte))?;
    (0x40..0x7f).contains(&parameters[end]).then(|| &parameters[end + 1..])
}

/// Whether the character may be a control or white space beyond ASCII. A control may even stand inside it.
fn may_be_invisible(line: &[u8]) -> bool {
    match *line {
        [_, second, ..] if is_unclear(second) => true,
        [C1_LEAD, second, ..] => second <= 0xa0,
        [0xe1, second, ..] => second == 0x9a,
        [0xe2, second, ..] => matches!(second, 0x80 | 0x81),
        [0xe3, second, ..] => second == 0x80,
        [0xef, second, ..] => second == 0xbb,
        _ => true,
    }
}
