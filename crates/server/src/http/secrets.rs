//! Secrets: what a person keeps for a project. A value comes in here and never goes out again.

use axum::{
    Json,
    extract::State,
    http::{HeaderMap, StatusCode},
};
use ostler_engine::{
    Input, ProjectId, SessionId,
    input::{NewProject, SecretNews},
};
use ostler_vault::{KeepTerms, Kind, Listed, Name, Reference, Scope, Secret, Value, Vault};
use serde::Deserialize;
use serde_json::json;

use super::{
    App,
    code::Code,
    extract::{Body, Query},
    problem::not_written,
    runs,
    wishes::key,
};
use crate::{
    api::{NewSecret, Problem, SecretView, Unlock, WhichSecret},
    environment::OWN,
    secrets::SecretsError,
};

/// Which secrets are wanted.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Which {
    /// Only those of this project, by its id or name.
    project: Option<String>,
    /// Only those of the project that this directory belongs to.
    directory: Option<String>,
}

/// The names of the secrets that are kept.
#[utoipa::path(get, path = "/secrets", params(("project" = Option<String>, Query), ("directory" = Option<String>, Query)),
    responses((status = 200, body = [SecretView]), (status = 423, body = Problem)))]
pub(super) async fn list(
    State(app): State<App>,
    Query(which): Query<Which>,
) -> Result<Json<Vec<SecretView>>, Problem> {
    let scope = match (&which.project, which.directory) {
        (None, None) => None,
        (project, directory) => match app.known_project(project.as_deref(), directory).await? {
            Some(project) => Some(scope(project)),
            None => return Ok(Json(Vec::new())),
        },
    };
    let listed = app
        .with_secrets(move |app| match app.driver.secrets.existing()? {
            Some(vault) => Ok(vault.list(scope.as_ref())?),
            None => Ok(Vec::new()),
        })
        .await?;
    Ok(Json(listed.iter().map(view).collect()))
}

/// Keeps a secret for a project.
#[utoipa::path(post, path = "/secrets", request_body = NewSecret,
    responses((status = 201, body = SecretView), (status = 400, body = Problem), (status = 423, body = Problem)))]
pub(super) async fn put(
    State(app): State<App>,
    headers: HeaderMap,
    Body(new): Body<NewSecret>,
) -> Result<(StatusCode, Json<SecretView>), Problem> {
    let NewSecret { directory, project, name, value, from, reuse, plain } = new;
    // The value is wiped from here on, whatever becomes of the rest.
    let value = value.map(Secret::new);
    let (name, reuse) = (named(&name)?, reuse.unwrap_or(true));
    let value = match (value, from) {
        (Some(value), None) => Value::Stored(value),
        (None, Some(from)) => Value::Reference(Reference::parse(&from).map_err(|error| {
            Problem::bad(Code::BadReference, error.to_string())
                .hint("Such as env:STRIPE_KEY, file:/run/secrets/stripe or 'cmd:pass show stripe'.")
        })?),
        _ => {
            return Err(Problem::bad(Code::NoValue, "either a value or a reference is wanted")
                .hint("GET /api/v1/openapi.json describes every body."));
        }
    };
    value.check(&name).map_err(|error| problem(&error.into()))?;
    // What stands for the request in the journal must not stand for the value: a short one could be guessed from it.
    let key = key(&headers, "/secrets", &json!([directory, project, name.as_str()]))?;
    let project = app.project(project.as_deref(), directory).await?;
    let at_ms = app.driver.journal.clock().now_ms();
    let kept = name.clone();
    let listed = app
        .with_secrets(move |app| {
            let vault = app.driver.secrets.vault()?;
            vault.put(&scope(project), &kept, &value, KeepTerms { reuse, plain, at_ms })?;
            Ok(find(&vault, project, &kept)?)
        })
        .await?
        .ok_or_else(|| Problem::internal("the secret is gone again"))?;
    let (what, version) = (what(listed.kind).to_owned(), listed.version.0);
    let news = SecretNews::Stored { what, reuse, version };
    let input = Input::Secret { project, name: name.to_string(), news };
    app.driver.journal.submit_for(input, key).await?;
    Ok((StatusCode::CREATED, Json(view(&listed))))
}

/// Removes a secret of a project.
#[utoipa::path(post, path = "/secrets/remove", request_body = WhichSecret,
    responses((status = 200), (status = 404, body = Problem), (status = 423, body = Problem)))]
pub(super) async fn remove(
    State(app): State<App>,
    headers: HeaderMap,
    Body(which): Body<WhichSecret>,
) -> Result<Json<serde_json::Value>, Problem> {
    let key = key(&headers, "/secrets/remove", &which)?;
    let missing = || no_secret(&which.name);
    // One that was kept before its name was refused can be removed.
    let name = Name::new(&which.name).map_err(|_| missing())?;
    if let Some(session) = &which.session {
        return app.remove_of_session(session, name).await;
    }
    let project = app.known_project(which.project.as_deref(), which.directory.clone()).await?;
    let project = project.ok_or_else(missing)?;
    let kept = name.clone();
    let removed = app
        .with_secrets(move |app| match app.driver.secrets.existing()? {
            Some(vault) => Ok(vault.remove(&scope(project), &kept)?),
            None => Ok(false),
        })
        .await?;
    if !removed {
        return Err(missing());
    }
    let input = Input::Secret { project, name: name.to_string(), news: SecretNews::Removed };
    app.driver.journal.submit_for(input, key).await?;
    Ok(Json(json!({ "removed": name.as_str() })))
}

/// Opens the vault with its passphrase, for as long as this server lives.
#[utoipa::path(post, path = "/secrets/unlock", request_body = Unlock,
    responses((status = 200), (status = 403, body = Problem), (status = 409, body = Problem)))]
pub(super) async fn unlock(
    State(app): State<App>,
    Body(Unlock { passphrase }): Body<Unlock>,
) -> Result<Json<serde_json::Value>, Problem> {
    let passphrase = Secret::new(passphrase);
    app.with_secrets(move |app| app.driver.secrets.unlock(passphrase)).await?;
    Ok(Json(json!({ "unlocked": true })))
}

impl App {
    /// Does something with the vault on a thread that may wait.
    pub(super) async fn with_secrets<T: Send + 'static>(
        &self,
        what: impl FnOnce(&App) -> Result<T, SecretsError> + Send + 'static,
    ) -> Result<T, Problem> {
        let app = self.clone();
        let done = tokio::task::spawn_blocking(move || {
            let done = what(&app)?;
            app.driver.secrets.note_changes()?;
            Ok(done)
        })
        .await;
        done?.map_err(|error| problem(&error))
    }

    /// What one session was given and nobody else. It has what it has until it ends; it cannot be resumed without.
    async fn remove_of_session(&self, session: &str, name: Name) -> Result<Json<serde_json::Value>, Problem> {
        let not_found = || Problem::not_found(Code::NoSession, session);
        let id: SessionId = session.parse().map_err(|_| not_found())?;
        let kept = name.clone();
        let removed = self.with_secrets(move |app| match app.driver.secrets.existing()? {
            Some(vault) => Ok(vault.remove(&Scope::Session(id.to_string()), &kept)?),
            None => Ok(false),
        });
        if !removed.await? {
            return Err(no_secret(name.as_str()));
        }
        Ok(Json(json!({ "removed": name.as_str() })))
    }

    /// The project that is meant; a directory is registered if it must be.
    async fn project(&self, project: Option<&str>, directory: Option<String>) -> Result<ProjectId, Problem> {
        if let Some(found) = self.known_project(project, directory.clone()).await? {
            return Ok(found);
        }
        let new = found_at(directory).await?;
        let made = self.driver.journal.submit(Input::Register(new), None).await?;
        made.project.ok_or_else(|| Problem::internal("a project was not registered"))
    }

    /// The project that is meant, if it is known. One that is named has to be.
    async fn known_project(
        &self,
        project: Option<&str>,
        directory: Option<String>,
    ) -> Result<Option<ProjectId>, Problem> {
        if let Some(wanted) = project {
            let world = self.driver.journal.world();
            let id = wanted.parse().ok();
            let mut named = world.projects.values().filter(|it| Some(it.id) == id || it.name == wanted);
            return match (named.next(), named.next()) {
                (Some(found), None) => Ok(Some(found.id)),
                (Some(_), Some(_)) => {
                    let title = format!("several projects are called '{wanted}'");
                    Err(Problem::bad(Code::SeveralProjects, title).hint("Name it by its id, such as p_3."))
                }
                (None, _) => {
                    let title = format!("there is no project '{wanted}'");
                    Err(Problem::new(StatusCode::NOT_FOUND, Code::NoProject, title)
                        .hint("A project is known once something ran in it, or a secret was set there."))
                }
            };
        }
        let new = found_at(directory).await?;
        Ok(self.driver.journal.world().project_at(&new.root))
    }
}

/// The project that a directory belongs to.
async fn found_at(directory: Option<String>) -> Result<NewProject, Problem> {
    let directory = directory.ok_or_else(|| {
        Problem::bad(Code::NoPlace, "neither a project nor a directory says where the secret belongs")
    })?;
    let found = tokio::task::spawn_blocking(move || runs::project_at(&directory)).await;
    found?
}

fn problem(error: &SecretsError) -> Problem {
    let (status, kind) = match error {
        SecretsError::Config(_) => (StatusCode::BAD_REQUEST, Code::Configuration),
        SecretsError::Locked => (StatusCode::LOCKED, Code::VaultLocked),
        SecretsError::NotLocked => (StatusCode::CONFLICT, Code::VaultNotLocked),
        SecretsError::Open(ostler_vault::OpenError::WrongKey { .. }) => {
            (StatusCode::FORBIDDEN, Code::VaultWrongKey)
        }
        SecretsError::Write(
            ostler_vault::WriteError::Empty { .. }
            | ostler_vault::WriteError::TooLong { .. }
            | ostler_vault::WriteError::Zero { .. },
        ) => (StatusCode::BAD_REQUEST, Code::BadValue),
        SecretsError::Read(ostler_vault::ReadError::Reference { .. }) => {
            (StatusCode::CONFLICT, Code::SecretOutOfReach)
        }
        SecretsError::Write(ostler_vault::WriteError::Open(ostler_vault::OpenError::Io { .. })) => {
            return not_written(error.to_string());
        }
        _ => (StatusCode::CONFLICT, Code::Vault),
    };
    Problem::new(status, kind, error.to_string()).hint(error.advice())
}

/// The name of a variable that is not one of Ostler's own: those say how Ostler itself behaves.
pub(super) fn named(name: &str) -> Result<Name, Problem> {
    let bad = |title: String| Problem::bad(Code::BadName, title).hint("Such as STRIPE_SECRET_KEY.");
    if name.starts_with(OWN) {
        return Err(bad(format!("'{name}' is a name that Ostler itself uses")));
    }
    Name::new(name).map_err(|error| bad(error.to_string()))
}

fn no_secret(name: &str) -> Problem {
    Problem::new(StatusCode::NOT_FOUND, Code::NoSecret, format!("there is no secret {name} here"))
        .details(json!({ "name": name }))
        .hint("List them: ostler secret list --all")
}

fn scope(project: ProjectId) -> Scope {
    Scope::Project(project.to_string())
}

fn find(vault: &Vault, project: ProjectId, name: &Name) -> Result<Option<Listed>, ostler_vault::ReadError> {
    Ok(vault.list(Some(&scope(project)))?.into_iter().find(|listed| listed.name == *name))
}

fn what(kind: Kind) -> &'static str {
    match kind {
        Kind::Stored => "stored",
        Kind::Env => "env",
        Kind::File => "file",
        Kind::Cmd => "cmd",
    }
}

fn view(listed: &Listed) -> SecretView {
    SecretView {
        scope: listed.scope.to_string(),
        name: listed.name.to_string(),
        what: what(listed.kind).to_owned(),
        reuse: listed.reuse,
        plain: listed.plain,
        version: listed.version.0,
        at_ms: listed.at_ms,
    }
}
