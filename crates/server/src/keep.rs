//! The journal without a server: written out for others, and compared with what follows from it.

use std::{fmt, io::Write, path::PathBuf};

use ostler_store::{ExportError, OpenError, Reads, SalvageError, Salvaged, Sqlite, salvage};

use crate::{
    clock::wall_ms,
    home::Home,
    journal::{self, LoadError, Replayed},
    serve::{ServeError, hold},
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
    open(home)?.export(out).map_err(KeepError::Export)
}

/// Replays the journal and compares what follows with what is kept.
pub fn verify(home: &Home) -> Result<Replayed, KeepError> {
    let store = open(home)?;
    store.check().map_err(|error| KeepError::Load(LoadError::Read(error)))?;
    journal::replay(&store).map_err(KeepError::Load)
}

/// Keeps what can be read of a damaged journal; the damaged one is set aside.
pub fn mend(home: &Home) -> Result<Salvaged, KeepError> {
    let path = home.database();
    if !path.exists() {
        return Err(KeepError::Nothing { path });
    }
    let _lock = hold(home).map_err(|error| KeepError::Held(Box::new(error)))?;
    let salvaged = salvage(&path, wall_ms()).map_err(KeepError::Salvage)?;
    let mut store = Sqlite::open(&path, wall_ms()).map_err(KeepError::Open)?;
    journal::rebuild(&mut store).map_err(KeepError::Load)?;
    Ok(salvaged)
}

fn open(home: &Home) -> Result<ostler_store::SqliteReader, KeepError> {
    let path = home.database();
    if !path.exists() {
        return Err(KeepError::Nothing { path });
    }
    // Opened as the writer is, so that what an ended server left half done is brought in order.
    let mut store = Sqlite::open(&path, wall_ms()).map_err(KeepError::Open)?;
    journal::rebuild(&mut store).map_err(KeepError::Load)?;
    store.reader().map_err(KeepError::Open)
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
