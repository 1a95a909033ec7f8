//! A log as pieces that can be read, a line of JSON for every line of it that says something. Each says where the next begins, so that
//! whoever was cut off goes on behind the last whole line it has: nothing comes twice, nothing is missing.

use hyper::body::Bytes;
use ostler_protocol::stream::{Piece, Table, Transcript};

use crate::api::{PieceView, PiecesView};

/// Reads a log from some place on.
pub(super) struct Pieces {
    transcript: Transcript,
    /// How much of the log was read.
    read: u64,
    /// Where the first line begins that is not whole yet.
    next: u64,
    /// Whether what comes is the rest of a line that began before the place.
    is_inside: bool,
}

impl Pieces {
    /// For a CLI with this table, from an offset on that is inside of a line or between two.
    pub(super) fn new(table: Table, offset: u64, is_inside: bool) -> Pieces {
        Pieces { transcript: Transcript::new(table), read: offset, next: offset, is_inside }
    }

    /// What the next bytes complete; nothing, if that is no line.
    pub(super) fn push(&mut self, bytes: &[u8]) -> Option<Bytes> {
        let mut shown = Vec::new();
        let mut is_told = true;
        for line in bytes.split_inclusive(|byte| *byte == b'\n') {
            self.read += line.len() as u64;
            let is_whole = line.ends_with(b"\n");
            let pieces = if self.is_inside { Vec::new() } else { self.transcript.push(line) };
            if is_whole {
                self.is_inside = false;
                self.next = self.read;
                is_told = !pieces.is_empty();
            }
            if !pieces.is_empty() {
                self.tell(pieces, &mut shown);
            }
        }
        if !is_told {
            self.tell(Vec::new(), &mut shown);
        }
        (!shown.is_empty()).then(|| shown.into())
    }

    /// What is left at the end of the log.
    pub(super) fn finish(&mut self) -> Option<Bytes> {
        let pieces = self.transcript.finish();
        (self.next < self.read).then(|| {
            self.next = self.read;
            let mut shown = Vec::new();
            self.tell(pieces, &mut shown);
            shown.into()
        })
    }

    fn tell(&self, pieces: Vec<Piece>, shown: &mut Vec<u8>) {
        let pieces = pieces.into_iter().map(PieceView::from).collect();
        let view = PiecesView { next: self.next, pieces };
        shown.extend(serde_json::to_vec(&view).expect("pieces are plain data"));
        shown.push(b'\n');
    }
}

#[cfg(test)]
mod tests {
    use ostler_agents::{Agent, Output};

    use super::*;

    const LOG: &str = "{\"type\":\"message\",\"role\":\"assistant\",\"content\":\"안녕\",\"delta\":true}\n\
        {\"type\":\"tool_use\",\"tool_name\":\"ls\"}\nno event\n\
        {\"type\":\"message\",\"role\":\"assistant\",\"content\":\"end\",\"delta\":true}";

    fn table() -> Table {
        let Some(Output::Table(toml)) = Agent::builtin("gemini").map(|it| it.output) else {
            panic!("gemini prints events");
        };
        Table::parse(&toml).expect("a table of ours")
    }

    /// What is read from an offset on, in parts of some size, by somebody who is cut off after so many lines.
    fn read(offset: usize, size: usize, lines_max: usize) -> (u64, Vec<PieceView>) {
        let log = LOG.as_bytes();
        let is_inside = offset > 0 && log[offset - 1] != b'\n';
        let mut pieces = Pieces::new(table(), offset as u64, is_inside);
        let mut shown: Vec<u8> =
            log[offset..].chunks(size).filter_map(|part| pieces.push(part)).flatten().collect();
        shown.extend(pieces.finish().into_iter().flatten());
        let lines = shown.split(|byte| *byte == b'\n').filter(|line| !line.is_empty()).take(lines_max);
        let views: Vec<PiecesView> =
            lines.map(|line| serde_json::from_slice(line).expect("a line of JSON")).collect();
        let next = views.last().map_or(offset as u64, |view| view.next);
        (next, views.into_iter().flat_map(|view| view.pieces).collect())
    }

    #[test]
    fn whoever_is_cut_off_goes_on_without_a_gap() {
        let (end, whole) = read(0, LOG.len(), 9);
        assert_eq!((end, whole.len()), (LOG.len() as u64, 4));
        for size in 1..LOG.len() {
            for cut in 0..4 {
                let (next, mut pieces) = read(0, size, cut);
                let (end, rest) = read(usize::try_from(next).expect("a small log"), size, 9);
                pieces.extend(rest);
                assert_eq!(
                    (end, pieces),
                    (LOG.len() as u64, whole.clone()),
                    "in parts of {size}, cut after {cut}"
                );
            }
        }
    }

    #[test]
    fn who_begins_inside_of_a_line_begins_with_the_next() {
        let (_, pieces) = read(10, 7, 9);
        assert_eq!(pieces[0], PieceView::Tool { name: "ls".to_owned(), about: None });
        let (next, pieces) = read(LOG.len() - 3, 7, 9);
        assert_eq!((next, pieces), (LOG.len() as u64, Vec::new()));
    }
}
