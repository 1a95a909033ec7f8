//! Reads one column of what `od`, `hexdump` and `xxd` print.
//!
//! ```text
//! 00000000  73 6b 5f 6c 69 76 65 5f  30 31 32 33 34 35 36 37  |sk_live_01234567|    hexdump -C, od -tx1z with > <
//! 00000000: 736b 5f6c 6976 655f 3031 3233 3435 3637  sk_live_01234567                xxd
//! 0000000   s   k   _   l   i   v   e   _   0   1   2   3   4   5   6   7              od -c
//! ```
//!
//! A secret goes on in the same column of the next line. So each view follows one column, and leaves out the offset and
//! the other columns. Where the secret begins within a line is where a view starts to follow, so it need not know how
//! that line began.

use super::{
    escape::{Escape, whole},
    layer::{Layer, Unit},
};

/// An offset has so many digits: 7 in `od`, 8 in the others.
const OFFSET_MIN: usize = 7;
const OFFSET_MAX: usize = 16;

/// A column of a dump.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Column {
    /// Hexadecimal digits, before a text that stands between `|` and `|` or `>` and `<`, or before none.
    DigitsBeforeBar,
    /// Hexadecimal digits, before a text that is two spaces away.
    DigitsBeforeGap,
    /// The text.
    Text,
    /// Characters of four columns each.
    Characters,
}

/// Where in a line a view is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum DumpLine {
    /// In its column.
    Inside,
    /// In its column, behind one space.
    Space,
    /// At the beginning of a line, or in its offset.
    Start,
    /// In another column, which ends with the line.
    ToEnd,
    /// In another column, which ends with `|` or `>`.
    ToBar,
    /// In another column, which ends with two spaces.
    ToGap,
    /// There, behind one space.
    ToGapSpace,
    /// Behind both.
    Padding,
}

impl Column {
    pub(super) fn takes(self, byte: u8) -> bool {
        match (self, byte) {
            (_, b'\n' | b'\r') => true,
            (Column::DigitsBeforeBar, byte) => matches!(byte, b' ' | b'\t' | b'|' | b'>'),
            (Column::DigitsBeforeGap | Column::Characters, byte) => byte == b' ',
            (Column::Text, byte) => matches!(byte, b'|' | b'<'),
        }
    }
}

impl Layer {
    pub(super) fn read_dump(&mut self, column: Column, unit: Unit) {
        let next = match (self.line, unit.byte) {
            (DumpLine::Start, byte) if byte.is_ascii_hexdigit() && self.waiting().len() < OFFSET_MAX => {
                return self.wait(unit);
            }
            (DumpLine::Start, byte) => {
                if self.waiting().len() >= OFFSET_MIN && matches!(byte, b':' | b' ') {
                    return self.end_offset(column, unit);
                }
                self.give_waiting();
                DumpLine::Inside
            }
            (DumpLine::Padding | DumpLine::ToGapSpace, b' ') => DumpLine::Padding,
            (DumpLine::Inside | DumpLine::Space | DumpLine::Padding, _) => {
                return self.read_column(column, unit);
            }
            (_, b'\n') => DumpLine::Start,
            (DumpLine::ToEnd, _) => DumpLine::ToEnd,
            (DumpLine::ToBar, b'|' | b'>') => DumpLine::Inside,
            (DumpLine::ToBar, _) => DumpLine::ToBar,
            (DumpLine::ToGap, b' ') => DumpLine::ToGapSpace,
            (DumpLine::ToGap | DumpLine::ToGapSpace, _) => DumpLine::ToGap,
        };
        let was_start = self.line == DumpLine::Start;
        self.line = next;
        if was_start { self.read_column(column, unit) } else { self.leave_out(unit, 1) }
    }

    /// An offset is left out; what comes after it says which tool has printed the line.
    fn end_offset(&mut self, column: Column, unit: Unit) {
        let count = self.waiting().len();
        self.drop_first(count);
        self.line = match (column, unit.byte) {
            // The first space is behind the colon.
            (Column::Text, b':') => DumpLine::ToGap,
            (Column::Text, _) => DumpLine::ToBar,
            _ => DumpLine::Inside,
        };
        self.leave_out(unit, count + 1);
        if column == Column::Characters && unit.byte == b' ' {
            self.wait(unit);
        }
    }

    fn read_column(&mut self, column: Column, unit: Unit) {
        let place = self.line;
        self.line = DumpLine::Inside;
        match (column, unit.byte) {
            (Column::Characters, _) if !self.waiting().is_empty() || unit.byte == b' ' => {
                self.read_cell(unit);
            }
            (_, b'\n') => {
                // The bar behind a text; nothing else waits here.
                let count = self.waiting().len();
                self.drop_first(count);
                self.line = DumpLine::Start;
                self.leave_out(unit, count + 1);
            }
            (Column::DigitsBeforeGap, b' ') => {
                self.line = if place == DumpLine::Space { DumpLine::ToEnd } else { DumpLine::Space };
                self.leave_out(unit, 1);
            }
            (_, b'\r') | (Column::DigitsBeforeBar, b' ' | b'\t') => self.leave_out(unit, 1),
            (Column::DigitsBeforeBar, b'|' | b'>') => {
                self.line = DumpLine::ToEnd;
                self.leave_out(unit, 1);
            }
            (Column::Text, b'|' | b'<') => {
                self.give_waiting();
                self.wait(unit);
            }
            _ => {
                self.give_waiting();
                self.give(unit);
            }
        }
    }

    fn read_cell(&mut self, unit: Unit) {
        self.wait(unit);
        let mut bytes = [0; 4];
        let count = self.waiting().len();
        self.waiting().iter().zip(&mut bytes).for_each(|(unit, byte)| *byte = unit.byte);
        match cell(&bytes[..count]) {
            Escape::Open => {}
            Escape::Whole(bytes, _) => {
                let start = self.waiting()[0].start;
                self.drop_first(count);
                self.give(Unit { byte: bytes[0], start, ..unit });
            }
            _ => {
                self.drop_last();
                self.give_waiting();
                self.read_column(Column::Characters, unit);
            }
        }
    }

    fn give_waiting(&mut self) {
        while !self.waiting().is_empty() {
            self.give_first();
        }
    }
}

/// What a cell of `od -c` stands for.
fn cell(bytes: &[u8]) -> Escape {
    let octal = |byte: u8| byte.is_ascii_digit() && byte < b'8';
    match *bytes {
        [b' '] | [b' ', b' ' | b'0'..=b'3'] | [b' ', b' ', b' ' | b'\\'] => Escape::Open,
        // A layer of JSON has undone it already.
        [b' ', b' ', byte] if byte.is_ascii_control() => whole(&[byte]),
        [b' ', b' ', b' ', byte] if byte != b'\n' => whole(&[byte]),
        [b' ', b' ', b'\\', name] => match name {
            b'0' => whole(&[0]),
            b'a' => whole(&[7]),
            b'b' => whole(&[8]),
            b't' => whole(b"\t"),
            b'n' => whole(b"\n"),
            b'v' => whole(&[11]),
            b'f' => whole(&[12]),
            b'r' => whole(b"\r"),
            _ => Escape::None,
        },
        [b' ', b'0'..=b'3', middle] if octal(middle) => Escape::Open,
        [b' ', high @ b'0'..=b'3', middle, low] if octal(middle) && octal(low) => {
            whole(&[(high - b'0') << 6 | (middle - b'0') << 3 | (low - b'0')])
        }
        _ => Escape::None,
    }
}
