//! The log: every line that goes over the wire, with its time.

use std::{
    fmt::Write as _,
    fs::{self, File, OpenOptions},
    io::{self, Write as _},
    os::unix::fs::OpenOptionsExt,
    path::Path,
};

use ostler_protocol::thin::Thin;
use rustix::fs::OFlags;

use crate::{project::Project, stamp::stamp};

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

/// Adds lines, each with the time. What has several lines is one entry for each.
pub(crate) fn append<'a>(
    path: &Path,
    at_ms: u64,
    lines: impl IntoIterator<Item = &'a str>,
) -> io::Result<()> {
    Log::open(path)?.add(at_ms, lines)
}

/// A log that can be written, as far as that can be known before.
pub(crate) struct Log(File);

impl Log {
    pub(crate) fn open(path: &Path) -> io::Result<Log> {
        let about = fs::symlink_metadata(path).ok();
        if about.is_some_and(|about| about.is_file() && about.len() > LOG_BYTES_MAX) {
            fs::rename(path, path.with_extension("log.1"))?;
        }
        let flags = (OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC).bits().cast_signed();
        let opened = OpenOptions::new().append(true).create(true).custom_flags(flags).open(path);
        let name = path.file_name().unwrap_or_default().display();
        opened.map(Log).map_err(|error| io::Error::new(error.kind(), format!("{name}: {error}")))
    }

    pub(crate) fn add<'a>(mut self, at_ms: u64, lines: impl IntoIterator<Item = &'a str>) -> io::Result<()> {
        let at = stamp(at_ms);
        let mut text = String::new();
        for line in lines.into_iter().flat_map(str::lines) {
            // Writing to text does not fail.
            writeln!(text, "[{at}] {line}").ok();
        }
        // In one piece: others append too.
        self.0.write_all(text.as_bytes())
    }
}
