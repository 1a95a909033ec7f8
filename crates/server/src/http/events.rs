//! The journal from a place on: a page of it, or a stream that goes on with what happens.

#![expect(unused_qualifications, reason = "the document's macro writes paths out")]

use std::{convert::Infallible, time::Duration};

use axum::{
    Json,
    extract::State,
    http::{HeaderMap, header},
    response::{IntoResponse, Response},
};
use hyper::body::Bytes;
use ostler_engine::{RunId, SessionId};
use ostler_store::Scope;
use serde::Deserialize;
use tokio::sync::mpsc;
use utoipa::IntoParams;

use super::{App, code::Code, extract::Query, views};
use crate::{
    api::{EventView, Problem},
    stream::channel_body,
};

/// The most events that are read at once.
const EVENTS_MAX: u32 = 500;

/// How often a quiet stream says that it is still there.
const HEARTBEAT: Duration = Duration::from_secs(15);

/// Which events.
#[derive(Debug, Default, Clone, Deserialize, IntoParams)]
#[serde(default)]
pub(super) struct Which {
    /// Those behind this one.
    after: Option<u64>,
    /// At most so many; 500, if nothing is said.
    limit: Option<u32>,
    /// Of this session.
    session: Option<String>,
    /// Of this run.
    run: Option<String>,
    /// Whether to go on with what happens, as server-sent events.
    follow: bool,
}

/// What happened.
#[utoipa::path(get, path = "/events", params(Which), responses((status = 200, body = [EventView])))]
pub(super) async fn events(
    State(app): State<App>,
    Query(which): Query<Which>,
    headers: HeaderMap,
) -> Result<Response, Problem> {
    let session = which.session.as_deref().map(str::parse::<SessionId>).transpose();
    let run = which.run.as_deref().map(str::parse::<RunId>).transpose();
    let bad = |error: &dyn std::fmt::Display| Problem::bad(Code::BadId, error.to_string());
    let scope = Scope {
        session: session.map_err(|error| bad(&error))?.map(|id| id.0),
        run: run.map_err(|error| bad(&error))?.map(|id| id.0),
        ..Scope::default()
    };
    let last_id = headers.get("last-event-id").and_then(|value| value.to_str().ok()?.parse().ok());
    let after = last_id.or(which.after).unwrap_or(0);
    if !which.follow {
        let limit = which.limit.unwrap_or(EVENTS_MAX).clamp(1, EVENTS_MAX);
        let rows = app.read(|reader| reader.events(after, scope, limit))?;
        return Ok(Json(rows.iter().map(views::event).collect::<Vec<_>>()).into_response());
    }
    // Bounded: a client that does not read is waited for by its own task and nobody else.
    let (pieces, body) = mpsc::channel(4);
    tokio::spawn(follow(app, after, scope, pieces));
    let headers = [(header::CONTENT_TYPE, "text/event-stream"), (header::CACHE_CONTROL, "no-store")];
    Ok((headers, channel_body(body)).into_response())
}

async fn follow(app: App, mut after: u64, scope: Scope, pieces: mpsc::Sender<Result<Bytes, Infallible>>) {
    let mut changed = app.driver.journal.watch();
    loop {
        changed.mark_unchanged();
        let Ok(rows) = app.read(|reader| reader.events(after, scope, EVENTS_MAX)) else { return };
        for row in &rows {
            after = row.seq;
            let data = serde_json::to_string(&views::event(row)).unwrap_or_default();
            let piece = format!("id: {}\nevent: {}\ndata: {data}\n\n", row.seq, row.kind);
            if pieces.send(Ok(Bytes::from(piece))).await.is_err() {
                return;
            }
        }
        if !rows.is_empty() {
            continue;
        }
        match tokio::time::timeout(HEARTBEAT, changed.changed()).await {
            Ok(Ok(())) => {}
            Ok(Err(_)) => return,
            Err(_) => {
                if pieces.send(Ok(Bytes::from_static(b": still here\n\n"))).await.is_err() {
                    return;
                }
            }
        }
    }
}
