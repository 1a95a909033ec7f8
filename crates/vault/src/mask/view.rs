//! The ways to look at a stream: as it is, and with what JSON, URLs and line breaks have done to it undone.
//!
//! Each view walks through the same words. As long as a view sees what the plain one sees, it costs nothing: it is
//! in step, and begins to walk by itself only at a byte that it reads differently.

use std::collections::VecDeque;

use super::{
    layer::{Form, Layer, Unit},
    patterns::{Patterns, ROOT},
};

/// Found across line breaks only if it is at least so long: tools break base64 at 60 columns and more, and short
/// words would be found in two columns of numbers.
const JOINED_MIN: u32 = 56;

/// Found across line breaks and escapes of a terminal, which wraps anything, only if it is at least so long.
const WRAPPED_MIN: u32 = 8;

/// The words that a view looks for.
#[derive(Debug, Clone, Copy)]
struct Wanted {
    /// The shortest that counts.
    length_min: u32,
    /// Whether only those count that are hexadecimal digits.
    digits_only: bool,
}

/// All of them.
const ANY: Wanted = Wanted { length_min: 0, digits_only: false };

/// A piece of the stream.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Span {
    pub(super) start: u64,
    pub(super) end: u64,
}

/// All ways to look at one stream.
pub(super) struct Views {
    plain: Walk,
    others: [View; 8],
    /// How many of the others are not in step.
    astray: usize,
    /// Bytes at which nothing can begin, in no view, when nothing has begun.
    idle: [bool; 256],
    /// Bytes that some view reads differently.
    special: [bool; 256],
}

/// One way to look at the stream.
struct View {
    layers: Vec<Layer>,
    in_step: bool,
    walk: Walk,
    wanted: Wanted,
}

/// A place among the words.
#[derive(Default)]
struct Walk {
    at: u32,
    /// Where each byte began in the stream of those that the walk stands on.
    starts: VecDeque<u64>,
}

impl Views {
    pub(super) fn new(patterns: &Patterns) -> Views {
        let view = |forms: &[Form], wanted| {
            let layers = forms.iter().copied().map(Layer::new).collect();
            View { layers, in_step: true, walk: Walk::default(), wanted }
        };
        let long = |length_min| Wanted { length_min, ..ANY };
        let others = [
            view(&[Form::Json], ANY),
            view(&[Form::Json, Form::Json], ANY),
            view(&[Form::Url], ANY),
            view(&[Form::PlusUrl], ANY),
            view(&[Form::Json, Form::Joined], long(JOINED_MIN)),
            view(&[Form::Terminal], long(WRAPPED_MIN)),
            view(&[Form::Json, Form::Terminal], long(WRAPPED_MIN)),
            view(&[Form::Json, Form::Separated], Wanted { digits_only: true, ..ANY }),
        ];
        let byte = |place: usize| u8::try_from(place).expect("there are 256 bytes");
        let special: [bool; 256] =
            std::array::from_fn(|place| others.iter().any(|view| view.reads_differently(byte(place))));
        // A space that is left out, or put in place of a plus, changes nothing where nothing has begun: no word
        // begins with one.
        let idle = std::array::from_fn(|place| {
            !matches!(byte(place), b'\\' | b'%') && patterns.next(ROOT, byte(place)) == ROOT
        });
        Views { plain: Walk::default(), others, astray: 0, idle, special }
    }

    /// Takes bytes from their place in the stream on, and tells what was found.
    pub(super) fn push(
        &mut self,
        patterns: &Patterns,
        bytes: &[u8],
        mut place: u64,
        mut found: impl FnMut(Span),
    ) {
        let mut rest = bytes.iter();
        loop {
            if self.plain.at == ROOT && self.astray == 0 {
                let skipped = rest.as_slice().iter().position(|&byte| !self.idle[usize::from(byte)]);
                let skipped = skipped.unwrap_or(rest.len());
                place += skipped as u64;
                rest = rest.as_slice()[skipped..].iter();
            }
            let Some(&byte) = rest.next() else { return };
            self.step(patterns, byte, place, &mut found);
            place += 1;
        }
    }

    /// Where that begins which may become a word.
    pub(super) fn open_from(&self) -> Option<u64> {
        let astray = self.others.iter().filter(|view| !view.in_step);
        let starts = astray.flat_map(|view| {
            let waiting = view.layers.iter().filter_map(Layer::waits_from);
            waiting.chain(view.walk.starts.front().copied())
        });
        starts.chain(self.plain.starts.front().copied()).min()
    }

    /// Where the beginnings of words begin that are at least so long.
    pub(super) fn long_from(&self, patterns: &Patterns, length_min: u32) -> Option<u64> {
        let astray = self.others.iter().filter(|view| !view.in_step).map(|view| &view.walk);
        let walks = astray.chain([&self.plain]).filter(|walk| patterns.depth(walk.at) >= length_min);
        walks.filter_map(|walk| walk.starts.front().copied()).min()
    }

    fn step(&mut self, patterns: &Patterns, byte: u8, place: u64, found: &mut impl FnMut(Span)) {
        if self.special[usize::from(byte)] {
            for view in self.others.iter_mut().filter(|view| view.in_step && view.reads_differently(byte)) {
                view.in_step = false;
                view.walk.at = self.plain.at;
                view.walk.starts.clone_from(&self.plain.starts);
            }
        } else if self.astray == 0 {
            return self.plain.step(patterns, Unit { byte, start: place, end: place + 1 }, ANY, found);
        }
        let unit = Unit { byte, start: place, end: place + 1 };
        self.plain.step(patterns, unit, ANY, found);
        self.astray = 0;
        for view in self.others.iter_mut().filter(|view| !view.in_step) {
            view.feed(patterns, unit, found);
            let is_plain = view.walk.at == self.plain.at && view.walk.starts == self.plain.starts;
            view.in_step = is_plain && view.layers.iter().all(Layer::is_idle);
            self.astray += usize::from(!view.in_step);
        }
    }
}

impl View {
    fn reads_differently(&self, byte: u8) -> bool {
        self.layers.iter().any(|layer| layer.takes(byte))
    }

    /// Passes a byte through the layers, and walks with what comes out.
    fn feed(&mut self, patterns: &Patterns, unit: Unit, found: &mut impl FnMut(Span)) {
        let View { layers, walk, wanted, .. } = self;
        let (outer, inner) = layers.split_first_mut().expect("only the plain view has no layer");
        outer.push(unit);
        while let Some(unit) = outer.next() {
            match inner {
                [] => walk.step(patterns, unit, *wanted, found),
                [inner, ..] => {
                    inner.push(unit);
                    while let Some(unit) = inner.next() {
                        walk.step(patterns, unit, *wanted, found);
                    }
                }
            }
        }
    }
}

impl Walk {
    fn step(&mut self, patterns: &Patterns, unit: Unit, wanted: Wanted, found: &mut impl FnMut(Span)) {
        self.at = if wanted.digits_only {
            patterns.next_digit(self.at, unit.byte)
        } else {
            patterns.next(self.at, unit.byte)
        };
        if self.at == ROOT {
            return self.starts.clear();
        }
        self.starts.push_back(unit.start);
        let depth = length(patterns.depth(self.at));
        while self.starts.len() > depth {
            self.starts.pop_front();
        }
        let word = if wanted.digits_only { patterns.found_digits(self.at) } else { patterns.found(self.at) };
        if word > 0 && word >= wanted.length_min {
            found(Span { start: self.starts[depth - length(word)], end: unit.end });
        }
    }
}

fn length(count: u32) -> usize {
    usize::try_from(count).expect("a length fits")
}
