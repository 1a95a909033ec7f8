//! Takes terminal escapes out of text, byte by byte, so that a cut between two chunks makes no difference.
//!
//! Knows the shapes of ECMA-48: CSI, OSC, the other strings, charset and two-byte escapes, and C1 controls in
//! their UTF-8 form. Lines are not its business: whoever reads lines resets it at their ends, so that an escape
//! that is never terminated hides no more than the rest of its line.

use alloc::vec::Vec;

const BEL: u8 = 0x07;
const CAN: u8 = 0x18;
const SUB: u8 = 0x1a;
pub(crate) const ESC: u8 = 0x1b;
const DEL: u8 = 0x7f;
/// First byte of U+0080–U+00BF, and so of every C1 control.
pub(crate) const C1_LEAD: u8 = 0xc2;

/// Where in an escape the text stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum Escape {
    /// Outside.
    #[default]
    Ground,
    /// Behind a byte that begins either a C1 control or an ordinary character.
    Lead,
    /// Behind ESC.
    Begun,
    /// In an escape with intermediate bytes, such as a charset.
    Intermediate,
    /// In a control sequence.
    Csi,
    /// In an operating system command, which BEL ends too.
    Osc,
    /// In a device, privacy or application string.
    String,
    /// In a string, behind a byte that may begin its C1 terminator.
    StringLead,
    /// The same in an operating system command.
    OscLead,
}

/// What to do with the byte just read.
pub(crate) enum Step {
    /// It belongs to an escape, or is a control that shows nothing.
    Drop,
    /// It is text.
    Keep,
    /// It ends the escape without belonging to it: look at it again.
    Again,
    /// The lead byte held back before it is text; look at this one again.
    KeepLead,
}

/// Whether a byte is text whatever comes after it, so that runs of such bytes need no further look.
pub(crate) fn is_plain(byte: u8) -> bool {
    PLAIN[byte as usize]
}

const PLAIN: [bool; 256] = {
    let mut table = [true; 256];
    let mut byte = 0;
    while byte < 0x20 {
        table[byte] = byte == b'\t' as usize;
        byte += 1;
    }
    table[DEL as usize] = false;
    table[C1_LEAD as usize] = false;
    table
};

impl Escape {
    /// Takes the next byte, which is not a line end.
    pub(crate) fn step(&mut self, byte: u8) -> Step {
        let (next, step) = match *self {
            Escape::Ground => Self::ground(byte),
            Escape::Lead => match byte {
                0x80..=0x9f => (Self::c1(byte), Step::Drop),
                _ => (Escape::Ground, Step::KeepLead),
            },
            // A string can be left by a new escape, and ST is an escape like any other.
            _ if byte == ESC => (Escape::Begun, Step::Drop),
            _ if matches!(byte, CAN | SUB) => (Escape::Ground, Step::Drop),
            Escape::Begun => Self::begun(byte),
            Escape::Intermediate => match byte {
                0x30..=0x7e => (Escape::Ground, Step::Drop),
                0x80.. => (Escape::Ground, Step::Again),
                _ => (Escape::Intermediate, Step::Drop),
            },
            Escape::Csi => match byte {
                0x40..=0x7e => (Escape::Ground, Step::Drop),
                0x80.. => (Escape::Ground, Step::Again),
                _ => (Escape::Csi, Step::Drop),
            },
            Escape::OscLead | Escape::StringLead if byte == 0x9c => (Escape::Ground, Step::Drop),
            Escape::Osc | Escape::OscLead => match byte {
                BEL => (Escape::Ground, Step::Drop),
                C1_LEAD => (Escape::OscLead, Step::Drop),
                _ => (Escape::Osc, Step::Drop),
            },
            Escape::String | Escape::StringLead => match byte {
                C1_LEAD => (Escape::StringLead, Step::Drop),
                _ => (Escape::String, Step::Drop),
            },
        };
        *self = next;
        step
    }

    fn ground(byte: u8) -> (Escape, Step) {
        match byte {
            ESC => (Escape::Begun, Step::Drop),
            C1_LEAD => (Escape::Lead, Step::Drop),
            _ if is_plain(byte) => (Escape::Ground, Step::Keep),
            _ => (Escape::Ground, Step::Drop),
        }
    }

    fn begun(byte: u8) -> (Escape, Step) {
        match byte {
            b'[' => (Escape::Csi, Step::Drop),
            b']' => (Escape::Osc, Step::Drop),
            b'P' | b'X' | b'^' | b'_' => (Escape::String, Step::Drop),
            0x20..=0x2f => (Escape::Intermediate, Step::Drop),
            0x30..=0x7e => (Escape::Ground, Step::Drop),
            0x80.. => (Escape::Ground, Step::Again),
            _ => (Escape::Begun, Step::Drop),
        }
    }

    fn c1(second: u8) -> Escape {
        match second {
            0x9b => Escape::Csi,
            0x9d => Escape::Osc,
            0x90 | 0x98 | 0x9e | 0x9f => Escape::String,
            _ => Escape::Ground,
        }
    }
}

/// One whole line without its escapes; behind a lone carriage return it begins again.
pub(crate) fn strip_line(line: &[u8]) -> Vec<u8> {
    let mut text = Vec::with_capacity(line.len());
    let mut escape = Escape::Ground;
    let mut restart = false;
    let mut keep = |byte, restart: &mut bool| {
        if core::mem::take(restart) {
            text.clear();
        }
        text.push(byte);
    };
    for &byte in line {
        if byte == b'\r' {
            (escape, restart) = (Escape::Ground, true);
            continue;
        }
        loop {
            match escape.step(byte) {
                Step::Drop => break,
                Step::Keep => break keep(byte, &mut restart),
                Step::Again => {}
                Step::KeepLead => keep(C1_LEAD, &mut restart),
            }
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use alloc::string::String;

    use super::*;

    fn check(input: &str, expected: &str) {
        assert_eq!(String::from_utf8_lossy(&strip_line(input.as_bytes())), expected, "{input:?}");
    }

    #[test]
    fn every_shape_of_escape_is_removed() {
        check("\x1b[1;31mred\x1b[0m", "red");
        check("\x1b[?25l\x1b[2Kx\x1b[38;5;196my", "xy");
        check("\x1b]0;title\x07x\x1b]8;;http://a\x1b\\y", "xy");
        check("\x1bPq#0\x1b\\a\x1b_apc\x1b\\b\x1b^pm\x1b\\c\x1bXsos\x1b\\d", "abcd");
        check("\x1b(Ba\x1b#8b\x1b=c\x1bMd", "abcd");
        check("\u{9b}31mred\u{9d}0;t\u{9c}x\u{90}dcs\u{9c}y\u{85}z", "redxyz");
        check("a\x07b\x00c\x08d\x7fe\tf", "abcde\tf");
    }

    #[test]
    fn text_is_never_swallowed_by_a_broken_escape() {
        check("\x1b[31é", "é");
        check("\x1bé", "é");
        check("\x1b[3\x1b[0mx", "x");
        check("\x1b]0;title\x18x", "x");
        check("\u{a0}é한글", "\u{a0}é한글");
    }

    #[test]
    fn a_lone_return_begins_the_line_again() {
        check("10%\r20%\rdone", "done");
        check("done\r\r", "done");
        check("done\r\x1b[0m", "done");
    }
}
