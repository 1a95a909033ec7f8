//! Keeps back what an agent prints as a question, until it is known whether the question stands in the inbox: then a
//! card is shown in its place, and otherwise the words are.
//!
//! It reads the text once more with the parser that the shim uses, and decides nothing: which request is open is for
//! whoever watches to say. It never holds more than the parser's limits and what came behind.

use std::{collections::VecDeque, time::Duration};

use ostler_protocol::{Format, Item, Parser, Settings, stream::Piece};
use serde_json::{Value, json};

/// Text on its way to a screen.
#[derive(Debug)]
pub(crate) struct Veil {
    /// Whether the text is the log itself, and not what somebody says in it.
    is_log: bool,
    parser: Parser,
    /// The end of the text as far as it was not passed on.
    held: Vec<u8>,
    /// Where in the text that begins.
    held_at: u64,
    /// Where in the log pieces of the text stand: place in the text, place in the log.
    places: VecDeque<(u64, u64)>,
    queue: VecDeque<Part>,
    /// Whether a message was taken out: the end of its last line goes, too.
    swallows: bool,
}

/// What comes out.
#[derive(Debug)]
pub(crate) enum Part {
    /// Words.
    Text(Vec<u8>),
    /// The line ends here.
    LineEnd,
    /// Something else than words.
    Piece(Piece),
    /// A question that may have become a request.
    Block(Block),
}

/// A question as it was printed.
#[derive(Debug)]
pub(crate) struct Block {
    /// The place of its line in the log.
    pub(crate) at: u64,
    /// As the parser reads it.
    pub(crate) item: Value,
    bytes: Vec<u8>,
}

impl Veil {
    /// For the text of a log, or for what is said in it.
    pub(crate) fn new(is_log: bool) -> Veil {
        Veil {
            is_log,
            parser: new_parser(),
            held: Vec::new(),
            held_at: 0,
            places: VecDeque::new(),
            queue: VecDeque::new(),
            swallows: false,
        }
    }

    /// More words, which stand here in the log.
    pub(crate) fn text(&mut self, bytes: &[u8], at: u64) {
        self.places.push_back((self.held_at + self.held.len() as u64, at));
        self.held.extend_from_slice(bytes);
        self.parser.push(bytes);
        self.sort();
    }

    /// Something else than words: what was said before has ended.
    pub(crate) fn piece(&mut self, piece: Piece) {
        self.end_text();
        self.queue.push_back(Part::Piece(piece));
    }

    /// A line ends that has no end in the text.
    pub(crate) fn end_line(&mut self) {
        self.end_text();
        self.queue.push_back(Part::LineEnd);
    }

    /// The text has ended; another may begin.
    pub(crate) fn end_text(&mut self) {
        self.parser.finish();
        self.sort();
        let rest = self.held.len();
        self.pass_on(rest);
        self.parser = new_parser();
        self.held_at = 0;
        self.places.clear();
    }

    /// After how much silence something would end by itself.
    pub(crate) fn patience(&self) -> Option<Duration> {
        self.parser.patience()
    }

    /// Nothing has come for that long.
    pub(crate) fn silent_for(&mut self, silence: Duration) {
        self.parser.silent_for(silence);
        self.sort();
    }

    /// Passes on everything, whatever it is or may become.
    pub(crate) fn let_go(&mut self) {
        for part in &mut self.queue {
            if let Part::Block(block) = part {
                *part = Part::Text(std::mem::take(&mut block.bytes));
            }
        }
        let rest = self.held.len();
        self.pass_on(rest);
    }

    /// Whether something is kept back.
    pub(crate) fn is_holding(&self) -> bool {
        !self.held.is_empty() || !self.queue.is_empty()
    }

    /// The next part, unless it is a question that nobody has decided about.
    pub(crate) fn next(&mut self) -> Option<Part> {
        let part = self.queue.pop_front_if(|part| !matches!(part, Part::Block(_)))?;
        let Part::Text(mut text) = part else { return Some(part) };
        if self.swallows && !text.is_empty() {
            self.swallows = false;
            let end = [b"\r\n".as_slice(), b"\n"].into_iter().find(|end| text.starts_with(end));
            text.drain(..end.map_or(0, <[u8]>::len));
        }
        Some(Part::Text(text))
    }

    /// The question that has to be decided about.
    pub(crate) fn block(&self) -> Option<&Block> {
        match self.queue.front() {
            Some(Part::Block(block)) => Some(block),
            _ => None,
        }
    }

    /// Whether the question in front is shown as a card, and its words are not.
    pub(crate) fn decide(&mut self, hides: bool) {
        let Some(Part::Block(block)) = self.queue.pop_front_if(|part| matches!(part, Part::Block(_))) else {
            return;
        };
        if hides {
            self.swallows = true;
        } else {
            self.queue.push_front(Part::Text(block.bytes));
        }
    }

    /// Moves into the queue what is known by now.
    fn sort(&mut self) {
        let items: Vec<Item> = self.parser.by_ref().collect();
        for item in items {
            let is_whole = item.offset >= self.held_at && item.end >= item.offset;
            let value = json!(item);
            if !is_whole || !asks(&value) {
                continue;
            }
            let at = self.place(item.offset);
            self.pass_on(usize::try_from(item.offset - self.held_at).unwrap_or(usize::MAX));
            let bytes = self.take(usize::try_from(item.end - item.offset).unwrap_or(usize::MAX));
            self.queue.push_back(Part::Block(Block { at, item: value, bytes }));
        }
        let end = self.held_at + self.held.len() as u64;
        let known = self.parser.undecided().unwrap_or(end).saturating_sub(self.held_at);
        self.pass_on(usize::try_from(known).unwrap_or(usize::MAX));
    }

    fn pass_on(&mut self, length: usize) {
        let text = self.take(length);
        if !text.is_empty() {
            self.queue.push_back(Part::Text(text));
        }
    }

    fn take(&mut self, length: usize) -> Vec<u8> {
        let length = length.min(self.held.len());
        self.held_at += length as u64;
        let taken = self.held.drain(..length).collect();
        let is_past = |next: Option<&(u64, u64)>| next.is_some_and(|(place, _)| *place <= self.held_at);
        while is_past(self.places.get(1)) {
            self.places.pop_front();
        }
        taken
    }

    /// Where in the log something of the text stands, or the piece in which it begins.
    fn place(&self, offset: u64) -> u64 {
        if self.is_log {
            return offset;
        }
        let before = self.places.iter().rev().find(|(place, _)| *place <= offset);
        before.map_or(0, |(_, at)| *at)
    }
}

fn new_parser() -> Parser {
    Parser::new(Format::Text, Settings::default())
}

/// Whether the engine opens a request for it.
fn asks(item: &Value) -> bool {
    match item["kind"].as_str().unwrap_or_default() {
        "user_question" | "ask_user" | "dependency_request" | "error" => true,
        "fault" => item["severity"] == "fault",
        _ => false,
    }
}
