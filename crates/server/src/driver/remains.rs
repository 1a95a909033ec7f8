//! What a shim that is gone has left: its spool, and in its log perhaps more than it had written down.

use std::{fs::File, io::Read, path::Path};

use ostler_protocol::{Format, Item, Parser, Settings, stream::Table};
use ostler_shim::{
    LOCK, OUT,
    launch::{Launch, OutputFormat, Terminal},
    spool::{self, Found, Record},
};
use rustix::fs::{FlockOperation, Mode, OFlags, flock, open};
use serde_json::Value;

/// How it stands with a shim's directory.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Remains {
    /// No shim has ever begun there.
    Nothing,
    /// A shim holds it.
    Held,
    /// A shim was there and is gone.
    Left,
}

pub(super) fn look(directory: &Path) -> Remains {
    let Ok(lock) = open(directory.join(LOCK), OFlags::RDWR | OFlags::CLOEXEC, Mode::empty()) else {
        return Remains::Nothing;
    };
    if flock(&lock, FlockOperation::NonBlockingLockExclusive).is_err() {
        return Remains::Held;
    }
    // A shim that had the lock and nothing more has done nothing.
    if directory.join(spool::FILE).exists() { Remains::Left } else { Remains::Nothing }
}

/// The records behind a number, and what is wrong behind those.
pub(super) fn records(directory: &Path, after_seq: u64) -> (Vec<Record>, Option<String>) {
    let Found { mut records, damage } = match spool::look(directory) {
        Ok(found) => found,
        // Who has never begun has left none.
        Err(_) if after_seq == 0 => return (Vec::new(), None),
        Err(error) => Found { records: Vec::new(), damage: Some(error.to_string()) },
    };
    let last = records.last().map_or(0, |record| record.seq);
    let cut = (last < after_seq).then(|| format!("it ends at record {last}, and {after_seq} are known"));
    records.retain(|record| record.seq > after_seq);
    (records, damage.or(cut))
}

/// The most items that are handed out at once.
const ITEMS_MAX: usize = 256;

/// How much of a log is read at once.
const READ_BYTES: usize = 64 << 10;

/// Everything that can be heard in the log, in order. Those who know some of it already compare places.
#[derive(Debug)]
pub(super) struct Overheard {
    log: Option<File>,
    parser: Parser,
}

impl Overheard {
    pub(super) fn open(directory: &Path) -> Option<Overheard> {
        let launch = Launch::read(directory).ok()?;
        let log = File::open(directory.join(OUT)).ok()?;
        let format = match &launch.format {
            OutputFormat::Text => Format::Text,
            OutputFormat::Table(toml) => Format::Structured(Table::parse(toml).ok()?),
        };
        let settings = Settings {
            nonce: launch.nonce.as_deref().and_then(|nonce| nonce.parse().ok()),
            thin_role: launch.thin_role,
            terminal: launch.terminal != Terminal::None,
            ..Settings::default()
        };
        Some(Overheard { log: Some(log), parser: Parser::new(format, settings) })
    }

    /// The next items; none at the end. What is held meanwhile does not depend on how long the log is.
    pub(super) fn batch(&mut self) -> Vec<Value> {
        let mut items: Vec<Item> = Vec::new();
        let mut chunk = vec![0; READ_BYTES];
        loop {
            items.extend(self.parser.by_ref().take(ITEMS_MAX - items.len()));
            let Some(log) = self.log.as_mut().filter(|_| items.len() < ITEMS_MAX) else { break };
            match log.read(&mut chunk) {
                Ok(length @ 1..) => self.parser.push(&chunk[..length]),
                Ok(0) | Err(_) => {
                    self.parser.finish();
                    self.log = None;
                }
            }
        }
        items.iter().filter_map(|item| serde_json::to_value(item).ok()).collect()
    }
}

#[cfg(test)]
mod tests {
    use std::{fmt::Write, fs};

    use serde_json::json;

    use super::*;

    #[test]
    #[expect(clippy::disallowed_methods, reason = "a test writes what a shim would have left")]
    fn a_long_log_is_heard_in_pieces() {
        let program = std::env::current_exe().expect("a program");
        let directory = program.ancestors().nth(3).expect("a target directory").join("tmp/server-overheard");
        fs::remove_dir_all(&directory).ok();
        fs::create_dir_all(&directory).expect("a directory");
        let launch = json!({
            "session": "s_1.1@x", "command": ["x"], "directory": "/", "environment": {}, "terminal": "none",
            "input": "open", "format": "text", "nonce": null, "thin_role": false, "stop": true,
            "log_bytes_max": 1, "open_files_max": null, "cgroup": "auto",
        });
        fs::write(directory.join("launch.json"), launch.to_string()).expect("a file");
        let mut log = String::new();
        for number in 0..10_000 {
            write!(log, "[USER_QUESTION]\ncategory: clarification\nquestion: {number}?\n[/USER_QUESTION]\n")
                .expect("memory");
        }
        fs::write(directory.join(OUT), log).expect("a file");
        let mut overheard = Overheard::open(&directory).expect("a log");
        let mut questions = Vec::new();
        loop {
            let batch = overheard.batch();
            assert!(batch.len() <= ITEMS_MAX && overheard.parser.buffered_bytes() < READ_BYTES);
            if batch.is_empty() {
                break;
            }
            questions
                .extend(batch.iter().map(|item| item["question"].as_str().unwrap_or_default().to_owned()));
        }
        assert_eq!(questions, (0..10_000).map(|number| format!("{number}?")).collect::<Vec<_>>());
    }
}
