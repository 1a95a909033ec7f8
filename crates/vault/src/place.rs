//! The vault's directory: files that only their owner can read, replaced as a whole, by one writer at a time.

use std::{
    fs::{self, DirBuilder, File, OpenOptions},
    io::{self, Read, Write},
    os::unix::fs::{DirBuilderExt, MetadataExt},
    path::Path,
    thread,
    time::Duration,
};

use ostler_files::{UnusableFile, private};
use rustix::{
    fs::{CWD, FlockOperation, RenameFlags, flock, renameat_with},
    io::Errno,
    process::geteuid,
};
use zeroize::Zeroizing;

use crate::error::OpenError;

/// Held by whoever changes something.
const LOCK: &str = "lock";

/// Between two looks at the lock.
const LOOK: Duration = Duration::from_millis(5);

/// After so many looks (20 s) it is somebody who stays.
const LOOKS_MAX: u32 = 4_000;

/// No file here comes near this.
const FILE_BYTES_MAX: u64 = 64 << 20;

/// Makes the directory, or sees that it is its owner's alone.
pub(crate) fn prepare(directory: &Path) -> Result<(), OpenError> {
    let failed = |source| OpenError::Io { path: directory.to_path_buf(), source };
    DirBuilder::new().recursive(true).mode(0o700).create(directory).map_err(failed)?;
    let metadata = fs::symlink_metadata(directory).map_err(failed)?;
    check_private(directory, &metadata)
}

/// Waits until nobody else changes the directory, and keeps others away until the file is dropped.
pub(crate) fn lock(directory: &Path) -> Result<File, OpenError> {
    let path = directory.join(LOCK);
    let failed = |source| OpenError::Io { path: path.clone(), source };
    let mut options = OpenOptions::new();
    let file = private::open_or_create(&path, options.write(true).truncate(false)).map_err(failed)?;
    for _ in 0..LOOKS_MAX {
        match flock(&file, FlockOperation::NonBlockingLockExclusive) {
            Ok(()) => return Ok(file),
            Err(Errno::WOULDBLOCK) => thread::sleep(LOOK),
            Err(source) => return Err(failed(source.into())),
        }
    }
    Err(failed(io::Error::new(io::ErrorKind::TimedOut, "another process holds it")))
}

/// Reads a file that must be its owner's alone; nothing, if there is none.
pub(crate) fn read(path: &Path) -> Result<Option<Zeroizing<Vec<u8>>>, OpenError> {
    let failed = |source| OpenError::Io { path: path.to_path_buf(), source };
    let file = match private::open(path) {
        Ok(file) => file,
        Err(source) if source.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(source) if UnusableFile::of(&source) == Some(UnusableFile::Link) => {
            return Err(OpenError::NotPrivate { path: path.to_path_buf(), why: "it is a link" });
        }
        Err(source) => return Err(failed(source)),
    };
    let metadata = file.metadata().map_err(failed)?;
    check_private(path, &metadata)?;
    // One that was replaced since it was opened has no name any more.
    if metadata.nlink() > 1 {
        let why = "it has two names";
        return Err(OpenError::NotPrivate { path: path.to_path_buf(), why });
    }
    // As long as the file and a byte more, so that reading does not leave pieces behind by growing.
    let length = metadata.len().min(FILE_BYTES_MAX);
    let mut text = Zeroizing::new(Vec::with_capacity(usize::try_from(length).unwrap_or(0) + 1));
    file.take(FILE_BYTES_MAX).read_to_end(&mut text).map_err(failed)?;
    Ok(Some(text))
}

/// Replaces a file as a whole, for good. Whoever calls holds the lock.
pub(crate) fn replace(path: &Path, text: &[u8]) -> Result<(), OpenError> {
    let draft = path.with_added_extension("draft");
    let failed = |source| OpenError::Io { path: path.to_path_buf(), source };
    // One that a crash has left is of no use to anybody.
    remove(&draft).map_err(failed)?;
    write_new(&draft, text).map_err(failed)?;
    fs::rename(&draft, path).map_err(failed)?;
    sync_directory(path).map_err(failed)
}

/// Makes a file that must not be there yet, for good, or leaves nothing. Says whether it was there.
pub(crate) fn make(path: &Path, text: &[u8]) -> Result<bool, OpenError> {
    let draft = path.with_added_extension("draft");
    let failed = |source| OpenError::Io { path: path.to_path_buf(), source };
    remove(&draft).map_err(failed)?;
    write_new(&draft, text).map_err(failed)?;
    match renameat_with(CWD, &draft, CWD, path, RenameFlags::NOREPLACE) {
        Ok(()) => sync_directory(path).map_err(failed).map(|()| true),
        Err(Errno::EXIST) => remove(&draft).map_err(failed).map(|()| false),
        Err(source) => Err(failed(source.into())),
    }
}

fn write_new(path: &Path, text: &[u8]) -> io::Result<()> {
    let mut file = private::create(path)?;
    file.write_all(text)?;
    file.sync_all()
}

fn remove(path: &Path) -> io::Result<()> {
    match fs::remove_file(path) {
        Err(source) if source.kind() != io::ErrorKind::NotFound => Err(source),
        _ => Ok(()),
    }
}

fn sync_directory(path: &Path) -> io::Result<()> {
    path.parent().map_or(Ok(()), ostler_files::sync_directory)
}

fn check_private(path: &Path, metadata: &fs::Metadata) -> Result<(), OpenError> {
    let why = if metadata.is_symlink() {
        "it is a link"
    } else if metadata.uid() != geteuid().as_raw() {
        "it belongs to somebody else"
    } else if metadata.mode() & 0o077 != 0 {
        "others have rights on it"
    } else {
        return Ok(());
    };
    Err(OpenError::NotPrivate { path: path.to_path_buf(), why })
}
