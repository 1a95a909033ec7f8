//! What the journal's database knows of sign-ins: a fingerprint of each. An entry of the file without one was not made by
//! Ostler, and lets nobody in.

use std::{collections::BTreeSet, path::Path};

use ostler_files::{FILE_BYTES_MAX, private};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use super::{Entry, Kind, SignIns};
use crate::random;

/// The name in the database.
pub(crate) const FACT: &str = "sign_ins";

/// The fingerprints of all sign-ins.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct SignInRecord {
    /// The last id that was given.
    pub(super) last: u64,
    pub(super) fingerprints: BTreeSet<String>,
}

impl SignInRecord {
    pub(super) fn of(all: &SignIns) -> SignInRecord {
        SignInRecord { last: all.last, fingerprints: all.entries.iter().map(fingerprint).collect() }
    }

    /// Reads the fact. One that cannot be read knows nobody.
    pub(super) fn parse(fact: Option<&str>) -> SignInRecord {
        fact.and_then(|text| serde_json::from_str(text).ok()).unwrap_or_default()
    }

    pub(super) fn text(&self) -> String {
        serde_json::to_string(self).expect("plain data")
    }

    /// Whether Ostler made an entry, and nobody has changed it since.
    pub(super) fn knows(&self, entry: &Entry) -> bool {
        self.fingerprints.contains(&fingerprint(entry))
    }

    /// Everybody who is in one of both.
    pub(super) fn with(&self, other: &SignInRecord) -> SignInRecord {
        let fingerprints = self.fingerprints.union(&other.fingerprints).cloned().collect();
        SignInRecord { last: self.last.max(other.last), fingerprints }
    }
}

/// The fact that knows nobody.
pub(crate) fn nobody() -> String {
    SignInRecord::default().text()
}

/// The fact of a file that was written before the database knew of it.
pub(crate) fn of_file(path: &Path) -> String {
    let bytes = private::read(path, FILE_BYTES_MAX).unwrap_or_default();
    let all: SignIns = serde_json::from_slice(&bytes).unwrap_or_default();
    SignInRecord::of(&all).text()
}

/// Stands for everything about an entry that does not change while it is used.
fn fingerprint(entry: &Entry) -> String {
    let Entry { id, kind, name, made_at_ms, used_at_ms: _, over_at_ms, hash, proof, port } = entry;
    // A browser that comes back stays longer; a token ends when it was to.
    let over_at_ms = if *kind == Kind::Browser { 0 } else { *over_at_ms };
    let text = serde_json::to_vec(&(id, kind, name, made_at_ms, over_at_ms, hash, proof, port));
    let digest: [u8; 32] = Sha256::digest(text.expect("plain data")).into();
    random::hexadecimal(&digest)
}
