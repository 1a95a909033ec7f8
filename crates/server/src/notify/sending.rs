//! Brings one message to where a channel leads. Addresses and tokens are looked up for it, and wiped behind it.

use std::{fmt, sync::Arc};

use hyper::{
    HeaderMap, Method,
    header::{self, HeaderName, HeaderValue},
};
use ostler_engine::ProjectId;
use ostler_vault::{ReferenceError, Scope, Secret};
use serde_json::Value;

use super::{
    command::{self, CommandError},
    ledger::{Failure, What},
    outgoing::{CallError, InvalidUrl, Outgoing, Url},
    render::{Said, Style, signature},
};
use crate::{
    config::{Hidden, Target, Way},
    driver::Driver,
    secrets::SecretsError,
};

/// Where a receiver finds when a message was signed, in seconds since 1970.
const TIMESTAMP: HeaderName = HeaderName::from_static("ostler-timestamp");

/// Where it finds the signature.
const SIGNATURE: HeaderName = HeaderName::from_static("ostler-signature");

/// Where ntfy finds what a message takes the place of.
const SEQUENCE: HeaderName = HeaderName::from_static("x-sequence-id");

/// Why a message did not arrive, or not certainly. None of these holds a secret.
#[derive(Debug)]
pub(crate) enum SendError {
    /// What stands for a secret cannot be looked up.
    Reference(ReferenceError),
    /// The vault cannot be used.
    Vault(SecretsError),
    /// There is no such project, or no such secret in it.
    NoSecret {
        place: String,
    },
    /// What was looked up is no address.
    Url(InvalidUrl),
    /// A token that no header can hold.
    Token,
    Call(CallError),
    Command(CommandError),
}

/// Brings it there.
pub(crate) async fn send(
    driver: &Arc<Driver>,
    way: &Way,
    style: &Style,
    said: Said<'_>,
) -> Result<(), SendError> {
    let now_ms = driver.journal.clock().now_ms();
    match way {
        Way::Command { arguments } => {
            let told = style.program(said, now_ms).to_string();
            let run = command::run(&driver.program, arguments, style.variables(said), told.as_bytes());
            run.await.map_err(SendError::Command)
        }
        Way::Slack { target } => {
            if takes_back(said) {
                return Ok(());
            }
            let url = url(driver, target).await?;
            post(target, url, HeaderMap::new(), &style.slack(said)).await
        }
        Way::Webhook { target, secret } => {
            let url = url(driver, target).await?;
            let body = style.program(said, now_ms);
            let secret = look_up(driver, secret).await?;
            let seconds = now_ms / 1000;
            let signed = signature(secret.expose(), seconds, body.to_string().as_bytes());
            let mut headers = HeaderMap::new();
            headers.insert(TIMESTAMP, HeaderValue::from(seconds));
            headers.insert(SIGNATURE, HeaderValue::from_str(&signed).map_err(|_| SendError::Token)?);
            post(target, url, headers, &body).await
        }
        Way::Ntfy { target, token } => ntfy(driver, target, token.as_ref(), style, said).await,
    }
}

async fn ntfy(
    driver: &Arc<Driver>,
    target: &Target,
    token: Option<&Hidden>,
    style: &Style,
    said: Said<'_>,
) -> Result<(), SendError> {
    let (server, topic) = url(driver, target).await?.topic().map_err(SendError::Url)?;
    let mut headers = HeaderMap::new();
    if let Some(token) = token {
        let token = look_up(driver, token).await?;
        let value = zeroize::Zeroizing::new(format!("Bearer {}", token.expose()));
        let mut value = HeaderValue::from_str(&value).map_err(|_| SendError::Token)?;
        value.set_sensitive(true);
        headers.insert(header::AUTHORIZATION, value);
    }
    if takes_back(said) {
        let url = server.at(format!("/{topic}/{}", said.id()));
        return call(target, url, Method::DELETE, headers, Vec::new()).await;
    }
    headers.insert(SEQUENCE, HeaderValue::from_str(said.id()).map_err(|_| SendError::Token)?);
    post(target, server, headers, &style.ntfy(&topic, said)).await
}

fn takes_back(said: Said<'_>) -> bool {
    matches!(said, Said::Message(message) if message.what == What::Settled)
}

async fn post(target: &Target, url: Url, mut headers: HeaderMap, body: &Value) -> Result<(), SendError> {
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
    call(target, url, Method::POST, headers, body.to_string().into_bytes()).await
}

async fn call(
    target: &Target,
    url: Url,
    method: Method,
    headers: HeaderMap,
    body: Vec<u8>,
) -> Result<(), SendError> {
    let Target { allow_private, ca, .. } = target.clone();
    Outgoing { url, method, headers, body, allow_private, ca }.send().await.map_err(SendError::Call)
}

async fn url(driver: &Arc<Driver>, target: &Target) -> Result<Url, SendError> {
    let text = look_up(driver, &target.url).await?;
    Url::parse(text.expose(), target.allow_private).map_err(SendError::Url)
}

/// Looks a secret up, on a thread that may wait.
async fn look_up(driver: &Arc<Driver>, hidden: &Hidden) -> Result<Secret, SendError> {
    let (driver, hidden) = (Arc::clone(driver), hidden.clone());
    let found = tokio::task::spawn_blocking(move || match hidden {
        Hidden::Plain(text) => Ok(Secret::new(text)),
        Hidden::Reference(reference) => reference.resolve().map_err(SendError::Reference),
        Hidden::Vault { project, name } => {
            let place = format!("{project}/{name}");
            let none = || SendError::NoSecret { place: place.clone() };
            let scope = Scope::Project(project_of(&driver, &project).ok_or_else(none)?.to_string());
            let vault = driver.secrets.existing().map_err(SendError::Vault)?.ok_or_else(none)?;
            vault.get(&scope, &name).map_err(|error| SendError::Vault(error.into()))?.ok_or_else(none)
        }
    });
    found.await.unwrap_or_else(|_| Err(SendError::NoSecret { place: "it".to_owned() }))
}

/// The one project of that id or name.
fn project_of(driver: &Driver, wanted: &str) -> Option<ProjectId> {
    let world = driver.journal.world();
    let id = wanted.parse().ok();
    let mut found = world.projects.values().filter(|it| Some(it.id) == id || it.name == wanted);
    match (found.next(), found.next()) {
        (Some(project), None) => Some(project.id),
        _ => None,
    }
}

impl SendError {
    /// What the ledger has to know of it.
    pub(crate) fn failure(&self, what: What) -> Failure {
        let (is_certain, is_refusal, wait_ms) = match self {
            SendError::Call(error) => {
                (error.is_certain(), error.is_refusal(what == What::Settled), error.wait_ms())
            }
            // It may have shown something before it failed.
            SendError::Command(error) => (matches!(error, CommandError::NotStarted(_)), false, None),
            _ => (true, false, None),
        };
        Failure { message: self.to_string(), is_certain, is_refusal, wait_ms }
    }
}

impl fmt::Display for SendError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            SendError::Reference(source) => write!(f, "{source}"),
            SendError::Vault(source) => write!(f, "{source}"),
            SendError::NoSecret { place } => write!(f, "the vault has no {place}"),
            SendError::Url(source) => write!(f, "its url: {source}"),
            SendError::Token => write!(f, "its token holds what no header can"),
            SendError::Call(source) => write!(f, "{source}"),
            SendError::Command(source) => write!(f, "{source}"),
        }
    }
}

impl std::error::Error for SendError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            SendError::Reference(source) => Some(source),
            SendError::Vault(source) => Some(source),
            SendError::Url(source) => Some(source),
            SendError::Call(source) => Some(source),
            SendError::Command(source) => Some(source),
            SendError::NoSecret { .. } | SendError::Token => None,
        }
    }
}
