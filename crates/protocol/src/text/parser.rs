//! The heart: bytes in chunks of any size to lines, lines to messages.
//!
//! Works a line at a time in one of three ways: lines that cannot matter are skipped without being copied, lines
//! that may matter are collected with their escapes removed, and the rest of a line behind a closing tag is let go.
//! Whatever is decided is decided by the bytes alone, never by where a chunk was cut.

use alloc::{string::String, vec::Vec};
use core::time::Duration;

use memchr::memchr2;

use super::{
    fence::Fence,
    glance::may_speak,
    line_ends::LineEnds,
    nonce::Watch,
    open::{Open, Origin, line_item},
    tag::{Opening, Tag, closing, opening},
};
use crate::{
    escape::{C1_LEAD, Escape, Step, is_plain},
    fault::{Fault, FaultReason, Warning, WarningCode},
    item::{EndedBy, QuoteSource, Trust, What},
    name::Nonce,
    parser::Settings,
    signal::Signal,
    sink::Sink,
    thin::Thin,
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
    /// Whether the session's nonce stands in this line by right.
    line_vouched: bool,
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
            line_vouched: false,
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
        if self.state == State::Collect
            && self.may_skip()
            && self.escape == Escape::Ground
            && !self.returned
            && !may_speak(&self.line)
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

    /// Where in the raw stream a line begins that has not ended.
    pub(crate) fn unfinished_line(&self) -> Option<u64> {
        self.line_origin
    }

    /// Whether lines can be passed over: not those of a message, and not those of speech, where fences matter.
    fn may_skip(&self) -> bool {
        self.open.is_none() && self.mode != Mode::Speech
    }

    /// Whether the unfinished line is a message that needs no closing tag. A long one needs its newline: this is
    /// asked after every push.
    fn line_speaks(&self) -> bool {
        if self.line.len() > SILENT_LINE_BYTES_MAX {
            return false;
        }
        let line = String::from_utf8_lossy(&self.line);
        opening(&line).is_some_and(|opening| !matches!(opening.tag, Tag::Block(_)))
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
            Some(open) => limits.block_bytes.saturating_sub(open.size().0),
            None => limits.line_bytes,
        };
        if self.line.len() + text.len() > room {
            self.forget_line();
            self.close(EndedBy::Limit, sink);
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
        if end - self.line_start > self.line_limit(place) {
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

    /// Takes a whole line as part of the open message, as the beginning of one, or as nothing.
    fn hear(&mut self, line: &str, origin: Option<u64>, end: LineEnd, sink: &mut Sink) {
        let begun = match self.turn_fence(line, sink) {
            Fenced::Mark if self.open.is_none() => return,
            Fenced::Mark | Fenced::InMessage => None,
            Fenced::No => origin.and_then(|offset| {
                let opening = may_speak(line.as_bytes()).then(|| opening(line))??;
                self.interrupts(&opening.tag).then_some((offset, opening))
            }),
        };
        if let Some(open) = &mut self.open {
            if begun.is_none() && open.take(line, end.at) {
                // Bytes that are no text have grown by being replaced.
                let (bytes, lines) = open.size();
                if lines > self.settings.limits.block_lines || bytes > self.settings.limits.block_bytes {
                    self.close(EndedBy::Limit, sink);
                }
                return;
            }
            self.close(if begun.is_some() { EndedBy::NextTag } else { EndedBy::NextLine }, sink);
        }
        if let Some((offset, opening)) = begun {
            self.begin(line, &opening, offset, end, sink);
        }
    }

    /// Follows the code fences of speech.
    fn turn_fence(&mut self, line: &str, sink: &mut Sink) -> Fenced {
        if self.mode != Mode::Speech {
            return Fenced::No;
        }
        let in_message = self.open.as_ref().is_some_and(|open| open.is_spoken() && open.tag().is_some());
        match self.fence {
            Some(fence) if fence.closed_by(line) => self.fence = None,
            Some(_) if in_message => return Fenced::InMessage,
            Some(_) => return Fenced::No,
            None => {
                self.fence = Fence::opened_by(line);
                if self.fence.is_none() {
                    return Fenced::No;
                }
            }
        }
        // The marks belong to a message with free text; anything else ends where a fence begins or ends.
        if !in_message {
            self.close(EndedBy::Fence, sink);
        }
        Fenced::Mark
    }

    /// Why a message that begins now would be quoted.
    fn quote_source(&self) -> Option<QuoteSource> {
        match self.mode {
            Mode::Raw => None,
            Mode::Speech => self.fence.map(|_| QuoteSource::Fence),
            Mode::Quoted(source) => Some(source),
        }
    }

    /// Whether the tag ends the message that is open. A thin line is text to whoever has no thin role.
    fn interrupts(&self, tag: &Tag) -> bool {
        match (&self.open, tag) {
            (Some(open), Tag::Thin(_)) => {
                open.tag().is_none() || (!open.is_block() && self.settings.thin_role)
            }
            _ => true,
        }
    }

    /// Begins a message.
    fn begin(&mut self, line: &str, opening: &Opening<'_>, offset: u64, end: LineEnd, sink: &mut Sink) {
        let vouched = match (opening.nonce, &self.watch) {
            (Some(nonce), Some(watch)) => watch.vouches_for(nonce),
            _ => false,
        };
        let quoted = self.quote_source();
        let mut warnings = Vec::new();
        if self.mode == Mode::Raw && opening.nonce.is_some() && !vouched {
            warnings.push(Warning::new(WarningCode::WrongNonce, "n"));
        }
        let trust = match (quoted, self.mode) {
            (Some(_), _) => Trust::Quoted,
            (None, Mode::Speech) => Trust::Speech,
            (None, _) if vouched => Trust::Tagged,
            (None, _) => Trust::Plain,
        };
        let origin = Origin { offset, index: sink.index(offset), trust, quoted, warnings };
        match &opening.tag {
            Tag::Thin(thin) if !matches!(thin, Thin::Task { .. }) => {
                sink.items.push_back(line_item(origin, Signal::Thin(thin.clone()), end.at, end.by));
            }
            tag => self.open = Some(Open::new(origin, tag.clone(), line, end.at)),
        }
        self.line_vouched = vouched && self.mode == Mode::Raw;
    }

    /// Ends the open message if the collected line is a closing tag.
    fn close_by_tag(&mut self, end: u64, place: Place, sink: &mut Sink) {
        // A line may be all brackets: what is asked at each must not depend on how many there were.
        let line = &self.line[self.line_indent..];
        if line.len() > CLOSING_TAG_BYTES_MAX {
            return;
        }
        let Some(open) = &mut self.open else { return };
        let Some(closing) = open.tag().and_then(|_| closing(line)) else { return };
        let own = open.tag().is_some_and(|tag| closing.closes(tag));
        let fenced = self.fence.is_some() && open.is_spoken();
        // Free text may name other tags, and may show its own in a fence; a block may not.
        if !open.is_block() && (!own || fenced) {
            return;
        }
        open.end = place.end(end);
        self.line_vouched = self.mode == Mode::Raw;
        if own {
            self.close(EndedBy::ClosingTag, sink);
        } else if let Some(open) = self.open.take() {
            sink.items.push_back(open.mismatched(closing.name()));
        }
        self.forget_line();
    }

    fn close(&mut self, ended_by: EndedBy, sink: &mut Sink) {
        if let Some(open) = self.open.take() {
            sink.items.push_back(open.close(ended_by));
        }
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

/// What the code fences of speech make of a line.
enum Fenced {
    /// Nothing.
    No,
    /// It opens or closes one.
    Mark,
    /// It stands in one that belongs to the open message.
    InMessage,
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
