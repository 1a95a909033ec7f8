//! The shim's directory: who holds it, and how files in it are made.

use std::{
    fs::{File, OpenOptions},
    path::Path,
    thread,
    time::Duration,
};

use ostler_files::private;
use rustix::{
    fs::{FlockOperation, flock},
    io::Errno,
};

use crate::error::Error;

/// The name of the lock. Whoever cannot take it knows that the shim lives; a pid could be somebody else's by now.
pub const LOCK: &str = "lock";

/// Whoever only looks whether a shim lives holds the lock for a moment, which is waited for.
const LOOK: Duration = Duration::from_millis(5);

/// After so many looks it is somebody who stays.
const LOOKS_MAX: u32 = 40;

/// Takes the directory for this process; the lock goes with it.
pub(crate) fn hold(directory: &Path) -> Result<File, Error> {
    let path = directory.join(LOCK);
    let opened = private::open_or_create(&path, OpenOptions::new().append(true));
    let file = opened.map_err(|source| Error::Write { path: path.clone(), source })?;
    for _ in 0..LOOKS_MAX {
        match flock(&file, FlockOperation::NonBlockingLockExclusive) {
            Ok(()) => return Ok(file),
            Err(Errno::WOULDBLOCK) => thread::sleep(LOOK),
            Err(source) => return Err(Error::System { what: "lock the directory", source: source.into() }),
        }
    }
    Err(Error::Held { path })
}

/// Makes a file to append to and to read again, for nobody else to read. A directory is for one launch: what is there is
/// somebody's.
pub(crate) fn create(path: &Path) -> Result<File, Error> {
    private::create_with(path, OpenOptions::new().read(true).append(true))
        .map_err(|source| Error::Write { path: path.to_path_buf(), source })
}
