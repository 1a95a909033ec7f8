//! Why a shim could not start or had to give up. The server reads it from the shim's standard error.

use std::{fmt, io, path::PathBuf};

use ostler_protocol::{name::InvalidName, stream::TableError};

/// What went wrong.
#[derive(Debug)]
pub enum Error {
    /// A file could not be read.
    Read {
        /// The file.
        path: PathBuf,
        /// Why not.
        source: io::Error,
    },
    /// A file could not be written.
    Write {
        /// The file.
        path: PathBuf,
        /// Why not.
        source: io::Error,
    },
    /// The standard input is not a launch that nobody can change.
    NotSealed,
    /// The launch file is not one.
    Launch {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        source: serde_json::Error,
    },
    /// The table in the launch file cannot be used.
    Table(TableError),
    /// The nonce in the launch file is none.
    Nonce(InvalidName),
    /// Another shim holds the directory.
    Held {
        /// Its lock.
        path: PathBuf,
    },
    /// The agent could not be started.
    Start {
        /// Its program.
        program: String,
        /// Why not.
        source: io::Error,
    },
    /// The system refused something that a shim cannot do without.
    System {
        /// What was tried.
        what: &'static str,
        /// Why not.
        source: io::Error,
    },
}

impl Error {
    /// Whether a file was to be read that is not there.
    pub fn is_missing(&self) -> bool {
        matches!(self, Error::Read { source, .. } if source.kind() == io::ErrorKind::NotFound)
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::Read { path, source } => write!(f, "cannot read '{}': {source}", path.display()),
            Error::Write { path, source } => write!(f, "cannot write '{}': {source}", path.display()),
            Error::NotSealed => f.write_str(
                "no sealed launch on standard input; a server of an older version has to be restarted: \
                 'ostler serve --stop'",
            ),
            Error::Launch { path, source } => write!(f, "cannot use '{}': {source}", path.display()),
            Error::Table(source) => write!(f, "cannot use the table: {source}"),
            Error::Nonce(source) => write!(f, "cannot use the nonce: {source}"),
            Error::Held { path } => write!(f, "another shim holds '{}'", path.display()),
            Error::Start { program, source } => write!(f, "cannot start '{program}': {source}"),
            Error::System { what, source } => write!(f, "cannot {what}: {source}"),
        }
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Error::Read { source, .. }
            | Error::Write { source, .. }
            | Error::Start { source, .. }
            | Error::System { source, .. } => Some(source),
            Error::Launch { source, .. } => Some(source),
            Error::Table(source) => Some(source),
            Error::Nonce(source) => Some(source),
            Error::Held { .. } | Error::NotSealed => None,
        }
    }
}
