//! Takes secrets out of what is shown: each byte of one becomes `*`, so that every offset stays what it was.
//!
//! [`Masks`] knows what to look for, [`Masker`] goes through a stream in chunks of any size. Found is a secret as it
//! is, in JSON and other strings, quoted for a shell, in HTML, in a URL, in base64 (all alignments, both alphabets), in
//! hexadecimal digits, in a dump and in UTF-16, also with what layout or control characters put between its characters; of
//! several lines, also each line by itself. Shorter ones than [`MASKED_BYTES_MIN`] are not masked: they stand in
//! every other word. Line breaks stay what they are, so that lines stay lines.
//!
//! The time is linear, whatever the secrets and the text. What is held back is only what may be the beginning of a
//! secret, never more than the longest form of one.

mod dump;
mod escape;
mod gap;
mod layer;
mod patterns;
mod view;
mod words;

use std::{mem, sync::Arc};

use serde_json::Value;
use zeroize::Zeroizing;

use crate::secret::Secret;
use patterns::{Patterns, WordKind};
use view::{Span, Views};

pub use words::MASKED_BYTES_MIN;

/// What stands where a secret stood.
const MASK: u8 = b'*';

/// What stands for a digit of a secret in a JSON number. Zeros would not be a number: none begins with two.
const DIGIT: &str = "1";

/// At the end of a stream, the beginning of a secret is masked if it is at least so long.
const BEGINNING_MIN: u32 = 6;

/// The secrets to be masked, in every form they can take.
pub struct Masks {
    patterns: Patterns,
    /// Whether one of them can be a number in JSON.
    has_numbers: bool,
}

impl Masks {
    /// For these secrets.
    pub fn new<'a>(secrets: impl IntoIterator<Item = &'a Secret>) -> Masks {
        let (mut patterns, mut has_numbers) = (Patterns::default(), false);
        for secret in secrets {
            for form in words::forms(secret.expose()) {
                patterns.add(&form, WordKind::Form);
                patterns.add(&words::skeleton(&form), WordKind::Skeleton);
            }
            for form in words::wide(secret.expose()) {
                patterns.add(&form, WordKind::Form);
            }
            for form in words::digits(secret.expose()) {
                patterns.add(&form, WordKind::Form);
                patterns.add(&form, WordKind::Digits);
                has_numbers |= form.iter().copied().all(is_of_number);
            }
            has_numbers |= secret.expose().trim().bytes().all(is_of_number);
        }
        patterns.connect();
        Masks { patterns, has_numbers }
    }

    /// Whether there is nothing to be masked.
    pub fn is_empty(&self) -> bool {
        self.patterns.is_empty()
    }

    /// Masks a whole text.
    pub fn text(self: &Arc<Masks>, text: &str) -> String {
        if self.is_empty() {
            return text.to_owned();
        }
        let out = self.bytes(text.as_bytes());
        String::from_utf8(out).unwrap_or_else(|out| whole_characters(text, out.as_bytes()))
    }

    /// Masks all bytes of something, such as a file.
    pub fn bytes(self: &Arc<Masks>, bytes: &[u8]) -> Vec<u8> {
        let mut out = Vec::with_capacity(bytes.len());
        let mut masker = Masker::new(Arc::clone(self));
        masker.push(bytes, &mut out);
        masker.close(&mut out, u32::MAX);
        out
    }

    /// The lines of a text, counted from 0, in which something would be masked.
    pub fn lines(self: &Arc<Masks>, text: &[u8]) -> Vec<usize> {
        if self.is_empty() {
            return Vec::new();
        }
        // Line breaks stay what they are.
        let masked = self.bytes(text);
        let pairs = text.split(|byte| *byte == b'\n').zip(masked.split(|byte| *byte == b'\n'));
        pairs.enumerate().filter(|(_, (line, masked))| line != masked).map(|(index, _)| index).collect()
    }

    /// Masks every string, name and number of a JSON value. A masked number is one with as many digits.
    pub fn json(self: &Arc<Masks>, value: &mut Value) {
        match value {
            _ if self.is_empty() => {}
            Value::String(text) => *text = self.text(text),
            Value::Array(values) => values.iter_mut().for_each(|value| self.json(value)),
            Value::Object(fields) => {
                let masked = mem::take(fields).into_iter().map(|(name, mut value)| {
                    self.json(&mut value);
                    (self.text(&name), value)
                });
                *fields = masked.collect();
            }
            Value::Number(number) => {
                let text = number.to_string();
                let masked = self.text(&text);
                if masked != text {
                    let digits = masked.replace(char::from(MASK), DIGIT);
                    *value = digits.parse().map_or(Value::Null, Value::Number);
                }
            }
            Value::Null | Value::Bool(_) => {}
        }
    }
}

/// Masks one stream.
pub struct Masker {
    masks: Arc<Masks>,
    /// None if there is nothing to be masked.
    views: Option<Box<Views>>,
    /// What may be the beginning of a secret, masked where a whole one has already been found.
    held: Zeroizing<Vec<u8>>,
    /// How much of the stream was given out.
    given: u64,
    /// Whether the stream is in JSON, where a secret can be a number.
    line: Option<Line>,
}

impl Masker {
    /// At the beginning of a stream.
    pub fn new(masks: Arc<Masks>) -> Masker {
        let views = (!masks.is_empty()).then(|| Box::new(Views::new(&masks.patterns)));
        let line = masks.has_numbers.then(Line::default);
        Masker { masks, views, held: Zeroizing::default(), given: 0, line }
    }

    /// Takes a piece of the stream, and appends what can be shown to `out`.
    pub fn push(&mut self, bytes: &[u8], out: &mut Vec<u8>) {
        let at = self.given + self.held.len() as u64;
        self.held.extend(bytes);
        let end = at + bytes.len() as u64;
        let Some(views) = &mut self.views else { return self.give(end, out) };
        let (held, given, line) = (&mut self.held, self.given, &mut self.line);
        views.push(&self.masks.patterns, bytes, at, |span| {
            let is_number = line.as_mut().is_some_and(|line| line.is_number(held, given, span));
            mask(held, given, span, is_number);
        });
        if let Some(line) = line {
            line.advance(held, given, end);
        }
        let open_from = views.open_from().unwrap_or(end);
        self.give(open_from, out);
    }

    /// Masks other secrets from here on, also in what is held back.
    pub fn renew(&mut self, masks: Arc<Masks>) {
        let mut renewed = Masker { given: self.given, ..Masker::new(masks) };
        // Where in its line the stream is, is known again from the next line on.
        if let Some(line) = &mut renewed.line {
            (line.at, line.place) = (self.given, LinePlace::Text);
        }
        let before = mem::replace(self, renewed);
        let mut out = Zeroizing::new(Vec::new());
        self.push(&before.held, &mut out);
        // Whoever reads the stream gets it with the next piece.
        self.given -= out.len() as u64;
        self.held.splice(..0, out.iter().copied());
    }

    /// How much is held back.
    pub fn held(&self) -> usize {
        self.held.len()
    }

    /// Gives out what is held back, before it is known whether it is a secret: the beginning of one is masked if it
    /// is long enough to tell something. The stream may go on: of a secret that does, the rest is masked as well.
    pub fn flush(&mut self, out: &mut Vec<u8>) {
        self.close(out, BEGINNING_MIN);
    }

    fn close(&mut self, out: &mut Vec<u8>, beginning_min: u32) {
        let end = self.given + self.held.len() as u64;
        if let Some(views) = &self.views {
            for span in views.beginnings(&self.masks.patterns, beginning_min) {
                mask(&mut self.held, self.given, span, false);
            }
        }
        self.give(end, out);
    }

    fn give(&mut self, to: u64, out: &mut Vec<u8>) {
        // What was flushed lies before what is given; it is not given twice.
        let count =
            usize::try_from(to.saturating_sub(self.given)).expect("it is no longer than what is held");
        out.extend(&self.held[..count]);
        self.given += count as u64;
        let left = self.held.len() - count;
        self.held.copy_within(count.., 0);
        self.held[left..].fill(0);
        self.held.truncate(left);
    }
}

/// Masks a piece of what is held, as far as it was not given out.
fn mask(held: &mut [u8], given: u64, span: Span, is_number: bool) {
    for byte in &mut held[place(span.start, given)..place(span.end, given)] {
        match *byte {
            b'\n' | b'\r' => {}
            digit if is_number && digit.is_ascii_digit() => *byte = DIGIT.as_bytes()[0],
            _ if is_number => {}
            _ => *byte = MASK,
        }
    }
}

/// A masked text whose masks end within characters, as the bytes of UTF-16 can: there all of the character is masked.
fn whole_characters(text: &str, masked: &[u8]) -> String {
    let is_masked =
        |at: usize, c: char| text.as_bytes()[at..at + c.len_utf8()] != masked[at..at + c.len_utf8()];
    let character = |(at, c): (usize, char)| match char::from(masked[at]) {
        _ if !is_masked(at, c) => String::from(c),
        digit if c.len_utf8() == 1 => String::from(digit),
        _ => String::from(char::from(MASK)).repeat(c.len_utf8()),
    };
    text.char_indices().map(character).collect()
}

/// Where something in the stream is in what is held.
fn place(at: u64, given: u64) -> usize {
    usize::try_from(at.saturating_sub(given)).expect("it is no longer than what is held")
}

/// Whether a byte can be a part of a number in JSON.
fn is_of_number(byte: u8) -> bool {
    byte.is_ascii_digit() || matches!(byte, b'.' | b'-' | b'+' | b'e' | b'E')
}

/// Whether a byte can be a part of a list of numbers in JSON.
fn is_of_numbers(byte: u8) -> bool {
    is_of_number(byte) || matches!(byte, b',' | b' ' | b'\t' | b'\n' | b'\r')
}

/// Follows a stream through its lines, to know a number of a line in JSON.
#[derive(Default)]
struct Line {
    /// How far it was followed.
    at: u64,
    place: LinePlace,
}

/// Where in its line a stream is.
#[derive(Clone, Copy, PartialEq, Eq, Default)]
enum LinePlace {
    /// At its beginning.
    #[default]
    Beginning,
    /// In a line that is no JSON.
    Text,
    /// In JSON, outside of a string.
    Json,
    /// In a string of JSON.
    Words,
    /// In such a string, behind a backslash.
    Escape,
}

impl Line {
    /// Whether what was found is a number of a line in JSON, a part of one, or a list of them.
    fn is_number(&mut self, held: &[u8], given: u64, span: Span) -> bool {
        self.advance(held, given, span.end);
        let bytes = &held[place(span.start, given)..place(span.end, given)];
        self.place == LinePlace::Json && bytes.iter().copied().all(is_of_numbers)
    }

    fn advance(&mut self, held: &[u8], given: u64, to: u64) {
        if to <= self.at {
            return;
        }
        for &byte in &held[place(self.at, given)..place(to, given)] {
            self.place = match (self.place, byte) {
                (_, b'\n') | (LinePlace::Beginning, b' ' | b'\t' | b'\r') => LinePlace::Beginning,
                (LinePlace::Beginning, b'{' | b'[') => LinePlace::Json,
                (LinePlace::Beginning | LinePlace::Json, b'"') => LinePlace::Words,
                (LinePlace::Beginning | LinePlace::Text, _) => LinePlace::Text,
                (LinePlace::Json, _) | (LinePlace::Words, b'"') => LinePlace::Json,
                (LinePlace::Words, b'\\') => LinePlace::Escape,
                (LinePlace::Words | LinePlace::Escape, _) => LinePlace::Words,
            };
        }
        self.at = to;
    }
}
