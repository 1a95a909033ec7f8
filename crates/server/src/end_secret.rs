//! The secret from which the shims of a state directory get the keys that sign their ends.
//!
//! It stands in the database alone. A process of the user that reads the database can sign an end; one that writes into
//! files of a session cannot.

use std::io;

use ostler_shim::{EndKey, spool::Record};
use ostler_store::{Reads, Sqlite, Store};

use crate::random;

/// The name in the database.
const META: &str = "end_secret";

/// The secret, and since when launches have keys.
#[derive(Clone)]
pub(crate) struct EndSecret {
    secret: String,
    /// A launch of a server from before there were keys has none, and its shim signs nothing.
    since_ms: u64,
}

impl EndSecret {
    /// The secret of a state directory; a new one where there is none.
    pub(crate) fn of(store: &mut Sqlite, now_ms: u64) -> io::Result<EndSecret> {
        let kept = store.meta(META).map_err(io::Error::other)?;
        if let Some(found) = kept.as_deref().and_then(EndSecret::read) {
            return Ok(found);
        }
        let made = EndSecret { secret: random::word(), since_ms: now_ms };
        store.set_meta(META, &format!("{} {}", made.since_ms, made.secret)).map_err(io::Error::other)?;
        Ok(made)
    }

    fn read(text: &str) -> Option<EndSecret> {
        let (since_ms, secret) = text.split_once(' ')?;
        Some(EndSecret { secret: secret.to_owned(), since_ms: since_ms.parse().ok()? })
    }

    /// The key of a launch, by its marker.
    pub(crate) fn key(&self, marker: &str) -> EndKey {
        EndKey::derive(self.secret.as_bytes(), marker)
    }

    /// Whether a record may count for a launch that began at this time.
    pub(crate) fn is_believed(&self, marker: &str, at_ms: u64, record: &Record) -> bool {
        at_ms < self.since_ms || self.key(marker).is_believed(record)
    }
}

impl std::fmt::Debug for EndSecret {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "EndSecret since {}", self.since_ms)
    }
}
