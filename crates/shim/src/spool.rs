//! What happened to an agent, in order, on disk before anybody is told.
//!
//! One line of JSON per record. A line that was cut by a crash is the last one and does not count: what it was about
//! stands in the output log too.

use std::{
    fs::File,
    io::{self, BufRead, BufReader, Read, Write},
    path::{Path, PathBuf},
    time::Duration,
};

use ostler_files::private;
use ostler_protocol::Item;
use serde::{Deserialize, Serialize};
use serde_json::Value;

pub use crate::folding::FoldedItems;
use crate::{clock::now_ms, error::Error, files, folding::ItemFolding};

/// The name of the file in the shim's directory.
pub const FILE: &str = "spool.ndjson";

/// One thing that happened.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Record {
    /// Counted from 1 in each launch.
    pub seq: u64,
    /// Milliseconds since 1970, UTC.
    pub at_ms: u64,
    /// What it was.
    #[serde(flatten)]
    pub what: Happening,
}

/// What can happen.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "event", rename_all = "snake_case")]
pub enum Happening {
    /// The agent runs.
    Started {
        /// Its process.
        pid: i32,
        /// When that began, in the kernel's ticks: no later process has the same pair.
        began: u64,
        /// Its control group, if it has one: where nothing of the shim is left, this may be.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        cgroup: Option<PathBuf>,
    },
    /// The parser heard something.
    Heard {
        /// The item, as `ostler parse` prints it.
        item: Value,
    },
    /// Items that ask for nothing came faster than they are written down: they were counted.
    Folded(FoldedItems),
    /// The whole tree was stopped.
    Stopped {
        /// What for.
        cause: StopCause,
        /// How many processes.
        processes: usize,
        /// Whether all were seen to stand still.
        confirmed: bool,
    },
    /// The tree was sent on.
    WentOn,
    /// Output can no longer be written down, and the agent waits.
    Stalled {
        /// Why.
        reason: StallReason,
    },
    /// The agent could not be started.
    NotStarted {
        /// Why not.
        message: String,
    },
    /// Input was taken for the agent: it is written after this, and never again under this name.
    TookInput {
        /// The name that the server gave it.
        key: String,
    },
    /// The agent has read everything that was taken under this name. A terminal does not tell.
    Consumed {
        /// The name.
        key: String,
    },
    /// The agent's input ends behind what was taken.
    ClosedInput {
        /// The name that the server gave to this wish.
        key: String,
    },
    /// The agent ended.
    Ended {
        /// Its exit code.
        code: Option<i32>,
        /// The signal that ended it.
        signal: Option<i32>,
        /// Whether everything it had started is seen to be gone too.
        clean: bool,
        /// How much of its input it had not read.
        input_bytes_left: u64,
        /// That the shim of the launch wrote this, signed with the key that the server gave it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        seal: Option<String>,
    },
    /// The shim ends, because another process lowered a limit that it needs.
    LimitLowered {
        /// Which one.
        what: String,
    },
    /// An end that another process wrote. Only a server finds out that it is one.
    Forged,
    /// Something that only a later version knows.
    #[serde(other)]
    Other,
}

/// Why a tree was stopped.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum StopCause {
    /// The agent asked for something.
    Signal,
    /// The server wanted it.
    Command,
    /// Its output had nowhere to go.
    Stall,
}

/// Why output cannot be written down.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum StallReason {
    /// The log is as large as it may be.
    LogFull,
    /// The disk refused.
    Disk {
        /// In the system's words.
        message: String,
    },
}

/// The spool of a running shim.
#[derive(Debug)]
pub(crate) struct Spool {
    file: File,
    /// How much of the file is whole lines.
    length: u64,
    last_seq: u64,
    /// Records that the disk has not taken yet.
    waiting: Vec<Record>,
    folding: ItemFolding,
}

impl Spool {
    pub(crate) fn create(directory: &Path) -> Result<Spool, Error> {
        let file = files::create(&directory.join(FILE))?;
        let folding = ItemFolding::new();
        Ok(Spool { file, length: 0, last_seq: 0, waiting: Vec::new(), folding })
    }

    /// The file itself: whatever is put in its place by name, this one is read and written.
    pub(crate) fn file(&self) -> &File {
        &self.file
    }

    /// How much of the file can be read: whole lines, synced.
    pub(crate) fn length(&self) -> u64 {
        self.length
    }

    /// The number of the last record.
    pub(crate) fn last_seq(&self) -> u64 {
        self.last_seq
    }

    /// Whether something is not written yet.
    pub(crate) fn has_waiting(&self) -> bool {
        !self.waiting.is_empty()
    }

    /// Puts down what happened; it counts once it is written.
    pub(crate) fn add(&mut self, what: Happening) -> u64 {
        self.add_folded();
        self.folding.allow_steps();
        self.push(what)
    }

    /// Puts down an item that was heard, or counts it. The value is made only where it is needed.
    pub(crate) fn add_item(&mut self, item: &Item, value: impl FnOnce() -> Value) {
        if !self.folding.fold(item) {
            self.add_folded();
            self.push(Happening::Heard { item: value() });
        }
    }

    /// How long counted items may still wait for their record, if there are any.
    pub(crate) fn patience(&self) -> Option<Duration> {
        self.folding.patience()
    }

    /// Puts down one record for all items that were counted.
    pub(crate) fn add_folded(&mut self) {
        if let Some(folded) = self.folding.take() {
            self.push(Happening::Folded(folded));
        }
    }

    fn push(&mut self, what: Happening) -> u64 {
        self.last_seq += 1;
        self.waiting.push(Record { seq: self.last_seq, at_ms: now_ms(), what });
        self.last_seq
    }

    /// Takes back a record, if it is not written yet. Nobody knows the numbers of those behind it either.
    pub(crate) fn take_back(&mut self, seq: u64) -> bool {
        let Some(place) = self.waiting.iter().position(|record| record.seq == seq) else { return false };
        self.waiting.remove(place);
        self.last_seq -= 1;
        for record in &mut self.waiting[place..] {
            record.seq -= 1;
        }
        true
    }

    /// Writes what waits, with one sync. If the disk refuses, everything waits on and nothing of it is in the file.
    pub(crate) fn write(&mut self) -> io::Result<()> {
        let mut lines = Vec::new();
        for record in &self.waiting {
            serde_json::to_writer(&mut lines, record).expect("a record has only text and numbers");
            lines.push(b'\n');
        }
        let written = self.file.write_all(&lines).and_then(|()| self.file.sync_data());
        if let Err(source) = written {
            self.file.set_len(self.length)?;
            return Err(source);
        }
        self.length += lines.len() as u64;
        self.waiting.clear();
        Ok(())
    }
}

/// The longest record that is read. Those that a shim writes are far shorter.
const RECORD_BYTES_MAX: u64 = 16 << 20;

/// A spool, read record by record: its length does not decide how much memory that takes.
#[derive(Debug)]
pub struct SpoolReader {
    file: BufReader<File>,
    line: Vec<u8>,
    last_seq: u64,
    damage: Option<String>,
}

impl SpoolReader {
    /// Opens the spool of a shim's directory.
    pub fn open(directory: &Path) -> Result<SpoolReader, Error> {
        let path = directory.join(FILE);
        let file = private::open(&path).map_err(|source| Error::Read { path, source })?;
        Ok(SpoolReader { file: BufReader::new(file), line: Vec::new(), last_seq: 0, damage: None })
    }

    /// The number of the last record that was read.
    pub fn last_seq(&self) -> u64 {
        self.last_seq
    }

    /// What is wrong after the last record. A last line that was cut is no damage: a crash leaves it.
    pub fn damage(&self) -> Option<&str> {
        self.damage.as_deref()
    }

    fn read(&mut self) -> Result<Option<Record>, String> {
        let seq = self.last_seq + 1;
        let unreadable = || format!("record {seq} cannot be read");
        self.line.clear();
        let read = self.file.by_ref().take(RECORD_BYTES_MAX).read_until(b'\n', &mut self.line);
        let length = read.map_err(|_| unreadable())? as u64;
        if !self.line.ends_with(b"\n") {
            return if length < RECORD_BYTES_MAX { Ok(None) } else { Err(unreadable()) };
        }
        let record: Record = serde_json::from_slice(&self.line).map_err(|_| unreadable())?;
        if record.seq != seq {
            return Err(format!("record {} stands where {seq} should", record.seq));
        }
        self.last_seq = seq;
        Ok(Some(record))
    }
}

impl Iterator for SpoolReader {
    type Item = Record;

    fn next(&mut self) -> Option<Record> {
        if self.damage.is_some() {
            return None;
        }
        self.read().unwrap_or_else(|damage| {
            self.damage = Some(damage);
            None
        })
    }
}

/// All records of a short spool, such as that of a check; a long one is read by [`SpoolReader`].
pub fn read(directory: &Path) -> Result<Vec<Record>, Error> {
    SpoolReader::open(directory).map(Iterator::collect)
}
