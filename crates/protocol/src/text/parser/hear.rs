//! What a whole line means to whoever listens: part of the open message, the beginning of one, or nothing.
//!
//! The other half of the text parser, behind the one that makes lines of bytes.

use alloc::{format, vec::Vec};

use super::{CLOSING_TAG_BYTES_MAX, LineEnd, Mode, Place, TextParser};
use crate::{
    fault::{Warning, WarningCode},
    item::{EndedBy, QuoteSource, Trust},
    signal::Signal,
    sink::Sink,
    text::{
        fence::Fence,
        glance::may_speak,
        open::{Form, Open, Origin, line_item, malformed_item},
        phase::Announcement,
        tag::{Opening, Tag, closing, malformed, opening},
    },
    thin::Thin,
};

/// What the code fences of speech make of a line.
enum Fenced {
    /// Nothing.
    No,
    /// It opens or closes one.
    Mark,
    /// It stands in one that belongs to the open message.
    InMessage,
}

impl TextParser {
    /// Takes a whole line as part of the open message, as the beginning of one, or as nothing.
    pub(super) fn hear(&mut self, line: &str, origin: Option<u64>, end: LineEnd, sink: &mut Sink) {
        let begun = match self.turn_fence(line, sink) {
            Fenced::Mark if self.open.is_none() => return,
            Fenced::Mark | Fenced::InMessage => None,
            Fenced::No => origin.and_then(|offset| {
                let opening = may_speak(line.as_bytes()).then(|| self.opening(line))??;
                self.interrupts(&opening.tag).then_some((offset, opening))
            }),
        };
        if let Some(open) = &mut self.open {
            if begun.is_none() && open.take(line, end.at) {
                // Bytes that are no text have grown by being replaced.
                let (bytes, lines) = open.size();
                let limits = self.settings.limits;
                if lines > limits.block_lines {
                    self.close_over(&format!("{} lines", limits.block_lines), sink);
                } else if bytes > limits.block_bytes {
                    self.close_over(&format!("{} bytes", limits.block_bytes), sink);
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
        let in_message = self.open.as_ref().is_some_and(|open| open.is_spoken() && open.takes_any_line());
        // A fence in a block quote ends with the quote, before the line that is no longer part of it.
        if self.fence.is_some_and(|fence| fence.is_left_by(line)) {
            self.leave_fence(in_message, sink);
        }
        match self.fence {
            Some(fence) if fence.closed_by(line) => self.leave_fence(in_message, sink),
            Some(_) if in_message => return Fenced::InMessage,
            Some(_) => return Fenced::No,
            None => {
                self.fence = Fence::opened_by(line);
                if self.fence.is_none() {
                    return Fenced::No;
                }
            }
        }
        if !in_message {
            self.close(EndedBy::Fence, sink);
        }
        Fenced::Mark
    }

    /// What was quoted in the fence ends with it; a message that holds the fence as its text goes on.
    fn leave_fence(&mut self, in_message: bool, sink: &mut Sink) {
        self.fence = None;
        if !in_message {
            self.close(EndedBy::Fence, sink);
        }
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
            (Some(open), Tag::Thin(_) | Tag::Malformed(_)) => {
                !open.takes_any_line() || (!open.is_block() && self.settings.thin_role)
            }
            _ => true,
        }
    }

    /// What the line begins to whoever prints it.
    fn opening<'a>(&self, line: &'a str) -> Option<Opening<'a>> {
        opening(line).or_else(|| self.settings.thin_role.then(|| malformed(line))?)
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
        self.line_vouched = usize::from(vouched && self.mode == Mode::Raw);
        let form = match opening.tag.clone() {
            Tag::Block(tag) => Form::Block(tag),
            Tag::Office(tag, target) => Form::Office(tag, target),
            Tag::Phase(number) => Form::Phase(Announcement::new(number)),
            Tag::Thin(task @ Thin::Task { .. }) => Form::Task { task, trouble: None },
            Tag::Thin(thin) => {
                sink.add(line_item(origin, Signal::Thin(thin), end.at, end.by), line);
                return;
            }
            Tag::Malformed(word) => {
                sink.add(malformed_item(origin, word, line, end.at, end.by), line);
                return;
            }
        };
        self.open = Some(Open::new(origin, form, line, end.at));
    }

    /// Ends the open message if the collected line is a closing tag.
    pub(super) fn close_by_tag(&mut self, end: u64, place: Place, sink: &mut Sink) {
        // A line may be all brackets: what is asked at each must not depend on how many there were.
        let line = &self.line[self.line_indent..];
        if line.len() > CLOSING_TAG_BYTES_MAX {
            return;
        }
        let Some(open) = self.open.as_mut().filter(|open| open.takes_any_line()) else { return };
        let Some((closing, nonce)) = closing(line) else { return };
        let own = open.is_closed_by(closing);
        let fenced = self.fence.is_some() && open.is_spoken();
        // Free text may name other tags, and may show its own in a fence; a block may not.
        if !open.is_block() && (!own || fenced) {
            return;
        }
        open.end = place.end(end);
        let is_nonce = |nonce| self.watch.as_ref().is_some_and(|watch| watch.vouches_for(nonce));
        self.line_vouched = usize::from(self.mode == Mode::Raw && nonce.is_some_and(is_nonce));
        // A fence that was begun in a block is part of it, whether it was ended or not.
        if open.is_spoken() {
            self.fence = None;
        }
        if own {
            self.close(EndedBy::ClosingTag, sink);
        } else if let Some(open) = self.open.take() {
            let (item, body) = open.mismatched(closing.name());
            sink.add(item, &body);
        }
        self.forget_line();
    }

    /// Ends the open message because it went over a limit.
    pub(super) fn close_over(&mut self, limit: &str, sink: &mut Sink) {
        if let Some(open) = &mut self.open {
            open.over = Some(limit.into());
        }
        self.close(EndedBy::Limit, sink);
    }

    pub(super) fn close(&mut self, ended_by: EndedBy, sink: &mut Sink) {
        if let Some(open) = self.open.take() {
            let (item, body) = open.close(ended_by);
            sink.add(item, &body);
        }
    }
}
