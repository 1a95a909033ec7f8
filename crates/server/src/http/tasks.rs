//! The task files of projects: looked at, and what a person decides about their tasks. Everything stands in files that
//! others write too, so nothing of it is in the journal; only the keys under which something was done are.

#![expect(unused_qualifications, reason = "the document's macro writes paths out")]

mod show;

use std::fmt::Write as _;

use axum::{
    Json,
    extract::State,
    http::{HeaderMap, HeaderValue, StatusCode, header},
    response::{IntoResponse, Response},
};
use ostler_engine::{ProjectId, plan::State as TaskState};
use ostler_orchestrate::{
    Project, StateError, TasksError, Wish, WishError, close as close_phase, plan::Problem as PlanProblem,
    wish_once,
};
use ostler_protocol::name::TaskId;
use serde::Deserialize;
use serde_json::json;
use utoipa::IntoParams;

use super::{
    App,
    code::Code,
    extract::{Body, Path, Query},
    wishes::key,
};
use crate::{
    api::{ClosedView, NewClose, Problem, TaskDetailView, TaskView, TasksSummary, TasksView},
    environment::digest,
    journal::{Key, SubmitError},
};

/// So many projects are looked at, those that were heard of last.
const PROJECTS_MAX: usize = 200;

/// Which task file.
#[derive(Debug, Default, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(default, deny_unknown_fields)]
pub(super) struct WhichTasks {
    /// The task file, relative to the project's root; the first that is found, if nothing is said.
    #[param(min_length = 1, max_length = 4096)]
    file: Option<String>,
}

/// A project that is known, and where its tasks are.
#[derive(Debug, Clone)]
struct Place {
    id: ProjectId,
    project: Project,
}

/// The projects that have a task file, with how far each is, newest first.
#[utoipa::path(get, path = "/tasks", responses((status = 200, body = [TasksSummary])))]
pub(super) async fn summaries(State(app): State<App>) -> Result<Json<Vec<TasksSummary>>, Problem> {
    let ids: Vec<ProjectId> =
        app.driver.journal.world().projects.keys().rev().take(PROJECTS_MAX).copied().collect();
    let looked = tokio::task::spawn_blocking(move || {
        ids.into_iter().filter_map(|id| show::summary(&app, &app.place(id, None).ok()?)).collect()
    });
    Ok(Json(looked.await?))
}

/// The tasks of a project. They stand in files, so nothing tells when they change: ask again with `If-None-Match`.
#[utoipa::path(get, path = "/projects/{id}/tasks",
    params(("id" = String, Path), WhichTasks, ("If-None-Match" = Option<String>, Header, description = "The `ETag` of the answer before.")),
    responses((status = 200, body = TasksView, headers(("ETag" = String, description = "Changes whenever the answer may."))),
        (status = 304, description = "Nothing has changed."), (status = 404, body = Problem), (status = 409, body = Problem)))]
pub(super) async fn list(
    State(app): State<App>,
    Path(id): Path<String>,
    Query(which): Query<WhichTasks>,
    headers: HeaderMap,
) -> Result<Response, Problem> {
    let place = app.place_of(&id, which.file.as_deref())?;
    let known = headers.get(header::IF_NONE_MATCH).cloned();
    // One at a time for each project: whatever its files are, they keep one thread busy.
    let _turn = app.tasks.wait(place.id).await;
    let looking = app.clone();
    let looked = tokio::task::spawn_blocking(move || {
        let version = looking.version(&place);
        if known.is_some_and(|known| known == version) {
            return Ok((version, None));
        }
        Ok((version, Some(show::tasks(&looking, &place)?)))
    });
    let (version, view): (HeaderValue, Option<TasksView>) = looked.await?.map_err(|it: Problem| it)?;
    let version = [(header::ETAG, version)];
    Ok(match view {
        Some(view) => (version, Json(view)).into_response(),
        None => (StatusCode::NOT_MODIFIED, version).into_response(),
    })
}

/// Everything about a task.
#[utoipa::path(get, path = "/projects/{id}/tasks/{task}",
    params(("id" = String, Path), ("task" = String, Path), WhichTasks),
    responses((status = 200, body = TaskDetailView), (status = 404, body = Problem), (status = 409, body = Problem)))]
pub(super) async fn one(
    State(app): State<App>,
    Path((id, task)): Path<(String, String)>,
    Query(which): Query<WhichTasks>,
) -> Result<Json<TaskDetailView>, Problem> {
    let (place, task) = (app.place_of(&id, which.file.as_deref())?, task_id(&task)?);
    let _turn = app.tasks.wait(place.id).await;
    let looking = app.clone();
    let looked = tokio::task::spawn_blocking(move || show::task(&looking, &place, &task));
    looked.await?.map(Json)
}

/// Has a task come before all others that can run.
#[utoipa::path(post, path = "/projects/{id}/tasks/{task}/first",
    params(("id" = String, Path), ("task" = String, Path), WhichTasks),
    responses((status = 200, body = TaskView), (status = 404, body = Problem), (status = 409, body = Problem)))]
pub(super) async fn first(
    State(app): State<App>,
    Path((id, task)): Path<(String, String)>,
    Query(which): Query<WhichTasks>,
    headers: HeaderMap,
) -> Result<Json<TaskView>, Problem> {
    app.decide(&id, &task, which.file.as_deref(), Wish::First, &headers).await
}

/// Does without a task: those who wait for it may go on.
#[utoipa::path(post, path = "/projects/{id}/tasks/{task}/skip",
    params(("id" = String, Path), ("task" = String, Path), WhichTasks),
    responses((status = 200, body = TaskView), (status = 404, body = Problem), (status = 409, body = Problem)))]
pub(super) async fn skip(
    State(app): State<App>,
    Path((id, task)): Path<(String, String)>,
    Query(which): Query<WhichTasks>,
    headers: HeaderMap,
) -> Result<Json<TaskView>, Problem> {
    app.decide(&id, &task, which.file.as_deref(), Wish::Skip, &headers).await
}

/// Has a task tried again that has failed or was skipped.
#[utoipa::path(post, path = "/projects/{id}/tasks/{task}/retry",
    params(("id" = String, Path), ("task" = String, Path), WhichTasks),
    responses((status = 200, body = TaskView), (status = 404, body = Problem), (status = 409, body = Problem)))]
pub(super) async fn retry(
    State(app): State<App>,
    Path((id, task)): Path<(String, String)>,
    Query(which): Query<WhichTasks>,
    headers: HeaderMap,
) -> Result<Json<TaskView>, Problem> {
    app.decide(&id, &task, which.file.as_deref(), Wish::Retry, &headers).await
}

/// Records that a phase of the task file is over.
#[utoipa::path(post, path = "/projects/{id}/phases/{phase}/close", request_body = NewClose,
    params(("id" = String, Path), ("phase" = u32, Path, minimum = 0, maximum = 4_294_967_295_u32), WhichTasks),
    responses((status = 200, body = ClosedView), (status = 404, body = Problem), (status = 409, body = Problem)))]
pub(super) async fn close(
    State(app): State<App>,
    Path((id, phase)): Path<(String, u32)>,
    Query(which): Query<WhichTasks>,
    headers: HeaderMap,
    Body(new): Body<NewClose>,
) -> Result<Json<ClosedView>, Problem> {
    let key = key(&headers, &format!("/projects/{id}/phases/{phase}/close"), &json!([which.file, new]))?;
    let place = app.place_of(&id, which.file.as_deref())?;
    let at_ms = app.driver.journal.clock().now_ms();
    let project = place.project.clone();
    let closing = move || {
        close_phase(&project, phase, new.with_failures, at_ms)
            .map_err(|error| refused(&format!("phase {phase}"), error))
    };
    let skipped = app.once(&place, key, closing).await?.unwrap_or_default();
    Ok(Json(ClosedView { phase, skipped: skipped.iter().map(ToString::to_string).collect() }))
}

impl App {
    /// The project that is meant.
    fn place_of(&self, id: &str, file: Option<&str>) -> Result<Place, Problem> {
        let id = id.parse().map_err(|_| Problem::not_found(Code::NoProject, id))?;
        self.place(id, file)
    }

    fn place(&self, id: ProjectId, file: Option<&str>) -> Result<Place, Problem> {
        let world = self.driver.journal.world();
        let known = world.projects.get(&id);
        let root = known.ok_or_else(|| Problem::not_found(Code::NoProject, &id.to_string()))?.root.clone();
        Ok(Place { id, project: Project::find(root.as_ref(), file.map(AsRef::as_ref)) })
    }

    /// By what a client knows whether it has seen the tasks as they are: the files, who works on what, and who asks.
    fn version(&self, place: &Place) -> HeaderValue {
        let mut version = place.project.version();
        let world = self.driver.journal.world();
        for session in world.sessions.values().filter(|session| session.project == place.id) {
            // Writing to text does not fail.
            write!(version, "{}.{}", session.run, session.id).ok();
            for request in world.blocking(session.id).filter(|request| request.is_open()) {
                write!(version, ".{}", request.id).ok();
            }
            version.push(';');
        }
        let version = format!("\"{}\"", &digest(version.as_bytes())[..32]);
        HeaderValue::from_str(&version).expect("digits are a header")
    }

    /// Puts down what a person decides about a task.
    async fn decide(
        &self,
        id: &str,
        named: &str,
        file: Option<&str>,
        wanted: Wish,
        headers: &HeaderMap,
    ) -> Result<Json<TaskView>, Problem> {
        let key = key(headers, &format!("/projects/{id}/tasks/{named}/{wanted:?}"), &file)?;
        let (place, task) = (self.place_of(id, file)?, task_id(named)?);
        let at_ms = self.driver.journal.clock().now_ms();
        let (project, meant) = (place.project.clone(), task.clone());
        let mark = key.as_ref().map(|key| digest(format!("{} {}", key.key, key.fingerprint).as_bytes()));
        let deciding = move || {
            let decided = wish_once(&project, &meant, wanted, mark.as_deref(), at_ms);
            decided.map_err(|error| refused(meant.as_str(), error))
        };
        self.once(&place, key, deciding).await?;
        let looking = self.clone();
        let looked = tokio::task::spawn_blocking(move || show::task(&looking, &place, &task));
        Ok(Json(looked.await??.task))
    }

    /// Does something to the files of a project, once under a key; nothing is given back if it was done before. It is gone
    /// through with, also if whoever asked for it is gone.
    async fn once<T: Send + 'static>(
        &self,
        place: &Place,
        key: Option<Key>,
        work: impl FnOnce() -> Result<T, Problem> + Send + 'static,
    ) -> Result<Option<T>, Problem> {
        let (app, place) = (self.clone(), place.clone());
        let done = tokio::spawn(async move {
            let _turn = app.tasks.wait(place.id).await;
            if let Some(key) = &key
                && app.was_done(key)?
            {
                return Ok(None);
            }
            let inside = tokio::task::spawn_blocking(move || {
                if place.project.is_task_file_inside() { work() } else { Err(outside()) }
            });
            let done = inside.await??;
            if let Some(key) = key {
                app.driver.journal.remember(key).await?;
            }
            Ok(Some(done))
        });
        done.await?
    }

    fn was_done(&self, key: &Key) -> Result<bool, Problem> {
        match self.read(|reader| reader.reply(&key.key))? {
            Some(reply) if reply.fingerprint != key.fingerprint => Err(SubmitError::KeyReused.into()),
            reply => Ok(reply.is_some()),
        }
    }
}

fn task_id(named: &str) -> Result<TaskId, Problem> {
    named.parse().map_err(|_| no_task(named))
}

fn no_task(named: &str) -> Problem {
    Problem::new(StatusCode::NOT_FOUND, Code::NoTask, format!("there is no task '{named}' in this project"))
        .hint("List them: ostler tasks list")
}

fn conflict(code: Code, title: String) -> Problem {
    Problem::new(StatusCode::CONFLICT, code, title)
}

/// A task file that is a link out of the project, or was named there.
fn outside() -> Problem {
    Problem::bad(Code::TasksOutside, "the task file does not lie in the project")
        .hint("Nothing was read. Name one that does, relative to the project's root.")
}

/// A task file that is there and cannot be shown.
fn unreadable(error: &TasksError) -> Problem {
    conflict(Code::TasksUnreadable, error.to_string()).hint("Nothing was changed. See `ostler tasks check`.")
}

fn unclear(name: &str, problem: &PlanProblem) -> Problem {
    conflict(Code::TasksUnclear, format!("{name}:{}: {problem}", problem.line()))
        .hint("Nothing was changed. Put the line right first; `ostler tasks check` shows all.")
}

fn refused(what: &str, error: WishError) -> Problem {
    match error {
        WishError::Tasks(error @ TasksError::NotFound { .. }) => {
            Problem::new(StatusCode::NOT_FOUND, Code::NoTasks, error.to_string())
                .hint("Write a TASKS.md; docs/orchestrate.md shows how.")
        }
        WishError::Tasks(error) => unreadable(&error),
        WishError::Plan { name, problem } => unclear(&name, &problem),
        WishError::NoTask { .. } => no_task(what),
        WishError::NoPhase => Problem::new(
            StatusCode::NOT_FOUND,
            Code::NoTaskPhase,
            format!("there is no {what} in the task file"),
        )
        .hint("See which there are: ostler tasks graph"),
        WishError::NotSo { state } => {
            conflict(Code::TaskNotSo, format!("{what} is {}, and this is not for such a task", word(state)))
                .hint("Nothing was changed. See how it is: ostler tasks list")
                .details(json!({ "state": word(state) }))
        }
        WishError::Open { tasks } => {
            let named: Vec<String> = tasks.iter().take(20).map(ToString::to_string).collect();
            let title = format!("{what} is not over: {} of its tasks are open", tasks.len());
            conflict(Code::TasksOpen, title)
                .hint("Have them done, or skip them; with_failures skips what has failed and what waits for that.")
                .details(json!({ "tasks": named }))
        }
        WishError::State(error @ StateError::Locked { pid: None }) => {
            conflict(Code::TasksLocked, error.to_string())
                .hint("Nothing was changed. Remove it, if nobody is at it.")
        }
        WishError::State(error @ StateError::Locked { .. }) => {
            conflict(Code::TasksLocked, error.to_string()).hint("Nothing was changed. Try again in a moment.")
        }
        WishError::State(error) => conflict(Code::TasksState, error.to_string())
            .hint("Nothing was changed. `ostler resolve --repair` begins the state anew."),
    }
}

fn word(state: TaskState) -> &'static str {
    match state {
        TaskState::Pending => "pending",
        TaskState::InProgress => "in progress",
        TaskState::Completed => "completed",
        TaskState::Failed => "failed",
        TaskState::Skipped => "skipped",
    }
}
