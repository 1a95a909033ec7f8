//! Runs that go through phases: begun, looked at, reviewed and exported.

#![expect(unused_qualifications, reason = "the document's macro writes paths out")]

mod plan;
mod show;

use axum::{
    Json,
    extract::{RawQuery, State},
    http::{HeaderMap, StatusCode, header},
    response::IntoResponse,
};
use hyper::body::Bytes;
use ostler_engine::{
    Input, ProjectId, Refusal, RequestId, RunId,
    answer::Decision,
    phases::{Approved, Gate, GateName, Phase, Phases},
    request::Ask,
    run::Run,
    session::Session,
};
use ostler_files::private;
use ostler_store::{Entity, Scope};
use ostler_workspace::{Approved as Exported, Commit, Export, GitError, Repository};
use serde::Deserialize;
use serde_json::json;
use utoipa::IntoParams;

use super::{
    App,
    code::Code,
    extract::{Body, Path, Query},
    pages::{Limit, List, OF_HISTORY, Paged, Rows},
    problem::refused,
    wishes::key,
};
use crate::{
    api::{
        ExportView, ExportedView, NewExport, NewPhases, NewReview, PhasesState, PhasesView, Problem,
        RequestView, ReviewDecision,
    },
    driver::{self, gate::REPORTS},
    journal::{Found, Key},
};

/// The largest artifact that is shown.
const FILE_BYTES_MAX: u64 = 4 << 20;

/// Which runs.
#[derive(Debug, Default, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(default, deny_unknown_fields)]
pub(super) struct WhichPhases {
    /// Only those of this project.
    #[param(value_type = Option<String>, pattern = "^p_[0-9]{1,18}$")]
    project: Option<ProjectId>,
    /// Only those that are so.
    state: Option<PhasesState>,
    /// At most so many; 50, if nothing is said.
    #[param(value_type = Option<u32>, minimum = 1, maximum = 1000)]
    limit: Option<Limit>,
    /// Only those older than this one.
    #[param(value_type = Option<String>, pattern = "^r_[0-9]{1,18}$")]
    before: Option<RunId>,
}

/// Which report.
#[derive(Debug, Default, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(default, deny_unknown_fields)]
pub(super) struct WhichReport {
    /// The number of the phase; the last one that has a report, if nothing is said.
    #[param(minimum = 1, maximum = 1000)]
    phase: Option<u32>,
    /// The number of the gate; the last one that has a report, if nothing is said.
    #[param(minimum = 1, maximum = 1_000_000)]
    gate: Option<u32>,
    /// `markdown`, or `json`.
    format: Option<ReportFormat>,
}

/// Which file.
#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(deny_unknown_fields)]
pub(super) struct WhichFile {
    /// The number of the phase; the last one that has a tree, if nothing is said.
    #[param(minimum = 1, maximum = 1000)]
    phase: Option<u32>,
    /// The number of the gate; the last one that has a tree, if nothing is said.
    #[param(minimum = 1, maximum = 1_000_000)]
    gate: Option<u32>,
    /// Its path in the repository.
    path: String,
}

/// Which difference.
#[derive(Debug, Default, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(default, deny_unknown_fields)]
pub(super) struct WhichDiff {
    /// The number of the phase; the last one that has a tree, if nothing is said.
    #[param(minimum = 1, maximum = 1000)]
    phase: Option<u32>,
    /// The number of the gate; the last one that has a tree, if nothing is said.
    #[param(minimum = 1, maximum = 1_000_000)]
    gate: Option<u32>,
    /// The number of an earlier gate of the phase: what differs since then, and not since the phase began.
    #[param(minimum = 1, maximum = 1_000_000)]
    since: Option<u32>,
    /// Only how much of each file.
    stat: bool,
}

/// A gate by its number, in a phase by its number; the last one that there is something about, where nothing is said.
#[derive(Debug, Clone, Copy)]
struct Numbers {
    phase: Option<u32>,
    gate: Option<u32>,
}

/// How a report is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize, utoipa::ToSchema)]
#[serde(rename_all = "snake_case")]
pub(super) enum ReportFormat {
    /// For people.
    #[default]
    Markdown,
    /// For programs.
    Json,
}

/// Has an idea go through phases.
#[utoipa::path(post, path = "/phases", request_body = NewPhases,
    responses((status = 201, body = PhasesView), (status = 400, body = Problem), (status = 409, body = Problem)))]
pub(super) async fn create(
    State(app): State<App>,
    headers: HeaderMap,
    Body(new): Body<NewPhases>,
) -> Result<(StatusCode, Json<PhasesView>), Problem> {
    let key = key(&headers, "/phases", &new)?;
    let run = start(&app, new, key).await?;
    Ok((StatusCode::CREATED, Json(app.phases_view(run)?)))
}

/// The same for one that is not sent by a client.
pub(super) async fn start(app: &App, new: NewPhases, key: Option<Key>) -> Result<RunId, Problem> {
    let driver = app.driver.clone();
    let wanted = tokio::task::spawn_blocking(move || plan::wanted(&driver, &new)).await??;
    let made = app.driver.journal.submit_for(Input::CreateRun(Box::new(wanted)), key).await?;
    made.run.ok_or_else(|| Problem::internal("a run was not made"))
}

/// Runs that go through phases, newest first.
#[utoipa::path(get, path = "/phases", params(WhichPhases), responses((status = 200, body = [PhasesView])))]
pub(super) async fn list(
    State(app): State<App>,
    Query(which): Query<WhichPhases>,
    RawQuery(query): RawQuery,
) -> Result<Paged<PhasesView>, Problem> {
    let scope = Scope { project: which.project.map(|id| id.0), ..Scope::default() };
    let (before, limit) = (which.before.map(|id| id.0), which.limit.unwrap_or(OF_HISTORY));
    let (found, next) = app.scan(Rows { entity: Entity::Run, scope, before, limit }, |row| {
        let Ok(Found::Run(run)) = crate::journal::read(row) else { return Ok(None) };
        if run.phases.is_none() {
            return Ok(None);
        }
        let view = app.phases_view(run.id)?;
        Ok(Some(view).filter(|view| which.state.is_none_or(|state| view.state == state)))
    })?;
    let list = List { path: "/phases", query: query.as_deref() };
    Ok(Paged::new(found, &list, next.map(|id| ("before", RunId(id)))))
}

/// One run that goes through phases.
#[utoipa::path(get, path = "/phases/{id}", params(("id" = String, Path)),
    responses((status = 200, body = PhasesView), (status = 404, body = Problem)))]
pub(super) async fn one(State(app): State<App>, Path(id): Path<String>) -> Result<Json<PhasesView>, Problem> {
    app.phases_view(run_id(&id)?).map(Json)
}

/// The report of a gate.
#[utoipa::path(get, path = "/phases/{id}/report", params(("id" = String, Path), WhichReport),
    responses((status = 200, body = String), (status = 404, body = Problem)))]
pub(super) async fn report(
    State(app): State<App>,
    Path(id): Path<String>,
    Query(which): Query<WhichReport>,
) -> Result<impl IntoResponse, Problem> {
    let run = app.phased(run_id(&id)?)?;
    let numbers = Numbers { phase: which.phase, gate: which.gate };
    let gate = numbers.reported(&app, &run)?;
    let (file, kind) = match which.format.unwrap_or_default() {
        ReportFormat::Markdown => (REPORTS[0], "text/plain; charset=utf-8"),
        ReportFormat::Json => (REPORTS[1], "application/json"),
    };
    let path = app.driver.home.gate(gate).join(file);
    let text = private::read(path, ostler_files::FILE_BYTES_MAX).map_err(|_| no_report(&id))?;
    Ok(([(header::CONTENT_TYPE, kind)], Bytes::from(text)))
}

/// A file as it is at the checkpoint of a gate. Whatever it is, it is never served as a page.
#[utoipa::path(get, path = "/phases/{id}/file", params(("id" = String, Path), WhichFile),
    responses((status = 200, body = String), (status = 404, body = Problem)))]
pub(super) async fn file(
    State(app): State<App>,
    Path(id): Path<String>,
    Query(which): Query<WhichFile>,
) -> Result<impl IntoResponse, Problem> {
    let (phase, gate) = app.kept(&id, Numbers { phase: which.phase, gate: which.gate })?;
    let (repository, commit) = (app.repository(&phase)?, commit_of(&gate)?);
    let path = which.path.clone();
    let task = tokio::task::spawn_blocking(move || {
        let files = repository.files(&commit)?;
        let found = files.into_iter().find(|it| it.is_regular && it.path.to_str() == Some(path.as_str()));
        found.map(|it| repository.read(&it, FILE_BYTES_MAX).map(|bytes| (it, bytes))).transpose()
    });
    let found = task.await?.map_err(|error| by_git(&error))?;
    let named = which.path;
    let (file, bytes) = found.ok_or_else(|| {
        Problem::new(StatusCode::NOT_FOUND, Code::NoFile, format!("there is no file '{named}' at this gate"))
            .hint("GET /phases/{run} lists the files of each gate.")
    })?;
    let truncated = if file.bytes > FILE_BYTES_MAX { "true" } else { "false" };
    Ok((
        [(header::CONTENT_TYPE.as_str(), content_type(&named)), ("ostler-truncated", truncated)],
        Bytes::from(bytes),
    ))
}

/// What differs between the beginning of a phase, or an earlier gate of it, and the checkpoint of a gate.
#[utoipa::path(get, path = "/phases/{id}/diff", params(("id" = String, Path), WhichDiff),
    responses((status = 200, body = String), (status = 404, body = Problem)))]
pub(super) async fn diff(
    State(app): State<App>,
    Path(id): Path<String>,
    Query(which): Query<WhichDiff>,
) -> Result<impl IntoResponse, Problem> {
    let (phase, gate) = app.kept(&id, Numbers { phase: which.phase, gate: which.gate })?;
    let session: Session = app.with_session(phase.session, |_, session| session.clone())?;
    let from = match which.since {
        Some(number) => phase.gate_at(number).and_then(|gate| gate.commit.clone()),
        None => phase.base.clone(),
    };
    let (from, to) = (from.ok_or_else(|| no_report(&id))?, gate.commit.clone());
    let place = driver::Place::of(&app.driver, session);
    let task = tokio::task::spawn_blocking(move || {
        driver::diff_checkpoint(&place, &from, to.as_deref(), which.stat, false)
    });
    let diff = task.await.map_err(Problem::from)?.map_err(|message| Problem::bad(Code::NoDiff, message))?;
    let truncated = if diff.truncated { "true" } else { "false" };
    let kind = "text/plain; charset=utf-8";
    Ok(([(header::CONTENT_TYPE.as_str(), kind), ("ostler-truncated", truncated)], Bytes::from(diff.bytes)))
}

/// Makes a branch with a commit for each approved phase.
#[utoipa::path(post, path = "/phases/{id}/export", params(("id" = String, Path)), request_body = NewExport,
    responses((status = 200, body = ExportView), (status = 404, body = Problem), (status = 409, body = Problem)))]
pub(super) async fn export(
    State(app): State<App>,
    Path(id): Path<String>,
    Body(new): Body<NewExport>,
) -> Result<Json<ExportView>, Problem> {
    let run = app.phased(run_id(&id)?)?;
    let branch = new.branch.unwrap_or_else(|| format!("ostler/{}", run.id));
    let phases = run.phases.as_deref().ok_or_else(|| not_phased(&id))?;
    let approved: Vec<(&Phase, &Approved)> =
        phases.begun.iter().filter_map(|phase| Some((phase, phase.approved.as_ref()?))).collect();
    let Some((first, _)) = approved.first() else {
        return Err(Problem::bad(Code::NoPhase, format!("no phase of {id} is approved yet"))
            .hint(format!("See how far it is: ostler phases status {id}")));
    };
    let repository = app.repository(first)?;
    let base = first.base.as_deref().and_then(Commit::parse);
    let mut reports = Vec::new();
    let mut commits = Vec::new();
    for (phase, it) in &approved {
        let name = name_of(phases, phase.number);
        let gate = GateName { run: run.id, phase: phase.number, gate: it.gate };
        let report = app.driver.home.gate(gate).join(REPORTS[0]);
        let text = private::read_text(report, ostler_files::FILE_BYTES_MAX).unwrap_or_default();
        let commit = Commit::parse(&it.commit).ok_or_else(|| Problem::internal("a commit is no commit"))?;
        let message = format!("Phase {}: {name}\n\n{text}", phase.number);
        commits.push(Exported { commit, message });
        reports.push(text);
    }
    let named = branch.clone();
    let task = tokio::task::spawn_blocking(move || {
        let base = base.map(|base| repository.parent(&base)).transpose()?.flatten();
        repository.export(&named, base.as_ref(), &commits)
    });
    let conflict =
        |code, title: String, hint: &str| Problem::new(StatusCode::CONFLICT, code, title).hint(hint);
    let made = match task.await?.map_err(|error| by_git(&error))? {
        Export::Made(made) => made,
        Export::Taken => {
            let title = format!("there is a branch '{branch}', and it leads elsewhere");
            let hint = "It was left alone. Name another one: --branch NAME";
            return Err(conflict(Code::BranchTaken, title, hint));
        }
        Export::CheckedOut { place } => {
            let title = format!("the branch '{branch}' is checked out in {}", place.display());
            let hint = "It was left alone, or your files would seem changed. Go to another branch there, or name \
                        another one: --branch NAME";
            return Err(conflict(Code::BranchTaken, title, hint));
        }
        Export::BadName => {
            let title = format!("'{branch}' is no name for a branch");
            return Err(Problem::bad(Code::BadName, title).hint("Such as shop-export. Nothing was made."));
        }
    };
    let commits = approved.iter().zip(made).map(|((phase, it), commit)| ExportedView {
        phase: phase.number,
        name: name_of(phases, phase.number),
        commit: commit.as_str().to_owned(),
        tree: it.tree.clone(),
    });
    Ok(Json(ExportView { branch, commits: commits.collect(), report: reports.join("\n") }))
}

/// Decides about the work of a phase. To approve it, one names the tree that was shown; if another stands there by now,
/// nothing is approved, and that one is shown.
#[utoipa::path(post, path = "/requests/{id}/review", params(("id" = String, Path)), request_body = NewReview,
    responses((status = 200, body = RequestView), (status = 404, body = Problem), (status = 409, body = Problem)))]
pub(super) async fn review(
    State(app): State<App>,
    Path(id): Path<String>,
    headers: HeaderMap,
    Body(new): Body<NewReview>,
) -> Result<Json<RequestView>, Problem> {
    let request: RequestId = id.parse().map_err(|_| Problem::not_found(Code::NoRequest, &id))?;
    let key = key(&headers, &format!("/requests/{request}/review"), &new)?;
    let _turn = app.driver.answers.wait(request).await;
    let decision = match new.decision {
        ReviewDecision::Approve => {
            let tree = new.tree.unwrap_or_default();
            app.stands_there(request, &tree).await?;
            Decision::Approve { tree, insist: new.insist }
        }
        ReviewDecision::Changes => Decision::Changes { words: new.words.unwrap_or_default() },
        ReviewDecision::Reject => Decision::Reject { words: new.words },
        ReviewDecision::Again => Decision::Again,
    };
    app.driver.journal.submit_for(Input::Review { request, decision }, key).await?;
    app.request_view(request).map(Json)
}

impl App {
    /// Whether what was shown is what stands there. Otherwise the request is closed, and another one will show that.
    /// What is wrong with the request itself is said by the engine.
    async fn stands_there(&self, request: RequestId, tree: &str) -> Result<(), Problem> {
        let Some(asked) = self.asked(request) else { return Ok(()) };
        let Ask::Review(review) = asked.ask else { return Ok(()) };
        if review.tree.as_deref() != Some(tree) {
            return Err(refused(&Refusal::TreeNotShown { request, tree: review.tree }));
        }
        let session = self.with_request(request, |world, it| world.sessions.get(&it.session).cloned())?;
        let Some(session) = session else { return Ok(()) };
        let limits = driver::gate::limits(&session);
        let place = driver::Place::of(&self.driver, session);
        let task = tokio::task::spawn_blocking(move || {
            place.repository()?.tree_now(limits).map_err(|it| it.to_string())
        });
        let now =
            task.await?.map_err(|message| Problem::bad(Code::Git, message).hint("See `ostler doctor`."))?;
        if now == tree {
            return Ok(());
        }
        self.driver.journal.submit(Input::TreeChanged(request), None).await.map_err(Problem::from)?;
        let title = format!("what stands there is not what {request} shows any more; nothing was approved");
        Err(Problem::new(StatusCode::CONFLICT, Code::TreeChanged, title)
            .hint("It is looked at again, and shown in the inbox when that is done.")
            .details(json!({ "key": "tree_changed", "request": request, "tree": now })))
    }

    /// A run that goes through phases, wherever it is kept.
    fn phased(&self, id: RunId) -> Result<Run, Problem> {
        let found = self.driver.journal.world().runs.get(&id).cloned();
        let run = match found {
            Some(run) => run,
            None => {
                let row = self.read(|reader| reader.entity(Entity::Run, id.0))?;
                match row.and_then(|row| crate::journal::read(&row).ok()) {
                    Some(Found::Run(run)) => run,
                    _ => return Err(Problem::not_found(Code::NoRun, &id.to_string())),
                }
            }
        };
        if run.phases.is_none() { Err(not_phased(&id.to_string())) } else { Ok(run) }
    }

    /// A gate that has a tree, and its phase.
    fn kept(&self, id: &str, numbers: Numbers) -> Result<(Phase, Gate), Problem> {
        let run = self.phased(run_id(id)?)?;
        let phases = run.phases.as_deref().ok_or_else(|| not_phased(id))?;
        let phase_is_meant = |phase: &&Phase| numbers.phase.is_none_or(|number| phase.number == number);
        let gate_is_meant = |gate: &&Gate| numbers.gate.is_none_or(|number| gate.number == number);
        let mut found = phases.begun.iter().rev().filter(phase_is_meant).filter_map(|phase| {
            let mut gates = phase.gates.iter().rev().filter(gate_is_meant);
            gates.find(|gate| gate.commit.is_some()).map(|gate| (phase.clone(), gate.clone()))
        });
        found.next().ok_or_else(|| no_report(id))
    }

    fn repository(&self, phase: &Phase) -> Result<Repository, Problem> {
        let session: Session = self.with_session(phase.session, |_, session| session.clone())?;
        let place = driver::Place::of(&self.driver, session);
        place.repository().map_err(|message| Problem::bad(Code::Git, message).hint("See `ostler doctor`."))
    }
}

impl Numbers {
    /// The last one that has a report. One that is known no more may still have its report.
    fn reported(self, app: &App, run: &Run) -> Result<GateName, Problem> {
        if let (Some(phase), Some(gate)) = (self.phase, self.gate) {
            return Ok(GateName { run: run.id, phase, gate });
        }
        let name = |phase: u32, gate: u32| GateName { run: run.id, phase, gate };
        let phases = run.phases.as_deref().ok_or_else(|| not_phased(&run.id.to_string()))?;
        let wanted = |phase: &&Phase| self.phase.is_none_or(|number| phase.number == number);
        let all = phases.begun.iter().rev().filter(wanted);
        let mut all =
            all.flat_map(|phase| (1..=phase.gates_count).rev().map(|gate| name(phase.number, gate)));
        let found = all.find(|gate| app.driver.home.gate(*gate).join(REPORTS[0]).exists());
        found.ok_or_else(|| no_report(&run.id.to_string()))
    }
}

fn run_id(id: &str) -> Result<RunId, Problem> {
    id.parse().map_err(|_| Problem::not_found(Code::NoRun, id))
}

fn not_phased(id: &str) -> Problem {
    Problem::new(StatusCode::NOT_FOUND, Code::NoPhases, format!("{id} does not go through phases"))
        .hint("List those that do: ostler phases status")
}

fn no_report(id: &str) -> Problem {
    Problem::new(
        StatusCode::NOT_FOUND,
        Code::NoReport,
        format!("{id} has no such gate, or no report of it yet"),
    )
    .hint(format!("See how far it is: ostler phases status {id}"))
}

fn by_git(error: &GitError) -> Problem {
    Problem::bad(Code::Git, error.to_string()).hint("See `ostler doctor`.")
}

fn commit_of(gate: &Gate) -> Result<Commit, Problem> {
    let commit = gate.commit.as_deref().and_then(Commit::parse);
    commit.ok_or_else(|| Problem::internal("a commit is no commit"))
}

fn name_of(phases: &Phases, number: u32) -> String {
    phases.plan.phase(number).map(|plan| plan.name.clone()).unwrap_or_default()
}

/// Pictures as what they are, everything else as text.
fn content_type(path: &str) -> &'static str {
    let end = path.rsplit_once('.').map(|(_, end)| end.to_ascii_lowercase());
    match end.as_deref() {
        Some("png") => "image/png",
        Some("jpg" | "jpeg") => "image/jpeg",
        Some("gif") => "image/gif",
        Some("webp") => "image/webp",
        _ => "text/plain; charset=utf-8",
    }
}
