//! The agent's output on disk: every byte, in order, before anything is made of it.

use std::{
    fs::{File, OpenOptions},
    io::{self, Write},
    os::unix::fs::FileExt,
    path::Path,
};

use ostler_files::private;

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
    /// How much of it is known to last.
    synced: u64,
    /// Whether a sync has failed since: the system may have let go of what it could not write.
    doubtful: bool,
    /// What the disk has not taken yet.
    waiting: Vec<u8>,
}

impl Log {
    pub(crate) fn create(directory: &Path, name: &str, length_max: u64) -> Result<Log, Error> {
        let file = files::create(&directory.join(name))?;
        Ok(Log { file, length: 0, length_max, synced: 0, doubtful: false, waiting: Vec::new() })
    }

    /// Reads bytes that were written.
    pub(crate) fn read_at(&self, bytes: &mut [u8], offset: u64) -> io::Result<()> {
        self.file.read_exact_at(bytes, offset)
    }

    /// How much was written.
    pub(crate) fn length(&self) -> u64 {
        self.length
    }

    /// How much will be when the disk has taken everything.
    pub(crate) fn length_to_be(&self) -> u64 {
        self.length + self.waiting.len() as u64
    }

    /// How much may still be written.
    pub(crate) fn room(&self) -> usize {
        let room = self.length_max.saturating_sub(self.length_to_be());
        usize::try_from(room).unwrap_or(usize::MAX)
    }

    /// Lets the log become larger.
    pub(crate) fn grow(&mut self, bytes: u64) {
        self.length_max = self.length_max.saturating_add(bytes);
    }

    /// Adds bytes and writes what it can. What the disk refuses waits for the next time.
    pub(crate) fn append(&mut self, bytes: &[u8]) -> io::Result<()> {
        if self.waiting.is_empty() {
            let (written, outcome) = write(&mut self.file, bytes);
            self.length += written as u64;
            self.waiting.extend_from_slice(&bytes[written..]);
            outcome
        } else {
            self.waiting.extend_from_slice(bytes);
            let (written, outcome) = write(&mut self.file, &self.waiting);
            self.length += written as u64;
            self.waiting.drain(..written);
            self.waiting.shrink_to_fit();
            outcome
        }
    }

    /// Lets go of what the disk has not taken.
    pub(crate) fn give_up(&mut self) {
        self.waiting.clear();
    }

    /// Makes what was written last.
    pub(crate) fn sync(&mut self) -> io::Result<()> {
        if self.synced == self.length {
            return Ok(());
        }
        if self.doubtful {
            self.write_again()?;
        }
        let outcome = self.file.sync_data();
        self.doubtful = outcome.is_err();
        if outcome.is_ok() {
            self.synced = self.length;
        }
        outcome
    }

    /// After a failed sync another one may succeed without having written anything, so the bytes are written again,
    /// from what the system still has of them.
    fn write_again(&self) -> io::Result<()> {
        // Written at an offset, which a descriptor that appends does not do; and the file itself, whatever has its name now.
        let file = private::reopen(&self.file, OpenOptions::new().read(true).write(true))?;
        let mut piece = vec![0; PIECE];
        let mut at = self.synced;
        while at < self.length {
            let length = usize::try_from(self.length - at).unwrap_or(PIECE).min(PIECE);
            file.read_exact_at(&mut piece[..length], at)?;
            file.write_all_at(&piece[..length], at)?;
            at += length as u64;
        }
        Ok(())
    }
}

/// How much is written again at once.
const PIECE: usize = 64 << 10;

/// Writes all or as much as it can: how much, and what stood in the way.
fn write(file: &mut File, bytes: &[u8]) -> (usize, io::Result<()>) {
    let mut written = 0;
    while written < bytes.len() {
        match file.write(&bytes[written..]) {
            Ok(0) => return (written, Err(io::ErrorKind::WriteZero.into())),
            Ok(more) => written += more,
            Err(source) if source.kind() == io::ErrorKind::Interrupted => {}
            Err(source) => return (written, Err(source)),
        }
    }
    (written, Ok(()))
}
