//! Why a vault could not be opened, read or written, and what a person can do about it.

use std::{fmt, io, path::PathBuf};

use crate::{key::KeyKind, name::Name, reference::ReferenceError, secret::VALUE_BYTES_MAX};

/// Why a vault cannot be used.
#[derive(Debug)]
pub enum OpenError {
    /// The system refused.
    Io {
        /// The file or directory.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// Others could read or change it, or have put it there.
    NotPrivate {
        /// The file or directory.
        path: PathBuf,
        /// What is wrong with it.
        why: &'static str,
    },
    /// There are secrets, but not the key that they are sealed with.
    KeyMissing {
        /// Where it should be.
        path: PathBuf,
    },
    /// The key file holds no key.
    KeyDamaged {
        /// The file.
        path: PathBuf,
    },
    /// The vault is sealed in another way.
    OtherKind {
        /// The file.
        path: PathBuf,
        /// What it is sealed with.
        sealed_with: KeyKind,
    },
    /// The key or passphrase is not the one it was sealed with.
    WrongKey {
        /// The file.
        path: PathBuf,
    },
    /// The file was changed by something else than a vault.
    Damaged {
        /// The file.
        path: PathBuf,
    },
    /// The file is older than the last one that was written.
    Older {
        /// The file.
        path: PathBuf,
        /// Its count of changes.
        found: u64,
        /// That of the last one, if it is still known.
        expected: Option<u64>,
    },
    /// The file is gone, but something says that there was one.
    Missing {
        /// The file.
        path: PathBuf,
    },
    /// A later version of the program wrote it.
    Newer {
        /// The file.
        path: PathBuf,
        /// Its version.
        version: u32,
    },
}

/// Why a secret could not be read.
#[derive(Debug)]
pub enum ReadError {
    /// The vault cannot be used.
    Open(OpenError),
    /// What it refers to cannot be had.
    Reference {
        /// The secret.
        name: Name,
        /// Why not.
        source: ReferenceError,
    },
}

/// Why a secret could not be kept, changed or removed.
#[derive(Debug)]
pub enum WriteError {
    /// The vault cannot be used.
    Open(OpenError),
    /// The value is longer than any can be.
    TooLong {
        /// The secret.
        name: Name,
    },
    /// The value holds a zero byte, which no variable can.
    Zero {
        /// The secret.
        name: Name,
    },
    /// There is nothing to keep.
    Empty {
        /// The secret.
        name: Name,
    },
}

impl OpenError {
    /// What a person can do about it, in a sentence.
    pub fn advice(&self) -> &'static str {
        match self {
            OpenError::Io { .. } => "See that the disk has room and that the file is yours.",
            OpenError::NotPrivate { .. } => {
                "Look at who put it there; make it yours alone (chmod go= FILE), or move it away."
            }
            OpenError::KeyMissing { .. } => {
                "Bring the key back from a backup; without it the secrets have to be set again in a new vault."
            }
            OpenError::KeyDamaged { .. } => "Bring the key file back from a backup.",
            OpenError::OtherKind { .. } => "Set [vault] in the configuration to what it is sealed with.",
            OpenError::WrongKey { .. } => "Give the passphrase, or the key file, that it was made with.",
            OpenError::Damaged { .. } => {
                "`ostler secret mend` keeps every secret that can still be opened; or bring the file back from a backup."
            }
            OpenError::Older { .. } => {
                "If you brought an old file back on purpose, `ostler secret mend` takes it as it is."
            }
            OpenError::Missing { .. } => {
                "Bring the file back from a backup, then run `ostler secret mend`; without it, `ostler secret mend` begins an empty vault."
            }
            OpenError::Newer { .. } => "Use the version of the program that wrote it, or a later one.",
        }
    }
}

impl fmt::Display for OpenError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            OpenError::Io { path, source } => write!(f, "cannot use '{}': {source}", path.display()),
            OpenError::NotPrivate { path, why } => write!(f, "'{}' is not private: {why}", path.display()),
            OpenError::KeyMissing { path } => {
                write!(f, "there are secrets, but no key at '{}'", path.display())
            }
            OpenError::KeyDamaged { path } => write!(f, "'{}' holds no key", path.display()),
            OpenError::OtherKind { path, sealed_with } => {
                write!(f, "'{}' is sealed with a {sealed_with}", path.display())
            }
            OpenError::WrongKey { path } => write!(f, "this key does not open '{}'", path.display()),
            OpenError::Damaged { path } => write!(f, "'{}' was changed or damaged", path.display()),
            OpenError::Older { path, found, expected: Some(expected) } => {
                let path = path.display();
                write!(f, "'{path}' is older than the last one written: change {found}, not {expected}")
            }
            OpenError::Older { path, found, expected: None } => {
                let path = path.display();
                write!(f, "nothing says whether '{path}' is the last one written (change {found})")
            }
            OpenError::Missing { path } => write!(f, "'{}' was removed", path.display()),
            OpenError::Newer { path, version } => {
                write!(f, "'{}' has form {version}, which this program does not know", path.display())
            }
        }
    }
}

impl fmt::Display for ReadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ReadError::Open(source) => write!(f, "{source}"),
            ReadError::Reference { name, source } => write!(f, "cannot get {name}: {source}"),
        }
    }
}

impl fmt::Display for WriteError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            WriteError::Open(source) => write!(f, "{source}"),
            WriteError::TooLong { name } => {
                write!(f, "the value of {name} is longer than {} KiB", VALUE_BYTES_MAX >> 10)
            }
            WriteError::Zero { name } => write!(f, "the value of {name} holds a zero byte"),
            WriteError::Empty { name } => write!(f, "the value of {name} is empty"),
        }
    }
}

impl std::error::Error for OpenError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            OpenError::Io { source, .. } => Some(source),
            OpenError::NotPrivate { .. }
            | OpenError::KeyMissing { .. }
            | OpenError::KeyDamaged { .. }
            | OpenError::OtherKind { .. }
            | OpenError::WrongKey { .. }
            | OpenError::Damaged { .. }
            | OpenError::Older { .. }
            | OpenError::Missing { .. }
            | OpenError::Newer { .. } => None,
        }
    }
}

impl std::error::Error for ReadError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            ReadError::Open(source) => Some(source),
            ReadError::Reference { source, .. } => Some(source),
        }
    }
}

impl std::error::Error for WriteError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            WriteError::Open(source) => Some(source),
            WriteError::TooLong { .. } | WriteError::Zero { .. } | WriteError::Empty { .. } => None,
        }
    }
}

impl From<OpenError> for ReadError {
    fn from(source: OpenError) -> ReadError {
        ReadError::Open(source)
    }
}

impl From<OpenError> for WriteError {
    fn from(source: OpenError) -> WriteError {
        WriteError::Open(source)
    }
}
