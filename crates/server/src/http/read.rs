//! What can be looked at.

#![expect(unused_qualifications, reason = "the document's macro writes paths out")]

use std::{collections::BTreeMap, env, sync::Arc};

use axum::{Json, body::Bytes, extract::State, http::header, response::IntoResponse};
use ostler_agents::Agent;
use ostler_engine::{RequestId, RunId, SessionId, World, request::Request, run::Run, session::Session};
use ostler_store::{Entity, Reads};
use serde::Deserialize;
use serde_json::json;
use utoipa::IntoParams;

use super::{
    App,
    code::Code,
    extract::{Path, Query},
    installed::is_installed,
    views,
};
use crate::{
    api::{
        AgentView, InfoView, Listed, Problem, RequestView, RunView, SessionView, StatusView, WorkSecretsView,
    },
    config::{Config, user_file},
    driver,
    journal::{Found, made_under},
    uploads,
};

/// How a diff is to look.
#[derive(Debug, Default, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(default, deny_unknown_fields)]
pub(super) struct DiffQuery {
    /// A line per file instead of every changed line.
    stat: bool,
    /// With colours for a terminal.
    color: bool,
}

/// The server itself.
#[utoipa::path(get, path = "/info", responses((status = 200, body = InfoView)))]
pub(super) async fn info(State(app): State<App>) -> Result<Json<InfoView>, Problem> {
    let driver = Arc::clone(&app.driver);
    let vault = tokio::task::spawn_blocking(move || driver.secrets.state()).await?;
    Ok(Json(InfoView {
        version: env!("CARGO_PKG_VERSION").to_owned(),
        server: app.server_id(),
        pid: std::process::id(),
        started_at_ms: app.started_at_ms,
        seq: app.driver.journal.world().last_seq,
        configuration: user_file().map(|path| path.display().to_string()),
        page: app.entrance.page(),
        upload_bytes_max: uploads::BYTES_MAX,
        vault,
        taken_sockets: app.driver.taken_sockets.list(),
        unreached: app.driver.unreached.list().iter().map(ToString::to_string).collect(),
    }))
}

/// What needs somebody, and what runs.
#[utoipa::path(get, path = "/status", responses((status = 200, body = StatusView)))]
pub(super) async fn status(State(app): State<App>) -> Json<StatusView> {
    let world = app.driver.journal.world();
    let sessions = world.sessions.values().filter(|session| !session.is_over());
    let mut view = StatusView {
        needs_you: world.inbox().map(|request| views::request(&world, request)).collect(),
        sessions: sessions.map(|session| views::session(&world, session)).collect(),
        seq: world.last_seq,
    };
    view.shorten();
    Json(view)
}

/// One run.
#[utoipa::path(get, path = "/runs/{id}", params(("id" = String, Path)),
    responses((status = 200, body = RunView), (status = 404, body = Problem)))]
pub(super) async fn run(State(app): State<App>, Path(id): Path<String>) -> Result<Json<RunView>, Problem> {
    let run = id.parse().map_err(|_| Problem::not_found(Code::NoRun, &id))?;
    app.run_view(run).map(Json)
}

/// One session, by its id, its run's, or its name.
#[utoipa::path(get, path = "/sessions/{id}", params(("id" = String, Path)),
    responses((status = 200, body = SessionView), (status = 404, body = Problem)))]
pub(super) async fn session(
    State(app): State<App>,
    Path(id): Path<String>,
) -> Result<Json<SessionView>, Problem> {
    let session = app.session_id(&id)?;
    app.session_view(session).map(Json)
}

/// One request.
#[utoipa::path(get, path = "/requests/{id}", params(("id" = String, Path)),
    responses((status = 200, body = RequestView), (status = 404, body = Problem)))]
pub(super) async fn request(
    State(app): State<App>,
    Path(id): Path<String>,
) -> Result<Json<RequestView>, Problem> {
    let request = id.parse().map_err(|_| Problem::not_found(Code::NoRequest, &id))?;
    app.request_view(request).map(Json)
}

/// The agents that can be run.
#[utoipa::path(get, path = "/agents", responses((status = 200, body = [AgentView])))]
pub(super) async fn agents() -> Result<Json<Vec<AgentView>>, Problem> {
    let config = configuration()?;
    Ok(Json(config.agents.iter().map(agent_view).collect()))
}

/// One agent.
#[utoipa::path(get, path = "/agents/{name}", params(("name" = String, Path)),
    responses((status = 200, body = AgentView), (status = 404, body = Problem)))]
pub(super) async fn agent(Path(name): Path<String>) -> Result<Json<AgentView>, Problem> {
    let config = configuration()?;
    let agent = config.agents.get(&name).ok_or_else(|| unknown_agent(&config, &name))?;
    Ok(Json(agent_view(agent)))
}

/// What a session has changed in its worktree.
#[utoipa::path(get, path = "/sessions/{id}/diff", params(("id" = String, Path), DiffQuery),
    responses((status = 200, body = String), (status = 404, body = Problem)))]
pub(super) async fn diff(
    State(app): State<App>,
    Path(id): Path<String>,
    Query(query): Query<DiffQuery>,
) -> Result<impl IntoResponse, Problem> {
    let session = app.session_id(&id)?;
    let session: Session = app.with_session(session, |_, session| session.clone())?;
    if session.worktree.is_none() {
        let refusal = ostler_engine::Refusal::NoWorktree { session: session.id };
        return Err(crate::journal::SubmitError::Refused(Box::new(refusal)).into());
    }
    let place = driver::Place::of(&app.driver, session);
    let made = tokio::task::spawn_blocking(move || driver::diff(&place, query.stat, query.color)).await;
    let diff = made.map_err(Problem::from)?.map_err(|message| Problem::bad(Code::NoDiff, message))?;
    let truncated = if diff.truncated { "true" } else { "false" };
    Ok((
        [(header::CONTENT_TYPE.as_str(), "text/plain"), ("ostler-truncated", truncated)],
        Bytes::from(diff.bytes),
    ))
}

/// Which secrets are in what a session has changed in its worktree.
#[utoipa::path(get, path = "/sessions/{id}/secrets", params(("id" = String, Path)),
    responses((status = 200, body = WorkSecretsView), (status = 404, body = Problem)))]
pub(super) async fn secrets(
    State(app): State<App>,
    Path(id): Path<String>,
) -> Result<Json<WorkSecretsView>, Problem> {
    let session = app.session_id(&id)?;
    let session: Session = app.with_session(session, |_, session| session.clone())?;
    let driver = Arc::clone(&app.driver);
    let looked = tokio::task::spawn_blocking(move || {
        let place = driver::Place::of(&driver, session);
        driver::work_secrets::in_worktree(&driver, &place)
    });
    let found = looked.await.map_err(Problem::from)?;
    found.map(Json).map_err(|message| Problem::bad(Code::NoDiff, message))
}

/// Read anew each time, so that a table that was changed is used by the next run.
pub(super) fn configuration() -> Result<Config, Problem> {
    Config::of_user().map_err(|error| {
        Problem::bad(Code::Configuration, error.to_string()).hint("Mend the file; nothing was started.")
    })
}

pub(super) fn unknown_agent(config: &Config, name: &str) -> Problem {
    let known: Vec<&str> = config.agents.iter().map(|agent| agent.name.as_str()).collect();
    let hint = match config.agents.nearest(name) {
        Some(nearest) => format!("Did you mean '{nearest}'? `ostler agents list` shows all."),
        None => "`ostler agents list` shows all; `ostler run -- COMMAND` runs any command.".to_owned(),
    };
    Problem::new(axum::http::StatusCode::NOT_FOUND, Code::NoAgent, format!("there is no agent '{name}'"))
        .hint(hint)
        .details(json!({ "name": name, "known": known, "nearest": config.agents.nearest(name) }))
}

fn agent_view(agent: &Agent) -> AgentView {
    let mut table = json!(agent);
    // What somebody set there may be a key; its name is enough.
    for value in table["environment"].as_object_mut().into_iter().flat_map(|it| it.values_mut()) {
        *value = "…".into();
    }
    let word = |value: &serde_json::Value| value.as_str().unwrap_or_default().to_owned();
    let search = env::var_os("PATH").unwrap_or_default();
    let program = table["command"][0].as_str().filter(|program| !program.contains('{'));
    let installed = program.map(|program| is_installed(program, &search));
    let is_builtin = Agent::builtin(&agent.name).is_some_and(|builtin| builtin == *agent);
    AgentView {
        name: agent.name.clone(),
        about: agent.about.clone(),
        tested: agent.tested.clone(),
        installed,
        source: if is_builtin { "built in" } else { "configuration" }.to_owned(),
        resumable: agent.can_resume(),
        input: word(&table["input"]["way"]),
        guide: word(&table["guide"]),
        table,
    }
}

impl App {
    /// Reads from the store.
    pub(super) fn read<T>(
        &self,
        read: impl FnOnce(&dyn Reads) -> Result<T, ostler_store::ReadError>,
    ) -> Result<T, Problem> {
        let reader = self.reader.lock().expect("nobody panics while reading");
        read(&*reader).map_err(|error| Problem::internal(error.to_string()))
    }

    /// The run that was asked for under a key.
    pub(super) fn run_under(&self, key: &str) -> Result<Option<RunId>, Problem> {
        Ok(self.read(|reader| made_under(reader, key))?.and_then(|made| made.run))
    }

    /// The session that is meant: by its own id, by its name, or the last one of a run.
    pub(super) fn session_id(&self, id: &str) -> Result<SessionId, Problem> {
        if let Ok(session) = id.parse() {
            return Ok(session);
        }
        let Ok(run) = id.parse::<RunId>() else { return self.session_named(id) };
        let last = |world: &World| world.runs.get(&run).and_then(Run::session);
        if let Some(session) = last(&self.driver.journal.world()) {
            return Ok(session);
        }
        let row = self.read(|reader| reader.entity(Entity::Run, run.0))?;
        let kept = row.and_then(|row| crate::journal::read(&row).ok());
        match kept {
            Some(Found::Run(run)) => run.session().ok_or_else(|| Problem::not_found(Code::NoRun, id)),
            _ => Err(Problem::not_found(Code::NoRun, id)),
        }
    }

    /// Shows a session, wherever it is kept.
    pub(super) fn with_session<T>(
        &self,
        id: SessionId,
        show: impl Fn(&World, &Session) -> T,
    ) -> Result<T, Problem> {
        {
            let world = self.driver.journal.world();
            if let Some(session) = world.sessions.get(&id) {
                return Ok(show(&world, session));
            }
        }
        let world = self.kept_world(Some(id), None)?;
        let session =
            world.sessions.get(&id).ok_or_else(|| Problem::not_found(Code::NoSession, &id.to_string()))?;
        Ok(show(&world, session))
    }

    pub(super) fn session_view(&self, id: SessionId) -> Result<SessionView, Problem> {
        self.with_session(id, views::session)
    }

    pub(super) fn run_view(&self, id: RunId) -> Result<RunView, Problem> {
        {
            let world = self.driver.journal.world();
            if let Some(run) = world.runs.get(&id) {
                return Ok(views::run(&world, run));
            }
        }
        let session = self.session_id(&id.to_string())?;
        let world = self.kept_world(Some(session), None)?;
        let run = world.runs.get(&id).ok_or_else(|| Problem::not_found(Code::NoRun, &id.to_string()))?;
        Ok(views::run(&world, run))
    }

    pub(super) fn request_view(&self, id: RequestId) -> Result<RequestView, Problem> {
        self.with_request(id, views::request)
    }

    /// Shows a request, wherever it is kept.
    pub(super) fn with_request<T>(
        &self,
        id: RequestId,
        show: impl Fn(&World, &Request) -> T,
    ) -> Result<T, Problem> {
        {
            let world = self.driver.journal.world();
            if let Some(request) = world.requests.get(&id) {
                return Ok(show(&world, request));
            }
        }
        let world = self.kept_world(None, Some(id))?;
        let request =
            world.requests.get(&id).ok_or_else(|| Problem::not_found(Code::NoRequest, &id.to_string()))?;
        Ok(show(&world, request))
    }

    /// A small world with what was over before the server started.
    pub(super) fn kept_world(
        &self,
        session: Option<SessionId>,
        request: Option<RequestId>,
    ) -> Result<World, Problem> {
        let found = self.read(|reader| crate::journal::kept(reader, session, request))?;
        let mut world = World::default();
        let projects: BTreeMap<_, _> = self.driver.journal.world().projects.clone();
        for project in projects.into_values() {
            world.put(project);
        }
        for it in found {
            it.put(&mut world);
        }
        Ok(world)
    }
}
