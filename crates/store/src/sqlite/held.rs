//! Which databases this process has open.
//!
//! SQLite's locks belong to the process and are dropped when any of its descriptors of the file is closed. Opening
//! looks at the files directly, so it must not happen beside a connection of the same process.

use std::{
    collections::BTreeSet,
    path::{Path, PathBuf},
    sync::{Mutex, MutexGuard, PoisonError},
};

use crate::error::OpenError;

static OPEN: Mutex<BTreeSet<PathBuf>> = Mutex::new(BTreeSet::new());

/// Stands for the right to have a database open, until it is dropped.
#[derive(Debug)]
pub(super) struct Held {
    path: PathBuf,
}

impl Held {
    /// Takes a database, whose directory exists.
    pub(super) fn take(path: &Path) -> Result<Held, OpenError> {
        let folder = super::folder(path);
        let folder =
            folder.canonicalize().map_err(|source| OpenError::Io { path: folder.to_owned(), source })?;
        let path = folder.join(path.file_name().unwrap_or_default());
        if open().insert(path.clone()) { Ok(Held { path }) } else { Err(OpenError::Held { path }) }
    }

    /// The database, with the real path of its directory.
    pub(super) fn path(&self) -> &Path {
        &self.path
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        open().remove(&self.path);
    }
}

fn open() -> MutexGuard<'static, BTreeSet<PathBuf>> {
    // A set of paths is whole after every step, so a panic elsewhere has not spoilt it.
    OPEN.lock().unwrap_or_else(PoisonError::into_inner)
}
