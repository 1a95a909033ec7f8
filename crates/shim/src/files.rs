//! The shim's directory: who holds it, and how files in it are made.

use std::{
    fs::{File, OpenOptions},
    os::unix::fs::OpenOptionsExt,
    path::Path,
};

use rustix::{
    fs::{FlockOperation, flock},
    io::Errno,
};

use crate::error::Error;

/// The name of the lock. Whoever cannot take it knows that the shim lives; a pid could be somebody else's by now.
pub const LOCK: &str = "lock";

/// Takes the directory for this process; the lock goes with it.
pub(crate) fn hold(directory: &Path) -> Result<File, Error> {
    let path = directory.join(LOCK);
    let file = open(&path, OpenOptions::new().create(true).append(true))?;
    match flock(&file, FlockOperation::NonBlockingLockExclusive) {
        Ok(()) => Ok(file),
        Err(Errno::WOULDBLOCK) => Err(Error::Held { path }),
        Err(source) => Err(Error::System { what: "lock the directory", source: source.into() }),
    }
}

/// Makes a file to append to, for nobody else to read. A directory is for one launch: what is there is somebody's.
pub(crate) fn create(path: &Path) -> Result<File, Error> {
    open(path, OpenOptions::new().create_new(true).append(true))
}

fn open(path: &Path, options: &mut OpenOptions) -> Result<File, Error> {
    options.mode(0o600).open(path).map_err(|source| Error::Write { path: path.to_path_buf(), source })
}
