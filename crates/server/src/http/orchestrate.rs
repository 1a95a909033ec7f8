//! Loops through a task file: begun and looked at. To pause, continue and cancel one is to do that with its session.

#![expect(unused_qualifications, reason = "the document's macro writes paths out")]

mod preflight;
mod show;

use std::path::Path as FilePath;

use axum::{
    Json,
    extract::{RawQuery, State},
    http::{HeaderMap, StatusCode},
};
use ostler_agents::Agent;
use ostler_engine::{
    Input, ProjectId, RunId, SessionId,
    graph::GraphSpec,
    input::NewRun as Wanted,
    orchestrate::{LoopSpec, PARALLEL},
    plan::Plan,
    run::Terms,
    session::{Order, Role, Session, WorktreeTerms},
};
use ostler_orchestrate::{Project, Resolve, resolve};
use ostler_protocol::thin::{ErrorCode, Thin};
use ostler_store::Entity;
use ostler_workspace::Repository;
use serde::Deserialize;
use serde_json::json;
use utoipa::IntoParams;

use self::preflight::Preflight;
use super::{
    App,
    code::Code,
    extract::{Body, Path, Query},
    pages::{Limit, List, OF_HISTORY, Paged, Rows},
    problem::not_written,
    runs,
    wishes::key,
};
use crate::{
    api::{LoopView, NewLoop, Problem, SessionView},
    config::Config,
    driver::Driver,
    environment,
};

/// Which loops.
#[derive(Debug, Default, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(default, deny_unknown_fields)]
pub(super) struct WhichLoops {
    /// Only of this project.
    #[param(value_type = Option<String>, pattern = "^p_[0-9]{1,18}$")]
    project: Option<ProjectId>,
    /// At most so many; 50, if nothing is said.
    #[param(value_type = Option<u32>, minimum = 1, maximum = 1000)]
    limit: Option<Limit>,
    /// Only those older than this one.
    #[param(value_type = Option<String>, pattern = "^s_[0-9]{1,18}$")]
    before: Option<SessionId>,
}

/// The sessions that go, or went, through a task file, newest first.
#[utoipa::path(get, path = "/orchestrate", params(WhichLoops), responses((status = 200, body = [SessionView])))]
pub(super) async fn list(
    State(app): State<App>,
    RawQuery(query): RawQuery,
    Query(which): Query<WhichLoops>,
) -> Result<Paged<SessionView>, Problem> {
    let list = List { path: "/orchestrate", query: query.as_deref() };
    let scope = app.scope(which.project, None, None)?;
    let (before, limit) = (which.before.map(|id| id.0), which.limit.unwrap_or(OF_HISTORY));
    let (found, next) = app.scan(Rows { entity: Entity::Session, scope, before, limit }, |row| {
        let view = app.session_view(SessionId(row.id))?;
        Ok(view.conducts.then_some(view))
    })?;
    Ok(Paged::new(found, &list, next.map(|id| ("before", SessionId(id)))))
}

/// Goes through a task file. Where somebody does that already, it is theirs that is shown.
#[utoipa::path(post, path = "/orchestrate", request_body = NewLoop,
    responses((status = 200, body = LoopView), (status = 201, body = LoopView), (status = 400, body = Problem),
        (status = 409, body = Problem)))]
pub(super) async fn create(
    State(app): State<App>,
    headers: HeaderMap,
    Body(new): Body<NewLoop>,
) -> Result<(StatusCode, Json<LoopView>), Problem> {
    let key = key(&headers, "/orchestrate", &new)?;
    let driver = app.driver.clone();
    // The loop that is under way comes first: what it does meanwhile is no obstacle.
    let found = tokio::task::spawn_blocking(move || match running_loop(&driver, &new)? {
        Some(session) => Ok(Found::Running(session)),
        None => wanted(&driver, &new).map(|wanted| Found::Wanted(Box::new(wanted))),
    });
    let wanted = match found.await?? {
        Found::Wanted(wanted) => wanted,
        Found::Running(session) => return Ok((StatusCode::OK, Json(app.loop_view(session).await?))),
    };
    let made = app.driver.journal.submit_for(Input::CreateRun(wanted), key).await?;
    let session = made.session.ok_or_else(|| Problem::internal("a loop was not made"))?;
    Ok((StatusCode::CREATED, Json(app.loop_view(session).await?)))
}

/// A loop through a task file, by the id of its run or session.
#[utoipa::path(get, path = "/orchestrate/{id}", params(("id" = String, Path)),
    responses((status = 200, body = LoopView), (status = 404, body = Problem)))]
pub(super) async fn one(State(app): State<App>, Path(id): Path<String>) -> Result<Json<LoopView>, Problem> {
    let session = app.session_id(&id)?;
    app.loop_view(session).await.map(Json)
}

impl App {
    async fn loop_view(&self, id: SessionId) -> Result<LoopView, Problem> {
        let now_ms = self.driver.journal.clock().now_ms();
        let seen = self.with_session(id, |world, session| show::Seen::of(world, session, now_ms))?;
        let no_loop = || Problem::not_found(Code::NoLoop, &id.to_string());
        let seen = seen.ok_or_else(no_loop)?;
        let exchange = self.driver.home.exchange(seen.run());
        Ok(tokio::task::spawn_blocking(move || show::view(seen, &exchange)).await?)
    }
}

/// The loop that goes through the tasks of a project, and what it was asked.
fn under_way(driver: &Driver, directory: &str) -> Option<(SessionId, RunId, LoopSpec)> {
    let world = driver.journal.world();
    let is_here = |it: &&Session| !it.is_over() && it.order.directory == directory;
    world.graphs.values().find_map(|graph| {
        let session = world.sessions.get(&graph.session).filter(is_here)?;
        Some((session.id, session.run, graph.task_file().clone()))
    })
}

/// The loop that is asked for.
enum Found {
    /// It is under way already.
    Running(SessionId),
    /// It is to be made.
    Wanted(Box<Wanted>),
}

/// The loop that goes through the tasks of the same project; refused if other options are wanted of it.
fn running_loop(driver: &Driver, new: &NewLoop) -> Result<Option<SessionId>, Problem> {
    let directory = runs::directory(&new.directory)?;
    let project = Project::find(&directory, new.tasks.as_ref().map(FilePath::new));
    let root = project.root().canonicalize().map_err(|error| not_written(error.to_string()))?;
    let root = runs::text(&root)?;
    let Some((session, run, running)) = under_way(driver, &root) else { return Ok(None) };
    let other = contradictions(new, &running, &root);
    if other.is_empty() { Ok(Some(session)) } else { Err(otherwise(run, &other)) }
}

/// What somebody wants of a loop that the one under way does otherwise, in the words of the command line. Whoever says
/// nothing of something takes it as it is.
fn contradictions(new: &NewLoop, running: &LoopSpec, directory: &str) -> Vec<String> {
    let file = |from: &str, tasks: Option<&String>| {
        let project = Project::find(FilePath::new(from), tasks.map(FilePath::new));
        let path = project.task_file().ok()?.0;
        Some(path.canonicalize().unwrap_or(path))
    };
    let mut found = Vec::new();
    if let Some(tasks) = &new.tasks
        && file(&new.directory, Some(tasks)) != file(directory, running.tasks.as_ref())
    {
        found.push(format!("--tasks {tasks}"));
    }
    if let Some(phase) = new.phase.filter(|phase| running.phase != Some(*phase)) {
        found.push(format!("--phase {phase}"));
    }
    if let Some(many) = new.parallel_max.filter(|many| running.parallel_max != *many) {
        found.push(format!("--max-parallel {many}"));
    }
    if let Some(agent) = new.agent.as_ref().filter(|agent| running.agent.as_ref() != Some(*agent)) {
        found.push(format!("--agent {agent}"));
    }
    found
}

/// Somebody wants another loop than the one that there is.
fn otherwise(run: RunId, options: &[String]) -> Problem {
    let (run, options) = (run.to_string(), options.join(" "));
    let title = format!("{run} goes through the tasks of this project already, and not with {options}");
    Problem::new(StatusCode::CONFLICT, Code::LoopBusy, title)
        .hint("Nothing was started. Look at it without these options, or cancel it first.")
        .details(json!({ "key": "loop_options", "run": run, "options": options }))
}

/// What the engine has to know; refused where it can be seen beforehand that nothing would come of it.
fn wanted(driver: &Driver, new: &NewLoop) -> Result<Wanted, Problem> {
    let directory = runs::directory(&new.directory)?;
    let project = Project::find(&directory, new.tasks.as_ref().map(FilePath::new));
    let (plan, name) = project.plan().map_err(|error| refused(&error.thin()))?;
    if let Some(problem) = plan.problems().first() {
        return Err(refused(&problem.thin(&name)));
    }
    let root = project.root().canonicalize().map_err(|error| not_written(error.to_string()))?;
    let repository = runs::repository(&root)?;
    let place = runs::project_root(&root, repository.as_ref());
    let trusted = driver.trusted(&runs::text(&place)?);
    if let Some(repository) = repository.clone() {
        let guarded = repository.trusting(trusted.iter().cloned());
        guarded.check_trust().map_err(|error| runs::refused_by_git(&error))?;
        check_head(&guarded, &plan)?;
    }
    let settings = repository.as_ref().map_or(place.as_path(), Repository::directory_root);
    let config = Config::load(Some(settings), &trusted).map_err(|error| {
        Problem::bad(Code::Configuration, error.to_string()).hint("Mend the file; nothing was started.")
    })?;
    Preflight { new, project: &project, plan: &plan, config: &config, trusted: &trusted }.check()?;
    check_state(&project, new.phase, driver.journal.clock().now_ms())?;
    let variables = new.environment.clone().unwrap_or_else(environment::of_server);
    let environment =
        environment::keep(&driver.home, &variables).map_err(|error| not_written(error.to_string()))?;
    let parallel_max = new.parallel_max.or(config.orchestrate.parallel_max).unwrap_or(PARALLEL);
    let tasks = new.tasks.as_ref().map(|tasks| directory.join(tasks).to_string_lossy().into_owned());
    let asked = LoopSpec { tasks, phase: new.phase, parallel_max, agent: new.agent.clone() };
    let order = Order {
        agent: Agent::plain(&["orchestrate".to_owned()]),
        prompt: String::new(),
        directory: runs::text(&root)?,
        environment,
        model: None,
        turns_max: None,
        nonce: None,
        new_conversation: String::new(),
        guide: false,
        channel: false,
        korean: new.korean,
        patience: config.patience,
        account: None,
        prices: config.prices,
        checkpoints: None,
        role: Role::Work,
        screen: None,
        instruction: None,
        tools: Vec::new(),
    };
    Ok(Wanted {
        root: runs::text(&place)?,
        name: runs::name(&place),
        git: repository.is_some(),
        title: format!("orchestrate {name}"),
        terms: Terms::default(),
        order: Box::new(order),
        worktrees: None,
        worktree_terms: WorktreeTerms::default(),
        phases: None,
        session_name: None,
        node: None,
        graph: Some(GraphSpec::TaskFile(asked)),
        parent: None,
        roles: crate::office::roles::described(&place, driver.trusted(&runs::text(&place)?)),
    })
}

/// One line of the thin dialect says why not.
fn refused(line: &Thin) -> Problem {
    let line = line.to_string();
    Problem::new(StatusCode::CONFLICT, Code::Tasks, line.clone())
        .hint("Mend it; nothing was started.")
        .details(json!({ "key": "tasks", "line": line }))
}

/// The state can be read and written, and there is something that can be answered.
fn check_state(project: &Project, phase: Option<u32>, at_ms: u64) -> Result<(), Problem> {
    let asked = Resolve { phase, force: false, groups: false, repair: None };
    let resolved = resolve(project, asked, at_ms);
    if let Some(error) = resolved.unwritten {
        return Err(not_written(error.to_string()));
    }
    match &resolved.line {
        // A person is asked what becomes of that.
        Thin::Error { code: ErrorCode::Blocked, .. } => Ok(()),
        line @ Thin::Error { .. } => Err(refused(line)),
        _ => Ok(()),
    }
}

/// From phase 1 on there has to be a branch to merge into.
fn check_head(repository: &Repository, plan: &Plan) -> Result<(), Problem> {
    if plan.phases().iter().all(|phase| phase.number == 0) {
        return Ok(());
    }
    let head = repository.head().map_err(|error| runs::refused_by_git(&error))?;
    let title = match (&head.commit, &head.branch) {
        (None, _) => "the repository has no commit that a worktree could begin from",
        (_, None) => "HEAD is detached: there is no branch that a phase could be merged into",
        _ => return Ok(()),
    };
    Err(Problem::new(StatusCode::CONFLICT, Code::Git, title).hint("Nothing was started."))
}

/// The id by which a run is known.
fn run_id(run: RunId) -> String {
    run.to_string()
}
