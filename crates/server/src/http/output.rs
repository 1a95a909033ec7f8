//! What an agent prints: its log from a place on, and what comes.

#![expect(unused_qualifications, reason = "the document's macro writes paths out")]

use std::{
    convert::Infallible, fs::File, io, num::NonZeroU64, os::unix::fs::FileExt, path::PathBuf, sync::Arc,
    time::Duration,
};

use axum::{
    extract::State,
    http::{StatusCode, header},
    response::{IntoResponse, Response},
};
use hyper::body::Bytes;
use ostler_agents::Output;
use ostler_engine::{
    RequestId, SessionId,
    session::{LogPlace, Session},
};
use ostler_files::{UnusableFile, private};
use ostler_protocol::stream::Table;
use ostler_shim::{ERR, OUT};
use serde::Deserialize;
use serde_json::json;
use tokio::sync::mpsc;
use utoipa::IntoParams;

use super::{
    App,
    code::Code,
    extract::{Path, Query},
    pieces::Pieces,
};
use crate::{
    agent_log,
    api::{OutputForm, OutputStream, PiecesView, Problem},
    stream::channel_body,
};

/// The most that is read at once.
const PIECE_BYTES: usize = 64 << 10;

/// How many pieces wait for a client.
const PIECES_MAX: usize = 4;

/// Between two looks at a log that somebody follows.
const LOOK: Duration = Duration::from_millis(50);

/// The longest part that can be asked for from the end.
const TAIL_BYTES_MAX: u64 = 64 << 20;

/// Which part of which log.
#[derive(Debug, Default, Clone, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(default, deny_unknown_fields)]
pub(super) struct Which {
    /// The launch; the last one, if nothing is said.
    #[param(minimum = 1, maximum = 1_000_000)]
    launch: Option<u32>,
    /// From which byte on; from the first, if nothing is said.
    #[param(maximum = 9_007_199_254_740_991_u64)]
    offset: Option<u64>,
    /// Instead of an offset: so many of the last bytes.
    #[param(maximum = 67_108_864)]
    tail: Option<u64>,
    /// At most so many bytes.
    #[param(value_type = Option<u64>, minimum = 1, maximum = 9_007_199_254_740_991_u64)]
    limit: Option<NonZeroU64>,
    /// `out` or `err`.
    stream: Option<OutputStream>,
    /// Whether to go on until the launch has ended.
    follow: bool,
    /// `bytes`, if nothing is said, or `pieces`: where the agent prints events of a CLI, then a line of JSON for every
    /// stretch of them, with what a person would want to read, and the offset behind it. The type of the answer says
    /// which of the two it is. From an offset inside of a line, pieces begin with the next.
    form: OutputForm,
}

/// What an agent printed, byte for byte. `Ostler-Launch` says of which launch, `Ostler-Offset` from which byte on, and
/// `Ostler-Length` how much there was of it by then.
#[utoipa::path(get, path = "/sessions/{id}/output", params(("id" = String, Path), Which),
    responses((status = 200, content((Vec<u8> = "application/octet-stream"), (PiecesView = "application/x-ndjson")),
        headers(("ostler-launch" = u32), ("ostler-offset" = u64), ("ostler-length" = u64))),
        (status = 404, body = Problem), (status = 416, body = Problem)))]
pub(super) async fn output(
    State(app): State<App>,
    Path(id): Path<String>,
    Query(which): Query<Which>,
) -> Result<Response, Problem> {
    let AgentLog { session, launch, path, table } =
        app.agent_log(&id, which.launch, which.stream, which.form)?;
    let length = open_log(&path)?.and_then(|file| agent_log::end(&file).ok()).unwrap_or(0);
    let offset = place(&which, length)?;
    let pieces = table.map(|table| Pieces::new(table, offset, is_inside(&path, offset)));
    let kind = if pieces.is_some() { "application/x-ndjson" } else { "application/octet-stream" };
    let (sender, body) = mpsc::channel(PIECES_MAX);
    let limit = which.limit.map_or(u64::MAX, NonZeroU64::get);
    let reader = Reader { app, session, launch, path, offset, end: offset.saturating_add(limit), pieces };
    tokio::spawn(reader.send(which.follow, sender));
    let headers = [
        (header::CONTENT_TYPE.as_str(), kind.to_owned()),
        (header::CACHE_CONTROL.as_str(), "no-store".to_owned()),
        ("ostler-launch", launch.to_string()),
        ("ostler-offset", offset.to_string()),
        ("ostler-length", length.to_string()),
    ];
    Ok((headers, channel_body(body)).into_response())
}

/// The log of one launch.
pub(super) struct AgentLog {
    session: SessionId,
    pub(super) launch: u32,
    pub(super) path: PathBuf,
    /// How to read it, where it has events of a CLI and pieces are wanted.
    pub(super) table: Option<Table>,
}

impl App {
    /// The log of a launch; of the last one, if no launch is named.
    pub(super) fn agent_log(
        &self,
        id: &str,
        launch: Option<u32>,
        stream: Option<OutputStream>,
        form: OutputForm,
    ) -> Result<AgentLog, Problem> {
        let session = self.session_id(id)?;
        let last =
            self.with_session(session, |_, it| it.launches.last().map_or(0, |launch| launch.number))?;
        let launch = launch.unwrap_or(last);
        let log = match stream {
            None | Some(OutputStream::Out) => OUT,
            Some(OutputStream::Err) => ERR,
        };
        if launch > last || (launch == 0 && last > 0) {
            let title = format!("{session} has no launch {launch}; the last is {last}");
            return Err(Problem::new(StatusCode::NOT_FOUND, Code::NoLaunch, title)
                .hint(format!("GET /sessions/{session} lists its launches.")));
        }
        let path = self.driver.home.launch(session, launch).join(log);
        let table = match (form, log) {
            // What a CLI writes to standard error is text, whatever else it speaks.
            (OutputForm::Pieces, OUT) => self.with_session(session, |_, it| table(it))?,
            _ => None,
        };
        Ok(AgentLog { session, launch, path, table })
    }
}

impl App {
    /// How far the log of a session's process is written, if one runs.
    pub(super) fn printed(&self, session: SessionId) -> Option<LogPlace> {
        let launch = self.with_session(session, |_, it| it.live().map(|live| live.number)).ok()??;
        let log = private::look(self.driver.home.launch(session, launch).join(OUT)).ok()?;
        Some(LogPlace { launch, offset: log.len() })
    }

    /// The same for the session that asks something.
    pub(super) fn printed_of_request(&self, request: RequestId) -> Option<LogPlace> {
        let session = self.driver.journal.world().requests.get(&request)?.session;
        self.printed(session)
    }
}

/// Opens a log; a launch that has printed nothing has none. What another process has put in its place is not waited for.
pub(super) fn open_log(path: &std::path::Path) -> Result<Option<File>, Problem> {
    match private::open(path) {
        Ok(file) => Ok(Some(file)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => match UnusableFile::of(&error) {
            None => Err(Problem::internal(format!("the log cannot be read: {error}"))),
            Some(why) => {
                let title = format!("'{}' was replaced: {why}", path.display());
                Err(Problem::new(StatusCode::CONFLICT, Code::LogReplaced, title)
                    .hint("Another process of yours replaced the log. What the agent printed before is gone.")
                    .details(json!({ "key": "log_replaced", "path": path, "why": why.to_string() })))
            }
        },
    }
}

/// Where to begin in a log of some length.
fn place(which: &Which, length: u64) -> Result<u64, Problem> {
    match (which.offset, which.tail) {
        (Some(_), Some(_)) => {
            Err(Problem::bad(Code::BadQuery, "there is an offset and a tail; one says where to begin"))
        }
        (None, Some(tail)) if tail > TAIL_BYTES_MAX => {
            let title = format!("a tail has at most {TAIL_BYTES_MAX} bytes");
            Err(Problem::bad(Code::BadQuery, title).hint("Begin at an offset instead."))
        }
        (None, Some(tail)) => Ok(length.saturating_sub(tail)),
        (Some(offset), None) if offset > length => {
            let title = format!("there are {length} bytes, and none from {offset} on");
            Err(Problem::new(StatusCode::RANGE_NOT_SATISFIABLE, Code::BadOffset, title)
                .hint(format!("Begin at {length} or before, or with tail."))
                .details(json!({ "length": length })))
        }
        (offset, None) => Ok(offset.unwrap_or(0)),
    }
}

/// How the events of its CLI are read, if it prints events.
pub(super) fn table(session: &Session) -> Option<Table> {
    match &session.order.agent.output {
        Output::Table(toml) => Table::parse(toml).ok(),
        Output::Text => None,
    }
}

/// Whether an offset is inside of a line.
fn is_inside(path: &std::path::Path, offset: u64) -> bool {
    let Some(before) = offset.checked_sub(1) else { return false };
    let byte = private::open(path).and_then(|file| read(&file, before, 1));
    byte.is_ok_and(|byte| byte.first().is_some_and(|byte| *byte != b'\n'))
}

/// Somebody who reads a log.
struct Reader {
    app: App,
    session: SessionId,
    launch: u32,
    path: PathBuf,
    offset: u64,
    /// Where to stop.
    end: u64,
    /// What makes it readable, if that is wanted.
    pieces: Option<Pieces>,
}

impl Reader {
    async fn send(mut self, follow: bool, sender: mpsc::Sender<Result<Bytes, Infallible>>) {
        let counts = Arc::clone(&self.app.counts);
        let _counted = counts.readers.begin();
        let mut file = None;
        loop {
            // Asked first: what is printed between the two is then still sent.
            let has_ended = !follow || self.has_ended();
            if file.is_none() {
                file = private::open(&self.path).ok();
            }
            let limit = PIECE_BYTES.min(usize::try_from(self.end - self.offset).unwrap_or(PIECE_BYTES));
            let there = file.as_ref().and_then(|file| agent_log::end(file).ok()).unwrap_or(0);
            let wanted = limit.min(usize::try_from(there.saturating_sub(self.offset)).unwrap_or(limit));
            let piece = file.as_ref().map_or(Ok(Bytes::new()), |file| read(file, self.offset, wanted));
            match piece {
                Ok(piece) if !piece.is_empty() => {
                    self.offset += piece.len() as u64;
                    let shown = match &mut self.pieces {
                        None => Some(piece),
                        Some(pieces) => pieces.push(&piece),
                    };
                    let Some(shown) = shown else { continue };
                    if sender.send(Ok(shown)).await.is_err() {
                        return;
                    }
                }
                Ok(_) if limit > 0 && !has_ended => {
                    tokio::select! {
                        () = tokio::time::sleep(LOOK) => {}
                        () = sender.closed() => return,
                    }
                }
                _ => break,
            }
        }
        // A line without an end is whole only where the log has one.
        let rest = self.pieces.as_mut().filter(|_| self.offset < self.end).and_then(Pieces::finish);
        if let Some(rest) = rest {
            sender.send(Ok(rest)).await.ok();
        }
    }

    fn has_ended(&self) -> bool {
        let is_over = |it: &Session| it.live().is_none_or(|live| live.number != self.launch);
        self.app.with_session(self.session, |_, it| is_over(it)).unwrap_or(true)
    }
}

fn read(file: &File, offset: u64, wanted: usize) -> io::Result<Bytes> {
    let mut piece = vec![0; wanted];
    let length = file.read_at(&mut piece, offset)?;
    piece.truncate(length);
    Ok(piece.into())
}
