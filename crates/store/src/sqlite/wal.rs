//! Looks for commits that the write-ahead log has lost.
//!
//! SQLite takes a log up to its first bad frame and drops the rest without a word: after a power cut that is right,
//! since only the transaction in flight can be torn. A log that has rotted or was cut in the middle looks the same
//! to it, and committed events would be gone silently. Two traces tell them apart:
//!
//! - The index beside the log (`-shm`) is updated only after a commit is on disk. A log that holds less than its
//!   index says has lost something. The index stays when the process is killed.
//! - Frames are chained by their sums. Behind the torn transaction no two commits follow that are chained to each
//!   other, because a commit is synced before the next one is written.

use std::{
    io::{self, BufReader, ErrorKind, Read},
    path::Path,
};

use ostler_files::private;

const WAL_HEADER_BYTES: usize = 32;
const FRAME_HEADER_BYTES: usize = 24;
const INDEX_HEADER_BYTES: usize = 48;
const MAGIC: u32 = 0x377f_0682;
const PAGE_BYTES_MAX: u32 = 65536;

/// What is missing from the log of a database that nobody has open, if anything is.
pub(super) fn loss(wal: &Path, shm: &Path) -> io::Result<Option<String>> {
    let index = Index::read(shm)?;
    let promised = index.as_ref().map_or(0, |index| index.frames);
    let log = match Log::read(wal)? {
        Found::Log(log) => log,
        Found::Rubbish => return Ok(Some("the beginning of its log is unreadable".to_owned())),
        Found::Nothing => {
            let what = || format!("its log is gone, of which {promised} pages were committed");
            return Ok((promised > 0).then(what));
        }
    };
    if let Some(index) = index
        && index.salts == log.salts
        && index.frames > log.committed
    {
        let what = format!("of {promised} committed pages in its log {} can be read", log.committed);
        return Ok(Some(what));
    }
    let what = || format!("its log is broken behind {} committed pages, and goes on", log.committed);
    Ok((log.commits_behind >= 2).then(what))
}

/// The part of the index that says how far the log is committed.
struct Index {
    frames: u32,
    salts: [u8; 8],
}

impl Index {
    fn read(path: &Path) -> io::Result<Option<Index>> {
        let mut bytes = [0; 2 * INDEX_HEADER_BYTES];
        match private::open(path).and_then(|mut file| file.read_exact(&mut bytes)) {
            Ok(()) => {}
            Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::UnexpectedEof) => {
                return Ok(None);
            }
            Err(error) => return Err(error),
        }
        let (first, second) = bytes.split_at(INDEX_HEADER_BYTES);
        // It is written twice: two that differ were being written when the machine stopped.
        let native = |at: usize| u32::from_ne_bytes(array(&first[at..at + 4]));
        let mut sum = Sum::default();
        sum.add(&first[..40], u32::from_ne_bytes);
        let whole = first == second && sum == Sum(native(40), native(44));
        Ok(whole.then(|| Index { frames: native(16), salts: array(&first[32..40]) }))
    }
}

/// What stands where the log belongs.
enum Found {
    /// No file, or one that a power cut has kept from being begun.
    Nothing,
    /// Something that does not begin like a log. The beginning is far smaller than what a disk writes at once, so
    /// it cannot be torn.
    Rubbish,
    Log(Log),
}

/// What a log holds.
struct Log {
    salts: [u8; 8],
    /// The number of the last frame that ends a commit, with nothing broken before it.
    committed: u32,
    /// The most commits that follow each other unbroken behind the first break.
    commits_behind: u32,
}

impl Log {
    fn read(path: &Path) -> io::Result<Found> {
        let file = match private::open(path) {
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Found::Nothing),
            file => file?,
        };
        let mut file = BufReader::with_capacity(1 << 18, file);
        let mut header = [0; WAL_HEADER_BYTES];
        if !fill(&mut file, &mut header)? || header == [0; WAL_HEADER_BYTES] {
            return Ok(Found::Nothing);
        }
        let big = |at: usize| u32::from_be_bytes(array(&header[at..at + 4]));
        let word = if big(0) & 1 == 1 { u32::from_be_bytes } else { u32::from_le_bytes };
        let mut sum = Sum::default();
        sum.add(&header[..24], word);
        let page_bytes = big(8);
        let known = big(0) & !1 == MAGIC && page_bytes.is_power_of_two() && page_bytes <= PAGE_BYTES_MAX;
        if !known || sum != Sum(big(24), big(28)) {
            return Ok(Found::Rubbish);
        }
        let mut log = Log { salts: array(&header[16..24]), committed: 0, commits_behind: 0 };
        log.frames(&mut file, page_bytes as usize, sum, word)?;
        Ok(Found::Log(log))
    }

    fn frames(
        &mut self,
        file: &mut impl Read,
        page_bytes: usize,
        mut sum: Sum,
        word: fn([u8; 4]) -> u32,
    ) -> io::Result<()> {
        let mut frame = vec![0; FRAME_HEADER_BYTES + page_bytes];
        let mut number = 0;
        let mut broken = false;
        let mut commits_in_a_row = 0;
        while fill(file, &mut frame)? {
            number += 1;
            if frame[8..16] != self.salts {
                // Left over from before the log was last begun anew.
                broken = true;
                commits_in_a_row = 0;
                continue;
            }
            let stored =
                Sum(u32::from_be_bytes(array(&frame[16..20])), u32::from_be_bytes(array(&frame[20..24])));
            sum.add(&frame[..8], word);
            sum.add(&frame[FRAME_HEADER_BYTES..], word);
            let is_commit = frame[4..8] != [0; 4];
            if sum != stored {
                broken = true;
                commits_in_a_row = 0;
                // What follows is measured from here, to see whether it belongs together.
                sum = stored;
            } else if is_commit && !broken {
                self.committed = number;
            } else if is_commit {
                commits_in_a_row += 1;
                self.commits_behind = self.commits_behind.max(commits_in_a_row);
            }
        }
        Ok(())
    }
}

/// The running sum of the log's form.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
struct Sum(u32, u32);

impl Sum {
    fn add(&mut self, bytes: &[u8], word: fn([u8; 4]) -> u32) {
        for pair in bytes.chunks_exact(8) {
            self.0 = self.0.wrapping_add(word(array(&pair[..4]))).wrapping_add(self.1);
            self.1 = self.1.wrapping_add(word(array(&pair[4..]))).wrapping_add(self.0);
        }
    }
}

fn array<const N: usize>(bytes: &[u8]) -> [u8; N] {
    bytes.try_into().expect("the caller cuts out as many bytes as it asks for")
}

/// Fills the buffer, or says that the file ends before.
fn fill(file: &mut impl Read, buffer: &mut [u8]) -> io::Result<bool> {
    match file.read_exact(buffer) {
        Ok(()) => Ok(true),
        Err(error) if error.kind() == ErrorKind::UnexpectedEof => Ok(false),
        Err(error) => Err(error),
    }
}
