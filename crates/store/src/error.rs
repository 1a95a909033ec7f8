//! Why the store could not be opened, read, written or mended: one enum per operation.
//!
//! The errors of reading and committing name no database product, because every store gives them.

use std::{error::Error, fmt, io, path::PathBuf};

use crate::rows::ActionName;

/// What the database itself said.
pub type Cause = Box<dyn Error + Send + Sync>;

/// Why a group was not written. Nothing of it is stored then, and the store can be used further.
#[derive(Debug)]
pub enum CommitError {
    /// There is no room. Once there is, the same group can be written.
    Full {
        /// The database.
        place: String,
        /// What it said.
        source: Cause,
    },
    /// The disk could not be read, written or made to keep what was written.
    Io {
        /// The database.
        place: String,
        /// What it said.
        source: Cause,
    },
    /// The database is damaged.
    Corrupt {
        /// The database.
        place: String,
        /// What it said.
        source: Cause,
    },
    /// Somebody else writes, and did not finish in time.
    Busy {
        /// The database.
        place: String,
    },
    /// Another reply is stored under the same key.
    KeyTaken {
        /// The client's idempotency key.
        key: String,
    },
    /// An action was reported as done that is not open.
    NotOpen {
        /// The action.
        action: ActionName,
    },
    /// The rows contradict each other or what is stored, such as a session of a run that does not exist.
    Contradiction {
        /// The database.
        place: String,
        /// What it said.
        source: Cause,
    },
    /// The database cannot be written for another reason, such as missing rights.
    Refused {
        /// The database.
        place: String,
        /// What it said.
        source: Cause,
    },
}

impl fmt::Display for CommitError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            CommitError::Full { place, source } => write!(f, "no room to write '{place}': {source}"),
            CommitError::Io { place, source } => write!(f, "the disk failed under '{place}': {source}"),
            CommitError::Corrupt { place, source } => write!(f, "'{place}' is damaged: {source}"),
            CommitError::Busy { place } => write!(f, "another process has locked '{place}'"),
            CommitError::KeyTaken { key } => write!(f, "a reply is already stored for key '{key}'"),
            CommitError::NotOpen { action } => write!(f, "action {action} is not open"),
            CommitError::Contradiction { place, source } => {
                write!(f, "the rows do not fit what stands in '{place}': {source}")
            }
            CommitError::Refused { place, source } => write!(f, "cannot write '{place}': {source}"),
        }
    }
}

impl Error for CommitError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match self {
            CommitError::Full { source, .. }
            | CommitError::Io { source, .. }
            | CommitError::Corrupt { source, .. }
            | CommitError::Contradiction { source, .. }
            | CommitError::Refused { source, .. } => Some(&**source),
            CommitError::Busy { .. } | CommitError::KeyTaken { .. } | CommitError::NotOpen { .. } => None,
        }
    }
}

/// Why something could not be read.
#[derive(Debug)]
pub enum ReadError {
    /// The database is damaged.
    Corrupt {
        /// The database.
        place: String,
        /// What is wrong with it.
        what: String,
    },
    /// It could not be read for another reason, such as a failing disk.
    Failed {
        /// The database.
        place: String,
        /// What it said.
        source: Cause,
    },
}

impl fmt::Display for ReadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ReadError::Corrupt { place, what } => write!(f, "'{place}' is damaged: {what}"),
            ReadError::Failed { place, source } => write!(f, "cannot read '{place}': {source}"),
        }
    }
}

impl Error for ReadError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match self {
            ReadError::Failed { source, .. } => Some(&**source),
            ReadError::Corrupt { .. } => None,
        }
    }
}

/// Why the journal was not exported, or only in part.
#[derive(Debug)]
pub enum ExportError {
    /// It could not be read.
    Read(ReadError),
    /// It could not be written where it was to go.
    Write(io::Error),
}

impl fmt::Display for ExportError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ExportError::Read(source) => write!(f, "cannot export the journal: {source}"),
            ExportError::Write(source) => write!(f, "cannot write the exported journal: {source}"),
        }
    }
}

impl Error for ExportError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match self {
            ExportError::Read(source) => Some(source),
            ExportError::Write(source) => Some(source),
        }
    }
}

/// Why a database could not be opened.
#[derive(Debug)]
pub enum OpenError {
    /// It is damaged, or no database at all. `salvage` keeps what can be read.
    Corrupt {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        what: String,
    },
    /// A newer Ostler has written it.
    Newer {
        /// The file.
        path: PathBuf,
        /// Its version.
        version: u32,
        /// The newest version that is understood here.
        known: u32,
    },
    /// This process has it open already.
    Held {
        /// The file.
        path: PathBuf,
    },
    /// A file or directory could not be made or looked at.
    Io {
        /// The file or directory.
        path: PathBuf,
        /// Why not.
        source: io::Error,
    },
    /// Another process has locked it, and did not let go in time.
    Busy {
        /// The file.
        path: PathBuf,
    },
    /// The database could not be opened for another reason.
    Failed {
        /// The file.
        path: PathBuf,
        /// What SQLite said.
        source: Cause,
    },
}

impl fmt::Display for OpenError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            OpenError::Corrupt { path, what } => write!(f, "'{}' is damaged: {what}", path.display()),
            OpenError::Newer { path, version, known } => write!(
                f,
                "'{}' was written by a newer version (form {version}, the newest known here is {known})",
                path.display()
            ),
            OpenError::Held { path } => write!(f, "'{}' is open already", path.display()),
            OpenError::Io { path, source } => write!(f, "cannot open '{}': {source}", path.display()),
            OpenError::Busy { path } => write!(f, "another process has locked '{}'", path.display()),
            OpenError::Failed { path, source } => write!(f, "cannot open '{}': {source}", path.display()),
        }
    }
}

impl Error for OpenError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match self {
            OpenError::Io { source, .. } => Some(source),
            OpenError::Failed { source, .. } => Some(&**source),
            OpenError::Corrupt { .. }
            | OpenError::Newer { .. }
            | OpenError::Held { .. }
            | OpenError::Busy { .. } => None,
        }
    }
}

/// Why a damaged database was not replaced by what can be read of it. It stands where it stood.
#[derive(Debug)]
pub enum SalvageError {
    /// The new database could not be made.
    Open(OpenError),
    /// The new database could not be written.
    Commit(CommitError),
    /// A file could not be copied, renamed or removed.
    Io {
        /// The file.
        path: PathBuf,
        /// Why not.
        source: io::Error,
    },
}

impl fmt::Display for SalvageError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            SalvageError::Open(source) => write!(f, "cannot salvage: {source}"),
            SalvageError::Commit(source) => write!(f, "cannot salvage: {source}"),
            SalvageError::Io { path, source } => write!(f, "cannot salvage '{}': {source}", path.display()),
        }
    }
}

impl Error for SalvageError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match self {
            SalvageError::Open(source) => Some(source),
            SalvageError::Commit(source) => Some(source),
            SalvageError::Io { source, .. } => Some(source),
        }
    }
}
