//! The interface: JSON over HTTP under `/api/v1`, on a socket in the state directory and over TCP.
//!
//! A handler never changes state. It submits what a client wants, waits for the commit, and shows what is known then.

mod access;
mod agent_body;
mod answers;
mod caller;
mod calling;
mod channel;
mod checkpoints;
mod code;
mod compression;
mod demo;
mod document;
mod events;
mod executions;
mod extract;
mod files;
mod guard;
mod health;
mod installed;
mod leave;
mod lists;
mod log_search;
mod looked;
mod memory;
mod metrics;
mod names;
mod notifications;
mod office;
mod orchestrate;
mod output;
mod pace;
mod page;
mod pages;
mod phases;
mod pieces;
mod problem;
mod projects;
mod read;
pub(crate) mod runs;
mod search;
mod secrets;
mod shown;
mod sign_in;
mod tasks;
mod tool_call;
mod trust;
mod usage;
mod views;
mod wishes;

use std::sync::{Arc, Mutex};

use axum::{
    Json, Router,
    extract::DefaultBodyLimit,
    http::HeaderValue,
    middleware::{from_fn, from_fn_with_state},
    routing::{any, get, post},
};
use ostler_engine::ProjectId;
use ostler_store::SqliteReader;
use serde_json::Value;
use tokio::sync::Notify;
use utoipa::OpenApi;

pub use self::access::{Need, routes};
pub(crate) use self::{
    problem::{NO_DESCRIPTORS, no_descriptors, too_many_connections},
    sign_in::Entrance,
};
use crate::{
    api,
    driver::Driver,
    looked::{LastLook, Look},
    mark,
    memory::MemoryIndexes,
    metrics::Present,
    notify::Notifications,
    turns::Turns,
};

/// The longest body: prompts and answers may be whole documents.
const BODY_BYTES_MAX: usize = 16 << 20;

/// What handlers share.
#[derive(Clone)]
pub(crate) struct App {
    driver: Arc<Driver>,
    /// For what is over, and for the journal. One is enough: a read takes less than a millisecond.
    reader: Arc<Mutex<SqliteReader>>,
    entrance: Arc<Entrance>,
    stop: Arc<Notify>,
    notifications: Arc<Notifications>,
    looked: Arc<LastLook>,
    started_at_ms: u64,
    counts: Arc<Counts>,
    /// To look at or change the task files of a project.
    tasks: Arc<Turns<ProjectId>>,
    memories: Arc<MemoryIndexes>,
    /// Held by whoever starts a demonstration.
    demos: Arc<tokio::sync::Mutex<()>>,
}

/// Who is there.
#[derive(Debug, Default)]
struct Counts {
    /// Those who follow the journal.
    followers: Present,
    /// Those who read what an agent prints.
    readers: Present,
    /// What is asked.
    routes: metrics::Routes,
}

impl App {
    /// By what clients know the server again.
    fn server_id(&self) -> String {
        mark::shown(self.driver.mark())
    }
}

/// Every route, with its document.
#[derive(OpenApi)]
#[openapi(
    info(title = "Ostler", description = "Looks after AI coding agents."),
    servers((url = "/api/v1")),
    paths(
        read::info, read::status, looked::get, looked::post, lists::runs, read::run, lists::sessions, read::session, lists::inbox,
        lists::requests, lists::projects, projects::register, lists::project, read::request, read::agents, read::agent, read::diff, read::secrets, runs::create, demo::play,
        phases::create, phases::list, phases::one, phases::report, phases::file, phases::diff, phases::export,
        phases::review, office::office, office::of_directory, office::invocations, office::diagram, office::results, office::questions,
        office::send, office::invocation, office::cancel, office::result, office::content, orchestrate::list, orchestrate::create, orchestrate::one, executions::create, tasks::summaries, tasks::list, tasks::one, tasks::first, tasks::skip, tasks::retry, tasks::close,
        answers::answer, files::give, wishes::pause,
        wishes::unpause, names::rename, wishes::cancel, wishes::resume, wishes::send, wishes::resize, wishes::revoke, wishes::merge,
        wishes::discard, checkpoints::make, checkpoints::list, checkpoints::one, checkpoints::diff,
        checkpoints::restore, checkpoints::prune, wishes::stop, output::output, log_search::search, search::search, memory::of_directory, memory::of_project, events::events, secrets::list, secrets::put,
        secrets::remove, secrets::unlock, usage::usage, trust::look, trust::list, trust::give,
        trust::revoke, sign_in::link, sign_in::sign_in, sign_in::sign_out, sign_in::list,
        sign_in::revoke, sign_in::make_token, notifications::list, notifications::test,
        health::healthz, health::readyz, metrics::metrics,
    ),
    components(schemas(phases::ReportFormat, api::InvocationStatus, api::OutputForm, api::OutputStream, api::Problem, api::RequestState, api::SessionStatus))
)]
struct Document;

/// The document that describes the interface.
pub fn openapi() -> Value {
    document::complete(serde_json::to_value(Document::openapi()).expect("a document is plain data"))
}

/// The interface behind each door.
pub(crate) struct Routers {
    /// For people and programs, at the socket.
    pub(crate) people: Router,
    /// For processes of agents.
    pub(crate) agents: Router,
    /// For browsers and scripts, over TCP; with the page.
    pub(crate) tcp: Router,
}

pub(crate) fn routers(
    driver: Arc<Driver>,
    reader: SqliteReader,
    entrance: Arc<Entrance>,
    stop: Arc<Notify>,
    notifications: Arc<Notifications>,
) -> Routers {
    let clock = driver.journal.clock();
    let server = HeaderValue::from_str(&mark::shown(driver.mark())).expect("digits are a header");
    let doorman = caller::Doorman { keeper: Arc::clone(&entrance.keeper), clock, server };
    let started_at_ms = clock.now_ms();
    let (reader, counts) = (Arc::new(Mutex::new(reader)), Arc::default());
    let (tasks, demos, memories) = (Arc::default(), Arc::default(), Arc::default());
    let last_seq = driver.journal.world().last_seq;
    // A state directory that is older than this file: what is in it need not be told again.
    let now = Look::at(last_seq, if last_seq == 0 { 0 } else { started_at_ms });
    let looked = Arc::new(LastLook::open(driver.home.looked(), now));
    let app = App {
        driver,
        reader,
        entrance,
        stop,
        notifications,
        looked,
        started_at_ms,
        counts,
        tasks,
        memories,
        demos,
    };
    Routers {
        people: router(app.clone()).layer(from_fn(caller::at_socket)),
        agents: channel::router(app.clone()),
        // The page lies outside of the guard: one has to load it to sign in.
        tcp: router(app)
            .fallback(page::file)
            .layer(from_fn_with_state(doorman, caller::over_tcp))
            .layer(compression::layer()),
    }
}

fn router(app: App) -> Router {
    let routes = Router::new()
        .route("/info", get(read::info))
        .route("/status", get(read::status))
        .route("/runs", get(lists::runs).post(runs::create))
        .route("/demo", post(demo::play))
        .route("/runs/{id}", get(read::run))
        .route("/sessions", get(lists::sessions))
        .route("/sessions/{id}", get(read::session))
        .route("/sessions/{id}/pause", post(wishes::pause))
        .route("/sessions/{id}/continue", post(wishes::unpause))
        .route("/sessions/{id}/rename", post(names::rename))
        .route("/sessions/{id}/cancel", post(wishes::cancel))
        .route("/sessions/{id}/resume", post(wishes::resume))
        .route("/sessions/{id}/messages", post(wishes::send))
        .route("/sessions/{id}/size", post(wishes::resize))
        .route("/sessions/{id}/merge", post(wishes::merge))
        .route("/sessions/{id}/discard", post(wishes::discard))
        .route("/sessions/{id}/diff", get(read::diff))
        .route("/sessions/{id}/secrets", get(read::secrets))
        .route("/sessions/{id}/output", get(output::output))
        .route("/sessions/{id}/output/search", get(log_search::search))
        .route("/search", get(search::search))
        .route("/memory", get(memory::of_directory))
        .route("/projects/{id}/memory", get(memory::of_project))
        .route("/inbox", get(lists::inbox))
        .route("/projects", get(lists::projects).post(projects::register))
        .route("/projects/{id}", get(lists::project))
        .route("/requests", get(lists::requests))
        .route("/requests/{id}", get(read::request))
        .route("/requests/{id}/answer", post(answers::answer))
        .route("/requests/{id}/file", post(files::give))
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
        .route("/links", post(sign_in::link))
        .route("/sign-in", post(sign_in::sign_in).layer(DefaultBodyLimit::max(sign_in::BODY_BYTES_MAX)))
        .route("/sign-out", post(sign_in::sign_out))
        .route("/sign-ins", get(sign_in::list))
        .route("/sign-ins/{id}/revoke", post(sign_in::revoke))
        .route("/tokens", post(sign_in::make_token))
        .route("/notifications", get(notifications::list))
        .route("/notifications/{name}/test", post(notifications::test))
        .route("/stop", post(wishes::stop))
        .route("/openapi.json", get(|| async { Json(openapi()) }))
        .merge(phase_routes().merge(task_routes()).merge(office_routes()).merge(checkpoint_routes()))
        .fallback(problem::no_route)
        .method_not_allowed_fallback(problem::no_method)
        .layer(DefaultBodyLimit::max(BODY_BYTES_MAX))
        .with_state(app.clone());
    Router::new()
        .nest(access::PREFIX, routes)
        // The one path below it that nesting leaves to the page.
        .route(&format!("{}/", access::PREFIX), any(problem::no_route))
        .route("/healthz", get(health::healthz))
        .route("/readyz", get(health::readyz))
        .route("/metrics", get(metrics::metrics))
        .fallback(problem::no_route)
        .method_not_allowed_fallback(problem::no_method)
        .with_state(app.clone())
        .layer(from_fn(guard::guard))
        .layer(from_fn_with_state(app, metrics::count))
}

/// Routes of checkpoints.
fn checkpoint_routes() -> Router<App> {
    Router::new()
        .route("/sessions/{id}/checkpoints", post(checkpoints::make))
        .route("/checkpoints", get(checkpoints::list))
        .route("/checkpoints/prune", post(checkpoints::prune))
        .route("/checkpoints/{id}", get(checkpoints::one))
        .route("/checkpoints/{id}/diff", get(checkpoints::diff))
        .route("/checkpoints/{id}/restore", post(checkpoints::restore))
}

/// Routes of the last look, permission rules, phases and task files.
fn phase_routes() -> Router<App> {
    Router::new()
        .route("/looked", get(looked::get).post(looked::post))
        .route("/sessions/{id}/permissions/{number}/revoke", post(wishes::revoke))
        .route("/phases", get(phases::list).post(phases::create))
        .route("/phases/{id}", get(phases::one))
        .route("/phases/{id}/report", get(phases::report))
        .route("/phases/{id}/file", get(phases::file))
        .route("/phases/{id}/diff", get(phases::diff))
        .route("/phases/{id}/export", post(phases::export))
        .route("/requests/{id}/review", post(phases::review))
        .route("/orchestrate", get(orchestrate::list).post(orchestrate::create))
        .route("/orchestrate/{id}", get(orchestrate::one))
        .route("/executions", post(executions::create))
}

/// What is about task files.
fn task_routes() -> Router<App> {
    Router::new()
        .route("/tasks", get(tasks::summaries))
        .route("/projects/{id}/tasks", get(tasks::list))
        .route("/projects/{id}/tasks/{task}", get(tasks::one))
        .route("/projects/{id}/tasks/{task}/first", post(tasks::first))
        .route("/projects/{id}/tasks/{task}/skip", post(tasks::skip))
        .route("/projects/{id}/tasks/{task}/retry", post(tasks::retry))
        .route("/projects/{id}/phases/{phase}/close", post(tasks::close))
}

/// What is about offices.
fn office_routes() -> Router<App> {
    Router::new()
        .route("/office", get(office::of_directory))
        .route("/projects/{id}/office", get(office::office))
        .route("/projects/{id}/office/invocations", get(office::invocations))
        .route("/projects/{id}/office/diagram", get(office::diagram))
        .route("/projects/{id}/office/results", get(office::results))
        .route("/projects/{id}/office/questions", get(office::questions))
        .route("/projects/{id}/office/messages", post(office::send))
        .route("/invocations/{id}", get(office::invocation))
        .route("/invocations/{id}/cancel", post(office::cancel))
        .route("/results/{id}", get(office::result))
        .route("/results/{id}/content", get(office::content))
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
        let document = super::openapi();
        let paths = document["paths"].as_object().expect("a document has paths");
        let mut documented: BTreeSet<&str> = paths.keys().map(String::as_str).collect();
        documented.insert("/openapi.json");
        assert_eq!(routes, documented);
    }
}
