//! The log of executors: who has begun, given back or ended which task. Whoever repairs a damaged state learns from it who
//! works on what.
//!
//! It lies beside the log that everybody reads, which has the lines of the wire alone. An entry says how long that log was
//! when it was written, so that both can be read as one story; entries about a log that is not there any more say
//! nothing.

use std::{io, path::Path};

use ostler_protocol::name::TaskId;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{executor_note::ExecutorNote, log::Log};

/// The ending of its name, behind that of the log.
const EXTENSION: &str = "executor.ndjson";

/// Before the note of an executor in logs of earlier versions, which had both in one file.
const EARLIER: &str = "CUSTOM:EXECUTOR:";

/// What an executor says of a task.
#[derive(Debug, Clone, PartialEq)]
pub struct NoteEntry {
    pub(crate) task: TaskId,
    /// What it notes; nothing if nobody works on the task and nothing remains.
    pub(crate) note: Option<Box<ExecutorNote>>,
    /// Whether the task is done by that.
    pub(crate) done: bool,
}

/// An entry as it is written.
#[derive(Debug, Serialize, Deserialize)]
struct Written {
    /// How many bytes the log had.
    log_bytes: u64,
    task: String,
    #[serde(default)]
    note: Value,
    #[serde(default, skip_serializing_if = "core::ops::Not::not")]
    done: bool,
}

impl NoteEntry {
    /// Somebody has begun a task, or given it back.
    pub(crate) fn of(task: &TaskId, note: Option<Box<ExecutorNote>>) -> NoteEntry {
        NoteEntry { task: task.clone(), note, done: false }
    }

    /// A task is done.
    pub(crate) fn done(task: &TaskId) -> NoteEntry {
        NoteEntry { task: task.clone(), note: None, done: true }
    }

    /// Reads a line of a log of an earlier version.
    pub(crate) fn read_earlier(said: &str) -> Option<NoteEntry> {
        let (id, note) = said.strip_prefix(EARLIER)?.split_once(':')?;
        NoteEntry::read(id, &serde_json::from_str(note).ok()?, false)
    }

    fn read(task: &str, note: &Value, done: bool) -> Option<NoteEntry> {
        let is_note = note.is_null() || note.is_object();
        is_note.then_some(NoteEntry {
            task: task.parse().ok()?,
            note: ExecutorNote::read(note).map(Box::new),
            done,
        })
    }
}

/// Adds entries, each with the length that the log beside it has by then.
pub(crate) fn append(log: &Path, entries: &[(u64, NoteEntry)]) -> io::Result<()> {
    if entries.is_empty() {
        return Ok(());
    }
    let written = |(log_bytes, entry): &(u64, NoteEntry)| {
        let NoteEntry { task, note, done } = entry;
        let note = note.as_deref().map(ExecutorNote::value).unwrap_or_default();
        let written = Written { log_bytes: *log_bytes, task: task.to_string(), note, done: *done };
        serde_json::to_string(&written).expect("an entry is plain data") + "\n"
    };
    let text: String = entries.iter().map(written).collect();
    Log::open_alone(&beside(log))?.write(text.as_bytes())
}

/// Puts the entries aside together with their log.
pub(crate) fn put_aside(log: &Path, aside: &Path) {
    // Without a log of theirs the entries say nothing, and nobody reads them.
    std::fs::rename(beside(log), beside(aside)).ok();
}

/// The entries about a log of this length, in their order; `text` is what stands beside it.
pub(crate) fn read(text: &str, log_bytes: u64) -> Vec<(u64, NoteEntry)> {
    let read = |line: &str| {
        let Written { log_bytes, task, note, done } = serde_json::from_str(line).ok()?;
        Some((log_bytes, NoteEntry::read(&task, &note, done)?))
    };
    text.lines().filter_map(read).filter(|(at, _)| *at <= log_bytes).collect()
}

/// Where the entries about a log lie.
pub(crate) fn beside(log: &Path) -> std::path::PathBuf {
    let mut name = log.file_name().unwrap_or_default().to_owned();
    name.push(".");
    name.push(EXTENSION);
    log.with_file_name(name)
}
