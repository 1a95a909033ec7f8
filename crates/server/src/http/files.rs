//! Files that come over the interface: streamed into the workspace of the session that asked, then given as its answer.

#![expect(unused_qualifications, reason = "the document's macro writes paths out")]

use std::{
    io::{self, Read},
    path::Path as FilePath,
};

use axum::{
    Json,
    body::Body,
    extract::State,
    http::{HeaderMap, StatusCode, header},
};
use http_body_util::BodyExt;
use hyper::body::Bytes;
use ostler_engine::{
    Input, RequestId,
    answer::{Answer, Given, read},
    request::Ask,
};
use rustix::fs::Mode;
use serde::Deserialize;
use serde_json::json;
use tokio::sync::mpsc;
use utoipa::IntoParams;

use super::{
    App,
    code::Code,
    extract::{Path, Query},
    pace::{self, is_too_slow, paced, too_slow},
    problem::not_written,
    wishes::key,
};
use crate::{
    api::{Problem, RequestView},
    journal::SubmitError,
    uploads::{self, Received, UploadError},
};

/// The longest name.
const NAME_BYTES_MAX: usize = 255;

/// How many pieces wait to be written.
const PIECES_MAX: usize = 4;

/// The file.
#[derive(Debug, Default, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(default, deny_unknown_fields)]
pub(super) struct Which {
    /// What it is called where it comes from. It gets the name that the agent asked for, made of harmless characters;
    /// this one is for a request that names none.
    #[param(min_length = 1, max_length = 255)]
    name: Option<String>,
}

/// Answers a request for a file with the file itself, at most 1 GiB. What does not come whole is not kept.
#[utoipa::path(post, path = "/requests/{id}/file", params(("id" = String, Path), Which),
    request_body(content = Vec<u8>, content_type = "application/octet-stream"),
    responses((status = 200, body = RequestView), (status = 408, body = Problem)))]
pub(super) async fn give(
    State(app): State<App>,
    Path(id): Path<String>,
    headers: HeaderMap,
    Query(which): Query<Which>,
    body: Body,
) -> Result<Json<RequestView>, Problem> {
    let request: RequestId = id.parse().map_err(|_| Problem::not_found(Code::NoRequest, &id))?;
    let name = checked_name(which.name.unwrap_or_default())?;
    let length = check_head(&headers)?;
    let key = key(&headers, &format!("/requests/{request}/file"), &json!([name, length]))?;
    // Before anything is read: who is settled or unknown is refused below, in the engine's words.
    let received = match app.place_for(request)? {
        Some(directory) => Some(receive(directory, body).await?),
        None => None,
    };
    // Of two answers at once the second finds the request settled.
    let _turn = app.driver.answers.wait(request).await;
    let mut given = Given::default();
    let mut placed = None;
    if let Some((received, asked)) = received.zip(app.asked(request)) {
        let Ask::Dependency(dependency) = &asked.ask else { return Err(no_file_wanted(request)) };
        let name = uploads::safe_name(&dependency.name, &name);
        let file = tokio::task::spawn_blocking(move || received.place(&name)).await;
        let file = file.map_err(|_| Problem::internal("the file was not placed"))?;
        let file = file.map_err(|error| not_taken(&error))?;
        given.value = Some(file.path.clone());
        placed = Some(file);
    }
    let input = Input::Answer { request, given, printed: app.printed_of_request(request) };
    if let Err(error) = app.driver.journal.submit_for(input, key).await {
        // It was cancelled or expired in between, or the key is that of another wish: nobody will look for the file.
        let is_refused = matches!(error, SubmitError::Refused(_) | SubmitError::KeyReused);
        if let Some(placed) = placed.filter(|_| is_refused) {
            tokio::task::spawn_blocking(move || placed.take_back()).await.ok();
        }
        return Err(error.into());
    }
    app.request_view(request).map(Json)
}

/// A name that a person could have given. What it becomes on the disk is seen to where it is put.
fn checked_name(name: String) -> Result<String, Problem> {
    if name.len() > NAME_BYTES_MAX || name.chars().any(char::is_control) {
        let title = format!("a name has at most {NAME_BYTES_MAX} bytes and no control characters");
        return Err(
            Problem::bad(Code::BadName, title).hint("Nothing has changed. Give the file a shorter name.")
        );
    }
    Ok(name)
}

/// Whether a file comes that is not too large, as far as the client says. Gives the length that it names.
fn check_head(headers: &HeaderMap) -> Result<Option<u64>, Problem> {
    let kind = headers.get(header::CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or_default();
    if !kind.split(';').next().unwrap_or_default().trim().eq_ignore_ascii_case("application/octet-stream") {
        let title = "a file is sent as application/octet-stream";
        return Err(Problem::new(StatusCode::UNSUPPORTED_MEDIA_TYPE, Code::NotJson, title)
            .hint("Send the bytes of the file as the body, and its name as ?name=."));
    }
    let length = headers.get(header::CONTENT_LENGTH);
    let length = length.and_then(|value| value.to_str().ok()?.parse().ok());
    match length {
        Some(length) if length > uploads::BYTES_MAX => Err(too_large()),
        length => Ok(length),
    }
}

/// Writes a body into the workspace, as fast as the disk takes it.
async fn receive(directory: String, body: Body) -> Result<Received, Problem> {
    let (pieces, incoming) = mpsc::channel(PIECES_MAX);
    let writing = tokio::task::spawn_blocking(move || {
        let source = Incoming { pieces: incoming, piece: Bytes::new(), is_whole: false };
        uploads::receive(FilePath::new(&directory), source, Mode::from_raw_mode(0o644), uploads::BYTES_MAX)
    });
    // Dropped at the end, whole or not: whoever writes knows which.
    let sent = send(body, pieces).await;
    let written = writing.await.map_err(|_| Problem::internal("the file was not written"))?;
    sent?;
    written.map_err(|error| not_taken(&error))
}

async fn send(body: Body, pieces: mpsc::Sender<Piece>) -> Result<(), Problem> {
    let mut body = paced(body, pace::FILE_MAX);
    loop {
        let frame = match body.frame().await {
            Some(Ok(frame)) => frame,
            None => {
                pieces.send(Piece::End).await.ok();
                return Ok(());
            }
            Some(Err(error)) if is_too_slow(&error) => return Err(too_slow("the file")),
            Some(Err(error)) => {
                let title = format!("the file did not come whole: {error}");
                return Err(Problem::bad(Code::NoFile, title).hint("Nothing was kept of it. Send it again."));
            }
        };
        let Ok(piece) = frame.into_data() else { continue };
        // Whoever writes has failed, and says why.
        if pieces.send(Piece::Bytes(piece)).await.is_err() {
            return Ok(());
        }
    }
}

/// A part of a file on its way to the disk.
enum Piece {
    Bytes(Bytes),
    /// That was all of it.
    End,
}

/// What comes, for a thread that may wait for it.
struct Incoming {
    pieces: mpsc::Receiver<Piece>,
    piece: Bytes,
    is_whole: bool,
}

impl Read for Incoming {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        while self.piece.is_empty() && !self.is_whole {
            match self.pieces.blocking_recv() {
                Some(Piece::Bytes(piece)) => self.piece = piece,
                Some(Piece::End) => self.is_whole = true,
                None => return Err(io::ErrorKind::UnexpectedEof.into()),
            }
        }
        let count = self.piece.len().min(buffer.len());
        buffer[..count].copy_from_slice(&self.piece.split_to(count));
        Ok(count)
    }
}

impl App {
    /// The directory of whoever asks for a file; none if the request is settled or unknown.
    fn place_for(&self, request: RequestId) -> Result<Option<String>, Problem> {
        let Some(asked) = self.asked(request) else { return Ok(None) };
        let path = Given { value: Some("file".to_owned()), ..Given::default() };
        match (read(&asked.ask, &[], &path), asked.directory) {
            (Ok(Answer::Path { .. }), Some(directory)) => Ok(Some(directory)),
            _ => Err(no_file_wanted(request)),
        }
    }
}

fn no_file_wanted(request: RequestId) -> Problem {
    Problem::bad(Code::NotAsked, format!("{request} does not ask for a file"))
        .hint(format!("Nothing has changed. See what it asks for: ostler show {request}"))
}

pub(super) fn too_large() -> Problem {
    let title = format!("a file has at most {} bytes", uploads::BYTES_MAX);
    Problem::new(StatusCode::PAYLOAD_TOO_LARGE, Code::TooLarge, title)
        .hint("Nothing was kept of it. Put it where the agent can read it, and answer with its path.")
}

/// Why a file could not be given to an agent. Nothing has changed.
pub(super) fn not_taken(error: &UploadError) -> Problem {
    let bad = |hint: &str| Problem::bad(Code::NoFile, error.to_string()).hint(hint);
    match error {
        UploadError::Target { source, .. }
            if matches!(source.kind(), io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded) =>
        {
            not_written(error.to_string())
        }
        UploadError::Target { .. } => {
            bad("Nothing has changed. See to `uploads` in the session's directory.")
        }
        UploadError::TooLarge { .. } => too_large(),
        UploadError::Broken { .. } => bad("Nothing was kept of it. Send it again."),
        UploadError::Source { .. } | UploadError::NotAFile { .. } => {
            bad("Nothing has changed. Name a file that you can read.")
        }
    }
}
