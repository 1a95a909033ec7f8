//! The interface: JSON over HTTP under `/api/v1`, first on a socket in the state directory.
//!
//! A handler never changes state. It submits what a client wants, waits for the commit, and shows what is known then.

mod answers;
mod channel;
mod checkpoints;
mod code;
mod events;
mod extract;
mod guard;
mod output;
mod problem;
mod read;
mod runs;
mod secrets;
mod trust;
mod usage;
mod views;
mod wishes;

use std::sync::{Arc, Mutex};

use axum::{
    Json, Router,
    extract::DefaultBodyLimit,
    middleware::from_fn,
    routing::{get, post},
};
use ostler_store::SqliteReader;
use tokio::sync::Notify;
use utoipa::OpenApi;

use crate::{api, driver::Driver};

/// The longest body: prompts and answers may be whole documents.
const BODY_BYTES_MAX: usize = 16 << 20;

/// What handlers share.
#[derive(Clone)]
pub(crate) struct App {
    driver: Arc<Driver>,
    /// For what is over, and for the journal. One is enough: a read takes less than a millisecond.
    reader: Arc<Mutex<SqliteReader>>,
    stop: Arc<Notify>,
    started_at_ms: u64,
}

/// Every route, with its document.
#[derive(OpenApi)]
#[openapi(
    info(title = "Ostler", description = "Looks after AI coding agents."),
    servers((url = "/api/v1")),
    paths(
        read::info, read::status, read::runs, read::run, read::sessions, read::session, read::inbox,
        read::request, read::agents, read::agent, read::diff, runs::create, answers::answer, wishes::pause,
        wishes::unpause, wishes::cancel, wishes::resume, wishes::send, wishes::resize, wishes::merge,
        wishes::discard, checkpoints::make, checkpoints::list, checkpoints::one, checkpoints::diff,
        checkpoints::restore, checkpoints::prune, wishes::stop, output::output, events::events, secrets::list, secrets::put,
        secrets::remove, secrets::unlock, usage::usage, trust::look, trust::list, trust::give,
        trust::revoke,
    ),
    components(schemas(api::Problem))
)]
struct Document;

/// The document that describes the interface.
pub fn openapi() -> utoipa::openapi::OpenApi {
    Document::openapi()
}

/// The interface for people and programs, and the one for processes of agents.
pub(crate) fn routers(driver: Arc<Driver>, reader: SqliteReader, stop: Arc<Notify>) -> (Router, Router) {
    let started_at_ms = driver.journal.clock().now_ms();
    let app = App { driver, reader: Arc::new(Mutex::new(reader)), stop, started_at_ms };
    (router(app.clone()), channel::router(app))
}

fn router(app: App) -> Router {
    let routes = Router::new()
        .route("/info", get(read::info))
        .route("/status", get(read::status))
        .route("/runs", get(read::runs).post(runs::create))
        .route("/runs/{id}", get(read::run))
        .route("/sessions", get(read::sessions))
        .route("/sessions/{id}", get(read::session))
        .route("/sessions/{id}/pause", post(wishes::pause))
        .route("/sessions/{id}/continue", post(wishes::unpause))
        .route("/sessions/{id}/cancel", post(wishes::cancel))
        .route("/sessions/{id}/resume", post(wishes::resume))
        .route("/sessions/{id}/messages", post(wishes::send))
        .route("/sessions/{id}/size", post(wishes::resize))
        .route("/sessions/{id}/merge", post(wishes::merge))
        .route("/sessions/{id}/discard", post(wishes::discard))
        .route("/sessions/{id}/diff", get(read::diff))
        .route("/sessions/{id}/checkpoints", post(checkpoints::make))
        .route("/checkpoints", get(checkpoints::list))
        .route("/checkpoints/prune", post(checkpoints::prune))
        .route("/checkpoints/{id}", get(checkpoints::one))
        .route("/checkpoints/{id}/diff", get(checkpoints::diff))
        .route("/checkpoints/{id}/restore", post(checkpoints::restore))
        .route("/sessions/{id}/output", get(output::output))
        .route("/inbox", get(read::inbox))
        .route("/requests/{id}", get(read::request))
        .route("/requests/{id}/answer", post(answers::answer))
        .route("/events", get(events::events))
        .route("/trust", get(trust::look).post(trust::give))
        .route("/trust/revoke", post(trust::revoke))
        .route("/trusted", get(trust::list))
        .route("/usage", get(usage::usage))
        .route("/agents", get(read::agents))
        .route("/agents/{name}", get(read::agent))
        .route("/secrets", get(secrets::list).post(secrets::put))
        .route("/secrets/remove", post(secrets::remove))
        .route("/secrets/unlock", post(secrets::unlock))
        .route("/stop", post(wishes::stop))
        .route("/openapi.json", get(|| async { Json(openapi()) }))
        .fallback(problem::no_route)
        .method_not_allowed_fallback(problem::no_method)
        .layer(DefaultBodyLimit::max(BODY_BYTES_MAX))
        .with_state(app);
    Router::new().nest("/api/v1", routes).fallback(problem::no_route).layer(from_fn(guard::guard))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    /// A route that the document leaves out is one that nobody can find.
    #[test]
    fn the_document_has_every_route() {
        let source = include_str!("http.rs");
        let calls = source.split(".route(\"").skip(1).filter_map(|rest| rest.split_once('"'));
        let routes: BTreeSet<&str> =
            calls.map(|(path, _)| path).filter(|path| path.starts_with('/')).collect();
        let document = serde_json::to_value(super::openapi()).expect("a document is plain data");
        let paths = document["paths"].as_object().expect("a document has paths");
        let mut documented: BTreeSet<&str> = paths.keys().map(String::as_str).collect();
        documented.insert("/openapi.json");
        assert_eq!(routes, documented);
    }
}
