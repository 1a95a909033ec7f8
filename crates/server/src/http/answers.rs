//! Answers to requests. A value that comes with one goes to the vault before anything is submitted, and a file to the
//! workspace; what is submitted, kept for a repetition and shown names them and never holds them.

use std::{collections::BTreeMap, path::Path as FilePath};

use axum::{Json, extract::State, http::HeaderMap};
use ostler_engine::{
    Input, ProjectId, Refusal, RequestId, SessionId,
    answer::{Answer, Given, read},
    permission::PermissionRule,
    request::Ask,
};
use ostler_protocol::signal::DependencyType;
use ostler_vault::{KeepTerms, Listed, Name, Scope, Secret, Value, Vault, WriteError, looks_secret};
use serde_json::json;

use super::{
    App,
    code::Code,
    extract::{Body, Path},
    files::not_taken,
    problem::refused,
    secrets::named,
    wishes::key,
};
use crate::{
    api::{GivenValue, NewAnswer, Problem, RequestView},
    journal::SubmitError,
    secrets::SecretsError,
    services, uploads,
};

/// What has to be known of a request before it is answered.
pub(super) struct Asked {
    pub(super) ask: Ask,
    rules: Vec<PermissionRule>,
    session: SessionId,
    project: ProjectId,
    pub(super) directory: Option<String>,
}

/// What the vault had under a name.
struct Before {
    scope: Scope,
    name: Name,
    kept: Option<(Value, Listed)>,
}

impl Before {
    fn of(vault: &Vault, scope: Scope, name: Name) -> Result<Before, SecretsError> {
        let listed = vault.list(Some(&scope))?.into_iter().find(|it| it.name == name);
        let value = match vault.reference(&scope, &name)? {
            Some(reference) => Some(Value::Reference(reference)),
            None => vault.get(&scope, &name)?.map(Value::Stored),
        };
        Ok(Before { scope, name, kept: value.zip(listed) })
    }
}

/// Answers a request.
#[utoipa::path(post, path = "/requests/{id}/answer", params(("id" = String, Path)), request_body = NewAnswer,
    responses((status = 200, body = RequestView), (status = 404, body = Problem), (status = 409, body = Problem)))]
pub(super) async fn answer(
    State(app): State<App>,
    Path(id): Path<String>,
    headers: HeaderMap,
    Body(new): Body<NewAnswer>,
) -> Result<Json<RequestView>, Problem> {
    let request: RequestId = id.parse().map_err(|_| Problem::not_found(Code::NoRequest, &id))?;
    let NewAnswer { value, decision, insist, values, reuse, secret, skip } = new;
    let provided: Vec<String> = values.keys().cloned().collect();
    // What is kept to know a repetition by says nothing of a value, not even whether it is another one.
    let mut known_by =
        vec![json!(value), json!(decision), json!(insist), json!(provided), json!(reuse), json!(skip)];
    known_by.extend(secret.map(|secret| json!({ "secret": secret })));
    let key = key(&headers, &format!("/requests/{request}/answer"), &known_by)?;
    let mut given = Given { value, decision, insist, provided, reuse, skip };
    // Of two answers at once the second finds the request settled before it has put anything in its place.
    let _turn = app.driver.answers.wait(request).await;
    let mut before = Vec::new();
    // Whoever is settled or unknown is refused below, in the engine's words; nothing is kept for it.
    if let Some(asked) = app.asked(request) {
        let answer = read(&asked.ask, &asked.rules, &given)
            .map_err(|why| refused(&Refusal::NotAnAnswer { request, why }))?;
        match answer {
            Answer::Provided { reuse, .. } => before = app.keep(&asked, values, reuse, secret).await?,
            Answer::Path { path } => given.value = Some(app.bring(&asked, path).await?),
            _ => {}
        }
    }
    let input = Input::Answer { request, given, printed: app.printed_of_request(request) };
    if let Err(error) = app.driver.journal.submit_for(input, key).await {
        // It was cancelled or expired in between: consent that nobody took is none. Where the store failed nobody
        // knows whether the answer counts, and a value that is kept for nothing does less harm than one that lacks.
        if matches!(error, SubmitError::Refused(_) | SubmitError::KeyReused) {
            app.put_back(before).await?;
        }
        return Err(error.into());
    }
    app.request_view(request).map(Json)
}

impl App {
    /// An open request of a session that is known.
    pub(super) fn asked(&self, id: RequestId) -> Option<Asked> {
        let world = self.driver.journal.world();
        let request = world.requests.get(&id).filter(|request| request.is_open())?;
        let directory = world.sessions.get(&request.session).map(|session| session.directory().to_owned());
        let (session, project) = (request.session, request.project);
        Some(Asked { ask: request.ask.clone(), rules: request.rules.clone(), session, project, directory })
    }

    /// Puts values into the vault: for the project where they may be given again, else for the session alone. Says what
    /// was in their place.
    async fn keep(
        &self,
        asked: &Asked,
        values: BTreeMap<String, GivenValue>,
        reuse: bool,
        secret: Option<bool>,
    ) -> Result<Vec<Before>, Problem> {
        let scope = if reuse {
            Scope::Project(asked.project.to_string())
        } else {
            Scope::Session(asked.session.to_string())
        };
        let mut named = Vec::with_capacity(values.len());
        for (name, value) in values {
            let counts = secret.unwrap_or_else(|| counts_as_secret(&asked.ask, &name, value.expose()));
            named.push((valid_name(&name)?, Secret::new(value.expose().to_owned()), counts));
        }
        let at_ms = self.driver.journal.clock().now_ms();
        self.with_secrets(move |app| {
            let vault = app.driver.secrets.vault()?;
            let mut before = Vec::with_capacity(named.len());
            for (name, secret, counts) in named {
                let was = Before::of(&vault, scope.clone(), name.clone())?;
                let terms = KeepTerms { reuse, plain: !counts, at_ms };
                if let Err(error) = vault.put(&scope, &name, &Value::Stored(secret), terms) {
                    // All of them, or none.
                    put_back(&vault, before)?;
                    return Err(error.into());
                }
                before.push(was);
            }
            Ok(before)
        })
        .await
    }

    /// Makes the vault what it was.
    async fn put_back(&self, before: Vec<Before>) -> Result<(), Problem> {
        if before.is_empty() {
            return Ok(());
        }
        self.with_secrets(move |app| {
            let vault = app.driver.secrets.vault()?;
            Ok(put_back(&vault, before)?)
        })
        .await
    }

    /// Brings a file into the workspace, and gives its path as the agent sees it.
    async fn bring(&self, asked: &Asked, path: String) -> Result<String, Problem> {
        let (Some(directory), Ask::Dependency(dependency)) = (asked.directory.clone(), &asked.ask) else {
            return Ok(path);
        };
        let wanted = dependency.name.clone();
        let brought = tokio::task::spawn_blocking(move || {
            let directory = FilePath::new(&directory);
            uploads::bring(directory, &directory.join(path.trim()), &wanted)
        });
        brought.await?.map_err(|error| not_taken(&error))
    }
}

/// Makes a vault what it was.
fn put_back(vault: &Vault, before: Vec<Before>) -> Result<(), WriteError> {
    for Before { scope, name, kept } in before {
        match kept {
            Some((value, listed)) => {
                let Listed { reuse, plain, at_ms, .. } = listed;
                vault.put(&scope, &name, &value, KeepTerms { reuse, plain, at_ms })?;
            }
            None => {
                vault.remove(&scope, &name)?;
            }
        }
    }
    Ok(())
}

/// Whether a value counts as secret where the person does not say: keys always, a variable of a service unless it is
/// known as plain, and any other variable if it looks like a secret.
fn counts_as_secret(ask: &Ask, name: &str, value: &str) -> bool {
    let Ask::Dependency(dependency) = ask else { return true };
    match dependency.dependency_type {
        DependencyType::EnvVariable => looks_secret(name, value),
        DependencyType::Service => {
            let variables = services::find(&dependency.name).into_iter().flat_map(|it| &it.variables);
            let is_plain = variables.into_iter().any(|it| it.name == name && it.shown);
            !is_plain || looks_secret(name, value)
        }
        DependencyType::ApiKey
        | DependencyType::File
        | DependencyType::Permission
        | DependencyType::Package => true,
    }
}

/// A name that can be that of a variable, and is not one of Ostler's own.
fn valid_name(name: &str) -> Result<Name, Problem> {
    named(name).map_err(|problem| problem.hint("Deny it with --no and say under which name you can give it."))
}
