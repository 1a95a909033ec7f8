//! The ways to look at a stream: as it is, and with what JSON, URLs and line breaks have done to it undone.
//!
//! Each view walks through the same words. As long as a view sees what the plain one sees, it costs nothing: it is
//! in step, and begins to walk by itself only at a byte that it reads differently.

use std::collections::VecDeque;

use super::patterns::{Patterns, ROOT};

/// Found across line breaks only if it is at least so long: tools break base64 at 60 columns and more, and short
/// words would be found in two columns of numbers.
const JOINED_MIN: u32 = 56;

/// A piece of the stream.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Span {
    pub(super) start: u64,
    pub(super) end: u64,
}

/// One way to look at the stream.
pub(super) struct View {
    layers: Vec<Layer>,
    in_step: bool,
    at: u32,
    /// Where each byte began in the stream of those that the walk stands on.
    starts: VecDeque<u64>,
    /// The shortest word that counts.
    found_min: u32,
}

/// Every view, the plain one first.
pub(super) fn all() -> Vec<View> {
    let json = || Layer::new(Form::Json);
    let view =
        |layers, found_min| View { layers, in_step: true, at: ROOT, starts: VecDeque::new(), found_min };
    vec![
        view(vec![], 0),
        view(vec![json()], 0),
        view(vec![json(), json()], 0),
        view(vec![Layer::new(Form::Url)], 0),
        view(vec![Layer::new(Form::PlusUrl)], 0),
        view(vec![json(), Layer::new(Form::Joined)], JOINED_MIN),
    ]
}

/// Takes a byte at its place in the stream, and tells what was found.
pub(super) fn step(
    views: &mut [View],
    patterns: &Patterns,
    byte: u8,
    place: u64,
    mut found: impl FnMut(Span),
) {
    let (plain, others) = views.split_first_mut().expect("there is a plain view");
    for view in others.iter_mut().filter(|view| view.in_step && view.reads_differently(byte)) {
        view.in_step = false;
        view.at = plain.at;
        view.starts.clone_from(&plain.starts);
    }
    let unit = Unit { byte, start: place, end: place + 1 };
    plain.walk(patterns, unit, &mut found);
    for view in others.iter_mut().filter(|view| !view.in_step) {
        view.feed(0, patterns, unit, &mut found);
        let is_plain = view.at == plain.at && view.starts == plain.starts;
        view.in_step = is_plain && view.layers.iter().all(|layer| layer.waiting.is_empty());
    }
}

impl View {
    /// Where that begins which may become a word.
    pub(super) fn open_from(&self) -> Option<u64> {
        if self.in_step && !self.layers.is_empty() {
            return None;
        }
        let waiting = self.layers.iter().filter_map(|layer| layer.waiting.first().map(|unit| unit.start));
        waiting.chain(self.starts.front().copied()).min()
    }

    /// How much of a word there is.
    pub(super) fn depth(&self, patterns: &Patterns) -> u32 {
        if self.in_step && !self.layers.is_empty() { 0 } else { patterns.depth(self.at) }
    }

    fn reads_differently(&self, byte: u8) -> bool {
        self.layers.iter().any(|layer| layer.form.takes(byte))
    }

    /// Passes a byte through the layers from this one on, and walks with what comes out.
    fn feed(&mut self, layer: usize, patterns: &Patterns, unit: Unit, found: &mut impl FnMut(Span)) {
        let Some(this) = self.layers.get_mut(layer) else { return self.walk(patterns, unit, found) };
        for unit in this.push(unit) {
            self.feed(layer + 1, patterns, unit, found);
        }
    }

    fn walk(&mut self, patterns: &Patterns, unit: Unit, found: &mut impl FnMut(Span)) {
        self.at = patterns.next(self.at, unit.byte);
        if self.at == ROOT {
            return self.starts.clear();
        }
        self.starts.push_back(unit.start);
        let depth = length(patterns.depth(self.at));
        self.starts.drain(..self.starts.len() - depth);
        let word = patterns.found(self.at);
        if word > 0 && word >= self.found_min {
            found(Span { start: self.starts[depth - length(word)], end: unit.end });
        }
    }
}

/// A byte, and what it was made of.
#[derive(Debug, Clone, Copy)]
struct Unit {
    byte: u8,
    start: u64,
    end: u64,
}

/// Undoes one form of writing.
struct Layer {
    form: Form,
    /// The beginning of an escape. The longest is two times `\uXXXX`.
    waiting: Vec<Unit>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Form {
    /// Escapes of JSON strings, all that there are.
    Json,
    /// `%XX`.
    Url,
    /// `%XX`, and `+` for a space.
    PlusUrl,
    /// Line breaks and indentation left out.
    Joined,
}

impl Form {
    /// Whether it makes something else of a byte that stands by itself.
    fn takes(self, byte: u8) -> bool {
        match self {
            Form::Json => byte == b'\\',
            Form::Url => byte == b'%',
            Form::PlusUrl => matches!(byte, b'%' | b'+'),
            Form::Joined => matches!(byte, b'\n' | b'\r' | b' ' | b'\t'),
        }
    }
}

/// What can be said of the beginning of an escape.
enum Escape {
    /// It may go on.
    Open,
    /// It is whole and stands for this.
    Whole(Vec<u8>),
    /// It is none: its first byte is only itself.
    None,
}

impl Layer {
    fn new(form: Form) -> Layer {
        Layer { form, waiting: Vec::new() }
    }

    fn push(&mut self, unit: Unit) -> Vec<Unit> {
        if self.waiting.is_empty() && !self.form.takes(unit.byte) {
            return vec![unit];
        }
        self.waiting.push(unit);
        let mut out = Vec::new();
        while let Some(&first) = self.waiting.first() {
            match self.escape() {
                Escape::Open => break,
                Escape::Whole(bytes) => {
                    let end = self.waiting.last().map_or(first.end, |last| last.end);
                    out.extend(bytes.into_iter().map(|byte| Unit { byte, start: first.start, end }));
                    self.waiting.clear();
                }
                Escape::None => {
                    // What stands behind it may be the beginning of another, or nothing at all.
                    out.push(self.waiting.remove(0));
                    while self.waiting.first().is_some_and(|unit| !self.form.takes(unit.byte)) {
                        out.push(self.waiting.remove(0));
                    }
                }
            }
        }
        out
    }

    fn escape(&self) -> Escape {
        let bytes: Vec<u8> = self.waiting.iter().map(|unit| unit.byte).collect();
        match self.form {
            Form::Json => json(&bytes),
            Form::Url | Form::PlusUrl if bytes == b"+" => Escape::Whole(b" ".to_vec()),
            Form::Url | Form::PlusUrl => url(&bytes),
            Form::Joined => Escape::Whole(Vec::new()),
        }
    }
}

fn url(bytes: &[u8]) -> Escape {
    match bytes {
        [_] => Escape::Open,
        [_, high] if high.is_ascii_hexdigit() => Escape::Open,
        [_, digits @ ..] => match number(digits).map(u8::try_from) {
            Some(Ok(byte)) if digits.len() == 2 => Escape::Whole(vec![byte]),
            _ => Escape::None,
        },
        [] => Escape::None,
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
        [_, short] => {
            let byte = match short {
                b'"' | b'\\' | b'/' => *short,
                b'b' => 8,
                b'f' => 12,
                b'n' => b'\n',
                b'r' => b'\r',
                b't' => b'\t',
                _ => return Escape::None,
            };
            Escape::Whole(vec![byte])
        }
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
    let text = char::from_u32(number).map(|character| character.to_string().into_bytes());
    text.map_or(Escape::None, Escape::Whole)
}

fn number(digits: &[u8]) -> Option<u32> {
    digits.iter().try_fold(0, |value, &digit| Some(value << 4 | char::from(digit).to_digit(16)?))
}

fn length(count: u32) -> usize {
    usize::try_from(count).expect("a length fits")
}
