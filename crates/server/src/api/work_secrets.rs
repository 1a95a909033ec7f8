//! Secrets in what a session has changed, as clients see them.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// Secrets in what a session has changed.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct WorkSecretsView {
    /// Each secret with each file that has it; at most 20.
    pub found: Vec<FoundSecretView>,
    /// How many more there are.
    pub more: u64,
    /// What could not be checked, so that nothing found there does not mean that nothing is there.
    pub unchecked: Vec<UncheckedWork>,
}

/// A secret in a changed file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct FoundSecretView {
    /// Its name.
    pub secret: String,
    /// The file, from the root of the checkout.
    pub file: String,
    /// The first line with it.
    pub line: u64,
}

/// Why something was not checked for secrets.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum UncheckedWork {
    /// The vault cannot be opened.
    Vault,
    /// More than 8 MiB were changed; only the first are checked.
    Long,
}

impl UncheckedWork {
    /// The word for it in JSON.
    pub(crate) fn word(self) -> &'static str {
        match self {
            UncheckedWork::Vault => "vault",
            UncheckedWork::Long => "long",
        }
    }
}
