//! Files that the kernel makes up: below `/proc`, and of control groups. They have no length beforehand and no bound. The
//! path of a control group may come from a file that an agent has exchanged, so what is opened is looked at as well.

use std::{
    fs::{File, OpenOptions},
    io::{self, Write},
    path::Path,
};

use crate::Links;

/// Reads a file of the kernel's.
pub fn read(path: impl AsRef<Path>) -> io::Result<Vec<u8>> {
    let file = crate::open(path.as_ref(), OpenOptions::new().read(true), Links::Followed)?;
    crate::read_whole(file, u64::MAX)
}

/// The same for text.
pub fn read_text(path: impl AsRef<Path>) -> io::Result<String> {
    read(path).and_then(crate::into_text)
}

/// Opens a file of the kernel's to write to it.
pub fn open_to_write(path: impl AsRef<Path>) -> io::Result<File> {
    crate::open(path.as_ref(), OpenOptions::new().write(true), Links::Followed)
}

/// Writes a word to it.
pub fn write(path: impl AsRef<Path>, word: &[u8]) -> io::Result<()> {
    open_to_write(path)?.write_all(word)
}
