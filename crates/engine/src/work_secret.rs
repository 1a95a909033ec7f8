//! A secret in what a session has changed. Only its name and where it is come here.

use alloc::{string::String, vec::Vec};

use serde::{Deserialize, Serialize};

use crate::id::SessionId;

/// What Ostler does with the work when it finds a secret in it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum WorkStep {
    /// It is merged.
    Merge,
    /// It is committed in the checkout of the project.
    Commit,
    /// It is kept as a checkpoint.
    Checkpoint,
}

/// The result of looking through a session's work for secrets.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WorkScan {
    /// The session whose work it is.
    pub session: SessionId,
    /// What is done with the work.
    pub step: WorkStep,
    /// The secrets in it.
    pub found: Vec<SecretFound>,
    /// Why not all of it was checked: `vault` cannot be opened, or the change is too `long`.
    pub unchecked: Vec<String>,
}

/// Events about secrets in a session's work.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind")]
pub enum WorkSecretEvent {
    /// A secret is in what a session has changed, when that is merged or kept.
    #[serde(rename = "secret.found")]
    Found(SecretFound),
    /// Not all of what a session has changed could be checked for secrets.
    #[serde(rename = "secret.unchecked")]
    Unchecked {
        /// What was done with the work.
        step: WorkStep,
        /// Why not: `vault` cannot be opened, or the change is too `long`.
        why: Vec<String>,
    },
}

/// A secret in a changed file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SecretFound {
    /// Its name.
    pub secret: String,
    /// The file, from the root of the checkout.
    pub file: String,
    /// The first line with it.
    pub line: u64,
    /// What was done with the work.
    pub step: WorkStep,
}
