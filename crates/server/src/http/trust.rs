//! What a person lets a repository run: looked at, given for exactly what was shown, and revoked.
//!
//! Only a person may give it: `guard.rs` refuses the routes that change something to processes of agents.

#![expect(unused_qualifications, reason = "the document's macro writes paths out")]

use std::path::Path;

use axum::{
    Json,
    extract::State,
    http::{HeaderMap, StatusCode},
};
use ostler_engine::{
    Input,
    run::{Project, Trusted},
};
use ostler_orchestrate::Project as Orchestrated;
use ostler_workspace::Repository;
use serde::Deserialize;
use serde_json::json;
use utoipa::IntoParams;

use super::{
    App,
    code::Code,
    extract::{Body, Query},
    problem::not_written,
    runs::{directory, project_root, refused_by_git, repository, text},
    wishes::key,
};
use crate::{
    api::{NewRevocation, NewTrust, Problem, TrustView, TrustedView},
    config::{Config, RepositoryCommand, orchestrate::TEST, user_file},
    consent::CONFIGURATION,
    driver::{Driver, find_tests},
    office::roles,
};

/// Whose trust is meant.
#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(deny_unknown_fields)]
pub(super) struct Where {
    /// A directory of the project, absolute; or `configuration`, which stands for your own configuration.
    directory: String,
    /// A task file in the project whose commands are meant too, relative to the directory.
    tasks: Option<String>,
}

/// What a repository would run, and what of it a person lets it.
#[utoipa::path(get, path = "/trust", params(Where),
    responses((status = 200, body = TrustView), (status = 400, body = Problem), (status = 404, body = Problem),
        (status = 409, body = Problem)))]
pub(super) async fn look(
    State(app): State<App>,
    Query(place): Query<Where>,
) -> Result<Json<TrustView>, Problem> {
    app.trust_view(place.directory, place.tasks).await.map(|found| Json(found.view))
}

/// The projects that may run something.
#[utoipa::path(get, path = "/trusted", responses((status = 200, body = [TrustView])))]
pub(super) async fn list(State(app): State<App>) -> Json<Vec<TrustView>> {
    let world = app.driver.journal.world();
    let trusted = world.projects.values().filter(|project| !project.trusted.is_empty());
    Json(trusted.map(kept).collect())
}

/// Lets a repository run what was shown. If that has changed meanwhile, it is not given.
#[utoipa::path(post, path = "/trust", request_body = NewTrust,
    responses((status = 200, body = TrustView), (status = 400, body = Problem), (status = 404, body = Problem),
        (status = 409, body = Problem)))]
pub(super) async fn give(
    State(app): State<App>,
    headers: HeaderMap,
    Body(new): Body<NewTrust>,
) -> Result<Json<TrustView>, Problem> {
    let key = key(&headers, "/trust", &new)?;
    let found = app.trust_view(new.directory.clone(), new.tasks.clone()).await?;
    let is_of_user = new.directory == CONFIGURATION;
    let is_shown = |command: &TrustedView| new.hashes.contains(&command.hash);
    if found.view.commands.iter().any(|command| !is_shown(command)) {
        let title = "what this repository would run has changed since it was shown";
        return Err(Problem::new(StatusCode::CONFLICT, Code::TrustChanged, title)
            .hint("Look at it again: ostler trust")
            .details(json!({ "key": "trust_changed" })));
    }
    if is_of_user {
        app.agree_to_configuration(&found.view.commands).await?;
    } else {
        app.driver.journal.submit_for(found.agreed(), key).await?;
    }
    app.trust_view(new.directory, new.tasks).await.map(|found| Json(found.view))
}

/// Lets a repository run nothing any more.
#[utoipa::path(post, path = "/trust/revoke", request_body = NewRevocation,
    responses((status = 200, body = TrustView), (status = 404, body = Problem)))]
pub(super) async fn revoke(
    State(app): State<App>,
    headers: HeaderMap,
    Body(new): Body<NewRevocation>,
) -> Result<Json<TrustView>, Problem> {
    let key = key(&headers, "/trust/revoke", &new)?;
    if new.directory == CONFIGURATION {
        app.agree_to_configuration(&[]).await?;
        return app.trust_view(new.directory, None).await.map(|found| Json(found.view));
    }
    let named = new.directory.clone();
    // What is gone, or cannot be read any more, can still be named.
    let root = tokio::task::spawn_blocking(move || {
        let directory = directory(&named).ok()?;
        let repository = repository(&directory).ok().flatten();
        Some(project_root(&directory, repository.as_ref()))
    });
    let root = root.await.ok().flatten().and_then(|root| text(&root).ok()).unwrap_or(new.directory);
    let project = || {
        let world = app.driver.journal.world();
        world.project_at(&root).and_then(|id| world.projects.get(&id)).map(kept)
    };
    if project().is_none() {
        return Err(Problem::not_found(Code::NoProject, &root));
    }
    app.driver.journal.submit_for(Input::Distrust { root: root.clone() }, key).await?;
    project().map(Json).ok_or_else(|| Problem::not_found(Code::NoProject, &root))
}

/// What was found in a directory.
struct Found {
    view: TrustView,
    name: String,
    is_git: bool,
}

impl Found {
    /// Somebody agrees to all of it.
    fn agreed(self) -> Input {
        let commands = self.view.commands.into_iter();
        let commands = commands.map(|TrustedView { key, file, hash, .. }| Trusted { key, file, hash });
        let (root, name, git) = (self.view.root, self.name, self.is_git);
        Input::Trust { root, name, git, commands: commands.collect() }
    }
}

impl App {
    /// Lets a project run what it brings along, because Ostler itself has just written all of it.
    pub(super) async fn trust_own(&self, directory: String) -> Result<(), Problem> {
        let found = self.trust_view(directory, None).await?;
        self.driver.journal.submit_for(found.agreed(), None).await?;
        Ok(())
    }

    /// Agrees to these commands of the user's own configuration, and to no others.
    async fn agree_to_configuration(&self, shown: &[TrustedView]) -> Result<(), Problem> {
        let hashes: Vec<String> = shown.iter().map(|command| command.hash.clone()).collect();
        let driver = self.driver.clone();
        let kept = tokio::task::spawn_blocking(move || {
            let config = Config::of_user().map_err(|error| error.to_string())?;
            let mut commands = config.own_commands;
            commands.retain(|command| hashes.contains(&command.fingerprint()));
            driver.consent.agree(&commands).map_err(|error| error.to_string())
        });
        kept.await?.map_err(not_written)
    }

    async fn trust_view(&self, directory: String, tasks: Option<String>) -> Result<Found, Problem> {
        let driver = self.driver.clone();
        let found = tokio::task::spawn_blocking(move || look_at(&driver, &directory, tasks.as_deref())).await;
        found?
    }
}

/// The commands of the user's own configuration that the server runs itself.
fn look_at_configuration(driver: &Driver) -> Result<Found, Problem> {
    let config = Config::of_user().map_err(|error| {
        Problem::bad(Code::Configuration, error.to_string()).hint("Mend the file; nothing was changed.")
    })?;
    let show = |it: &RepositoryCommand| TrustedView {
        key: it.key.clone(),
        value: Some(it.value.clone()),
        file: it.file.display().to_string(),
        hash: it.fingerprint(),
        trusted: driver.consent.allows(it),
    };
    let commands = config.own_commands.iter().map(show).collect();
    let file = user_file().map(|path| path.display().to_string()).unwrap_or_default();
    let view = TrustView { root: file, given_at_ms: None, commands };
    Ok(Found { view, name: CONFIGURATION.to_owned(), is_git: false })
}

fn look_at(driver: &Driver, named: &str, tasks: Option<&str>) -> Result<Found, Problem> {
    if named == CONFIGURATION {
        return look_at_configuration(driver);
    }
    let directory = directory(named)?;
    let of_project = Orchestrated::find(&directory, None);
    let of_tasks = tasks.map(|tasks| named_tasks(&directory, tasks)).transpose()?;
    let repository = repository(&directory)?;
    let place = project_root(&directory, repository.as_ref());
    let root = text(&place)?;
    let name = place.file_name().map_or_else(|| "/".to_owned(), |name| name.to_string_lossy().into_owned());
    let trusted = driver.trusted(&root);
    let show = |key: String, value: String, file: &Path, hash: String| {
        let is_trusted = trusted.contains(&hash);
        TrustedView { key, value: Some(value), file: file.display().to_string(), hash, trusted: is_trusted }
    };
    let mut commands = Vec::new();
    if let Some(repository) = &repository {
        let programs = repository.programs().map_err(|error| refused_by_git(&error))?;
        commands.extend(programs.into_iter().map(|it| {
            let hash = it.fingerprint();
            show(it.key, it.value, &it.file, hash)
        }));
    }
    let settings = repository.as_ref().map_or(place.as_path(), Repository::directory_root);
    let config = Config::load(Some(settings), &trusted).map_err(|error| {
        Problem::bad(Code::Configuration, error.to_string()).hint("Mend the file; nothing was changed.")
    })?;
    let settings = config.commands.iter().filter(|it| !it.key.starts_with(ROLES));
    commands.extend(settings.map(|it| show(it.key.clone(), it.value.clone(), &it.file, it.fingerprint())));
    let orchestrated = [Some(of_project), of_tasks];
    for it in orchestrated.iter().flatten().flat_map(|it| verified(it).chain(of_tests(it, &config))) {
        let hash = it.fingerprint();
        // Both files may have the same.
        if !commands.iter().any(|known: &TrustedView| known.hash == hash) {
            commands.push(show(it.key, it.value, &it.file, hash));
        }
    }
    let roles = of_roles(&place);
    commands.extend(roles.map(|it| show(it.key.clone(), it.value.clone(), &it.file, it.fingerprint())));
    let given_at_ms = {
        let world = driver.journal.world();
        world.project_at(&root).and_then(|id| world.projects.get(&id)).and_then(|it| it.trusted_at_ms)
    };
    let is_git = repository.is_some();
    Ok(Found { view: TrustView { root, given_at_ms, commands }, name, is_git })
}

/// What the keys of roles begin with.
const ROLES: &str = "office.roles.";

/// What roles are told and allowed: that of a file stands with the role that names it.
fn of_roles(root: &Path) -> impl Iterator<Item = RepositoryCommand> {
    roles::commands(root).into_iter()
}

/// The project with a task file that somebody has named: what lies elsewhere is not the repository's.
fn named_tasks(directory: &Path, tasks: &str) -> Result<Orchestrated, Problem> {
    let project = Orchestrated::find(directory, Some(Path::new(tasks)));
    project.task_file().map_err(|error| {
        Problem::new(StatusCode::NOT_FOUND, Code::NoTasks, error.to_string()).hint("Nothing was agreed to.")
    })?;
    if !project.is_task_file_inside() {
        return Err(Problem::bad(Code::TasksOutside, "the task file does not lie in the project")
            .hint("Nothing was read, and nothing was agreed to."));
    }
    let refused = |title: String| Problem::new(StatusCode::CONFLICT, Code::TasksUnreadable, title);
    project.plan().map_err(|error| refused(error.to_string()))?;
    Ok(project)
}

/// The commands by which tasks of a task file are verified.
fn verified(project: &Orchestrated) -> impl Iterator<Item = RepositoryCommand> {
    let (file, commands) = project.commands().unwrap_or_default();
    commands.into_iter().map(move |value| RepositoryCommand {
        key: "verify".to_owned(),
        value,
        file: file.clone(),
    })
}

/// The command that tests the phases of a task file, where nobody says which it is and it was found.
fn of_tests(project: &Orchestrated, config: &Config) -> Option<RepositoryCommand> {
    project.task_file().ok().filter(|_| config.orchestrate.test.is_none())?;
    let value = find_tests(project.root())?;
    Some(RepositoryCommand { key: TEST.to_owned(), value, file: project.root().to_path_buf() })
}

/// What the journal remembers of a project: not the commands themselves.
fn kept(project: &Project) -> TrustView {
    let commands = project.trusted.iter().map(|it| TrustedView {
        key: it.key.clone(),
        value: None,
        file: it.file.clone(),
        hash: it.hash.clone(),
        trusted: true,
    });
    let (root, given_at_ms) = (project.root.clone(), project.trusted_at_ms);
    TrustView { root, given_at_ms, commands: commands.collect() }
}
