//! What a vault is sealed with: a key in a file of its own, or one that is made from a passphrase.

use std::{
    fmt,
    path::{Path, PathBuf},
};

use argon2::{Algorithm, Argon2, Params, Version};
use serde::{Deserialize, Serialize};
use zeroize::Zeroizing;

use crate::{
    cipher::{Cipher, KEY_BYTES, random},
    error::OpenError,
    hex, place,
    secret::Secret,
};

/// What a key file begins with, so that it is known for what it is.
const FILE_HEAD: &str = "ostler vault key 1\n";

/// How hard it is to make a key from a passphrase. What RFC 9106 names second, on one lane.
const WORK: Work = Work { memory_kib: 64 << 10, passes: 3, lanes: 1 };

/// More work than this is somebody's attempt to keep us busy.
const WORK_MAX: Work = Work { memory_kib: 1 << 20, passes: 16, lanes: 16 };

/// What a vault is opened with.
pub enum Key {
    /// A file that only its owner can read; it is made if there are no secrets yet.
    File(PathBuf),
    /// Words that a person knows, or that a keyring keeps.
    Passphrase(Secret),
}

/// The kinds of keys.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum KeyKind {
    /// In a file.
    File,
    /// From a passphrase.
    Passphrase,
}

/// How a vault's key is found again: stands in the vault's file, and is no secret.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub(crate) enum Found {
    File,
    Passphrase {
        salt: String,
        #[serde(flatten)]
        work: Work,
    },
}

/// How much work Argon2id is to do.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Work {
    memory_kib: u32,
    passes: u32,
    lanes: u32,
}

impl Found {
    /// For a new vault.
    pub(crate) fn new(key: &Key) -> Found {
        match key {
            Key::File(_) => Found::File,
            Key::Passphrase(_) => Found::Passphrase { salt: hex::digits(&random::<16>()), work: WORK },
        }
    }

    fn kind(&self) -> KeyKind {
        match self {
            Found::File => KeyKind::File,
            Found::Passphrase { .. } => KeyKind::Passphrase,
        }
    }
}

/// The key file of a vault that has none yet. Whoever calls holds the vault's lock.
pub(crate) fn make_file(path: &Path) -> Result<(), OpenError> {
    let key = Zeroizing::new(random::<KEY_BYTES>());
    let text = Zeroizing::new(format!("{FILE_HEAD}{}\n", &*Zeroizing::new(hex::digits(&*key))));
    // One that is there already is as good: it may serve another vault.
    place::make(path, text.as_bytes()).map(drop)
}

/// Makes the cipher of the vault whose file this is.
pub(crate) fn cipher(key: &Key, found: &Found, vault: &Path) -> Result<Cipher, OpenError> {
    match (key, found) {
        (Key::File(path), Found::File) => from_file(path),
        (Key::Passphrase(passphrase), Found::Passphrase { salt, work }) => {
            let damaged = || OpenError::Damaged { path: vault.to_path_buf() };
            let salt = hex::bytes(salt).ok_or_else(damaged)?;
            from_passphrase(passphrase, &salt, *work).ok_or_else(damaged)
        }
        _ => Err(OpenError::OtherKind { path: vault.to_path_buf(), sealed_with: found.kind() }),
    }
}

fn from_file(path: &Path) -> Result<Cipher, OpenError> {
    let text = place::read(path)?.ok_or_else(|| OpenError::KeyMissing { path: path.to_path_buf() })?;
    let digits = str::from_utf8(&text).ok().and_then(|text| text.strip_prefix(FILE_HEAD));
    let key = digits.and_then(|digits| hex::bytes(digits.trim_end())).map(Zeroizing::new);
    let key = key.and_then(|key| <[u8; KEY_BYTES]>::try_from(&**key).ok()).map(Zeroizing::new);
    key.map(|key| Cipher::new(&key)).ok_or_else(|| OpenError::KeyDamaged { path: path.to_path_buf() })
}

fn from_passphrase(passphrase: &Secret, salt: &[u8], work: Work) -> Option<Cipher> {
    let Work { memory_kib, passes, lanes } = work;
    if memory_kib > WORK_MAX.memory_kib || passes > WORK_MAX.passes || lanes > WORK_MAX.lanes {
        return None;
    }
    let params = Params::new(memory_kib, passes, lanes, Some(KEY_BYTES)).ok()?;
    let mut key = Zeroizing::new([0; KEY_BYTES]);
    let argon2 = Argon2::new(Algorithm::Argon2id, Version::V0x13, params);
    argon2.hash_password_into(passphrase.expose().as_bytes(), salt, &mut *key).ok()?;
    Some(Cipher::new(&key))
}

impl fmt::Display for KeyKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            KeyKind::File => "key file",
            KeyKind::Passphrase => "passphrase",
        })
    }
}
