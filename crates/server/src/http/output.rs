//! What an agent prints: its log from a place on, and what comes.

#![expect(unused_qualifications, reason = "the document's macro writes paths out")]

use std::{convert::Infallible, fs::File, io, os::unix::fs::FileExt, path::PathBuf, time::Duration};

use axum::{
    extract::State,
    http::header,
    response::{IntoResponse, Response},
};
use hyper::body::Bytes;
use ostler_engine::SessionId;
use ostler_shim::{ERR, OUT};
use serde::Deserialize;
use tokio::sync::mpsc;
use utoipa::IntoParams;

use super::{
    App,
    code::Code,
    extract::{Path, Query},
};
use crate::{api::Problem, stream::channel_body};

/// The most that is read at once.
const PIECE_BYTES: usize = 64 << 10;

/// Between two looks at a log that somebody follows.
const LOOK: Duration = Duration::from_millis(50);

/// Which part of which log.
#[derive(Debug, Default, Clone, Deserialize, IntoParams)]
#[serde(default)]
pub(super) struct Which {
    /// The launch; the last one, if nothing is said.
    launch: Option<u32>,
    /// From which byte on.
    offset: u64,
    /// `out` or `err`.
    stream: Option<String>,
    /// Whether to go on until the launch has ended.
    follow: bool,
}

/// What an agent printed, byte for byte.
#[utoipa::path(get, path = "/sessions/{id}/output", params(("id" = String, Path), Which),
    responses((status = 200, body = String), (status = 404, body = Problem)))]
pub(super) async fn output(
    State(app): State<App>,
    Path(id): Path<String>,
    Query(which): Query<Which>,
) -> Result<Response, Problem> {
    let session = app.session_id(&id)?;
    let last = app.with_session(session, |_, it| it.launches.last().map_or(0, |launch| launch.number))?;
    let launch = which.launch.unwrap_or(last);
    let log = match which.stream.as_deref() {
        None | Some("out") => OUT,
        Some("err") => ERR,
        Some(other) => {
            return Err(Problem::bad(Code::BadStream, format!("'{other}' is neither 'out' nor 'err'")));
        }
    };
    if launch > last || (launch == 0 && last > 0) {
        let title = format!("{session} has no launch {launch}; the last is {last}");
        return Err(Problem::new(axum::http::StatusCode::NOT_FOUND, Code::NoLaunch, title));
    }
    let path = app.driver.home.launch(session, launch).join(log);
    let (pieces, body) = mpsc::channel(4);
    tokio::spawn(send(app, session, launch, path, which.clone(), pieces));
    let headers = [
        (header::CONTENT_TYPE.as_str(), "application/octet-stream".to_owned()),
        ("ostler-launch", launch.to_string()),
        ("ostler-offset", which.offset.to_string()),
    ];
    Ok((headers, channel_body(body)).into_response())
}

async fn send(
    app: App,
    session: SessionId,
    launch: u32,
    path: PathBuf,
    which: Which,
    pieces: mpsc::Sender<Result<Bytes, Infallible>>,
) {
    let mut offset = which.offset;
    let mut file = None;
    loop {
        // Asked first: what is printed between the two is then still sent.
        let has_ended = app
            .with_session(session, |_, it| it.live().is_none_or(|live| live.number != launch))
            .unwrap_or(true);
        if file.is_none() {
            file = File::open(&path).ok();
        }
        let piece = file.as_ref().map_or(Ok(Bytes::new()), |file| read(file, offset));
        match piece {
            Ok(piece) if !piece.is_empty() => {
                offset += piece.len() as u64;
                if pieces.send(Ok(piece)).await.is_err() {
                    return;
                }
            }
            Ok(_) if which.follow && !has_ended => {
                tokio::select! {
                    () = tokio::time::sleep(LOOK) => {}
                    () = pieces.closed() => return,
                }
            }
            _ => return,
        }
    }
}

fn read(file: &File, offset: u64) -> io::Result<Bytes> {
    let mut piece = vec![0; PIECE_BYTES];
    let length = file.read_at(&mut piece, offset)?;
    piece.truncate(length);
    Ok(piece.into())
}
