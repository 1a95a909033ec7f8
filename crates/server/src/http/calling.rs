//! What a process of an agent can ask of the others of its office, over the session's own socket: to call one, to hear
//! what came of it, and to bring one something.

use std::time::Duration;

use axum::{
    Extension, Json, Router,
    extract::{ConnectInfo, DefaultBodyLimit, State},
    http::HeaderMap,
    routing::{get, post},
};
use ostler_engine::{
    Input, InvocationId, SessionId,
    office::{Delivery, OfficeInput},
};
use serde::Deserialize;
use serde_json::{Value, json};

use super::{
    App,
    agent_body::AgentBody,
    channel::{agent, needed_key},
    code::Code,
    extract::{BytesMax, Path, Query, too_large},
};
use crate::{
    api::{CalledView, NewInvocation, NewResult, Problem, ResultView, clean, text},
    driver::callers,
    journal::SubmitError,
    office::{examine::examine, kept::BYTES_MAX},
    peer::Peer,
};

/// How long a caller is held before it is told that nothing has happened yet.
const HOLD: Duration = Duration::from_secs(20);

/// The longest body that brings one: as JSON, quotation marks and ends of lines take twice their room.
const RESULT_BODY_BYTES_MAX: usize = 2 * BYTES_MAX + (64 << 10);

/// What a result can be.
const TYPES: [&str; 5] = ["message", "github_issue", "markdown", "json", "file_path"];

/// Whose call it is, and what it waits for.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Whose {
    /// The caller's own name for it.
    key: String,
    /// Whether it waits until the call is over, and not only until somebody is called.
    #[serde(default)]
    over: bool,
}

/// What agents can ask of each other.
pub(super) fn routes() -> Router<App> {
    Router::new()
        .route("/invocations", post(invoke))
        .route("/invocations/{id}", get(wait))
        .route("/invocations/{id}/taken", post(taken))
        .route("/invocations/{id}/left", post(left))
        .merge(
            Router::new()
                .route("/results", post(deliver))
                .layer(DefaultBodyLimit::max(RESULT_BODY_BYTES_MAX))
                .layer(Extension(BytesMax(BYTES_MAX as u64))),
        )
}

/// Calls another agent. Who calls again under the same key, because the connection broke, calls once.
async fn invoke(
    State(app): State<App>,
    ConnectInfo(peer): ConnectInfo<Peer>,
    headers: HeaderMap,
    AgentBody(new): AgentBody<NewInvocation>,
) -> Result<Json<CalledView>, Problem> {
    let (session, launch) = agent(&peer)?;
    let stored = needed_key(&headers, &format!("/invocations/{session}"), &new)?;
    let key = stored.key.clone();
    let callee = text("agent", &new.agent)?;
    let task = text("task", &new.task)?;
    let context = new.context.map(|context| clean("context", &context)).transpose()?;
    let process = (peer.process.pid, peer.process.began);
    let waits = new.wait;
    let input =
        OfficeInput::Invoke { session, launch, key: key.clone(), callee, task, context, process, waits };
    let made = app.driver.journal.submit_for(Input::Office(Box::new(input)), Some(stored)).await?;
    let invocation = made.invocation.ok_or_else(|| Problem::internal("nobody was called"))?;
    if waits {
        callers::watch_call(&app.driver, invocation, &key, peer.process);
    }
    app.called(session, invocation, &key).map(Json)
}

/// Waits until it is over, or until somebody is called; or for a while.
async fn wait(
    State(app): State<App>,
    ConnectInfo(peer): ConnectInfo<Peer>,
    Path(id): Path<String>,
    Query(whose): Query<Whose>,
) -> Result<Json<CalledView>, Problem> {
    let (session, _) = agent(&peer)?;
    let id = invocation_id(&id)?;
    let mut changed = app.driver.journal.watch();
    let is_enough = |view: &CalledView| {
        let call = &view.invocation;
        let is_known = call.seat.is_some() || call.request.is_some();
        call.is_over() || (!whose.over && is_known) || (whose.over && !view.waited_for)
    };
    let settled = async {
        loop {
            let view = app.called(session, id, &whose.key)?;
            if is_enough(&view) || changed.changed().await.is_err() {
                return Ok::<_, Problem>(view);
            }
        }
    };
    let view = match tokio::time::timeout(HOLD, settled).await {
        Ok(view) => view?,
        Err(_) => app.called(session, id, &whose.key)?,
    };
    app.whole(view).await.map(Json)
}

/// The caller has said the result to its agent. Until then it stays with the call: who asks again gets it again, and if
/// the caller goes, its agent gets it as a message.
async fn taken(
    State(app): State<App>,
    ConnectInfo(peer): ConnectInfo<Peer>,
    Path(id): Path<String>,
    AgentBody(whose): AgentBody<Whose>,
) -> Result<Json<CalledView>, Problem> {
    let (session, _) = agent(&peer)?;
    let invocation = invocation_id(&id)?;
    if app.called(session, invocation, &whose.key)?.waited_for {
        let input = OfficeInput::Taken { invocation, key: whose.key.clone() };
        app.driver.journal.submit(Input::Office(Box::new(input)), None).await?;
    }
    app.called(session, invocation, &whose.key).map(Json)
}

/// The caller does not wait any more.
async fn left(
    State(app): State<App>,
    ConnectInfo(peer): ConnectInfo<Peer>,
    Path(id): Path<String>,
    AgentBody(whose): AgentBody<Whose>,
) -> Result<Json<CalledView>, Problem> {
    let (session, _) = agent(&peer)?;
    let invocation = invocation_id(&id)?;
    app.called(session, invocation, &whose.key)?;
    let input = OfficeInput::CallerGone { invocation, key: whose.key.clone() };
    app.driver.journal.submit(Input::Office(Box::new(input)), None).await?;
    app.called(session, invocation, &whose.key).map(Json)
}

/// Brings another agent something.
async fn deliver(
    State(app): State<App>,
    ConnectInfo(peer): ConnectInfo<Peer>,
    headers: HeaderMap,
    AgentBody(new): AgentBody<NewResult>,
) -> Result<Json<Value>, Problem> {
    let (session, launch) = agent(&peer)?;
    if new.content.len() > BYTES_MAX {
        return Err(too_large(BytesMax(BYTES_MAX as u64)));
    }
    let stored = needed_key(&headers, &format!("/results/{session}"), &new)?;
    let origin = stored.key.clone();
    if !TYPES.contains(&new.kind.as_str()) {
        let title = format!("a result is one of {}", TYPES.join(", "));
        return Err(Problem::bad(Code::NotDelivered, title));
    }
    let to = text("agent", &new.agent)?;
    let invocation = new.invocation.as_deref().map(invocation_id).transpose()?;
    let delivery = Delivery { to, kind: new.kind, content: new.content, invocation, origin, printed: None };
    let (driver, brought) = (app.driver.clone(), delivery.clone());
    let found = tokio::task::spawn_blocking(move || examine(&driver, session, &brought)).await?;
    let reference = found.as_ref().ok().and_then(|found| found.reference.clone());
    let input = OfficeInput::Examined { session, launch: Some(launch), delivery, found };
    let made = app.driver.journal.submit_for(Input::Office(Box::new(input)), Some(stored)).await;
    if let Some(reference) = reference {
        let is_refused = matches!(made, Err(SubmitError::Refused(_) | SubmitError::KeyReused));
        app.driver.texts.settle(&reference, !is_refused);
    }
    let made = made?;
    Ok(Json(json!({ "result": made.result.map(|id| id.to_string()) })))
}

fn invocation_id(id: &str) -> Result<InvocationId, Problem> {
    id.parse().map_err(|_| Problem::not_found(Code::NoInvocation, id))
}

impl App {
    /// What a process is told of its call.
    fn called(&self, session: SessionId, id: InvocationId, key: &str) -> Result<CalledView, Problem> {
        let view = self.invocation(id)?;
        if view.session != session.to_string() {
            return Err(Problem::not_found(Code::NoInvocation, &id.to_string()));
        }
        let waited_for = {
            let world = self.driver.journal.world();
            let call = world.invocations.get(&id).filter(|call| call.is_waited_for());
            call.and_then(|call| call.call.as_ref()).is_some_and(|call| call.key == key)
        };
        let result = view.result.as_deref().map(|result| self.result(result)).transpose()?.flatten();
        let result = result.as_ref().map(ResultView::for_receiver);
        Ok(CalledView { invocation: view, result, waited_for })
    }

    /// The same with all of the result, for who is to have it.
    async fn whole(&self, mut view: CalledView) -> Result<CalledView, Problem> {
        if let Some(result) = view.result.as_ref().filter(|result| view.waited_for && !result.whole) {
            let found = self.result(&result.id)?.ok_or_else(|| Problem::internal("the result is gone"))?;
            let read = tokio::task::spawn_blocking(move || ResultView::whole(&found)).await?;
            view.result = Some(read.map_err(|error| Problem::internal(format!("the result: {error}")))?);
        }
        Ok(view)
    }
}
