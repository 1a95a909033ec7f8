//! The ways to look at a stream: as it is, and with what strings, HTML, URLs, layout and dumps have done to it undone.
//!
//! The views are a tree: what is undone in strings is looked at in further ways. Each view walks through the same words.
//! As long as a view sees what the one above it sees, it costs nothing: it is in step, and begins to walk by itself only
//! at a byte that it reads differently.
//!
//! Control characters can be between any two bytes of any form. So a stage that meets one forks: a twin of the stage, with
//! its walk and all of its views, goes on from there without what a screen does not show. The twin ends where it has come
//! to nothing, or to the same as the stage. Text without control characters has no twin and does not pay for it.

use std::collections::VecDeque;

use super::{
    dump::Column,
    gap,
    layer::{Form, Layer, Unit},
    patterns::{Patterns, ROOT, WordKind},
};

/// Found in what a terminal draws, which wraps anything, and in the text of a dump, only if it is at least so long.
const DRAWN_MIN: u32 = 8;

/// Found with white space and borders anywhere, or as the digits of a dump, only if it is at least so long: a short word
/// would be found in two others, and a short number in two columns.
const LOOSE_MIN: u32 = 16;

/// Nothing wraps a text that is narrower. Almost every letter begins some word, so white space after one must be cheap.
const WRAPPED_MIN: u32 = 3;

/// The digits of a byte are printed without anything between them.
const PAIR: u32 = 2;

/// All that is left out within one word may be so long, and nothing more is held back for it.
const GAPS_BYTES_MAX: u64 = 64 << 10;

/// A byte is written in at most so many: an escape of JSON, each of whose characters is one, too.
const BYTE_BYTES_MAX: u64 = 36;

/// The words that a view looks for.
#[derive(Debug, Clone, Copy)]
struct Wanted {
    /// The shortest that counts. No word is shorter than 1.
    length_min: u32,
    /// So much of a word has come before something may be left out.
    gap_from: u32,
    kind: WordKind,
}

/// All forms.
const ANY: Wanted = Wanted { length_min: 1, gap_from: 0, kind: WordKind::Form };

/// A piece of the stream.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Span {
    pub(super) start: u64,
    pub(super) end: u64,
}

/// All ways to look at one stream.
pub(super) struct Views {
    plain: Stage,
    /// Bytes at which nothing can begin, in no view, when nothing has begun.
    idle: [bool; 256],
}

/// A stream of bytes, the walk over it, and the views that go on from it.
struct Stage {
    walk: Walk,
    views: Vec<View>,
    /// A bit for each of the views, and of the twin, that is not in step.
    astray: u32,
    /// For each byte, a bit for each of the views, and of the twin, that may read it differently.
    special: [u32; 256],
    forks: Forks,
    /// None until the stage forks for the first time.
    twin: Option<Box<Twin>>,
}

/// When a stage forks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Forks {
    Never,
    /// At a control character.
    Always,
    /// At one that was written as an escape. The stage above forks at the others.
    AtEscapes,
}

/// The bit of the twin; the views have the bits from the first on.
const TWIN: u32 = 1 << 31;

/// A stage that does not see what a screen does not show.
struct Twin {
    layer: Layer,
    stage: Stage,
}

/// A way to look at the stream of another stage. It is in step as long as it would see the same.
struct View {
    layer: Layer,
    wanted: Wanted,
    stage: Stage,
}

/// A place among the words.
#[derive(Default)]
struct Walk {
    at: u32,
    /// Where each byte began in the stream of those that the walk stands on.
    starts: VecDeque<u64>,
    /// Where the last of them ended.
    end: u64,
}

impl Views {
    pub(super) fn new(patterns: &Patterns) -> Views {
        let drawn = Wanted { length_min: DRAWN_MIN, gap_from: 1, ..ANY };
        let skeleton = Wanted { length_min: LOOSE_MIN, gap_from: WRAPPED_MIN, kind: WordKind::Skeleton };
        let digits = Wanted { length_min: 1, gap_from: PAIR, kind: WordKind::Digits };
        let dumped = Wanted { length_min: LOOSE_MIN, ..digits };
        let view = |form, wanted| View::new(form, wanted, Vec::new());
        let html = vec![view(Form::Html, ANY), view(Form::Quoted, drawn)];
        let string = vec![
            View::new(Form::String, ANY, Vec::new()).that_forks(),
            View::new(Form::Html, ANY, html),
            view(Form::Quoted, drawn),
            view(Form::Skeleton, skeleton),
            view(Form::Separated, digits),
            view(Form::Dump(Column::DigitsBeforeBar), dumped),
            view(Form::Dump(Column::DigitsBeforeGap), dumped),
            view(Form::Dump(Column::Text), drawn),
            view(Form::Dump(Column::Characters), drawn),
        ];
        let views = vec![
            View::new(Form::String, ANY, string).that_forks(),
            view(Form::Url, ANY),
            view(Form::PlusUrl, ANY),
            view(Form::Drawn, drawn),
        ];
        let plain = Stage::new(views, Forks::Always);
        // What is left out, or a space put in place of a plus, changes nothing where nothing has begun: no word begins
        // with it.
        let idle = bytes(|byte| !matches!(byte, b'\\' | b'%' | b'&') && patterns.next(ROOT, byte) == ROOT);
        Views { plain, idle }
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
            if self.plain.walk.at == ROOT && self.plain.astray == 0 {
                let skipped = rest.as_slice().iter().position(|&byte| !self.idle[usize::from(byte)]);
                let skipped = skipped.unwrap_or(rest.len());
                place += skipped as u64;
                rest = rest.as_slice()[skipped..].iter();
            }
            let Some(&byte) = rest.next() else { return };
            self.plain.step(patterns, Unit::of(byte, place), ANY, &mut found);
            place += 1;
        }
    }

    /// Where that begins which may become a word.
    pub(super) fn open_from(&self) -> Option<u64> {
        self.plain.open_from()
    }

    /// The beginnings of words that are at least so long. What was left out behind one is no part of it.
    pub(super) fn beginnings(&self, patterns: &Patterns, length_min: u32) -> Vec<Span> {
        let mut found = Vec::new();
        self.plain.each_walk(&mut |walk| {
            let start = walk.starts.front().filter(|_| patterns.depth(walk.at) >= length_min);
            found.extend(start.map(|&start| Span { start, end: walk.end }));
        });
        found
    }
}

impl Stage {
    fn new(views: Vec<View>, forks: Forks) -> Stage {
        let special = |byte| {
            let twin = if forks != Forks::Never && gap::is_control(byte) { TWIN } else { 0 };
            let views = views.iter().enumerate().filter(|(_, view)| view.reads_differently(byte));
            views.fold(twin, |bits, (place, _)| bits | 1 << place)
        };
        let special = bytes(special);
        Stage { walk: Walk::default(), views, astray: 0, special, forks, twin: None }
    }

    fn step<F: FnMut(Span)>(&mut self, patterns: &Patterns, unit: Unit, wanted: Wanted, found: &mut F) {
        let readers = self.special[usize::from(unit.byte)] & !self.astray;
        if readers & TWIN != 0 {
            self.fork(unit);
        }
        for place in places(readers & !TWIN) {
            let view = &mut self.views[place];
            if view.leaves(patterns, unit.byte, self.walk.at) {
                view.stage.walk.follow(patterns, view.wanted, &self.walk);
                self.astray |= 1 << place;
            }
        }
        self.walk.step(patterns, unit, wanted, found);
        if self.astray == 0 {
            return;
        }
        for place in places(self.astray & !TWIN) {
            let view = &mut self.views[place];
            view.feed(patterns, unit, found);
            let is_in_step = view.layer.is_idle()
                && view.stage.astray == 0
                && view.stage.walk.follows(patterns, view.wanted, &self.walk);
            if is_in_step {
                self.astray &= !(1 << place);
            }
        }
        if let Some(twin) = self.twin.as_deref_mut().filter(|_| self.astray & TWIN != 0) {
            twin.feed(patterns, unit, wanted, found);
            let is_same = self.astray == TWIN && twin.layer.is_idle() && twin.stage.walk.is_at(&self.walk);
            if twin.stage.astray == 0 && (is_same || twin.stage.walk.at == ROOT) {
                self.astray &= !TWIN;
            }
        }
    }

    /// Lets a twin go on from here, if something has begun that could go on behind a control character.
    fn fork(&mut self, unit: Unit) {
        let is_escape = unit.end - unit.start > 1;
        let has_begun = self.walk.at != ROOT || self.astray != 0;
        if !has_begun || self.forks == Forks::AtEscapes && !is_escape {
            return;
        }
        let mut twin = self.twin.take().unwrap_or_else(|| Box::new(Twin::of(self)));
        twin.layer = Layer::new(Form::Shown);
        twin.stage.follow(self);
        self.twin = Some(twin);
        self.astray |= TWIN;
    }

    /// A stage of the same views.
    fn alike(&self, forks: Forks) -> Stage {
        let views = self.views.iter().map(|view| View {
            layer: view.layer.alike(),
            wanted: view.wanted,
            stage: view.stage.alike(view.stage.forks),
        });
        Stage::new(views.collect(), forks)
    }

    /// Goes where another stage of the same views is. The twin of that one goes its own way.
    fn follow(&mut self, other: &Stage) {
        self.walk.copy(&other.walk);
        for place in places((self.astray | other.astray) & !TWIN) {
            self.views[place].layer.follow(&other.views[place].layer);
            self.views[place].stage.follow(&other.views[place].stage);
        }
        self.astray = other.astray & !TWIN;
    }

    /// The views that are not in step.
    fn astray(&self) -> impl Iterator<Item = &View> {
        places(self.astray & !TWIN).map(|place| &self.views[place])
    }

    /// The twin, if it is not in step.
    fn active_twin(&self) -> Option<&Twin> {
        self.twin.as_deref().filter(|_| self.astray & TWIN != 0)
    }

    fn open_from(&self) -> Option<u64> {
        let views = self.astray().flat_map(|view| [view.layer.waits_from(), view.stage.open_from()]);
        let twin = self.active_twin().map(|twin| twin.stage.open_from());
        views.chain(twin).flatten().chain(self.walk.starts.front().copied()).min()
    }

    fn each_walk<'a>(&'a self, take: &mut impl FnMut(&'a Walk)) {
        take(&self.walk);
        self.astray().for_each(|view| view.stage.each_walk(take));
        if let Some(twin) = self.active_twin() {
            twin.stage.each_walk(take);
        }
    }
}

impl Twin {
    fn of(stage: &Stage) -> Twin {
        Twin { layer: Layer::new(Form::Shown), stage: stage.alike(Forks::Never) }
    }

    fn feed<F: FnMut(Span)>(&mut self, patterns: &Patterns, unit: Unit, wanted: Wanted, found: &mut F) {
        self.layer.push(unit);
        while let Some(unit) = self.layer.next() {
            self.stage.step(patterns, unit, wanted, found);
        }
    }
}

impl View {
    fn new(form: Form, wanted: Wanted, views: Vec<View>) -> View {
        View { layer: Layer::new(form), wanted, stage: Stage::new(views, Forks::Never) }
    }

    fn that_forks(self) -> View {
        View { stage: Stage::new(self.stage.views, Forks::AtEscapes), ..self }
    }

    fn reads_differently(&self, byte: u8) -> bool {
        self.layer.takes(byte) || self.stage.special[usize::from(byte)] & !TWIN != 0
    }

    /// Whether it sees something else from this byte on than the stage that it looks at, which has come so far.
    fn leaves(&self, patterns: &Patterns, byte: u8, at: u32) -> bool {
        let Wanted { kind, length_min, gap_from } = self.wanted;
        // What is cheap to find out comes first: most bytes are a space behind a single letter.
        let is_deep = |at| patterns.depth(at) >= gap_from;
        let takes = is_deep(at) && self.layer.takes(byte) && is_deep(patterns.wanted(at, kind, length_min));
        let mut readers = places(self.stage.special[usize::from(byte)] & !TWIN);
        takes || readers.any(|place| self.stage.views[place].leaves(patterns, byte, at))
    }

    /// Passes a byte through the layer, and walks with what comes out.
    fn feed<F: FnMut(Span)>(&mut self, patterns: &Patterns, unit: Unit, found: &mut F) {
        let View { layer, stage, wanted, .. } = self;
        if layer.is_idle() && patterns.depth(stage.walk.at) < wanted.gap_from {
            return stage.step(patterns, unit, *wanted, found);
        }
        if layer.is_idle() {
            layer.go_on_behind(patterns.last_byte(stage.walk.at));
        }
        layer.push(unit);
        while let Some(unit) = layer.next() {
            stage.step(patterns, unit, *wanted, found);
        }
        if stage.walk.at == ROOT {
            layer.settle();
        }
    }
}

/// The places of the bits that are set.
fn places(mut bits: u32) -> impl Iterator<Item = usize> {
    std::iter::from_fn(move || {
        let place = bits.trailing_zeros();
        bits &= bits.wrapping_sub(1);
        (place < u32::BITS).then(|| length(place))
    })
}

fn bytes<T>(of: impl Fn(u8) -> T) -> [T; 256] {
    std::array::from_fn(|place| of(u8::try_from(place).expect("there are 256 bytes")))
}

impl Walk {
    /// Goes where another walk is, as far as its words are wanted.
    fn follow(&mut self, patterns: &Patterns, wanted: Wanted, other: &Walk) {
        self.at = other.at;
        self.starts.clone_from(&other.starts);
        self.trim(patterns, wanted, other.end);
    }

    fn copy(&mut self, other: &Walk) {
        (self.at, self.end) = (other.at, other.end);
        self.starts.clone_from(&other.starts);
    }

    /// Whether [`Walk::copy`] would change nothing.
    fn is_at(&self, other: &Walk) -> bool {
        self.at == other.at && self.starts == other.starts
    }

    /// Whether [`Walk::follow`] would change nothing.
    fn follows(&self, patterns: &Patterns, wanted: Wanted, other: &Walk) -> bool {
        let at = patterns.wanted(other.at, wanted.kind, wanted.length_min);
        let skipped = other.starts.len() - length(patterns.depth(at));
        self.at == at && self.starts.iter().eq(other.starts.iter().skip(skipped))
    }

    fn step(&mut self, patterns: &Patterns, unit: Unit, wanted: Wanted, found: &mut impl FnMut(Span)) {
        if !unit.is_overprint {
            self.at = patterns.next(self.at, unit.byte);
            if self.at == ROOT {
                return self.starts.clear();
            }
            self.starts.push_back(unit.start);
            self.trim(patterns, wanted, unit.end);
        }
        // What is printed over the last byte of a word belongs to the word.
        let word = patterns.found(self.at, wanted.kind);
        if word > 0 && word >= wanted.length_min {
            found(Span { start: self.starts[self.starts.len() - length(word)], end: unit.end });
        }
    }

    /// Leaves out beginnings of words that are not wanted or have too much between their bytes, and starts that belong
    /// to none.
    fn trim(&mut self, patterns: &Patterns, wanted: Wanted, end: u64) {
        self.end = end;
        loop {
            self.at = patterns.wanted(self.at, wanted.kind, wanted.length_min);
            let depth = patterns.depth(self.at);
            while self.starts.len() > length(depth) {
                self.starts.pop_front();
            }
            let bytes_max = GAPS_BYTES_MAX + BYTE_BYTES_MAX * u64::from(depth);
            match self.starts.front() {
                Some(start) if end - start > bytes_max => self.at = patterns.fallback(self.at),
                _ => return,
            }
        }
    }
}

fn length(count: u32) -> usize {
    usize::try_from(count).expect("a length fits")
}
