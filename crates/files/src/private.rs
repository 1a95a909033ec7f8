//! Files that Ostler itself has written: no link is followed, and another user's file is refused.

use std::{
    fs::{self, File, Metadata, OpenOptions},
    io,
    os::{
        fd::AsRawFd,
        unix::fs::{MetadataExt, OpenOptionsExt},
    },
    path::Path,
};

use rustix::process::geteuid;

use crate::{Links, UnusableFile};

/// Opens a file to read it in pieces.
pub fn open(path: impl AsRef<Path>) -> io::Result<File> {
    let file = crate::open(path.as_ref(), OpenOptions::new().read(true), Links::Refused)?;
    crate::owned(&file)?;
    Ok(file)
}

/// Looks whether a regular file is there, without opening it: for files on which this process may hold locks, which the
/// system would drop when any descriptor of the file is closed.
pub fn look(path: impl AsRef<Path>) -> io::Result<Metadata> {
    let metadata = fs::symlink_metadata(path)?;
    UnusableFile::of_kind(metadata.file_type()).map_or(Ok(metadata), |why| Err(why.into()))
}

/// Reads a file that is not longer than a bound.
pub fn read(path: impl AsRef<Path>, bytes_max: u64) -> io::Result<Vec<u8>> {
    crate::read_whole(open(path)?, bytes_max)
}

/// The same for text.
pub fn read_text(path: impl AsRef<Path>, bytes_max: u64) -> io::Result<String> {
    read(path, bytes_max).and_then(crate::into_text)
}

/// Opens a file to write to it; makes it, for its owner alone, if there is none. The options say how. What has another
/// name may be a file that somebody wants written to, and is refused.
pub fn open_or_create(path: impl AsRef<Path>, options: &mut OpenOptions) -> io::Result<File> {
    let file = crate::open(path.as_ref(), options.create(true).mode(0o600), Links::Refused)?;
    let metadata = file.metadata()?;
    if metadata.uid() != geteuid().as_raw() {
        return Err(UnusableFile::Foreign.into());
    }
    if metadata.nlink() != 1 {
        return Err(UnusableFile::Shared.into());
    }
    Ok(file)
}

/// Makes a file, for its owner alone, to write to and to read again. Whatever is there already is left as it is, and
/// refused.
pub fn create(path: impl AsRef<Path>) -> io::Result<File> {
    create_with(path, OpenOptions::new().read(true).write(true))
}

/// The same with options of one's own.
pub fn create_with(path: impl AsRef<Path>, options: &mut OpenOptions) -> io::Result<File> {
    crate::open(path.as_ref(), options.create_new(true).mode(0o600), Links::Refused)
}

/// Opens a file that is open already once more, with other options. Whatever has its name by now, it is the same file.
pub fn reopen(file: &File, options: &mut OpenOptions) -> io::Result<File> {
    options.open(format!("/proc/self/fd/{}", file.as_raw_fd()))
}
