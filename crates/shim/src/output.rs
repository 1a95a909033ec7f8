//! The agent's output on disk: every byte, in order, before anything is made of it.

use std::{
    fs::File,
    io::{self, Write},
    path::Path,
};

use crate::{error::Error, files};

/// The name of the log of standard output; an offset in it is an offset in the stream.
pub const OUT: &str = "out.log";

/// The name of the log of standard error.
pub const ERR: &str = "err.log";

/// One of the two logs.
#[derive(Debug)]
pub(crate) struct Log {
    file: File,
    length: u64,
    length_max: u64,
    /// What the disk has not taken yet.
    waiting: Vec<u8>,
}

impl Log {
    pub(crate) fn create(directory: &Path, name: &str, length_max: u64) -> Result<Log, Error> {
        let file = files::create(&directory.join(name))?;
        Ok(Log { file, length: 0, length_max, waiting: Vec::new() })
    }

    /// How much was written.
    pub(crate) fn length(&self) -> u64 {
        self.length
    }

    /// How much may still be written.
    pub(crate) fn room(&self) -> usize {
        let room = self.length_max.saturating_sub(self.length + self.waiting.len() as u64);
        usize::try_from(room).unwrap_or(usize::MAX)
    }

    /// Lets the log become larger.
    pub(crate) fn grow(&mut self, bytes: u64) {
        self.length_max = self.length_max.saturating_add(bytes);
    }

    /// Adds bytes and writes what it can. What the disk refuses waits for the next time.
    pub(crate) fn append(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.waiting.extend_from_slice(bytes);
        while !self.waiting.is_empty() {
            match self.file.write(&self.waiting) {
                Ok(written) => {
                    self.length += written as u64;
                    self.waiting.drain(..written);
                }
                Err(source) if source.kind() == io::ErrorKind::Interrupted => {}
                Err(source) => return Err(source),
            }
        }
        Ok(())
    }

    /// Lets go of what the disk has not taken.
    pub(crate) fn give_up(&mut self) {
        self.waiting.clear();
    }

    /// Makes what was written last.
    pub(crate) fn sync(&self) -> io::Result<()> {
        self.file.sync_data()
    }
}
