//! The journal without a server: written out for others, and compared with what follows from it.

mod files;
mod mend;

use std::{fmt, io::Write, path::PathBuf};

use ostler_store::{ExportError, OpenError, Reads, SalvageError, Sqlite, SqliteReader};

use crate::{
    clock::wall_ms,
    home::Home,
    journal::{self, LoadError, Replayed},
    serve::ServeError,
};

pub use self::{
    files::verify_files,
    mend::{Mended, mend},
};

/// Why the journal could not be read or written out.
#[derive(Debug)]
pub enum KeepError {
    /// There is none.
    Nothing {
        /// Where it would be.
        path: PathBuf,
    },
    /// The database cannot be opened.
    Open(OpenError),
    /// A server uses it.
    Held(Box<ServeError>),
    /// Nothing could be kept of it.
    Salvage(SalvageError),
    /// It cannot be written out.
    Export(ExportError),
    /// It cannot be understood.
    Load(LoadError),
}

/// Writes every event as a line of JSON, and says how many there are.
pub fn export(home: &Home, out: &mut dyn Write) -> Result<u64, KeepError> {
    let (_store, reader) = open(home)?;
    reader.export(out).map_err(KeepError::Export)
}

/// Replays the journal and compares what follows with what is kept.
pub fn verify(home: &Home) -> Result<Replayed, KeepError> {
    let (_store, reader) = open(home)?;
    reader.check().map_err(|error| KeepError::Load(LoadError::Read(error)))?;
    journal::replay(&reader).map_err(KeepError::Load)
}

/// A connection that reads, and the one that writes, which has to be the last to go: it tidies up the log, if no server
/// uses it.
fn open(home: &Home) -> Result<(Sqlite, SqliteReader), KeepError> {
    let path = home.database();
    if !path.exists() {
        return Err(KeepError::Nothing { path });
    }
    // Opened as the writer is, so that what an ended server left half done is brought in order.
    let mut store = Sqlite::open(&path, wall_ms()).map_err(KeepError::Open)?;
    journal::rebuild(&mut store).map_err(KeepError::Load)?;
    let reader = store.reader().map_err(KeepError::Open)?;
    Ok((store, reader))
}

/// Whether the journal is there and damaged, as far as opening it shows.
pub(crate) fn is_damaged(home: &Home) -> bool {
    open(home).is_err_and(|error| error.is_damage())
}

impl KeepError {
    /// Whether [`mend`] can help.
    pub fn is_damage(&self) -> bool {
        match self {
            KeepError::Open(error) => matches!(error, OpenError::Corrupt { .. }),
            KeepError::Load(error) => error.is_damage(),
            _ => false,
        }
    }
}

impl fmt::Display for KeepError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            KeepError::Nothing { path } => write!(f, "there is no journal at '{}'", path.display()),
            KeepError::Open(source) => write!(f, "{source}"),
            KeepError::Held(source) => write!(f, "{source}"),
            KeepError::Salvage(source) => write!(f, "{source}"),
            KeepError::Export(source) => write!(f, "{source}"),
            KeepError::Load(source) => write!(f, "{source}"),
        }
    }
}

impl std::error::Error for KeepError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            KeepError::Nothing { .. } => None,
            KeepError::Open(source) => Some(source),
            KeepError::Held(source) => Some(source),
            KeepError::Salvage(source) => Some(source),
            KeepError::Export(source) => Some(source),
            KeepError::Load(source) => Some(source),
        }
    }
}
