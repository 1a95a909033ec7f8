//! Undoes one form of writing, byte by byte, and remembers what each byte was made of.

/// A byte, and what it was made of.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Unit {
    pub(super) byte: u8,
    pub(super) start: u64,
    pub(super) end: u64,
}

/// A form of writing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Form {
    /// Escapes of JSON strings, all that there are.
    Json,
    /// `%XX`.
    Url,
    /// `%XX`, and `+` for a space.
    PlusUrl,
    /// Line breaks and indentation left out.
    Joined,
    /// Line breaks and the escape sequences of a terminal left out: what a person sees on one.
    Terminal,
    /// What tools put between hexadecimal digits left out.
    Separated,
}

/// A run of bytes that are left out may be so long. Beyond it nothing is held back any more.
const GAP_BYTES_MAX: u32 = 4096;

/// Where in an escape sequence of a terminal a stream is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Sequence {
    /// In none.
    None,
    /// Behind the escape character.
    Escape,
    /// In a control sequence, such as a colour.
    Control,
    /// In a string, such as a title or the address of a link.
    Words,
}

/// The longest escape is a character in two halves, each `\uXXXX`.
const ESCAPE_MAX: usize = 12;

/// Undoes one form of writing.
pub(super) struct Layer {
    form: Form,
    /// The beginning of an escape.
    waiting: [Unit; ESCAPE_MAX],
    count: usize,
    /// What has come out and was not taken yet.
    out: [Unit; ESCAPE_MAX],
    out_count: usize,
    taken: usize,
    sequence: Sequence,
    /// How many bytes in a row were left out.
    gap: u32,
}

/// What can be said of the beginning of an escape.
enum Escape {
    /// It may go on.
    Open,
    /// It is whole and stands for so many of these bytes.
    Whole([u8; 4], usize),
    /// It is none: its first byte is only itself.
    None,
}

impl Layer {
    pub(super) fn new(form: Form) -> Layer {
        let none = [Unit::default(); ESCAPE_MAX];
        let sequence = Sequence::None;
        Layer { form, waiting: none, count: 0, out: none, out_count: 0, taken: 0, sequence, gap: 0 }
    }

    /// Whether it makes something else of a byte that stands by itself.
    pub(super) fn takes(&self, byte: u8) -> bool {
        match self.form {
            Form::Json => byte == b'\\',
            Form::Url => byte == b'%',
            Form::PlusUrl => matches!(byte, b'%' | b'+'),
            Form::Joined => matches!(byte, b'\n' | b'\r' | b' ' | b'\t'),
            Form::Terminal => matches!(byte, b'\n' | b'\r' | ESCAPE),
            Form::Separated => matches!(byte, b'\n' | b'\r' | b' ' | b'\t' | b':' | b'-' | b',' | b'.'),
        }
    }

    /// Whether the next byte is read without regard to those before it.
    pub(super) fn is_idle(&self) -> bool {
        self.count == 0 && self.sequence == Sequence::None
    }

    /// Where that begins which may be an escape.
    pub(super) fn waits_from(&self) -> Option<u64> {
        (self.count > 0).then(|| self.waiting[0].start)
    }

    /// Takes a byte. What comes out is taken with [`Layer::next`] before the next one is pushed.
    pub(super) fn push(&mut self, unit: Unit) {
        (self.out_count, self.taken) = (0, 0);
        if matches!(self.form, Form::Joined | Form::Terminal | Form::Separated) {
            return self.leave_out(unit);
        }
        if self.count == 0 && !self.takes(unit.byte) {
            return self.give(unit);
        }
        self.waiting[self.count] = unit;
        self.count += 1;
        while self.count > 0 {
            match self.escape() {
                Escape::Open => return,
                Escape::Whole(bytes, length) => {
                    let (start, end) = (self.waiting[0].start, self.waiting[self.count - 1].end);
                    self.count = 0;
                    bytes[..length].iter().for_each(|&byte| self.give(Unit { byte, start, end }));
                }
                Escape::None => {
                    self.give_first();
                    // What stands behind it may be the beginning of another, or nothing at all.
                    while self.count > 0 && !self.takes(self.waiting[0].byte) {
                        self.give_first();
                    }
                }
            }
        }
    }

    /// Passes a byte on, or leaves it out. A run that is too long is no part of a secret: a byte that is in none stands for
    /// it, so that what came before is held back no longer.
    fn leave_out(&mut self, unit: Unit) {
        let is_left_out = self.sequence != Sequence::None || self.takes(unit.byte);
        if self.form == Form::Terminal {
            self.sequence = self.sequence.after(unit.byte);
        }
        if !is_left_out {
            self.gap = 0;
            return self.give(unit);
        }
        self.gap += 1;
        if self.gap > GAP_BYTES_MAX {
            (self.gap, self.sequence) = (0, Sequence::None);
            self.give(Unit { byte: 0, ..unit });
        }
    }

    /// What has come out.
    pub(super) fn next(&mut self) -> Option<Unit> {
        let next = self.out[..self.out_count].get(self.taken).copied();
        self.taken += 1;
        next
    }

    fn give(&mut self, unit: Unit) {
        self.out[self.out_count] = unit;
        self.out_count += 1;
    }

    fn give_first(&mut self) {
        self.give(self.waiting[0]);
        self.waiting.copy_within(1..self.count, 0);
        self.count -= 1;
    }

    fn escape(&self) -> Escape {
        let bytes: [u8; ESCAPE_MAX] = self.waiting.map(|unit| unit.byte);
        let bytes = &bytes[..self.count];
        match self.form {
            Form::Json => json(bytes),
            Form::Url | Form::PlusUrl if bytes == b"+" => whole(b" "),
            Form::Url | Form::PlusUrl => url(bytes),
            Form::Joined | Form::Terminal | Form::Separated => Escape::None,
        }
    }
}

const ESCAPE: u8 = 0x1b;
const BELL: u8 = 0x07;

impl Sequence {
    /// Where a stream is after one more byte.
    fn after(self, byte: u8) -> Sequence {
        match (self, byte) {
            // From 0x20 on come the bytes between the first and the last of a sequence.
            (Sequence::None | Sequence::Words, ESCAPE) | (Sequence::Escape, 0x20..=0x2f) => Sequence::Escape,
            (Sequence::Escape, b'[') | (Sequence::Control, 0x20..=0x3f) => Sequence::Control,
            (Sequence::Escape, b']' | b'P' | b'X' | b'^' | b'_') => Sequence::Words,
            (Sequence::Words, byte) if byte != BELL => Sequence::Words,
            _ => Sequence::None,
        }
    }
}

fn whole(bytes: &[u8]) -> Escape {
    let mut whole = [0; 4];
    whole[..bytes.len()].copy_from_slice(bytes);
    Escape::Whole(whole, bytes.len())
}

fn url(bytes: &[u8]) -> Escape {
    match bytes {
        [_] => Escape::Open,
        [_, high] if high.is_ascii_hexdigit() => Escape::Open,
        [_, high, low] => match number(&[*high, *low]).map(u8::try_from) {
            Some(Ok(byte)) => whole(&[byte]),
            _ => Escape::None,
        },
        _ => Escape::None,
    }
}

fn json(bytes: &[u8]) -> Escape {
    match bytes {
        [_] | [_, b'u'] => Escape::Open,
        [_, b'u', digits @ ..] if digits.len() < 4 => {
            if number(digits).is_some() {
                Escape::Open
            } else {
                Escape::None
            }
        }
        [_, b'u', a, b, c, d, rest @ ..] => match number(&[*a, *b, *c, *d]) {
            Some(high @ 0xd800..0xdc00) => second_half(high, rest),
            Some(number) => character(number),
            None => Escape::None,
        },
        [_, short] => match short {
            b'"' | b'\\' | b'/' => whole(&[*short]),
            b'b' => whole(b"\x08"),
            b'f' => whole(b"\x0c"),
            b'n' => whole(b"\n"),
            b'r' => whole(b"\r"),
            b't' => whole(b"\t"),
            _ => Escape::None,
        },
        _ => Escape::None,
    }
}

/// Characters beyond 16 bits are written in two halves.
fn second_half(high: u32, rest: &[u8]) -> Escape {
    match rest {
        [] | [b'\\'] | [b'\\', b'u'] => Escape::Open,
        [b'\\', b'u', digits @ ..] => match number(digits) {
            Some(low @ 0xdc00..0xe000) => character(0x10000 + ((high - 0xd800) << 10) + (low - 0xdc00)),
            Some(_) if digits.len() < 4 => Escape::Open,
            _ => Escape::None,
        },
        _ => Escape::None,
    }
}

fn character(number: u32) -> Escape {
    let character = char::from_u32(number);
    character.map_or(Escape::None, |character| whole(character.encode_utf8(&mut [0; 4]).as_bytes()))
}

fn number(digits: &[u8]) -> Option<u32> {
    digits.iter().try_fold(0, |value, &digit| Some(value << 4 | char::from(digit).to_digit(16)?))
}
