//! What is shown of the log of one process: bytes go in, lines for people or objects for machines come out, and what the
//! agent was told comes where it belongs.

use std::collections::VecDeque;

use ostler_agents::{Agent, Output};
use ostler_protocol::stream::{Piece, Table, Transcript};
use ostler_server::api::{PieceView, SessionView};

use super::told::{ToldMark, ToldPiece};
use crate::{
    context::{Context, json},
    render::Renderer,
    screen::Screen,
};

/// How a log is shown.
#[derive(Debug, Clone, Copy)]
pub(super) struct LogStyle {
    /// All of what tools gave back, and of what was told.
    pub(super) full: bool,
    /// Bytes as they are, and nothing beside them.
    pub(super) raw: bool,
    /// It is standard error.
    pub(super) err: bool,
}

/// Shows the log of one process.
pub(super) struct LogPrinter<'a> {
    context: &'a Context,
    /// Whether it is a plain command, which is told nothing when it starts.
    is_plain: bool,
    style: LogStyle,
    reading: Reading,
    /// How much was read.
    read: u64,
    /// Whether what was read ends with a line.
    at_line_end: bool,
    /// What the agent was told, in order.
    marks: VecDeque<ToldMark>,
}

/// Bytes as lines for people, or as pieces for machines.
enum Reading {
    People(Box<Renderer>),
    Events(Box<Transcript>),
    Lines(Vec<u8>),
}

impl<'a> LogPrinter<'a> {
    /// For a process with what its agent was told meanwhile.
    pub(super) fn new(
        context: &'a Context,
        session: &SessionView,
        style: LogStyle,
        marks: Vec<ToldMark>,
    ) -> LogPrinter<'a> {
        let agent = context.agent(&session.agent).filter(|_| !style.err);
        let reading = if context.json {
            table(agent).map_or_else(
                || Reading::Lines(Vec::new()),
                |it| Reading::Events(Box::new(Transcript::new(it))),
            )
        } else {
            let mut renderer = Renderer::new(context.words, Screen::stdout(), agent, style.raw);
            if style.full {
                renderer.show_tool_output();
            }
            Reading::People(Box::new(renderer))
        };
        LogPrinter {
            context,
            is_plain: session.plain,
            style,
            reading,
            read: 0,
            at_line_end: true,
            marks: marks.into(),
        }
    }

    /// What is shown of the next bytes.
    pub(super) fn push(&mut self, mut bytes: &[u8]) -> Vec<u8> {
        let mut shown = Vec::new();
        while let Some(mark) = self.marks.front() {
            let Some(end) = self.end_of_line(mark.offset, bytes) else { break };
            let Some(mark) = self.marks.pop_front() else { break };
            let (before, rest) = bytes.split_at(end);
            shown.extend(self.take(before));
            shown.extend(self.tell(&mark.piece));
            bytes = rest;
        }
        shown.extend(self.take(bytes));
        shown
    }

    /// What is shown of something that the agent is told now: nothing yet, if its place in the log is still to come.
    pub(super) fn happened(&mut self, mark: ToldMark) -> Vec<u8> {
        if !mark.is_exact {
            return self.tell(&mark.piece);
        }
        self.marks.push_back(mark);
        self.push(&[])
    }

    /// Where in the next bytes the first line ends at or behind a place of the log.
    fn end_of_line(&self, offset: u64, bytes: &[u8]) -> Option<usize> {
        let from = usize::try_from(offset.saturating_sub(self.read)).ok()?;
        if from == 0 && self.at_line_end {
            return Some(0);
        }
        // An item may end with its line or before the end of it.
        let from = from.saturating_sub(1);
        let rest = bytes.get(from..)?;
        rest.iter().position(|byte| *byte == b'\n').map(|at| from + at + 1)
    }

    fn take(&mut self, bytes: &[u8]) -> Vec<u8> {
        if let Some(last) = bytes.last() {
            self.at_line_end = *last == b'\n';
        }
        self.read += bytes.len() as u64;
        match &mut self.reading {
            Reading::People(renderer) => renderer.push(bytes),
            Reading::Events(transcript) => pieces(transcript.push(bytes)),
            Reading::Lines(held) => {
                // What is held has no end of a line in it: only the new bytes are looked at.
                let Some(end) = bytes.iter().rposition(|byte| *byte == b'\n') else {
                    held.extend_from_slice(bytes);
                    return Vec::new();
                };
                let mut whole = std::mem::replace(held, bytes[end + 1..].to_vec());
                whole.extend_from_slice(&bytes[..end]);
                let lines = whole.split(|byte| *byte == b'\n');
                pieces(lines.map(|line| Piece::Line { bytes: line.to_vec() }).collect())
            }
        }
    }

    /// What the agent is told now.
    pub(super) fn tell(&mut self, piece: &ToldPiece) -> Vec<u8> {
        match &mut self.reading {
            _ if self.style.raw => Vec::new(),
            Reading::People(renderer) => {
                let mut shown = renderer.end_line();
                let (words, screen) = (self.context.words, Screen::stdout());
                shown.extend(piece.lines(words, screen, self.is_plain, self.style.full).into_bytes());
                shown
            }
            Reading::Events(_) | Reading::Lines(_) => json(piece).into_bytes(),
        }
    }

    /// What is left at the end.
    pub(super) fn finish(&mut self) -> Vec<u8> {
        let mut shown = match &mut self.reading {
            Reading::People(renderer) => renderer.finish(),
            Reading::Events(transcript) => pieces(transcript.finish()),
            Reading::Lines(held) if held.is_empty() => Vec::new(),
            Reading::Lines(held) => pieces(vec![Piece::Line { bytes: std::mem::take(held) }]),
        };
        while let Some(mark) = self.marks.pop_front() {
            shown.extend(self.tell(&mark.piece));
        }
        shown
    }
}

fn table(agent: Option<&Agent>) -> Option<Table> {
    match &agent?.output {
        Output::Table(toml) => Table::parse(toml).ok(),
        Output::Text => None,
    }
}

/// An object on a line for each.
fn pieces(pieces: Vec<Piece>) -> Vec<u8> {
    pieces.into_iter().flat_map(|piece| json(&PieceView::from(piece)).into_bytes()).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use super::*;
    use crate::sessions::tests::session;

    fn mark(offset: u64, text: &str) -> ToldMark {
        let piece = ToldPiece::Message { text: text.to_owned(), at_ms: 1 };
        ToldMark { launch: 1, offset, is_exact: true, piece }
    }

    /// What machines see, however the bytes come.
    fn shown(bytes: &[&str], marks: Vec<ToldMark>) -> Vec<String> {
        let context = Context::new(true, None);
        let session = session("s_1", "active", "x", &Value::Null);
        let style = LogStyle { full: false, raw: false, err: true };
        let mut printer = LogPrinter::new(&context, &session, style, marks);
        let mut shown: Vec<u8> = bytes.iter().flat_map(|bytes| printer.push(bytes.as_bytes())).collect();
        shown.extend(printer.finish());
        let lines = String::from_utf8(shown).expect("text");
        lines
            .lines()
            .map(|line| {
                serde_json::from_str::<Value>(line).expect("JSON")["text"].as_str().unwrap_or("?").to_owned()
            })
            .collect()
    }

    #[test]
    fn lines_are_whole_however_they_come() {
        assert_eq!(shown(&["a", "b\nc\n\nd", "", "e", "\n", "f"], Vec::new()), ["ab", "c", "", "de", "f"]);
    }

    #[test]
    fn what_was_told_comes_behind_the_line_that_was_heard_last() {
        let log = "ask\nthen\nlast";
        for size in 1..=log.len() {
            let parts: Vec<&str> =
                log.as_bytes().chunks(size).map(|part| std::str::from_utf8(part).expect("ASCII")).collect();
            for offset in [1, 3, 4] {
                assert_eq!(
                    shown(&parts, vec![mark(offset, "YES")]),
                    ["ask", "YES", "then", "last"],
                    "{offset} in parts of {size}"
                );
            }
            assert_eq!(
                shown(&parts, vec![mark(0, "A"), mark(0, "B"), mark(90, "C")]),
                ["A", "B", "ask", "then", "last", "C"]
            );
        }
    }
}
