//! The parser that the rest of Ostler uses: one per stream of one launch of an agent.

use alloc::boxed::Box;
use core::time::Duration;

use crate::{
    drawn::Drawn,
    item::{EndedBy, Item},
    mark::{Mark, Saying},
    name::Nonce,
    sink::Sink,
    stream::{StreamParser, Table},
    text::{Mode, Place, TextParser},
};

/// What a stream consists of.
#[derive(Debug, Clone)]
pub enum Format {
    /// Text, as a program prints it.
    Text,
    /// JSON lines in which things stand where the table says.
    Structured(Table),
}

/// What a parser has to know beyond the bytes.
#[derive(Debug, Clone, Default)]
pub struct Settings {
    /// How much of anything is held.
    pub limits: Limits,
    /// The secret word that makes tags on raw output trustworthy.
    pub nonce: Option<Nonce>,
    /// Whether the session speaks the thin dialect: only then does a thin line end an office message.
    pub thin_role: bool,
    /// Whether the text is drawn on a terminal: what stays there when it is drawn again is no other item, and an office
    /// message ends with its screen.
    pub terminal: bool,
}

/// How much of anything is held. What exceeds a limit is text, and is reported.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Bytes of a line.
    pub line_bytes: usize,
    /// Bytes of a message.
    pub block_bytes: usize,
    /// Lines of a message.
    pub block_lines: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Limits { line_bytes: 1 << 20, block_bytes: 256 << 10, block_lines: 1000 }
    }
}

/// Turns bytes into items. [`push`](Parser::push) bytes, take the items from the iterator until it is empty, and
/// go on; the iterator yields again after the next push.
///
/// ```
/// use ostler_protocol::{Format, Parser, Settings};
///
/// let mut parser = Parser::new(Format::Text, Settings::default());
/// parser.push(b"READY:T1.3,T1.4\n");
/// assert_eq!(parser.next().map(|item| item.what.kind()), Some("ready"));
/// assert_eq!(parser.next(), None);
/// ```
#[derive(Debug)]
pub struct Parser {
    reader: Reader,
    sink: Sink,
}

#[derive(Debug)]
enum Reader {
    Text(Box<TextParser>),
    Stream(Box<StreamParser>),
}

impl Parser {
    /// A parser at the beginning of a stream.
    pub fn new(format: Format, settings: Settings) -> Self {
        let drawn = (settings.terminal && matches!(format, Format::Text)).then(Drawn::default);
        let reader = match format {
            Format::Text => Reader::Text(Box::new(TextParser::new(Mode::Raw, settings))),
            Format::Structured(table) => Reader::Stream(Box::new(StreamParser::new(table, settings))),
        };
        Parser { reader, sink: Sink::on(drawn) }
    }

    /// Takes the next bytes of the stream.
    pub fn push(&mut self, bytes: &[u8]) {
        match &mut self.reader {
            Reader::Text(text) => {
                let mut rest = bytes;
                while let Some(end) = self.sink.screen_begun(rest) {
                    text.push(&rest[..end], Place::Stream, &mut self.sink);
                    text.begin_screen(Place::Stream, &mut self.sink);
                    self.sink.begin_screen();
                    rest = &rest[end..];
                }
                text.push(rest, Place::Stream, &mut self.sink);
            }
            Reader::Stream(stream) => stream.push(bytes, &mut self.sink),
        }
    }

    /// After how much silence since the last push something would end by itself; `None` if nothing would.
    pub fn patience(&self) -> Option<Duration> {
        match &self.reader {
            Reader::Text(text) => text.patience(),
            Reader::Stream(_) => None,
        }
    }

    /// Where in the text what may still become part of a message begins; `None` if everything that was pushed is known
    /// to belong to one or to none. A structured stream does not say it: its lines are not what is said in them.
    pub fn undecided(&self) -> Option<u64> {
        match &self.reader {
            Reader::Text(text) => text.undecided(),
            Reader::Stream(_) => None,
        }
    }

    /// Says that nothing has come for that long. Only raw text knows silence: a structured stream says when a
    /// message ends.
    pub fn silent_for(&mut self, silence: Duration) {
        if let Reader::Text(text) = &mut self.reader {
            text.silent_for(silence, Place::Stream, &mut self.sink);
        }
    }

    /// Says that the stream has ended.
    pub fn finish(&mut self) {
        self.end(EndedBy::Stream);
    }

    /// Says that the stream has ended because its process was killed, or that nobody knows how the process ended.
    pub fn cut_off(&mut self) {
        self.end(EndedBy::CutOff);
    }

    fn end(&mut self, ended_by: EndedBy) {
        match &mut self.reader {
            Reader::Text(text) => text.end(ended_by, Place::Stream, &mut self.sink),
            Reader::Stream(stream) => stream.finish(ended_by, &mut self.sink),
        }
    }

    /// Replaces the session's nonce, because the one before was burnt.
    pub fn set_nonce(&mut self, nonce: Nonce) {
        match &mut self.reader {
            Reader::Text(text) => text.set_nonce(nonce),
            Reader::Stream(stream) => stream.set_nonce(&nonce),
        }
    }

    /// Where the same also stands, in what tools and sub-agents showed lately.
    pub fn shown(&mut self, saying: &Saying) -> Option<Mark> {
        self.sink.recent.find(saying)
    }

    /// Bytes of the stream that are held at the moment; bounded by the limits, whatever the agent prints.
    pub fn buffered_bytes(&self) -> usize {
        let reader = match &self.reader {
            Reader::Text(text) => text.buffered_bytes(),
            Reader::Stream(stream) => stream.buffered_bytes(),
        };
        reader + self.sink.recent.buffered_bytes()
    }
}

impl Iterator for Parser {
    type Item = Item;

    fn next(&mut self) -> Option<Item> {
        self.sink.items.pop_front()
    }
}
