//! The heart: bytes in chunks of any size to lines, lines to messages.
//!
//! Works a line at a time in one of three ways: lines that cannot matter are skipped without being copied, lines
//! that may matter are collected with their escapes removed, and the rest of a line behind a closing tag is let go.
//! Whatever is decided is decided by the bytes alone, never by where a chunk was cut.

mod hear;

use alloc::{format, string::String, vec::Vec};
use core::time::Duration;

use memchr::memchr2;

use super::{
    fence::Fence,
    glance::may_speak,
    line_ends::LineEnds,
    nonce::Watch,
    open::Open,
    tag::{Tag, opening},
};
use crate::{
    escape::{C1_LEAD, Escape, Step, is_plain},
    fault::{Fault, FaultReason},
    item::{EndedBy, QuoteSource, Trust, What},
    name::Nonce,
    parser::Settings,
    sink::Sink,
};

/// Whose text it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Mode {
    /// What a program prints.
    Raw,
    /// What a model says: code fences quote.
    Speech,
    /// What was shown to somebody, and by whom.
    Quoted(QuoteSource),
}

/// Where in the raw stream the pushed bytes stand.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Place {
    /// They are the stream.
    Stream,
    /// They were taken out of this line of it.
    Within { offset: u64, end: u64 },
}

impl Place {
    /// Where in the raw stream a line of this text begins.
    fn offset(self, line_start: u64) -> u64 {
        match self {
            Place::Stream => line_start,
            Place::Within { offset, .. } => offset,
        }
    }

    /// Where in the raw stream something in this text ends.
    fn end(self, position: u64) -> u64 {
        match self {
            Place::Stream => position,
            Place::Within { end, .. } => end,
        }
    }
}

/// The longest closing tag, with a name, a nonce and some space around them.
const CLOSING_TAG_BYTES_MAX: usize = 1024;

/// The longest line of which it is asked after every push whether it can matter.
const GLANCE_BYTES_MAX: usize = 256;

/// The longest line that counts without its newline.
const SILENT_LINE_BYTES_MAX: usize = 4096;

/// Reads the text of one speaker.
#[derive(Debug)]
pub(crate) struct TextParser {
    mode: Mode,
    settings: Settings,
    watch: Option<Watch>,
    state: State,
    escape: Escape,
    /// Offset of the next byte in this text.
    position: u64,
    /// Offset of the current line in this text.
    line_start: u64,
    /// The current line as far as it was collected, escapes removed.
    line: Vec<u8>,
    /// Where the collected line's first character stands in the raw stream.
    line_origin: Option<u64>,
    /// How much white space stands before it in the collected line.
    line_indent: usize,
    /// How often the session's nonce stands in this line by right.
    line_vouched: usize,
    /// Whether the line was longer than can be held.
    line_too_long: bool,
    /// A carriage return was the last thing seen: what comes next begins the line again.
    returned: bool,
    open: Option<Open>,
    fence: Option<Fence>,
}

/// What happens to the current line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    /// Nothing of it was seen.
    Fresh,
    /// It is collected.
    Collect,
    /// It cannot matter.
    Skip,
}

impl TextParser {
    pub(crate) fn new(mode: Mode, settings: Settings) -> Self {
        let watch = match mode {
            Mode::Speech => None,
            Mode::Raw | Mode::Quoted(_) => settings.nonce.clone().map(Watch::new),
        };
        TextParser {
            mode,
            settings,
            watch,
            state: State::Fresh,
            escape: Escape::Ground,
            position: 0,
            line_start: 0,
            line: Vec::new(),
            line_origin: None,
            line_indent: 0,
            line_vouched: 0,
            line_too_long: false,
            returned: false,
            open: None,
            fence: None,
        }
    }

    /// Text of whom comes next; the text before must have ended.
    pub(crate) fn set_mode(&mut self, mode: Mode) {
        self.mode = mode;
    }

    /// A nonce instead of the one before.
    pub(crate) fn set_nonce(&mut self, nonce: Nonce) {
        self.watch = Some(Watch::new(nonce));
    }

    pub(crate) fn push(&mut self, bytes: &[u8], place: Place, sink: &mut Sink) {
        // The prompt teaches the nonce; only where others write is it given away.
        if let Some(watch) = &mut self.watch
            && self.mode != Mode::Quoted(QuoteSource::Prompt)
        {
            watch.scan(bytes, self.position);
        }
        let chunk = Chunk { bytes, base: self.position, place };
        let mut at = 0;
        while at < bytes.len() {
            at = match self.state {
                State::Fresh if self.may_skip() => self.glance(&chunk, at),
                State::Fresh | State::Collect => self.collect(&chunk, at, sink),
                State::Skip => self.skip(&chunk, at, sink),
            };
        }
        self.position = chunk.end();
        if let Some(watch) = &mut self.watch {
            watch.end_chunk();
        }
        // What was collected only because the chunk ended may already be known not to matter.
        let line = &self.line[self.line_indent..];
        if self.state == State::Collect
            && self.may_skip()
            && self.escape == Escape::Ground
            && !self.returned
            && self.line_origin.is_some()
            && line.len() <= GLANCE_BYTES_MAX
            && !may_speak(line)
        {
            self.forget_line();
        }
    }

    /// Ends the text: what is open ends here.
    pub(crate) fn end(&mut self, ended_by: EndedBy, place: Place, sink: &mut Sink) {
        if self.state != State::Fresh {
            self.end_line(self.position, place, sink);
        }
        self.line_start = self.position;
        self.fence = None;
        if let Some(watch) = &mut self.watch {
            watch.end_text();
        }
        self.close(ended_by, sink);
    }

    /// The screen on which this stands was begun anew: what was said there without a closing tag ends.
    pub(crate) fn begin_screen(&mut self, place: Place, sink: &mut Sink) {
        if self.open.as_ref().is_some_and(Open::is_office) {
            let line_start = self.line_start;
            self.end(EndedBy::Screen, place, sink);
            // To the stream it is the same line.
            self.line_start = line_start;
        }
    }

    /// After how much silence something would end.
    pub(crate) fn patience(&self) -> Option<Duration> {
        const LINE_PATIENCE: Duration = Duration::from_millis(250);
        match &self.open {
            Some(open) => Some(open.patience()),
            None => (self.state == State::Collect && self.line_speaks()).then_some(LINE_PATIENCE),
        }
    }

    /// Ends what has waited long enough.
    pub(crate) fn silent_for(&mut self, silence: Duration, place: Place, sink: &mut Sink) {
        if self.patience().is_some_and(|patience| silence >= patience) {
            if self.state == State::Collect {
                // The line counts as it stands; what may still come on it is text.
                let end = LineEnd { at: place.end(self.position), by: EndedBy::Silence };
                self.finish_line(end, place, sink);
                self.state = State::Skip;
            }
            if self.open.as_ref().is_some_and(|open| silence >= open.patience()) {
                self.close(EndedBy::Silence, sink);
            }
        }
    }

    /// Bytes held at the moment.
    pub(crate) fn buffered_bytes(&self) -> usize {
        self.line.len()
            + self.open.as_ref().map_or(0, |open| open.size().0)
            + self.watch.as_ref().map_or(0, Watch::buffered_bytes)
    }

    /// Where in the raw stream what may still become part of a message begins.
    pub(crate) fn undecided(&self) -> Option<u64> {
        let line = (self.state == State::Collect).then_some(self.line_origin).flatten();
        self.open.as_ref().map(|open| open.origin.offset).or(line)
    }

    /// Where in the raw stream a line begins that has not ended.
    pub(crate) fn unfinished_line(&self) -> Option<u64> {
        self.line_origin
    }

    /// Whether lines can be passed over: not those of a message, and not those of speech, where fences matter.
    fn may_skip(&self) -> bool {
        self.open.is_none() && self.mode != Mode::Speech
    }

    /// Whether the unfinished line is a whole tag that needs no closing one. Thin lines need their newline, because
    /// `DONE:T1` may become `DONE:T1.3`; so does a long line, because this is asked after every push.
    fn line_speaks(&self) -> bool {
        if self.line.len() > SILENT_LINE_BYTES_MAX {
            return false;
        }
        let line = String::from_utf8_lossy(&self.line);
        opening(&line).is_some_and(|opening| matches!(opening.tag, Tag::Office(..) | Tag::Phase(_)))
    }

    /// Passes over lines that cannot matter, up to the first that may.
    fn glance(&mut self, chunk: &Chunk<'_>, from: usize) -> usize {
        let bytes = chunk.bytes;
        if may_speak(&bytes[from..]) {
            self.state = State::Collect;
            return from;
        }
        self.state = State::Skip;
        // Where a line may be too long or hold the nonce, each is looked at by itself.
        let may_be_too_long = chunk.end() - self.line_start > self.line_limit(chunk.place);
        if may_be_too_long || self.watch.as_ref().is_some_and(Watch::has_hit) {
            return from;
        }
        let mut start = from;
        let mut stop = bytes.len();
        for end in LineEnds::new(bytes, from) {
            if bytes[end] == b'\r' {
                if bytes.get(end + 1) == Some(&b'\n') {
                    continue;
                }
                stop = end;
                break;
            }
            start = end + 1;
            if start == bytes.len() || may_speak(&bytes[start..]) {
                self.state = State::Fresh;
                stop = start;
                break;
            }
        }
        if start > from {
            self.line_start = chunk.base + start as u64;
        }
        stop
    }

    /// Passes over the rest of a line.
    fn skip(&mut self, chunk: &Chunk<'_>, from: usize, sink: &mut Sink) -> usize {
        let bytes = chunk.bytes;
        if self.returned && !matches!(bytes[from], b'\r' | b'\n') {
            self.returned = false;
            self.state = State::Fresh;
            return from;
        }
        let Some(found) = memchr2(b'\n', b'\r', &bytes[from..]) else { return bytes.len() };
        let at = from + found;
        if bytes[at] == b'\n' {
            self.end_line(chunk.base + at as u64, chunk.place, sink);
        } else {
            self.returned = true;
        }
        at + 1
    }

    /// Collects a run of text, or takes one byte that is more than text.
    fn collect(&mut self, chunk: &Chunk<'_>, from: usize, sink: &mut Sink) -> usize {
        self.state = State::Collect;
        let bytes = &chunk.bytes[from..];
        if self.escape == Escape::Ground {
            let run = bytes.iter().position(|&byte| !is_plain(byte) || byte == b']').unwrap_or(bytes.len());
            if run > 0 {
                self.keep(&bytes[..run], chunk.place, sink);
                return from + run;
            }
        }
        let end = chunk.base + from as u64;
        match bytes[0] {
            b'\n' => self.end_line(end, chunk.place, sink),
            b'\r' => {
                self.let_go_of_escape(chunk.place, sink);
                self.returned = true;
            }
            byte => loop {
                match self.escape.step(byte) {
                    Step::Drop => break,
                    Step::Again => {}
                    Step::KeepLead => self.keep(&[C1_LEAD], chunk.place, sink),
                    Step::Keep => {
                        self.keep(&[byte], chunk.place, sink);
                        if byte == b']' {
                            self.close_by_tag(end + 1, chunk.place, sink);
                        }
                        break;
                    }
                }
            },
        }
        from + 1
    }

    /// Adds text to the collected line, unless that would be too much.
    fn keep(&mut self, text: &[u8], place: Place, sink: &mut Sink) {
        if self.state == State::Skip {
            return;
        }
        if core::mem::take(&mut self.returned) {
            self.clear_line();
        }
        let limits = self.settings.limits;
        let room = match &self.open {
            // Only what has free text must take the line; to the others it may not even belong.
            Some(open) if open.takes_any_line() => limits.block_bytes.saturating_sub(open.size().0),
            _ => limits.line_bytes,
        };
        if self.line.len() + text.len() > room {
            self.line_too_long = self.open.is_none();
            self.forget_line();
            let limit = match &self.open {
                Some(open) if open.takes_any_line() => limits.block_bytes,
                _ => limits.line_bytes,
            };
            self.close_over(&format!("{limit} bytes"), sink);
            return;
        }
        if self.line_origin.is_none()
            && let Some(first) = text.iter().position(|byte| !byte.is_ascii_whitespace())
        {
            self.line_origin = Some(place.offset(self.line_start));
            self.line_indent = self.line.len() + first;
        }
        self.line.extend_from_slice(text);
    }

    /// Lets the rest of the line go unread.
    fn forget_line(&mut self) {
        self.clear_line();
        self.state = State::Skip;
    }

    fn clear_line(&mut self) {
        self.line.clear();
        self.line_origin = None;
        self.line_indent = 0;
    }

    /// An escape ends with its line at the latest; a byte held back for it is text.
    fn let_go_of_escape(&mut self, place: Place, sink: &mut Sink) {
        if core::mem::take(&mut self.escape) == Escape::Lead {
            self.keep(&[C1_LEAD], place, sink);
        }
    }

    /// Ends the line at `end`, which is the offset of its newline in this text.
    fn end_line(&mut self, end: u64, place: Place, sink: &mut Sink) {
        self.finish_line(LineEnd { at: place.end(end), by: EndedBy::Line }, place, sink);
        let too_long = core::mem::take(&mut self.line_too_long);
        if too_long || end - self.line_start > self.line_limit(place) {
            self.report(FaultReason::LineTooLong, end, place, sink);
        }
        let vouched = core::mem::take(&mut self.line_vouched);
        if self.watch.as_mut().is_some_and(|watch| watch.end_line(end, vouched)) {
            self.report(FaultReason::NonceBurnt, end, place, sink);
        }
        self.state = State::Fresh;
        self.line_start = end + 1;
    }

    /// Hears the collected line.
    fn finish_line(&mut self, end: LineEnd, place: Place, sink: &mut Sink) {
        self.let_go_of_escape(place, sink);
        self.returned = false;
        if self.state != State::Collect {
            return;
        }
        let line = core::mem::take(&mut self.line);
        let origin = self.line_origin;
        match core::str::from_utf8(&line) {
            Ok(text) => self.hear(text, origin, end, sink),
            Err(_) => self.hear(&String::from_utf8_lossy(&line), origin, end, sink),
        }
        self.line = line;
        self.clear_line();
    }

    /// Records what concerns a line rather than a message.
    fn report(&self, reason: FaultReason, end: u64, place: Place, sink: &mut Sink) {
        let (offset, end) = (place.offset(self.line_start), place.end(end));
        let trust = if self.mode == Mode::Raw { Trust::Plain } else { Trust::Quoted };
        sink.report(offset, end, trust, What::Fault(Fault::of_line(reason)));
    }

    /// The limit on a raw line; text taken out of one was within it already.
    fn line_limit(&self, place: Place) -> u64 {
        match place {
            Place::Stream => self.settings.limits.line_bytes as u64,
            Place::Within { .. } => u64::MAX,
        }
    }
}

/// Where and by what a line ended.
#[derive(Clone, Copy)]
struct LineEnd {
    /// Offset in the raw stream.
    at: u64,
    by: EndedBy,
}

/// The bytes of one push.
struct Chunk<'a> {
    bytes: &'a [u8],
    /// Offset of the first byte in the text.
    base: u64,
    place: Place,
}

impl Chunk<'_> {
    /// Offset behind the last byte in the text.
    fn end(&self) -> u64 {
        self.base + self.bytes.len() as u64
    }
}
