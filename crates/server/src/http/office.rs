//! The office of a project: looked at, written to, and a call taken back.

#![expect(unused_qualifications, reason = "the document's macro writes paths out")]

use std::{collections::BTreeMap, path::Path as FilePath};

use axum::{
    Json,
    body::Bytes,
    extract::{RawQuery, State},
    http::{HeaderMap, StatusCode, header},
    response::IntoResponse,
};
use ostler_engine::{
    Input, InvocationId, ProjectId, RequestId, ResultId, RunId, SessionId, World,
    office::{Handover, NoSeat, OfficeInput},
    request::Ask,
    session::{Session, WorktreeState},
};
use ostler_store::{Entity, Scope};
use serde::Deserialize;
use serde_json::json;
use utoipa::IntoParams;

use super::{
    App,
    code::Code,
    extract::{Body, Path, Query},
    lists::status,
    pages::{Limit, List, OF_HISTORY, Paged, Rows},
    problem::not_written,
    runs, views,
    wishes::key,
};
use crate::{
    api::{
        DiagramView, InvocationView, Listed, NewOfficeMessage, OfficeView, Problem, RequestView, ResultView,
        RoleView, SessionView, UnmergedView,
    },
    config::ConfigError,
    driver::Driver,
    environment,
    journal::Found,
    office::{
        diagram::mermaid,
        kept::all_of,
        roles::{Role, Roles},
        seat::{self, Caller},
    },
};

/// So many calls can still be read in one drawing.
const DRAWN: Limit = Limit(1000);

/// Which calls.
#[derive(Debug, Default, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(default, deny_unknown_fields)]
pub(super) struct WhichCalls {
    /// Only of chains that this run began.
    #[param(value_type = Option<String>, pattern = "^r_[0-9]{1,18}$")]
    run: Option<RunId>,
    /// Only between these two, whoever called: `PO,designer`.
    #[param(value_type = Option<String>)]
    between: Option<Pair>,
    /// At most so many; 50, if nothing is said.
    #[param(value_type = Option<u32>, minimum = 1, maximum = 1000)]
    limit: Option<Limit>,
    /// Only those older than this one.
    #[param(value_type = Option<String>, pattern = "^i_[0-9]{1,18}$")]
    before: Option<InvocationId>,
}

/// Which results.
#[derive(Debug, Default, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(default, deny_unknown_fields)]
pub(super) struct WhichResults {
    /// Only of chains that this run began.
    #[param(value_type = Option<String>, pattern = "^r_[0-9]{1,18}$")]
    run: Option<RunId>,
    /// Only between these two, whoever called: `PO,designer`.
    #[param(value_type = Option<String>)]
    between: Option<Pair>,
    /// Only those that nobody asked for (true), or only those of a call (false).
    unasked: Option<bool>,
    /// At most so many; 50, if nothing is said.
    #[param(value_type = Option<u32>, minimum = 1, maximum = 1000)]
    limit: Option<Limit>,
    /// Only those older than this one.
    #[param(value_type = Option<String>, pattern = "^d_[0-9]{1,18}$")]
    before: Option<ResultId>,
}

/// Which calls are drawn.
#[derive(Debug, Default, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(default, deny_unknown_fields)]
pub(super) struct WhichDrawn {
    /// Only of chains that this run began.
    #[param(pattern = "^r_[0-9]{1,18}$")]
    run: Option<String>,
}

/// Two names of which no name can hold what stands between them.
#[derive(Debug, Deserialize)]
#[serde(try_from = "String")]
struct Pair(String, String);

impl TryFrom<String> for Pair {
    type Error = &'static str;

    fn try_from(both: String) -> Result<Pair, &'static str> {
        let (one, other) = both.split_once(',').ok_or("two names with a comma between them")?;
        Ok(Pair(one.to_owned(), other.to_owned()))
    }
}

impl Pair {
    fn is(&self, from: &str, to: &str) -> bool {
        (self.0 == from && self.1 == to) || (self.0 == to && self.1 == from)
    }
}

/// Which directory.
#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(deny_unknown_fields)]
pub(super) struct WhichDirectory {
    /// An absolute path.
    directory: String,
}

/// A role's name, what is known of it, and why it cannot be called.
type DescribedRole = (String, Option<Role>, Option<String>);

/// Which questions.
#[derive(Debug, Default, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(default, deny_unknown_fields)]
pub(super) struct WhichQuestions {
    /// At most so many; 50, if nothing is said.
    #[param(value_type = Option<u32>, minimum = 1, maximum = 1000)]
    limit: Option<Limit>,
    /// Only those older than this one.
    #[param(value_type = Option<String>, pattern = "^q_[0-9]{1,18}$")]
    before: Option<RequestId>,
}

/// Who can be called, who waits for whom, and what nobody has read yet.
#[utoipa::path(get, path = "/projects/{id}/office", params(("id" = String, Path)),
    responses((status = 200, body = OfficeView), (status = 404, body = Problem)))]
pub(super) async fn office(
    State(app): State<App>,
    Path(id): Path<String>,
) -> Result<Json<OfficeView>, Problem> {
    let project = app.project_id(&id)?;
    let place = seat::place(&app.driver, project).ok_or_else(|| Problem::not_found(Code::NoProject, &id))?;
    app.office(place, Some(project)).await.map(Json)
}

/// The same of the project that a directory belongs to. One that is not known yet is looked at and stays unknown: it has
/// roles, and `project` is empty.
#[utoipa::path(get, path = "/office", params(WhichDirectory),
    responses((status = 200, body = OfficeView), (status = 400, body = Problem)))]
pub(super) async fn of_directory(
    State(app): State<App>,
    Query(which): Query<WhichDirectory>,
) -> Result<Json<OfficeView>, Problem> {
    let found = tokio::task::spawn_blocking(move || runs::project_at(&which.directory)).await??;
    let project = app.driver.journal.world().project_at(&found.root);
    app.office((found.root, found.git), project).await.map(Json)
}
/// Calls between agents, newest first.
#[utoipa::path(get, path = "/projects/{id}/office/invocations", params(("id" = String, Path), WhichCalls),
    responses((status = 200, body = [InvocationView]), (status = 404, body = Problem)))]
pub(super) async fn invocations(
    State(app): State<App>,
    Path(id): Path<String>,
    Query(which): Query<WhichCalls>,
    RawQuery(query): RawQuery,
) -> Result<Paged<InvocationView>, Problem> {
    let project = app.project_id(&id)?;
    let scope = Scope { project: Some(project.0), run: which.run.map(|run| run.0), session: None };
    let (before, limit) = (which.before.map(|id| id.0), which.limit.unwrap_or(OF_HISTORY));
    let (found, next) = app.scan(Rows { entity: Entity::Invocation, scope, before, limit }, |row| {
        let Ok(Found::Invocation(call)) = crate::journal::read(row) else { return Ok(None) };
        let is_meant = which.between.as_ref().is_none_or(|pair| pair.is(&call.caller, &call.callee));
        Ok(is_meant.then(|| InvocationView::of(&call)))
    })?;
    let path = format!("/projects/{project}/office/invocations");
    let list = List { path: &path, query: query.as_deref() };
    Ok(Paged::new(found, &list, next.map(|id| ("before", InvocationId(id)))))
}

/// Who called whom, and what came of it, as text that Mermaid draws.
#[utoipa::path(get, path = "/projects/{id}/office/diagram", params(("id" = String, Path), WhichDrawn),
    responses((status = 200, body = DiagramView), (status = 404, body = Problem)))]
pub(super) async fn diagram(
    State(app): State<App>,
    Path(id): Path<String>,
    Query(which): Query<WhichDrawn>,
) -> Result<Json<DiagramView>, Problem> {
    let project = app.project_id(&id)?;
    let run = which.run.map(|run| app.run_of(project, &run)).transpose()?;
    let scope = Scope { project: Some(project.0), run: run.map(|run| run.0), session: None };
    let rows = |entity| Rows { entity, scope, before: None, limit: DRAWN };
    let (calls, _) = app.scan(rows(Entity::Invocation), |row| {
        let Ok(Found::Invocation(call)) = crate::journal::read(row) else { return Ok(None) };
        Ok(Some(InvocationView::of(&call)))
    })?;
    // What ends a call is drawn with it.
    let (results, _) = app.scan(rows(Entity::Result), |row| {
        let Ok(Found::Result(result)) = crate::journal::read(row) else { return Ok(None) };
        let is_alone = result.invocation.is_none() || result.late;
        Ok(is_alone.then(|| ResultView::in_short(&result)))
    })?;
    Ok(Json(DiagramView { mermaid: mermaid(&calls, &results) }))
}

/// What agents brought each other, newest first.
#[utoipa::path(get, path = "/projects/{id}/office/results", params(("id" = String, Path), WhichResults),
    responses((status = 200, body = [ResultView]), (status = 404, body = Problem)))]
pub(super) async fn results(
    State(app): State<App>,
    Path(id): Path<String>,
    Query(which): Query<WhichResults>,
    RawQuery(query): RawQuery,
) -> Result<Paged<ResultView>, Problem> {
    let project = app.project_id(&id)?;
    let scope = Scope { project: Some(project.0), run: which.run.map(|run| run.0), session: None };
    let (before, limit) = (which.before.map(|id| id.0), which.limit.unwrap_or(OF_HISTORY));
    let (found, next) = app.scan(Rows { entity: Entity::Result, scope, before, limit }, |row| {
        let Ok(Found::Result(result)) = crate::journal::read(row) else { return Ok(None) };
        let is_between = which.between.as_ref().is_none_or(|pair| pair.is(&result.from, &result.to));
        let is_meant = which.unasked.is_none_or(|unasked| unasked == result.invocation.is_none());
        Ok((is_between && is_meant).then(|| ResultView::of(&result)))
    })?;
    let path = format!("/projects/{project}/office/results");
    let list = List { path: &path, query: query.as_deref() };
    Ok(Paged::new(found, &list, next.map(|id| ("before", ResultId(id)))))
}

/// All of a result, to be kept as a file: whatever it is, it is never served as a page.
#[utoipa::path(get, path = "/results/{id}/content", params(("id" = String, Path)),
    responses((status = 200, body = String), (status = 404, body = Problem)))]
pub(super) async fn content(
    State(app): State<App>,
    Path(id): Path<String>,
) -> Result<impl IntoResponse, Problem> {
    let result = app.result(&id)?.ok_or_else(|| Problem::not_found(Code::NoResult, &id))?;
    // Of a file that somebody has brought nobody knows what is in it.
    let kind = if result.copy().is_some() { "application/octet-stream" } else { "text/plain; charset=utf-8" };
    let disposition = format!("attachment; filename=\"{}\"", file_name(&result));
    let read = tokio::task::spawn_blocking(move || all_of(&result)).await?;
    let bytes = read.map_err(|error| Problem::internal(format!("the result: {error}")))?;
    let headers = [(header::CONTENT_TYPE, kind.to_owned()), (header::CONTENT_DISPOSITION, disposition)];
    Ok((headers, Bytes::from(bytes)))
}

/// What a result is called as a file: by its id, and for what it is.
fn file_name(result: &Handover) -> String {
    let copied = result.copy().map(|_| FilePath::new(&result.content).extension().and_then(|it| it.to_str()));
    let end = match (result.kind.as_str(), copied) {
        (_, Some(Some(end))) if end.len() < 16 && end.bytes().all(|it| it.is_ascii_alphanumeric()) => end,
        (_, Some(_)) => "bin",
        ("json", None) => "json",
        ("markdown" | "github_issue", None) => "md",
        (_, None) => "txt",
    };
    format!("{}.{end}", result.id)
}

/// What agents of the office have asked the person, newest first.
#[utoipa::path(get, path = "/projects/{id}/office/questions", params(("id" = String, Path), WhichQuestions),
    responses((status = 200, body = [RequestView]), (status = 404, body = Problem)))]
pub(super) async fn questions(
    State(app): State<App>,
    Path(id): Path<String>,
    Query(which): Query<WhichQuestions>,
    RawQuery(query): RawQuery,
) -> Result<Paged<RequestView>, Problem> {
    let project = app.project_id(&id)?;
    let scope = Scope { project: Some(project.0), ..Scope::default() };
    let (before, limit) = (which.before.map(|id| id.0), which.limit.unwrap_or(OF_HISTORY));
    let (found, next) = app.scan(Rows { entity: Entity::Request, scope, before, limit }, |row| {
        let Ok(Found::Request(request)) = crate::journal::read(row) else { return Ok(None) };
        if !matches!(request.ask, Ask::AskUser(_)) {
            return Ok(None);
        }
        app.with_request(request.id, views::request).map(Some)
    })?;
    let path = format!("/projects/{project}/office/questions");
    let list = List { path: &path, query: query.as_deref() };
    Ok(Paged::new(found, &list, next.map(|id| ("before", RequestId(id)))))
}

/// Writes to a role. Its session is found, resumed or made.
#[utoipa::path(post, path = "/projects/{id}/office/messages", params(("id" = String, Path)),
    request_body = NewOfficeMessage,
    responses((status = 200, body = SessionView), (status = 400, body = Problem), (status = 404, body = Problem)))]
pub(super) async fn send(
    State(app): State<App>,
    Path(id): Path<String>,
    headers: HeaderMap,
    Body(new): Body<NewOfficeMessage>,
) -> Result<Json<SessionView>, Problem> {
    let project = app.project_id(&id)?;
    let key = key(&headers, &format!("/projects/{project}/office/messages"), &new)?;
    let driver = app.driver.clone();
    let (role, text) = (new.role.clone(), new.text.clone());
    let found = tokio::task::spawn_blocking(move || {
        let environment = new.environment.map(|it| environment::keep(&driver.home, &it)).transpose();
        let environment = environment.map_err(|error| not_written(error.to_string()))?;
        let caller = Caller { project, agent: None, environment, korean: new.korean };
        // A person's words are said as they are.
        seat::find(&driver, &caller, &role, "").map_err(|why| no_seat(&role, &why))
    });
    let seat = found.await??;
    let printed = seat.session.and_then(|session| app.printed(session));
    let input = OfficeInput::Send { project, seat, text, printed };
    let made = app.driver.journal.submit_for(Input::Office(Box::new(input)), key).await?;
    let session = made.session.ok_or_else(|| Problem::internal("nobody was written to"))?;
    app.session_view(session).map(Json)
}

/// One call between agents.
#[utoipa::path(get, path = "/invocations/{id}", params(("id" = String, Path)),
    responses((status = 200, body = InvocationView), (status = 404, body = Problem)))]
pub(super) async fn invocation(
    State(app): State<App>,
    Path(id): Path<String>,
) -> Result<Json<InvocationView>, Problem> {
    let invocation = id.parse().map_err(|_| Problem::not_found(Code::NoInvocation, &id))?;
    app.invocation(invocation).map(Json)
}

/// What one agent brought another; of more than 16 KiB its beginning.
#[utoipa::path(get, path = "/results/{id}", params(("id" = String, Path)),
    responses((status = 200, body = ResultView), (status = 404, body = Problem)))]
pub(super) async fn result(
    State(app): State<App>,
    Path(id): Path<String>,
) -> Result<Json<ResultView>, Problem> {
    let result = app.result(&id)?.ok_or_else(|| Problem::not_found(Code::NoResult, &id))?;
    Ok(Json(ResultView::of(&result)))
}

/// Takes a call back.
#[utoipa::path(post, path = "/invocations/{id}/cancel", params(("id" = String, Path)),
    responses((status = 200, body = InvocationView), (status = 404, body = Problem), (status = 409, body = Problem)))]
pub(super) async fn cancel(
    State(app): State<App>,
    Path(id): Path<String>,
    headers: HeaderMap,
) -> Result<Json<InvocationView>, Problem> {
    let invocation: InvocationId = id.parse().map_err(|_| Problem::not_found(Code::NoInvocation, &id))?;
    let key = key(&headers, &format!("/invocations/{invocation}/cancel"), &())?;
    let input = Input::Office(Box::new(OfficeInput::Cancel(invocation)));
    app.driver.journal.submit_for(input, key).await?;
    app.invocation(invocation).map(Json)
}

/// Why nobody has that name.
pub(super) fn no_seat(role: &str, why: &NoSeat) -> Problem {
    match why {
        NoSeat::Unknown { roles } => {
            let title = format!("there is no agent {role}. There are: {}", roles.join(", "));
            Problem::new(StatusCode::NOT_FOUND, Code::NoRole, title)
                .details(json!({ "key": "no_role", "role": role, "roles": roles }))
        }
        NoSeat::Bad { message } => Problem::bad(Code::BadRole, message.clone()),
    }
}

impl App {
    fn project_id(&self, id: &str) -> Result<ProjectId, Problem> {
        let known = id.parse().ok().filter(|id| self.driver.journal.world().projects.contains_key(id));
        known.ok_or_else(|| Problem::not_found(Code::NoProject, id))
    }

    /// A run of a project.
    fn run_of(&self, project: ProjectId, id: &str) -> Result<RunId, Problem> {
        let not_found = || Problem::not_found(Code::NoRun, id);
        let run = id.parse().map_err(|_| not_found())?;
        if self.run_view(run)?.project.id == project.to_string() { Ok(run) } else { Err(not_found()) }
    }

    /// The office at a root, of a project that may not be known.
    async fn office(&self, place: (String, bool), project: Option<ProjectId>) -> Result<OfficeView, Problem> {
        let driver = self.driver.clone();
        let read = move || described_roles(&driver, &place.0, place.1);
        let roles = tokio::task::spawn_blocking(read).await?;
        let roles = roles.map_err(|error| Problem::bad(Code::Configuration, error.to_string()))?;
        let roles = roles
            .into_iter()
            .map(|(name, role, problem)| self.role_view(project, name, role.as_ref(), problem))
            .collect();
        let unmerged = project.map(|project| self.unmerged(project)).unwrap_or_default();
        let world = self.driver.journal.world();
        let is_here = |it: ProjectId| Some(it) == project;
        let calls = world.invocations.values().filter(|call| is_here(call.project) && call.is_open());
        let results = world.results.values().filter(|it| is_here(it.project) && it.delivered_at_ms.is_none());
        let mut view = OfficeView {
            project: project.map(|project| project.to_string()).unwrap_or_default(),
            roles,
            invocations: calls.map(InvocationView::of).collect(),
            results: results.map(ResultView::in_short).collect(),
            unmerged,
        };
        view.shorten();
        Ok(view)
    }

    fn role_view(
        &self,
        project: Option<ProjectId>,
        name: String,
        known: Option<&Role>,
        problem: Option<String>,
    ) -> RoleView {
        let seat = project.and_then(|project| seat::seat_of(&self.driver, project, &name));
        let how = |world: &World, it: &Session| (status(world, it), views::is_idle(world, it));
        let (status, idle) = seat.and_then(|seat| self.with_session(seat, how).ok()).unzip();
        RoleView {
            name,
            description: known.and_then(|role| role.description.clone()),
            agent: known.and_then(|role| role.agent.clone()),
            model: known.and_then(|role| role.model.clone()),
            file: known.and_then(|role| role.place.as_ref()).map(|place| place.file.display().to_string()),
            problem,
            session: seat.map(|seat| seat.to_string()),
            idle: idle.unwrap_or(false),
            status: status.and_then(|status| serde_json::from_value(json!(status)).ok()),
        }
    }

    /// What roles have done and is not merged: of those about whom something is asked or done, and of those who have a
    /// role now.
    fn unmerged(&self, project: ProjectId) -> Vec<UnmergedView> {
        let mut found: BTreeMap<SessionId, UnmergedView> = BTreeMap::new();
        let seats: Vec<SessionId> = {
            let world = self.driver.journal.world();
            let here = world.sessions.values().filter(|session| session.project == project);
            found.extend(here.filter_map(|session| Some((session.id, unmerged_view(session)?))));
            world.projects.get(&project).into_iter().flat_map(|it| it.seats.values().copied()).collect()
        };
        for seat in seats.into_iter().filter(|seat| !found.contains_key(seat)).collect::<Vec<_>>() {
            let view = self.with_session(seat, |_, session| unmerged_view(session)).ok().flatten();
            found.extend(view.map(|view| (seat, view)));
        }
        found.into_values().collect()
    }

    /// A call, wherever it is kept.
    pub(super) fn invocation(&self, id: InvocationId) -> Result<InvocationView, Problem> {
        if let Some(call) = self.driver.journal.world().invocations.get(&id) {
            return Ok(InvocationView::of(call));
        }
        let row = self.read(|reader| reader.entity(Entity::Invocation, id.0))?;
        match row.and_then(|row| crate::journal::read(&row).ok()) {
            Some(Found::Invocation(call)) => Ok(InvocationView::of(&call)),
            _ => Err(Problem::not_found(Code::NoInvocation, &id.to_string())),
        }
    }

    /// A result, wherever it is kept.
    pub(super) fn result(&self, id: &str) -> Result<Option<Handover>, Problem> {
        let Ok(id) = id.parse::<ResultId>() else { return Ok(None) };
        if let Some(result) = self.driver.journal.world().results.get(&id) {
            return Ok(Some(result.clone()));
        }
        let row = self.read(|reader| reader.entity(Entity::Result, id.0))?;
        Ok(match row.and_then(|row| crate::journal::read(&row).ok()) {
            Some(Found::Result(result)) => Some(*result),
            _ => None,
        })
    }
}

/// The roles that are described at a root: each with what is known of it, and why it cannot be called.
fn described_roles(driver: &Driver, root: &str, is_git: bool) -> Result<Vec<DescribedRole>, ConfigError> {
    let roles = Roles::read(FilePath::new(root), driver.trusted(root))?;
    let checked = roles.iter().map(|(name, role)| {
        let problem = match role {
            Ok(role) => seat::problem((root, is_git), &roles, role),
            Err(bad) => Some(bad.message.clone()),
        };
        let known =
            role.as_ref().ok().map(|role| Role { agent: seat::known_agent(&roles, role), ..role.clone() });
        (name.clone(), known, problem)
    });
    Ok(checked.collect())
}

/// What a role has done and is not merged, if it is over.
fn unmerged_view(session: &Session) -> Option<UnmergedView> {
    let role = session.order.role.seat().filter(|_| session.is_over())?;
    let worktree = session.worktree.as_ref()?;
    let (state, message) = match &worktree.state {
        WorktreeState::Testing => ("testing", None),
        WorktreeState::Merging { .. } => ("merging", None),
        WorktreeState::NotMerged { message, .. } => ("not_merged", Some(message.clone())),
        _ => return None,
    };
    Some(UnmergedView {
        session: session.id.to_string(),
        role: role.to_owned(),
        state: state.to_owned(),
        message,
        request: worktree.back.card.as_ref().map(|card| card.request.to_string()),
    })
}
