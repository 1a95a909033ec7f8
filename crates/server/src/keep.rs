//! The journal without a server: written out for others, and compared with what follows from it.

mod files;
mod mend;

use std::{
    fmt,
    io::{self, Write},
    path::PathBuf,
};

use ostler_store::{EventRow, ExportError, OpenError, Reads, SalvageError, Sqlite, SqliteReader};
use serde_json::Value;

use crate::{
    clock::wall_ms,
    home::Home,
    journal::{self, LoadError, Replayed},
    office::kept,
    serve::{ServeError, refuse_without_journal},
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
    /// The journal was removed: there are sessions without one.
    Removed(Box<ServeError>),
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

/// What was written out.
#[derive(Debug)]
pub struct Exported {
    /// How many lines.
    pub lines: u64,
    /// The files of results that could not be read, each with why: their lines have only the beginning.
    pub missing: Vec<String>,
}

/// Writes every event as a line of JSON. What stands in a file beside the journal is put back into its event, so that
/// nothing is lost to who has only this.
pub fn export(home: &Home, out: &mut dyn Write) -> Result<Exported, KeepError> {
    let (_store, reader) = open(home)?;
    let mut missing = Vec::new();
    let lines = reader.export(&mut |event| whole(event, &mut missing), out).map_err(KeepError::Export)?;
    Ok(Exported { lines, missing })
}

/// A result with all of its content. One whose file is gone stays cut, and says so.
fn whole(mut event: EventRow, missing: &mut Vec<String>) -> EventRow {
    if event.kind != "result.given" {
        return event;
    }
    let Ok(Value::Object(mut fields)) = serde_json::from_str(&event.body) else { return event };
    if fields.remove("cut") == Some(Value::Bool(true)) {
        let reference = fields.get("reference").cloned().unwrap_or_default();
        let path = reference["path"].as_str().unwrap_or_default().to_owned();
        let text = serde_json::from_value(reference).map_err(io::Error::from);
        match text.and_then(|reference| kept::read(&reference)) {
            Ok(text) => {
                fields.insert("content".to_owned(), Value::String(text));
                event.body = Value::Object(fields).to_string();
            }
            Err(why) => missing.push(format!("'{path}': {why}")),
        }
    }
    event
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
        refuse_without_journal(home).map_err(|error| KeepError::Removed(Box::new(error)))?;
        return Err(KeepError::Nothing { path });
    }
    // Opened as the writer is, so that what an ended server left half done is brought in order.
    let mut store = Sqlite::open(&path, wall_ms()).map_err(KeepError::Open)?;
    journal::rebuild(&mut store).map_err(KeepError::Load)?;
    let reader = store.reader().map_err(KeepError::Open)?;
    Ok((store, reader))
}

/// A fact that the database holds.
pub(crate) fn fact(home: &Home, name: &str) -> Result<Option<String>, KeepError> {
    let (_store, reader) = open(home)?;
    reader.meta(name).map_err(|error| KeepError::Load(LoadError::Read(error)))
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
            KeepError::Removed(source) | KeepError::Held(source) => write!(f, "{source}"),
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
            KeepError::Removed(source) | KeepError::Held(source) => Some(source),
            KeepError::Salvage(source) => Some(source),
            KeepError::Export(source) => Some(source),
            KeepError::Load(source) => Some(source),
        }
    }
}
