//! What clients want of sessions and requests. Each wish carries a key, so that wishing twice is wishing once.

use std::time::Duration;

use axum::{Json, extract::State, http::HeaderMap};
use ostler_engine::{Input, SessionId, session::WorktreeState};
use ostler_shim::control::Command;
use serde::Serialize;
use serde_json::{Value, json};

use super::{
    App,
    code::Code,
    extract::{Body, Path},
    runs,
};
use crate::{
    api::{NewMessage, NewResume, NewSize, Problem, SessionView},
    client::KEY_HEADER,
    driver,
    journal::Key,
};

/// The longest key.
const KEY_BYTES_MAX: usize = 200;

/// How long a merge may take before the client is told that it goes on without it.
const WORKTREE_MAX: Duration = Duration::from_mins(5);

/// Holds a session.
#[utoipa::path(post, path = "/sessions/{id}/pause", params(("id" = String, Path)),
    responses((status = 200, body = SessionView), (status = 409, body = Problem)))]
pub(super) async fn pause(
    State(app): State<App>,
    Path(id): Path<String>,
    headers: HeaderMap,
) -> Result<Json<SessionView>, Problem> {
    app.wish(&id, "pause", &headers, &Value::Null, Input::Pause).await
}

/// Lets a session go on.
#[utoipa::path(post, path = "/sessions/{id}/continue", params(("id" = String, Path)),
    responses((status = 200, body = SessionView), (status = 409, body = Problem)))]
pub(super) async fn unpause(
    State(app): State<App>,
    Path(id): Path<String>,
    headers: HeaderMap,
) -> Result<Json<SessionView>, Problem> {
    app.wish(&id, "continue", &headers, &Value::Null, Input::Continue).await
}

/// Ends a session.
#[utoipa::path(post, path = "/sessions/{id}/cancel", params(("id" = String, Path)),
    responses((status = 200, body = SessionView), (status = 404, body = Problem)))]
pub(super) async fn cancel(
    State(app): State<App>,
    Path(id): Path<String>,
    headers: HeaderMap,
) -> Result<Json<SessionView>, Problem> {
    app.wish(&id, "cancel", &headers, &Value::Null, Input::Cancel).await
}

/// Starts a session again that was interrupted or is over.
#[utoipa::path(post, path = "/sessions/{id}/resume", params(("id" = String, Path)), request_body = NewResume,
    responses((status = 200, body = SessionView), (status = 409, body = Problem)))]
pub(super) async fn resume(
    State(app): State<App>,
    Path(id): Path<String>,
    headers: HeaderMap,
    Body(new): Body<NewResume>,
) -> Result<Json<SessionView>, Problem> {
    let body = json!(new);
    let input = |session| Input::Resume { session, prompt: new.prompt };
    app.wish(&id, "resume", &headers, &body, input).await
}

/// Writes to an agent.
#[utoipa::path(post, path = "/sessions/{id}/messages", params(("id" = String, Path)), request_body = NewMessage,
    responses((status = 200, body = SessionView), (status = 409, body = Problem)))]
pub(super) async fn send(
    State(app): State<App>,
    Path(id): Path<String>,
    headers: HeaderMap,
    Body(new): Body<NewMessage>,
) -> Result<Json<SessionView>, Problem> {
    let body = json!(new);
    let input = |session| {
        let printed = app.printed(session);
        Input::Send { session, text: new.text, printed }
    };
    app.wish(&id, "messages", &headers, &body, input).await
}

/// Revokes a permission rule of a session: what it covered is asked about from now on.
#[utoipa::path(post, path = "/sessions/{id}/permissions/{number}/revoke",
    params(("id" = String, Path), ("number" = u64, Path, minimum = 1, maximum = 9_007_199_254_740_991_u64)),
    responses((status = 200, body = SessionView), (status = 404, body = Problem)))]
pub(super) async fn revoke(
    State(app): State<App>,
    Path((id, number)): Path<(String, String)>,
    headers: HeaderMap,
) -> Result<Json<SessionView>, Problem> {
    let number: u64 = number.parse().map_err(|_| Problem::not_found(Code::NoPermission, &number))?;
    let what = format!("permissions/{number}/revoke");
    app.wish(&id, &what, &headers, &Value::Null, |session| Input::Revoke { session, number }).await
}

/// Gives a session's terminal another size.
#[utoipa::path(post, path = "/sessions/{id}/size", params(("id" = String, Path)), request_body = NewSize,
    responses((status = 200, body = SessionView), (status = 409, body = Problem)))]
pub(super) async fn resize(
    State(app): State<App>,
    Path(id): Path<String>,
    Body(NewSize { rows, columns }): Body<NewSize>,
) -> Result<Json<SessionView>, Problem> {
    let session = app.session_id(&id)?;
    let screen = runs::screen(rows, columns)?;
    let launch = app.with_session(session, |_, it| it.live().map(|live| live.number))?;
    let not_running = || Problem::bad(Code::NotRunning, format!("{session} does not run"));
    let launch = launch.ok_or_else(not_running)?;
    driver::tell(&app.driver, session, launch, Command::Resize { rows, columns })
        .await
        .map_err(|message| Problem::bad(Code::NoTerminal, message))?;
    app.driver.journal.submit(Input::Resized { session, launch, screen }, None).await?;
    app.session_view(session).map(Json)
}

/// Merges a session's work into the branch it came from. The answer comes once that is done, or found impossible.
#[utoipa::path(post, path = "/sessions/{id}/merge", params(("id" = String, Path)),
    responses((status = 200, body = SessionView), (status = 409, body = Problem)))]
pub(super) async fn merge(
    State(app): State<App>,
    Path(id): Path<String>,
    headers: HeaderMap,
) -> Result<Json<SessionView>, Problem> {
    let view = app.wish(&id, "merge", &headers, &Value::Null, Input::Merge).await?;
    app.worktree_settled(&view.id).await
}

/// Drops a session's work, keeping it under a ref. The answer comes once that is done.
#[utoipa::path(post, path = "/sessions/{id}/discard", params(("id" = String, Path)),
    responses((status = 200, body = SessionView), (status = 409, body = Problem)))]
pub(super) async fn discard(
    State(app): State<App>,
    Path(id): Path<String>,
    headers: HeaderMap,
) -> Result<Json<SessionView>, Problem> {
    let view = app.wish(&id, "discard", &headers, &Value::Null, Input::Discard).await?;
    app.worktree_settled(&view.id).await
}

/// Ends the server. Agents go on.
#[utoipa::path(post, path = "/stop", responses((status = 200)))]
pub(super) async fn stop(State(app): State<App>) -> Json<Value> {
    let stop = app.stop.clone();
    tokio::spawn(async move {
        // The answer is on its way first.
        tokio::time::sleep(Duration::from_millis(20)).await;
        stop.notify_one();
    });
    Json(json!({ "stopping": true }))
}

impl App {
    pub(super) async fn wish(
        &self,
        id: &str,
        what: &str,
        headers: &HeaderMap,
        body: &Value,
        input: impl FnOnce(SessionId) -> Input,
    ) -> Result<Json<SessionView>, Problem> {
        let session = self.session_id(id)?;
        let key = key(headers, &format!("/sessions/{session}/{what}"), body)?;
        self.driver.journal.submit_for(input(session), key).await?;
        self.session_view(session).map(Json)
    }

    /// Waits until something has become of a worktree.
    async fn worktree_settled(&self, id: &str) -> Result<Json<SessionView>, Problem> {
        let session = self.session_id(id)?;
        let mut changed = self.driver.journal.watch();
        let settled = async {
            loop {
                let is_busy = self.with_session(session, |_, it| {
                    let state = it.worktree.as_ref().map(|worktree| &worktree.state);
                    matches!(state, Some(WorktreeState::Merging { .. } | WorktreeState::Discarding))
                })?;
                if !is_busy || changed.changed().await.is_err() {
                    return self.session_view(session).map(Json);
                }
            }
        };
        match tokio::time::timeout(WORKTREE_MAX, settled).await {
            Ok(view) => view,
            Err(_) => self.session_view(session).map(Json),
        }
    }
}

/// The client's key, with what stands for its request.
pub(super) fn key(headers: &HeaderMap, path: &str, body: &impl Serialize) -> Result<Option<Key>, Problem> {
    let Some(value) = headers.get(KEY_HEADER) else { return Ok(None) };
    let key = value.to_str().ok().filter(|key| !key.is_empty() && key.len() <= KEY_BYTES_MAX);
    let key = key.ok_or_else(|| {
        let title = format!("an Idempotency-Key has 1 to {KEY_BYTES_MAX} printable characters");
        Problem::bad(Code::BadKey, title)
    })?;
    let fingerprint = crate::environment::digest(json!([path, body]).to_string().as_bytes());
    Ok(Some(Key { key: key.to_owned(), fingerprint }))
}
