//! Secrets: kept encrypted, brought where they are needed, and masked in everything that is shown.
//!
//! [`Vault`] keeps them in one file of its directory, [`Reference`] points to those that somebody else keeps, and
//! [`Masker`] takes them out of what an agent prints. The server, the command line and the shim use it.
//!
//! A value never leaves it in a form that could be printed by accident: [`Secret`] has neither `Debug` nor
//! `Display` nor `Serialize`. It knows nothing of sessions, requests or HTTP, and it has no clock.

mod appearance;
mod cipher;
mod error;
mod file;
mod guard;
mod hex;
mod key;
mod mask;
mod name;
mod place;
mod reference;
mod secret;
mod vault;

pub use appearance::looks_secret;
pub use error::{OpenError, ReadError, WriteError};
pub use guard::guard;
pub use key::{Key, KeyKind};
pub use mask::{MASKED_BYTES_MIN, Masker, Masks};
pub use name::{InvalidName, InvalidScope, Name, Scope};
pub use reference::{InvalidReference, Reference, ReferenceError, prepare_commands_with};
pub use secret::{Secret, VALUE_BYTES_MAX};
pub use vault::{KeepTerms, Kind, Listed, Mended, Value, Vault, Version, mend};
