//! What is said of secrets. A value goes in and never comes out.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// A secret to be kept. There is no `Debug`: it holds the value.
#[derive(Default, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct NewSecret {
    /// Where in a project, absolute; the project is registered if it is not known yet.
    #[serde(default)]
    pub directory: Option<String>,
    /// The project, by its id or name, instead of a directory.
    #[serde(default)]
    pub project: Option<String>,
    /// The name: that of the variable an agent gets.
    pub name: String,
    /// The value itself.
    #[serde(default)]
    pub value: Option<String>,
    /// Where it is looked up each time, instead of a value: `env:NAME`, `file:PATH` or `cmd:COMMAND`.
    #[serde(default)]
    pub from: Option<String>,
    /// Whether it may be given to agents of the project without asking; yes, if nothing is said.
    #[serde(default)]
    pub reuse: Option<bool>,
    /// Whether it does not count as secret: it is shown wherever it is printed. No, if nothing is said.
    #[serde(default)]
    pub plain: bool,
}

/// A secret that is meant.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct WhichSecret {
    /// Where in its project, absolute.
    #[serde(default)]
    pub directory: Option<String>,
    /// The project, by its id or name, instead of a directory.
    #[serde(default)]
    pub project: Option<String>,
    /// The session that alone was given it, instead of a project.
    #[serde(default)]
    pub session: Option<String>,
    /// Its name.
    pub name: String,
}

/// What opens the vault. There is no `Debug`: it holds the passphrase.
#[derive(Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct Unlock {
    /// The passphrase.
    pub passphrase: String,
}

/// What can be said of a secret.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct SecretView {
    /// The project or the session that it belongs to, by its id.
    pub scope: String,
    /// Its name.
    pub name: String,
    /// `stored`, or where it is looked up: `env`, `file` or `cmd`.
    pub what: String,
    /// Whether it may be given without asking.
    pub reuse: bool,
    /// Whether it does not count as secret and is not masked.
    #[serde(default)]
    pub plain: bool,
    /// The change of the vault that made it.
    pub version: u64,
    /// When, in milliseconds since 1970, UTC.
    pub at_ms: u64,
}
