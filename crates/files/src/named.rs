//! Files whose path a person or a project chose: configurations, certificates, manifests of packages. A link is followed,
//! and whose file it is does not matter; it has to be a regular one all the same.

use std::{
    fs::{File, OpenOptions},
    io,
    path::Path,
};

use crate::Links;

/// Opens a file to read it in pieces.
pub fn open(path: impl AsRef<Path>) -> io::Result<File> {
    crate::open(path.as_ref(), OpenOptions::new().read(true), Links::Followed)
}

/// Reads a file that is not longer than a bound.
pub fn read(path: impl AsRef<Path>, bytes_max: u64) -> io::Result<Vec<u8>> {
    crate::read_whole(open(path)?, bytes_max)
}

/// The same for text.
pub fn read_text(path: impl AsRef<Path>, bytes_max: u64) -> io::Result<String> {
    read(path, bytes_max).and_then(crate::into_text)
}

/// Empties a file to write it anew; makes it, with the permissions that files of the user have, if there is none.
pub fn create(path: impl AsRef<Path>) -> io::Result<File> {
    crate::open(path.as_ref(), OpenOptions::new().write(true).create(true).truncate(true), Links::Followed)
}
