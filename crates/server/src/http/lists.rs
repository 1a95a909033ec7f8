//! Lists: runs, sessions, requests and projects, each a page at a time.

#![expect(unused_qualifications, reason = "the document's macro writes paths out")]

use std::collections::BTreeMap;

use axum::{
    Json,
    extract::{RawQuery, State},
};
use ostler_engine::{
    ProjectId, RequestId, RunId, SessionId, World,
    request::Request,
    session::{Session, Status},
};
use ostler_store::{Entity, Scope};
use serde::Deserialize;
use serde_json::Value;
use utoipa::IntoParams;

use super::{
    App,
    code::Code,
    extract::{Path, Query},
    pages::{Limit, List, OF_HISTORY, OF_NOW, Paged, Rows},
    views,
};
use crate::{
    api::{Problem, ProjectSummary, RequestState, RequestView, RunView, SessionStatus, SessionView},
    journal::Found,
};

/// Which runs.
#[derive(Debug, Default, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(default, deny_unknown_fields)]
pub(super) struct WhichRuns {
    /// Only those of this project.
    #[param(value_type = Option<String>, pattern = "^p_[0-9]{1,18}$")]
    project: Option<ProjectId>,
    /// At most so many; 50, if nothing is said.
    #[param(value_type = Option<u32>, minimum = 1, maximum = 1000)]
    limit: Option<Limit>,
    /// Only those older than this one.
    #[param(value_type = Option<String>, pattern = "^r_[0-9]{1,18}$")]
    before: Option<RunId>,
    /// Only the one that was asked for under this Idempotency-Key.
    key: Option<String>,
}

/// Which sessions.
#[derive(Debug, Default, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(default, deny_unknown_fields)]
pub(super) struct WhichSessions {
    /// Also those that are over.
    all: bool,
    /// Only those of this project.
    #[param(value_type = Option<String>, pattern = "^p_[0-9]{1,18}$")]
    project: Option<ProjectId>,
    /// Only those that are so; several with commas between them. With one that is an end, also those that are over.
    #[param(value_type = Option<Vec<SessionStatus>>, style = Form, explode = false)]
    status: Option<Statuses>,
    /// At most so many; 50 of all, and 1000 of those that are not over, if nothing is said.
    #[param(value_type = Option<u32>, minimum = 1, maximum = 1000)]
    limit: Option<Limit>,
    /// Only those older than this one.
    #[param(value_type = Option<String>, pattern = "^s_[0-9]{1,18}$")]
    before: Option<SessionId>,
}

/// Which requests.
#[derive(Debug, Default, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(default, deny_unknown_fields)]
pub(super) struct WhichRequests {
    /// Only those of this project.
    #[param(value_type = Option<String>, pattern = "^p_[0-9]{1,18}$")]
    project: Option<ProjectId>,
    /// Only those of this run.
    #[param(value_type = Option<String>, pattern = "^r_[0-9]{1,18}$")]
    run: Option<RunId>,
    /// Only those of this session.
    #[param(value_type = Option<String>, pattern = "^s_[0-9]{1,18}$")]
    session: Option<SessionId>,
    /// Only those that are open, or only those that are settled.
    state: Option<RequestState>,
    /// At most so many; 50, if nothing is said.
    #[param(value_type = Option<u32>, minimum = 1, maximum = 1000)]
    limit: Option<Limit>,
    /// Only those older than this one.
    #[param(value_type = Option<String>, pattern = "^q_[0-9]{1,18}$")]
    before: Option<RequestId>,
}

/// Which part of the inbox.
#[derive(Debug, Default, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(default, deny_unknown_fields)]
pub(super) struct WhichOpen {
    /// Only those of this project.
    #[param(value_type = Option<String>, pattern = "^p_[0-9]{1,18}$")]
    project: Option<ProjectId>,
    /// At most so many; 1000, if nothing is said.
    #[param(value_type = Option<u32>, minimum = 1, maximum = 1000)]
    limit: Option<Limit>,
    /// Only those that come after this one.
    #[param(value_type = Option<String>, pattern = "^q_[0-9]{1,18}$")]
    after: Option<RequestId>,
}

/// Which projects.
#[derive(Debug, Default, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(default, deny_unknown_fields)]
pub(super) struct WhichProjects {
    /// At most so many; 50, if nothing is said.
    #[param(value_type = Option<u32>, minimum = 1, maximum = 1000)]
    limit: Option<Limit>,
    /// Only those known longer than this one.
    #[param(value_type = Option<String>, pattern = "^p_[0-9]{1,18}$")]
    before: Option<ProjectId>,
}

/// Statuses, with commas between them.
#[derive(Debug, Clone, Deserialize)]
#[serde(try_from = "String")]
pub(super) struct Statuses(Vec<Status>);

impl TryFrom<String> for Statuses {
    type Error = String;

    fn try_from(text: String) -> Result<Statuses, String> {
        let read = |word: &str| {
            serde_json::from_value(Value::from(word))
                .map_err(|_| format!("'{word}' is no status of a session"))
        };
        text.split(',').map(read).collect::<Result<_, _>>().map(Statuses)
    }
}

impl Statuses {
    fn has_an_end(&self) -> bool {
        self.0.iter().any(|it| matches!(it, Status::Completed | Status::Failed | Status::Cancelled))
    }
}

/// Runs, newest first.
#[utoipa::path(get, path = "/runs", params(WhichRuns), responses((status = 200, body = [RunView])))]
pub(super) async fn runs(
    State(app): State<App>,
    RawQuery(query): RawQuery,
    Query(which): Query<WhichRuns>,
) -> Result<Paged<RunView>, Problem> {
    let scope = app.scope(which.project, None, None)?;
    let list = List { path: "/runs", query: query.as_deref() };
    if let Some(key) = &which.key {
        let run = app.run_under(key)?.map(|run| app.run_view(run)).transpose()?;
        let is_meant =
            |run: &RunView| which.project.is_none_or(|project| run.project.id == project.to_string());
        return Ok(Paged::new(run.into_iter().filter(is_meant).collect(), &list, None::<(&str, RunId)>));
    }
    let (before, limit) = (which.before.map(|id| id.0), which.limit.unwrap_or(OF_HISTORY));
    let rows = Rows { entity: Entity::Run, scope, before, limit };
    let (runs, next) = app.scan(rows, |row| app.run_view(RunId(row.id)).map(Some))?;
    Ok(Paged::new(runs, &list, next.map(|id| ("before", RunId(id)))))
}

/// Sessions: those that are not over, or all of them, newest first.
#[utoipa::path(get, path = "/sessions", params(WhichSessions), responses((status = 200, body = [SessionView])))]
pub(super) async fn sessions(
    State(app): State<App>,
    RawQuery(query): RawQuery,
    Query(which): Query<WhichSessions>,
) -> Result<Paged<SessionView>, Problem> {
    let list = List { path: "/sessions", query: query.as_deref() };
    let scope = app.scope(which.project, None, None)?;
    let is_wanted = |status: Status| which.status.as_ref().is_none_or(|wanted| wanted.0.contains(&status));
    let is_history = which.all || which.status.as_ref().is_some_and(Statuses::has_an_end);
    let (sessions, next) = if is_history {
        let (before, limit) = (which.before.map(|id| id.0), which.limit.unwrap_or(OF_HISTORY));
        app.scan(Rows { entity: Entity::Session, scope, before, limit }, |row| {
            let id = SessionId(row.id);
            let is_shown = which.status.is_none() || is_wanted(app.session_status(id)?);
            is_shown.then(|| app.session_view(id)).transpose()
        })?
    } else {
        let world = app.driver.journal.world();
        let is_meant = |session: &&Session| {
            which.project.is_none_or(|project| project == session.project)
                && which.before.is_none_or(|before| session.id < before)
                && !session.is_over()
                && is_wanted(status(&world, session))
        };
        let mut live = world.sessions.values().rev().filter(is_meant).peekable();
        let limit = which.limit.unwrap_or(OF_NOW);
        let shown = live.by_ref().take(limit.0 as usize).map(|session| (session.id, session));
        let (ids, shown): (Vec<_>, Vec<_>) = shown.map(|(id, it)| (id, views::session(&world, it))).unzip();
        let next = live.peek().and(ids.last()).map(|id| id.0);
        (shown, next)
    };
    Ok(Paged::new(sessions, &list, next.map(|id| ("before", SessionId(id)))))
}

/// Requests, open and settled, newest first.
#[utoipa::path(get, path = "/requests", params(WhichRequests), responses((status = 200, body = [RequestView])))]
pub(super) async fn requests(
    State(app): State<App>,
    RawQuery(query): RawQuery,
    Query(which): Query<WhichRequests>,
) -> Result<Paged<RequestView>, Problem> {
    let list = List { path: "/requests", query: query.as_deref() };
    let scope = app.scope(which.project, which.run, which.session)?;
    let (before, limit) = (which.before.map(|id| id.0), which.limit.unwrap_or(OF_HISTORY));
    // What belongs to a session that is over is read once for all of its requests.
    let mut kept: BTreeMap<SessionId, World> = BTreeMap::new();
    let (requests, next) = app.scan(Rows { entity: Entity::Request, scope, before, limit }, |row| {
        let Ok(Found::Request(request)) = crate::journal::read(row) else { return Ok(None) };
        let is_wanted = which.state.is_none_or(|state| (state == RequestState::Open) == request.is_open());
        if !is_wanted {
            return Ok(None);
        }
        {
            let world = app.driver.journal.world();
            if let Some(found) = world.requests.get(&request.id) {
                return Ok(Some(views::request(&world, found)));
            }
        }
        let world = match kept.remove(&request.session) {
            Some(world) => world,
            None => app.kept_world(Some(request.session), None)?,
        };
        let view = views::request(&world, &request);
        kept.insert(request.session, world);
        Ok(Some(view))
    })?;
    Ok(Paged::new(requests, &list, next.map(|id| ("before", RequestId(id)))))
}

/// Open requests, oldest first; of one session errors come first, then what it needs, then questions.
#[utoipa::path(get, path = "/inbox", params(WhichOpen), responses((status = 200, body = [RequestView])))]
pub(super) async fn inbox(
    State(app): State<App>,
    RawQuery(query): RawQuery,
    Query(which): Query<WhichOpen>,
) -> Result<Paged<RequestView>, Problem> {
    app.scope(which.project, None, None)?;
    let world = app.driver.journal.world();
    let is_meant = |request: &&Request| which.project.is_none_or(|project| project == request.project);
    let mut open = world.inbox_after(which.after).filter(is_meant).peekable();
    let limit = which.limit.unwrap_or(OF_NOW);
    let shown = open.by_ref().take(limit.0 as usize).map(|request| views::request(&world, request));
    let shown: Vec<RequestView> = shown.collect();
    let last = shown.last().map(|request| request.id.clone());
    let next = open.peek().and(last).map(|id| ("after", id));
    Ok(Paged::new(shown, &List { path: "/inbox", query: query.as_deref() }, next))
}

/// The projects that are known, with what goes on in each, newest first.
#[utoipa::path(get, path = "/projects", params(WhichProjects),
    responses((status = 200, body = [ProjectSummary])))]
pub(super) async fn projects(
    State(app): State<App>,
    RawQuery(query): RawQuery,
    Query(which): Query<WhichProjects>,
) -> Result<Paged<ProjectSummary>, Problem> {
    let limit = which.limit.unwrap_or(OF_HISTORY).0 as usize;
    let mut ids: Vec<ProjectId> = {
        let world = app.driver.journal.world();
        let known = world.projects.keys().rev().filter(|id| which.before.is_none_or(|it| **id < it));
        known.take(limit + 1).copied().collect()
    };
    let is_more = ids.len() > limit;
    ids.truncate(limit);
    let next = ids.last().filter(|_| is_more).map(|id| ("before", *id));
    let shown = ids.iter().map(|id| app.project_summary(*id)).collect::<Result<_, _>>()?;
    Ok(Paged::new(shown, &List { path: "/projects", query: query.as_deref() }, next))
}

/// One project.
#[utoipa::path(get, path = "/projects/{id}", params(("id" = String, Path)),
    responses((status = 200, body = ProjectSummary), (status = 404, body = Problem)))]
pub(super) async fn project(
    State(app): State<App>,
    Path(id): Path<String>,
) -> Result<Json<ProjectSummary>, Problem> {
    let known = id.parse().ok().filter(|id| app.driver.journal.world().projects.contains_key(id));
    let project = known.ok_or_else(|| Problem::not_found(Code::NoProject, &id))?;
    app.project_summary(project).map(Json)
}

pub(super) fn status(world: &World, session: &Session) -> Status {
    let blocking: Vec<&Request> = world.blocking(session.id).collect();
    session.status(&blocking)
}

impl App {
    /// What a list is about. What is named has to be there.
    pub(super) fn scope(
        &self,
        project: Option<ProjectId>,
        run: Option<RunId>,
        session: Option<SessionId>,
    ) -> Result<Scope, Problem> {
        if let Some(id) = project.filter(|id| !self.driver.journal.world().projects.contains_key(id)) {
            return Err(Problem::not_found(Code::NoProject, &id.to_string()));
        }
        if let Some(id) = run {
            self.session_id(&id.to_string())?;
        }
        if let Some(id) = session {
            self.with_session(id, |_, _| ())?;
        }
        Ok(Scope {
            project: project.map(|id| id.0),
            run: run.map(|id| id.0),
            session: session.map(|id| id.0),
        })
    }

    fn session_status(&self, id: SessionId) -> Result<Status, Problem> {
        self.with_session(id, status)
    }

    /// A project with what goes on in it.
    pub(super) fn project_summary(&self, id: ProjectId) -> Result<ProjectSummary, Problem> {
        let newest = Rows {
            entity: Entity::Session,
            scope: Scope { project: Some(id.0), ..Scope::default() },
            before: None,
            limit: Limit(1),
        };
        let (newest, _) = self.scan(newest, |row| self.session_view(SessionId(row.id)).map(Some))?;
        let newest = newest.first().map(|it| it.ended_at_ms.unwrap_or(it.since_ms));
        let world = self.driver.journal.world();
        let of_project = |session: &&Session| session.project == id && !session.is_over();
        let mut summary = ProjectSummary {
            project: views::project(&world, id),
            running: 0,
            waiting: 0,
            requests: u64::try_from(world.inbox().filter(|it| it.project == id).count()).unwrap_or(u64::MAX),
            active_at_ms: newest,
        };
        for session in world.sessions.values().filter(of_project) {
            let status = status(&world, session);
            let waits = matches!(
                status,
                Status::WaitingInput | Status::WaitingDependency | Status::WaitingPermission
            );
            let is_idle = views::is_idle(&world, session);
            *(if waits { &mut summary.waiting } else { &mut summary.running }) += u64::from(!is_idle);
            let blocking: Vec<&Request> = world.blocking(session.id).collect();
            let since_ms = views::since_ms(session, status, &blocking);
            summary.active_at_ms = summary.active_at_ms.max(Some(since_ms));
        }
        Ok(summary)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn statuses_are_read_one_by_one() {
        let read = |text: &str| Statuses::try_from(text.to_owned());
        assert_eq!(read("active,paused").expect("statuses").0, [Status::Active, Status::Paused]);
        assert!(read("completed").expect("a status").has_an_end());
        for wrong in ["", "active,", "Active", "active paused"] {
            assert!(read(wrong).is_err(), "{wrong}");
        }
    }

    /// The document names the statuses that there are, and no others.
    #[test]
    fn every_status_is_documented() {
        for status in SessionStatus::ALL {
            let word = json!(status);
            assert!(serde_json::from_value::<Status>(word.clone()).is_ok(), "{word}");
        }
    }
}
