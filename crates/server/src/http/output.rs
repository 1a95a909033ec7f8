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
use ostler_engine::{SessionId, session::Session};
use ostler_shim::{ERR, OUT};
use serde::Deserialize;
use serde_json::json;
use tokio::sync::mpsc;
use utoipa::IntoParams;

use super::{
    App,
    code::Code,
    extract::{Path, Query},
};
use crate::{
    api::{OutputStream, Problem},
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
}

/// What an agent printed, byte for byte. `Ostler-Launch` says of which launch, `Ostler-Offset` from which byte on, and
/// `Ostler-Length` how much there was of it by then.
#[utoipa::path(get, path = "/sessions/{id}/output", params(("id" = String, Path), Which),
    responses((status = 200, body = Vec<u8>, content_type = "application/octet-stream",
        headers(("ostler-launch" = u32), ("ostler-offset" = u64), ("ostler-length" = u64))),
        (status = 404, body = Problem), (status = 416, body = Problem)))]
pub(super) async fn output(
    State(app): State<App>,
    Path(id): Path<String>,
    Query(which): Query<Which>,
) -> Result<Response, Problem> {
    let session = app.session_id(&id)?;
    let last = app.with_session(session, |_, it| it.launches.last().map_or(0, |launch| launch.number))?;
    let launch = which.launch.unwrap_or(last);
    let log = match which.stream {
        None | Some(OutputStream::Out) => OUT,
        Some(OutputStream::Err) => ERR,
    };
    if launch > last || (launch == 0 && last > 0) {
        let title = format!("{session} has no launch {launch}; the last is {last}");
        return Err(Problem::new(StatusCode::NOT_FOUND, Code::NoLaunch, title)
            .hint(format!("GET /sessions/{session} lists its launches.")));
    }
    let path = app.driver.home.launch(session, launch).join(log);
    let length = std::fs::metadata(&path).map_or(0, |it| it.len());
    let offset = place(&which, length)?;
    let (pieces, body) = mpsc::channel(PIECES_MAX);
    let limit = which.limit.map_or(u64::MAX, NonZeroU64::get);
    let reader = Reader { app, session, launch, path, offset, end: offset.saturating_add(limit) };
    tokio::spawn(reader.send(which.follow, pieces));
    let headers = [
        (header::CONTENT_TYPE.as_str(), "application/octet-stream".to_owned()),
        (header::CACHE_CONTROL.as_str(), "no-store".to_owned()),
        ("ostler-launch", launch.to_string()),
        ("ostler-offset", offset.to_string()),
        ("ostler-length", length.to_string()),
    ];
    Ok((headers, channel_body(body)).into_response())
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

/// Somebody who reads a log.
struct Reader {
    app: App,
    session: SessionId,
    launch: u32,
    path: PathBuf,
    offset: u64,
    /// Where to stop.
    end: u64,
}

impl Reader {
    async fn send(mut self, follow: bool, pieces: mpsc::Sender<Result<Bytes, Infallible>>) {
        let counts = Arc::clone(&self.app.counts);
        let _counted = counts.readers.begin();
        let mut file = None;
        loop {
            // Asked first: what is printed between the two is then still sent.
            let has_ended = !follow || self.has_ended();
            if file.is_none() {
                file = File::open(&self.path).ok();
            }
            let wanted = PIECE_BYTES.min(usize::try_from(self.end - self.offset).unwrap_or(PIECE_BYTES));
            let piece = file.as_ref().map_or(Ok(Bytes::new()), |file| read(file, self.offset, wanted));
            match piece {
                Ok(piece) if !piece.is_empty() => {
                    self.offset += piece.len() as u64;
                    if pieces.send(Ok(piece)).await.is_err() {
                        return;
                    }
                }
                Ok(_) if wanted > 0 && !has_ended => {
                    tokio::select! {
                        () = tokio::time::sleep(LOOK) => {}
                        () = pieces.closed() => return,
                    }
                }
                _ => return,
            }
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
