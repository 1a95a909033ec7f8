//! Undoes one form of writing, byte by byte, and remembers what each byte was made of.

use super::{
    dump::{Column, DumpLine},
    escape::{self, Escape, whole},
    gap::{self, Sequence},
};

/// A byte, and what it was made of.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Unit {
    pub(super) byte: u8,
    pub(super) start: u64,
    pub(super) end: u64,
    /// Whether it is printed over the byte before it: it belongs to that one and is none of its own.
    pub(super) is_overprint: bool,
}

impl Unit {
    /// A byte of the stream itself.
    pub(super) fn of(byte: u8, place: u64) -> Unit {
        Unit { byte, start: place, end: place + 1, is_overprint: false }
    }
}

/// A form of writing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Form {
    /// Escapes of strings and shells, all that there are: see [`escape`].
    String,
    /// Entities of HTML.
    Html,
    /// `%XX`.
    Url,
    /// `%XX`, and `+` for a space.
    PlusUrl,
    /// Control characters and escape sequences of a terminal left out: see [`gap`].
    Shown,
    /// What a terminal does not show, and wrapped lines.
    Drawn,
    /// That, and what quotations, comments and differences put before each line.
    Quoted,
    /// That, and all white space, backslashes and borders of tables.
    Skeleton,
    /// What tools put between hexadecimal digits left out.
    Separated,
    /// One column of a dump.
    Dump(Column),
}

/// A run of bytes that are left out may be so long. Beyond it nothing is held back any more.
const GAP_BYTES_MAX: u32 = 4096;

/// The longest that has to be waited for: the offset of a line in a dump, and the byte after it. The longest escape, a
/// character in two halves, is shorter.
const WAITING_MAX: usize = 18;

/// Undoes one form of writing.
pub(super) struct Layer {
    form: Form,
    /// The beginning of an escape.
    waiting: [Unit; WAITING_MAX],
    count: usize,
    /// What has come out and was not taken yet.
    out: [Unit; WAITING_MAX],
    out_count: usize,
    taken: usize,
    sequence: Sequence,
    /// Whether white space is the indentation of a line.
    is_indentation: bool,
    /// What stands before such a line, or 0.
    mark: u8,
    /// Where in a line of a dump it is.
    pub(super) line: DumpLine,
    /// How many bytes in a row were left out.
    gap: u32,
    /// The byte before the next one, as far as a word has come.
    last: u8,
}

impl Layer {
    pub(super) fn new(form: Form) -> Layer {
        let none = [Unit::default(); WAITING_MAX];
        Layer {
            form,
            waiting: none,
            count: 0,
            out: none,
            out_count: 0,
            taken: 0,
            sequence: Sequence::None,
            is_indentation: false,
            mark: 0,
            line: DumpLine::Inside,
            gap: 0,
            last: 0,
        }
    }

    /// Another one for the same form.
    pub(super) fn alike(&self) -> Layer {
        Layer::new(self.form)
    }

    /// Goes where another one of the same form is.
    pub(super) fn follow(&mut self, other: &Layer) {
        self.waiting[..other.count].copy_from_slice(other.waiting());
        (self.count, self.out_count, self.taken) = (other.count, 0, 0);
        (self.sequence, self.is_indentation, self.line) = (other.sequence, other.is_indentation, other.line);
        (self.gap, self.last, self.mark) = (other.gap, other.last, other.mark);
    }

    /// Whether it makes something else of a byte that stands by itself.
    pub(super) fn takes(&self, byte: u8) -> bool {
        match self.form {
            Form::String => matches!(byte, b'\\' | b'\''),
            Form::Html => byte == b'&',
            Form::Shown => gap::is_control(byte),
            Form::Url => byte == b'%',
            Form::PlusUrl => matches!(byte, b'%' | b'+'),
            Form::Drawn | Form::Quoted => gap::is_hidden(byte),
            Form::Skeleton => gap::is_hidden(byte) || gap::is_padding(byte),
            Form::Separated => matches!(byte, b'\n' | b'\r' | b' ' | b'\t' | b':' | b'-' | b',' | b'.'),
            Form::Dump(column) => column.takes(byte),
        }
    }

    /// Whether the next byte is read without regard to those before it.
    pub(super) fn is_idle(&self) -> bool {
        self.count == 0
            && self.sequence == Sequence::None
            && !self.is_indentation
            && self.line == DumpLine::Inside
    }

    /// Where that begins which may be an escape.
    pub(super) fn waits_from(&self) -> Option<u64> {
        (self.count > 0).then(|| self.waiting[0].start)
    }

    /// Forgets where it is, since nothing has begun that could go on behind a gap.
    pub(super) fn settle(&mut self) {
        if self.count == 0 {
            (self.sequence, self.is_indentation) = (Sequence::None, false);
            (self.line, self.gap) = (DumpLine::Inside, 0);
        }
    }

    /// Says which byte came before, since a layer that is idle is passed by.
    pub(super) fn go_on_behind(&mut self, byte: u8) {
        self.last = byte;
    }

    /// Takes a byte. What comes out is taken with [`Layer::next`] before the next one is pushed.
    pub(super) fn push(&mut self, unit: Unit) {
        (self.out_count, self.taken) = (0, 0);
        if let Form::Dump(column) = self.form {
            return self.read_dump(column, unit);
        }
        if self.sequence != Sequence::None {
            self.sequence = self.sequence.after(unit.byte);
            return self.leave_out(unit, 1);
        }
        if self.count == 0 && !self.is_indentation && !self.takes(unit.byte) {
            return self.give(unit);
        }
        self.wait(unit);
        while self.count > 0 {
            let (escape, length) = self.first_escape();
            let (start, last) = (self.waiting[0].start, self.waiting[length - 1]);
            let unit = Unit { start, ..last };
            match escape {
                Escape::Open => return,
                Escape::Whole(bytes, count) => {
                    self.drop_first(length);
                    bytes[..count].iter().for_each(|&byte| self.give(Unit { byte, ..unit }));
                }
                Escape::LeftOut => {
                    self.drop_first(length);
                    self.follow_indentation(last.byte);
                    // It is always the last that has come.
                    self.sequence = Sequence::None.after(last.byte);
                    self.leave_out(unit, length);
                }
                Escape::Overprint => {
                    self.drop_first(length);
                    self.give(Unit { is_overprint: true, ..unit });
                }
                Escape::None => self.give_first(),
            }
        }
    }

    /// Leaves some bytes out. A run that is too long is no part of a secret: a byte that is in none stands for it, so
    /// that what came before is held back no longer.
    pub(super) fn leave_out(&mut self, unit: Unit, count: usize) {
        self.gap += u32::try_from(count).expect("it is no longer than what waits");
        if self.gap > GAP_BYTES_MAX {
            (self.sequence, self.line) = (Sequence::None, DumpLine::Inside);
            self.give(Unit { byte: 0, ..unit });
        }
    }

    /// What has come out.
    pub(super) fn next(&mut self) -> Option<Unit> {
        let next = self.out[..self.out_count].get(self.taken).copied();
        self.taken += 1;
        next
    }

    pub(super) fn give(&mut self, unit: Unit) {
        (self.gap, self.is_indentation, self.last) = (0, false, unit.byte);
        self.out[self.out_count] = unit;
        self.out_count += 1;
    }

    /// Waits for what comes after a byte.
    pub(super) fn wait(&mut self, unit: Unit) {
        self.waiting[self.count] = unit;
        self.count += 1;
    }

    /// What waits.
    pub(super) fn waiting(&self) -> &[Unit] {
        &self.waiting[..self.count]
    }

    /// Takes away the first of those that wait.
    pub(super) fn drop_first(&mut self, count: usize) {
        self.waiting.copy_within(count..self.count, 0);
        self.count -= count;
    }

    /// Takes away the last of those that wait.
    pub(super) fn drop_last(&mut self) {
        self.count -= 1;
    }

    /// The first of those that wait is only itself.
    pub(super) fn give_first(&mut self) {
        self.give(self.waiting[0]);
        self.drop_first(1);
    }

    /// Lines go on behind a line break, their indentation left out.
    fn follow_indentation(&mut self, byte: u8) {
        match byte {
            b'\n' | b'\r' if matches!(self.form, Form::Drawn | Form::Quoted) => {
                (self.is_indentation, self.mark) = (true, 0);
            }
            b' ' | b'\t' => {}
            mark if self.is_indentation && gap::is_mark(mark) => self.mark = mark,
            _ => {}
        }
    }

    /// Whether a byte is indentation, or the same mark as before it in the line.
    fn is_before_line(&self, byte: u8) -> bool {
        let is_mark =
            self.form == Form::Quoted && gap::is_mark(byte) && (self.mark == 0 || self.mark == byte);
        self.is_indentation && (is_mark || matches!(byte, b' ' | b'\t'))
    }

    /// What the first of those that wait are, and how many of them. What is left out can be shorter than all.
    fn first_escape(&self) -> (Escape, usize) {
        let bytes: [u8; WAITING_MAX] = self.waiting.map(|unit| unit.byte);
        let bytes = &bytes[..self.count];
        let is_loose = self.form == Form::Skeleton;
        let last = (self.gap == 0).then_some(self.last);
        match self.form {
            _ if self.is_before_line(bytes[0]) => (Escape::LeftOut, 1),
            _ if !self.takes(bytes[0]) => (Escape::None, 1),
            Form::String => escape::string(bytes),
            Form::Html => escape::entity(bytes),
            Form::Url | Form::PlusUrl if bytes == b"+" => (whole(b" "), 1),
            Form::Url | Form::PlusUrl => (escape::url(bytes), self.count),
            Form::Drawn | Form::Quoted | Form::Skeleton => (1..=self.count)
                .map(|length| (gap::escape(&bytes[..length], last, is_loose), length))
                .find(|(escape, _)| !matches!(escape, Escape::Open))
                .unwrap_or((Escape::Open, self.count)),
            Form::Shown | Form::Separated => (Escape::LeftOut, 1),
            Form::Dump(_) => (Escape::None, 1),
        }
    }
}
