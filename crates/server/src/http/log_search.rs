//! Search of a whole log: which lines of what an agent printed contain some words. A client that has loaded the end of a
//! long log finds the rest here.

#![expect(unused_qualifications, reason = "the document's macro writes paths out")]

use std::{
    collections::VecDeque,
    io::{self, BufRead, BufReader, Read},
};

use axum::{Json, extract::State};
use ostler_protocol::{
    shown::Shown,
    stream::{Piece, Table, Transcript},
};
use serde::Deserialize;
use tokio::sync::{Semaphore, SemaphorePermit};
use utoipa::IntoParams;

use super::{
    App,
    code::Code,
    extract::{Path, Query},
    output::open_log,
};
use crate::agent_log;
use crate::api::{LogLineView, LogSearchView, OutputForm, OutputStream, Problem};

/// The longest line that is searched in one piece. Words that begin before such a cut and end after it are not found.
const LINE_BYTES_MAX: u64 = 1 << 20;

/// How many letters of a line are shown.
const LETTERS_MAX: usize = 200;

/// How many searches read at once.
static SEARCHES: Semaphore = Semaphore::const_new(2);

/// The most that is read of a log; its newest part counts.
const LOG_BYTES_MAX: u64 = 256 << 20;

/// The longest text that can be searched for.
const TEXT_LETTERS_MAX: usize = 1_000;

/// How many lines are given, if nothing is said, and at most.
const LINES_DEFAULT: usize = 100;
const LINES_MAX: usize = 1_000;

/// What to search for, and in which log.
#[derive(Debug, Clone, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(deny_unknown_fields)]
pub(super) struct SearchQuery {
    /// The text; letters match in any case.
    #[param(min_length = 1, max_length = 1000)]
    text: String,
    /// The launch; the last one, if nothing is said.
    #[param(minimum = 1, maximum = 1_000_000)]
    launch: Option<u32>,
    /// `out` or `err`.
    stream: Option<OutputStream>,
    /// `bytes`, if nothing is said, or `pieces`: then the words are searched that a person reads, and not the events of a
    /// CLI.
    #[serde(default)]
    form: OutputForm,
    /// How many of the newest lines are given; 100, if nothing is said.
    #[param(minimum = 1, maximum = 1000)]
    limit: Option<usize>,
}

/// Searches the log of a launch, of a very long one the newest part. Terminal escapes are passed over.
#[utoipa::path(get, path = "/sessions/{id}/output/search", params(("id" = String, Path), SearchQuery),
    responses((status = 200, body = LogSearchView), (status = 404, body = Problem)))]
pub(super) async fn search(
    State(app): State<App>,
    Path(id): Path<String>,
    Query(query): Query<SearchQuery>,
) -> Result<Json<LogSearchView>, Problem> {
    let SearchQuery { text, launch, stream, form, limit } = query;
    let limit = limit.unwrap_or(LINES_DEFAULT);
    let wanted = wanted(&text)?;
    if !(1..=LINES_MAX).contains(&limit) {
        return Err(Problem::bad(Code::BadQuery, format!("a search gives 1 to {LINES_MAX} lines")));
    }
    let log = app.agent_log(&id, launch, stream, form)?;
    let launch = log.launch;
    let turn = search_turn().await;
    let searched = tokio::task::spawn_blocking(move || {
        // Kept here: a client that goes away does not end what reads for it.
        let _turn = turn;
        let mut search = LogSearch::new(wanted, limit);
        let Some(file) = open_log(&log.path)? else { return Ok((search, 0)) };
        agent_log::last_bytes(file, LOG_BYTES_MAX)
            .and_then(|(offset, rest)| search.read(rest, log.table, offset).map(|_| (search, offset)))
            .map_err(|error| Problem::internal(format!("the log cannot be read: {error}")))
    });
    let (LogSearch { count, lines, .. }, unsearched_bytes) = searched.await??;
    Ok(Json(LogSearchView { launch, count, lines: lines.into(), unsearched_bytes }))
}

/// Waits for the turn of a search. Few read at once, so that nothing else waits for them; the first to come is the first
/// to search.
pub(super) async fn search_turn() -> SemaphorePermit<'static> {
    SEARCHES.acquire().await.expect("nobody closes it")
}

/// The texts that a line has to have, in small letters, with line ends between them.
pub(super) fn wanted(text: &str) -> Result<Vec<String>, Problem> {
    let wanted: Vec<String> = text.lines().filter(|it| !it.is_empty()).map(str::to_lowercase).collect();
    if wanted.is_empty() || text.chars().count() > TEXT_LETTERS_MAX {
        let title = format!("a text to search for has 1 to {TEXT_LETTERS_MAX} letters");
        return Err(Problem::bad(Code::BadQuery, title));
    }
    Ok(wanted)
}

/// A search that goes through a log.
pub(super) struct LogSearch {
    /// In small letters; a line has to have all of them.
    wanted: Vec<String>,
    limit: usize,
    count: u64,
    pub(super) lines: VecDeque<LogLineView>,
    /// The beginning of the line that was looked at last, blank ones aside.
    last: Option<String>,
    /// Whether the newest of the lines waits for the line after it.
    wants_after: bool,
    /// A line of speech that has not ended, and where it begins.
    speech: Option<(u64, String)>,
}

impl LogSearch {
    pub(super) fn new(wanted: Vec<String>, limit: usize) -> LogSearch {
        let (lines, last, speech) = (VecDeque::new(), None, None);
        LogSearch { wanted, limit, count: 0, lines, last, wants_after: false, speech }
    }

    /// Goes through a log from an offset on, with the table of its CLI if it has events, and says how much it read.
    pub(super) fn read(&mut self, log: impl Read, table: Option<Table>, from: u64) -> io::Result<u64> {
        let mut transcript = table.map(Transcript::new);
        let mut reader = BufReader::new(log);
        let mut offset = from;
        let mut line = Vec::new();
        loop {
            line.clear();
            let length = reader.by_ref().take(LINE_BYTES_MAX).read_until(b'\n', &mut line)?;
            if length == 0 {
                break;
            }
            match &mut transcript {
                None => self.look(offset, &readable(&line)),
                Some(transcript) => {
                    for piece in transcript.push(&line) {
                        self.hear(offset, piece);
                    }
                }
            }
            offset += length as u64;
        }
        for piece in transcript.map(|mut it| it.finish()).unwrap_or_default() {
            self.hear(offset, piece);
        }
        self.end_speech();
        Ok(offset - from)
    }

    /// Takes a piece of what an agent says or does. Speech comes in fragments, which are searched line by line.
    fn hear(&mut self, offset: u64, piece: Piece) {
        let Piece::Speech { text, fragment } = piece else {
            self.end_speech();
            return match piece {
                Piece::Tool { name, about } => {
                    self.look(offset, &format!("{name}  {}", about.unwrap_or_default()));
                }
                Piece::ToolOutput { text } | Piece::SubAgent { text } | Piece::Speech { text, .. } => {
                    self.look(offset, &text);
                }
                Piece::Line { bytes } => self.look(offset, &readable(&bytes)),
            };
        };
        for part in text.split_inclusive('\n') {
            self.speech.get_or_insert_with(|| (offset, String::new())).1.push_str(part);
            if part.ends_with('\n') {
                self.end_speech();
            }
        }
        if !fragment {
            self.end_speech();
        }
    }

    fn end_speech(&mut self) {
        if let Some((offset, text)) = self.speech.take() {
            self.look(offset, &text);
        }
    }

    /// Keeps the lines of a text that have what is wanted, the newest of them.
    fn look(&mut self, offset: u64, text: &str) {
        for line in text.lines().filter(|line| !line.trim().is_empty()) {
            let text: String = line.trim().chars().take(LETTERS_MAX).collect();
            if std::mem::take(&mut self.wants_after)
                && let Some(newest) = self.lines.back_mut()
            {
                newest.after = Some(text.clone());
            }
            let before = self.last.replace(text.clone());
            let line = line.to_lowercase();
            if !self.wanted.iter().all(|wanted| line.contains(wanted)) {
                continue;
            }
            self.count += 1;
            if self.lines.len() == self.limit {
                self.lines.pop_front();
            }
            self.lines.push_back(LogLineView { offset, text, before, after: None });
            self.wants_after = true;
        }
    }
}

/// A line without anything that a terminal would obey.
fn readable(line: &[u8]) -> String {
    let mut shown = Vec::with_capacity(line.len());
    Shown::new(false).push(line, &mut shown);
    String::from_utf8_lossy(&shown).into_owned()
}

#[cfg(test)]
mod tests {
    use ostler_agents::{Agent, Output};

    use super::*;

    fn found(log: &[u8], table: Option<Table>, text: &str, limit: usize) -> (u64, Vec<(u64, String)>) {
        let mut search = LogSearch::new(wanted(text).expect("a text"), limit);
        assert_eq!(search.read(log, table, 0).expect("it can be read"), log.len() as u64);
        (search.count, search.lines.into_iter().map(|line| (line.offset, line.text)).collect())
    }

    #[tokio::test]
    async fn few_searches_read_at_once_and_the_others_wait_for_their_turn() {
        let (first, _second) = (search_turn().await, search_turn().await);
        let mut third = std::pin::pin!(search_turn());
        tokio::select! {
            biased;
            _ = &mut third => panic!("two search already"),
            () = std::future::ready(()) => {}
        }
        drop(first);
        drop(third.await);
    }

    #[test]
    fn a_line_is_found_in_any_case_and_through_colours_and_the_newest_are_given() {
        let log = b"first \x1b[31mERR\x1b[0mor: one\nnothing\nlast error: two".as_slice();
        assert_eq!(
            found(log, None, "Error:", 9),
            (2, vec![(0, "first ERRor: one".into()), (34, "last error: two".into())])
        );
        assert_eq!(found(log, None, "error:", 1), (2, vec![(34, "last error: two".into())]));
        assert_eq!(found(log, None, "three", 9), (0, Vec::new()));
        assert_eq!(found("데이터베이스 준비\n".as_bytes(), None, "베이스 준", 9).0, 1);
    }

    #[test]
    fn a_line_has_every_text_and_comes_with_its_neighbours() {
        let log = b"one\n\nconnection to db refused\ntwo\ndb is fine\n".as_slice();
        let mut search = LogSearch::new(wanted("refused\nDB").expect("texts"), 9);
        search.read(log, None, 0).expect("it can be read");
        let found: Vec<_> = search.lines.into_iter().map(|it| (it.before, it.text, it.after)).collect();
        let line = |text: &str| Some(text.to_owned());
        assert_eq!(found, [(line("one"), "connection to db refused".to_owned(), line("two"))]);
        assert!(wanted("\n").is_err() && wanted(&"x".repeat(1001)).is_err());
    }

    #[test]
    fn words_are_found_where_a_cli_prints_them_in_fragments_of_events() {
        let Some(Output::Table(toml)) = Agent::builtin("gemini").map(|it| it.output) else {
            panic!("gemini prints events");
        };
        let table = Table::parse(&toml).expect("a table of ours");
        let log = b"{\"type\":\"message\",\"role\":\"assistant\",\"content\":\"Which da\",\"delta\":true}\n\
            {\"type\":\"message\",\"role\":\"assistant\",\"content\":\"tabase\\nnext\",\"delta\":true}\n";
        assert_eq!(
            found(log, Some(table.clone()), "which database", 9),
            (1, vec![(0, "Which database".into())])
        );
        assert_eq!(found(log, Some(table), "assistant", 9).0, 0, "that is a word of the CLI");
    }
}
