//! What a process of an agent can ask over the session's own socket, and nothing else: to ask, to hear what came of it,
//! and to tell that a step is done. What it is allowed to do follows from who it is, which the kernel says.

use std::{sync::Arc, time::Duration};

use axum::{
    Extension, Json, Router,
    extract::{ConnectInfo, DefaultBodyLimit, State},
    http::{HeaderMap, StatusCode},
    routing::{get, post},
};
use ostler_engine::{Input, RequestId, SessionId, request::Bringing, request::Request};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::{
    App,
    agent_body::AgentBody,
    calling,
    code::Code,
    executions,
    extract::{BytesMax, Path, Query},
    memory,
    problem::{no_method, no_route},
    wishes::key,
};
use crate::{
    api::{CallAnswer, CallState, CallView, NewCall, NewStep, NotAsked, Problem, clean, text},
    driver::{callers, values},
    journal::Key,
    peer::Peer,
};

/// The longest body.
const BODY_BYTES_MAX: usize = 2 << 20;

/// How long a caller is held before it is told that nothing has happened yet: it asks again, and whoever is at the
/// other end of it can be told that it still waits.
const HOLD: Duration = Duration::from_secs(20);

/// Before a caller is told that it still waits for values that could not be written.
const AGAIN: Duration = Duration::from_secs(1);

/// Whose call it is.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Whose {
    /// The caller's own name for it.
    key: String,
}

/// Everything that can be asked over the socket.
pub(crate) fn router(app: App) -> Router {
    let routes = Router::new()
        .route("/calls", post(open))
        .route("/calls/{request}", get(wait))
        .route("/calls/{request}/taken", post(taken))
        .route("/calls/{request}/left", post(left))
        .route("/steps", post(step))
        .route("/memory", get(memory::of_agent))
        .route("/executions", post(executions::create_inside))
        .merge(calling::routes())
        .fallback(no_route)
        .method_not_allowed_fallback(no_method)
        .layer(DefaultBodyLimit::max(BODY_BYTES_MAX))
        .layer(Extension(BytesMax(BODY_BYTES_MAX as u64)))
        .with_state(app);
    Router::new().nest("/channel/v1", routes).fallback(no_route)
}

/// Asks. Who asks again under the same key, because the connection broke, asks the same.
async fn open(
    State(app): State<App>,
    ConnectInfo(peer): ConnectInfo<Peer>,
    headers: HeaderMap,
    AgentBody(new): AgentBody<NewCall>,
) -> Result<Json<CallView>, Problem> {
    let (session, launch) = agent(&peer)?;
    let key = needed_key(&headers, "", &())?.key;
    let ask = Box::new(new.ask()?);
    let process = peer.process;
    let (pid, began) = (process.pid, process.began);
    let shown = app.shown(session, launch, &ask).await;
    let input = Input::Call { session, launch, key: key.clone(), ask, shown, pid, began };
    let made = app.driver.journal.submit(input, None).await?;
    let request = made.request.ok_or_else(|| Problem::internal("nothing was asked"))?;
    callers::watch(&app.driver, request, &key, process);
    let view = app.call_view(session, request, &key)?;
    Ok(Json(app.with_values(session, view).await))
}

/// Waits until it is settled, or for a while.
async fn wait(
    State(app): State<App>,
    ConnectInfo(peer): ConnectInfo<Peer>,
    Path(request): Path<String>,
    Query(whose): Query<Whose>,
) -> Result<Json<CallView>, Problem> {
    let (session, _) = agent(&peer)?;
    let request = request.parse().map_err(|_| Problem::not_found(Code::NoRequest, &request))?;
    let mut changed = app.driver.journal.watch();
    let settled = async {
        loop {
            let view = app.call_view(session, request, &whose.key)?;
            if view.state != CallState::Waiting || changed.changed().await.is_err() {
                return Ok::<_, Problem>(view);
            }
        }
    };
    match tokio::time::timeout(HOLD, settled).await {
        Ok(view) => Ok(Json(app.with_values(session, view?).await)),
        Err(_) => app.call_view(session, request, &whose.key).map(Json),
    }
}

/// The caller has the answer. It says it to its agent only after this.
async fn taken(
    State(app): State<App>,
    ConnectInfo(peer): ConnectInfo<Peer>,
    Path(request): Path<String>,
    AgentBody(whose): AgentBody<Whose>,
) -> Result<Json<CallView>, Problem> {
    let (session, _) = agent(&peer)?;
    let request = app.request_of(session, &request)?;
    app.driver.journal.submit(Input::Taken { request, key: whose.key.clone() }, None).await?;
    app.call_view(session, request, &whose.key).map(Json)
}

/// The caller does not wait any more.
async fn left(
    State(app): State<App>,
    ConnectInfo(peer): ConnectInfo<Peer>,
    Path(request): Path<String>,
    AgentBody(whose): AgentBody<Whose>,
) -> Result<Json<CallView>, Problem> {
    let (session, _) = agent(&peer)?;
    let request = app.request_of(session, &request)?;
    app.driver.journal.submit(Input::CallerGone { request, key: whose.key.clone() }, None).await?;
    app.call_view(session, request, &whose.key).map(Json)
}

/// Tells that a step is done.
async fn step(
    State(app): State<App>,
    ConnectInfo(peer): ConnectInfo<Peer>,
    headers: HeaderMap,
    AgentBody(new): AgentBody<NewStep>,
) -> Result<Json<Value>, Problem> {
    let (session, launch) = agent(&peer)?;
    let stored = needed_key(&headers, &format!("/steps/{session}"), &new)?;
    let key = stored.key.clone();
    let step = text("step", &new.step)?;
    let summary = new.summary.map(|summary| clean("summary", &summary)).transpose()?;
    let item = json!({ "kind": "step_complete", "trust": "channel", "step": step, "summary": summary });
    app.driver.journal.submit_for(Input::Told { session, launch, key, item }, Some(stored)).await?;
    Ok(Json(json!({ "session": session.to_string() })))
}

/// The session and launch that a caller belongs to.
pub(super) fn agent(peer: &Peer) -> Result<(SessionId, u32), Problem> {
    peer.agent().ok_or_else(|| {
        Problem::new(StatusCode::FORBIDDEN, Code::NotInside, "this process belongs to no agent of a session")
            .hint("Only what an agent has started can ask here. People use `ostler` outside of it.")
    })
}

/// The name under which a caller asks, with what it asks for.
pub(super) fn needed_key(headers: &HeaderMap, path: &str, body: &impl Serialize) -> Result<Key, Problem> {
    key(headers, path, body)?.ok_or_else(|| Problem::bad(Code::NoKey, "a call needs an Idempotency-Key"))
}

impl App {
    /// Values are where the caller reads them before it is told that it has them. If they cannot be put there, it waits
    /// on: somebody is asked what is to be done.
    async fn with_values(&self, session: SessionId, view: CallView) -> CallView {
        let CallState::Answered { answer: CallAnswer::Provided { .. } } = view.state else { return view };
        let driver = Arc::clone(&self.driver);
        let provided = tokio::task::spawn_blocking(move || values::provide(&driver, session)).await;
        match provided {
            Ok(Ok(_)) => view,
            _ => {
                tokio::time::sleep(AGAIN).await;
                CallView { state: CallState::Waiting, ..view }
            }
        }
    }

    fn request_of(&self, session: SessionId, request: &str) -> Result<RequestId, Problem> {
        let not_found = || Problem::not_found(Code::NoRequest, request);
        let id = request.parse().map_err(|_| not_found())?;
        let is_its = self.with_request(id, |_, it| it.session == session)?;
        if is_its { Ok(id) } else { Err(not_found()) }
    }

    fn call_view(&self, session: SessionId, request: RequestId, key: &str) -> Result<CallView, Problem> {
        let state = self.with_request(request, |_, it| (it.session == session).then(|| state(it, key)))?;
        let state = state.ok_or_else(|| Problem::not_found(Code::NoRequest, &request.to_string()))?;
        Ok(CallView { request: request.to_string(), key: key.to_owned(), state })
    }
}

fn state(request: &Request, key: &str) -> CallState {
    let is_its = request.has_caller() && request.call.as_ref().is_some_and(|call| call.key == key);
    match (&request.settled, request.bringing) {
        (None, _) if is_its => CallState::Waiting,
        (Some(_), _) if is_its && request.installing => CallState::Waiting,
        (Some(settled), Bringing::Waiting | Bringing::Consumed { .. }) if is_its => {
            CallState::Answered { answer: CallAnswer::of(&settled.answer, request.install.as_ref()) }
        }
        (Some(_), Bringing::Nothing) => CallState::Over,
        _ => CallState::Elsewhere,
    }
}

impl From<NotAsked> for Problem {
    fn from(why: NotAsked) -> Self {
        match why {
            NotAsked::Empty { field } => Problem::bad(Code::EmptyField, format!("the {field} is empty"))
                .details(json!({ "key": "empty_field", "field": field })),
            NotAsked::Long { field } => Problem::bad(Code::LongField, format!("the {field} is too long"))
                .hint("Put it into a file, and name the file.")
                .details(json!({ "key": "long_field", "field": field })),
            NotAsked::NoOptions => Problem::bad(Code::NoOptions, "there is nothing to choose from")
                .hint("Name what can be chosen: --option A --option B"),
        }
    }
}
