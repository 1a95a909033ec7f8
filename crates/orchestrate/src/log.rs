//! The log: every line that goes over the wire, with its time, and nothing else.

use std::{
    fmt::Write as _,
    fs::{self, File, OpenOptions},
    io::{self, Write as _},
    os::unix::fs::OpenOptionsExt,
    path::{Path, PathBuf},
};

use ostler_protocol::thin::Thin;
use rustix::fs::OFlags;

use crate::{
    executor_log::{self, NoteEntry},
    project::Project,
    stamp::stamp,
};

/// A log that is larger is put aside, and a new one begun.
const LOG_BYTES_MAX: u64 = 16 << 20;

/// Adds lines that somebody else has said to the log of a project.
pub fn note(project: &Project, lines: &[String], at_ms: u64) -> io::Result<()> {
    append(&project.log_file(), at_ms, lines.iter().map(String::as_str))
}

/// Adds a line to the log, if there is one: what comes of a question about nothing leaves nothing behind.
pub fn note_if_there(project: &Project, line: &Thin, at_ms: u64) {
    let log = project.log_file();
    if log.exists() {
        // Whoever asked has the line; a log that cannot be written takes nothing from it.
        append(&log, at_ms, [line.to_string().as_str()]).ok();
    }
}

/// Something that a change of the state adds to the logs.
#[derive(Debug, Clone, PartialEq)]
pub enum LogEntry {
    /// A line of the wire.
    Line(String),
    /// What an executor notes, which is nobody else's business.
    Noted(NoteEntry),
}

impl From<String> for LogEntry {
    fn from(line: String) -> LogEntry {
        LogEntry::Line(line)
    }
}

/// Adds lines, each with the time. What has several lines is one entry for each.
pub(crate) fn append<'a>(
    path: &Path,
    at_ms: u64,
    lines: impl IntoIterator<Item = &'a str>,
) -> io::Result<()> {
    let entries: Vec<LogEntry> = lines.into_iter().map(|line| LogEntry::Line(line.to_owned())).collect();
    Log::open(path)?.add(at_ms, entries)
}

/// A log that can be written, as far as that can be known before.
pub(crate) struct Log {
    file: File,
    path: PathBuf,
}

impl Log {
    /// Opens the log; one that has grown too large is put aside, with what executors have noted beside it.
    pub(crate) fn open(path: &Path) -> io::Result<Log> {
        let about = fs::symlink_metadata(path).ok();
        if about.is_some_and(|about| about.is_file() && about.len() > LOG_BYTES_MAX) {
            let aside = path.with_extension("log.1");
            fs::rename(path, &aside)?;
            executor_log::put_aside(path, &aside);
        }
        Log::open_alone(path)
    }

    /// Opens a file that is never put aside by itself.
    pub(crate) fn open_alone(path: &Path) -> io::Result<Log> {
        let flags = (OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC).bits().cast_signed();
        let opened = OpenOptions::new().append(true).create(true).custom_flags(flags).open(path);
        let name = path.file_name().unwrap_or_default().display();
        let file = opened.map_err(|error| io::Error::new(error.kind(), format!("{name}: {error}")))?;
        Ok(Log { file, path: path.to_owned() })
    }

    /// Adds entries. What executors note is written first: a repaired state knows of a beginning before others do.
    pub(crate) fn add(mut self, at_ms: u64, entries: Vec<LogEntry>) -> io::Result<()> {
        let at = stamp(at_ms);
        let begins_at = self.file.metadata()?.len();
        let (mut text, mut noted) = (String::new(), Vec::new());
        for entry in entries {
            match entry {
                LogEntry::Line(line) => {
                    for line in line.lines() {
                        // Writing to text does not fail.
                        writeln!(text, "[{at}] {line}").ok();
                    }
                }
                LogEntry::Noted(entry) => noted.push((begins_at + text.len() as u64, entry)),
            }
        }
        executor_log::append(&self.path, &noted)?;
        self.write(text.as_bytes())
    }

    /// In one piece: others append too.
    pub(crate) fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.file.write_all(bytes)
    }
}
