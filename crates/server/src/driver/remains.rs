//! What a shim that is gone has left: its spool, and in its log perhaps more than it had written down.

use std::{
    fs::File,
    io::{self, Read, Seek},
    path::Path,
};

use ostler_agents::{Output, Terminal};
use ostler_engine::session::Order;
use ostler_files::private;
use ostler_protocol::{Format, Item, Parser, Settings, stream::Table};
use ostler_shim::{
    LOCK, OUT,
    spool::{self, Record, SpoolReader},
};
use rustix::{
    fs::{FlockOperation, Mode, OFlags, flock, open},
    io::Errno,
};
use serde_json::Value;

use crate::agent_log;

/// What is known about the shim of a directory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Remains {
    /// No shim has ever begun there.
    Nothing,
    /// A shim holds it.
    Held,
    /// A shim was there and is gone: its lock could be taken.
    Left,
    /// The system does not say, for want of descriptors or permission. Ask again later; until then, the shim may live.
    Unknown(Errno),
}

/// Looks whether the shim of a directory lives. Only a lock that is missing or could be taken says that it does not.
pub(super) fn look(directory: &Path) -> Remains {
    let lock = match open(directory.join(LOCK), OFlags::RDWR | OFlags::CLOEXEC, Mode::empty()) {
        Ok(lock) => lock,
        // With something else in its place, such as a directory or a link to itself, the lock was replaced: it is missing.
        Err(Errno::NOENT | Errno::ISDIR | Errno::LOOP | Errno::NXIO) => return Remains::Nothing,
        Err(errno) => return Remains::Unknown(errno),
    };
    match flock(&lock, FlockOperation::NonBlockingLockExclusive) {
        Err(Errno::WOULDBLOCK) => return Remains::Held,
        Err(errno) => return Remains::Unknown(errno),
        Ok(()) => {}
    }
    // A shim that had the lock and nothing more has done nothing. What cannot be read now is read later: what a shim has
    // left counts as a whole.
    let can_be_read = |name| match open(
        directory.join(name),
        OFlags::RDONLY | OFlags::NONBLOCK | OFlags::CLOEXEC,
        Mode::empty(),
    ) {
        Ok(_) => Ok(true),
        Err(Errno::NOENT | Errno::LOOP) => Ok(false),
        Err(errno) => Err(errno),
    };
    match [spool::FILE, OUT].map(can_be_read) {
        [Err(errno), _] | [_, Err(errno)] => Remains::Unknown(errno),
        [Ok(true), ..] => Remains::Left,
        [Ok(false), ..] => Remains::Nothing,
    }
}

/// The records after a number in the spool of a shim that is gone, a batch at a time.
#[derive(Debug)]
pub(super) struct LeftRecords {
    reader: Option<SpoolReader>,
    after_seq: u64,
    damage: Option<String>,
}

impl LeftRecords {
    pub(super) fn open(directory: &Path, after_seq: u64) -> LeftRecords {
        let (reader, damage) = match SpoolReader::open(directory) {
            Ok(reader) => (Some(reader), None),
            // A shim that never began has left no spool.
            Err(error) if after_seq == 0 && error.is_missing() => (None, None),
            Err(error) => (None, Some(error.to_string())),
        };
        LeftRecords { reader, after_seq, damage }
    }

    /// The next records; none at the end.
    pub(super) fn batch(&mut self) -> Vec<Record> {
        let (after_seq, reader) = (self.after_seq, self.reader.iter_mut().flatten());
        reader.filter(|record| record.seq > after_seq).take(ITEMS_MAX).collect()
    }

    /// What is wrong after the last record.
    pub(super) fn damage(&self) -> Option<String> {
        let Some(reader) = &self.reader else { return self.damage.clone() };
        let (last, known) = (reader.last_seq(), self.after_seq);
        let cut = (last < known).then(|| format!("it ends at record {last}, and {known} are known"));
        reader.damage().map(str::to_owned).or(cut)
    }
}

/// The most items that are handed out at once.
const ITEMS_MAX: usize = 256;

/// How much of a log is read at once.
const READ_BYTES: usize = 64 << 10;

/// Everything that can be heard in the log, in order. Those who know some of it already compare places.
#[derive(Debug)]
pub(super) struct Overheard {
    log: Option<io::Take<File>>,
    parser: Parser,
    /// How many items were handed out.
    count: u64,
}

/// What hears the log of an agent as its shim did. It is made of what the journal has: a file beside the log could be
/// anybody's.
pub(super) fn parser(order: &Order) -> Option<Parser> {
    let format = match &order.agent.output {
        Output::Text => Format::Text,
        Output::Table(toml) => Format::Structured(Table::parse(toml).ok()?),
    };
    let settings = Settings {
        nonce: order.nonce.as_deref().and_then(|nonce| nonce.parse().ok()),
        thin_role: order.role.is_main(),
        terminal: order.agent.terminal != Terminal::None,
        ..Settings::default()
    };
    Some(Parser::new(format, settings))
}

impl Overheard {
    pub(super) fn open(directory: &Path, parser: Parser) -> Option<Overheard> {
        let log = private::open(directory.join(OUT)).ok()?;
        let end = agent_log::end(&log).ok()?;
        let log = start_of(log, end).ok()?;
        Some(Overheard { log: Some(log), parser, count: 0 })
    }

    /// The number of items before the next batch.
    pub(super) fn count(&self) -> u64 {
        self.count
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
                    // How the process ended is not known.
                    self.parser.cut_off();
                    self.log = None;
                }
            }
        }
        self.count += items.len() as u64;
        items.iter().filter_map(|item| serde_json::to_value(item).ok()).collect()
    }
}

/// A log from its beginning to this end.
fn start_of(mut log: File, end: u64) -> io::Result<io::Take<File>> {
    log.rewind()?;
    Ok(log.take(end))
}

#[cfg(test)]
mod tests {
    use std::{fmt::Write, fs};

    use super::*;

    #[test]
    #[expect(clippy::disallowed_methods, reason = "a test writes what a shim would have left")]
    fn a_long_log_is_heard_in_pieces() {
        let program = std::env::current_exe().expect("a program");
        let directory = program.ancestors().nth(3).expect("a target directory").join("tmp/server-overheard");
        fs::remove_dir_all(&directory).ok();
        fs::create_dir_all(&directory).expect("a directory");
        let mut log = String::new();
        for number in 0..10_000 {
            write!(log, "[USER_QUESTION]\ncategory: clarification\nquestion: {number}?\n[/USER_QUESTION]\n")
                .expect("memory");
        }
        fs::write(directory.join(OUT), log).expect("a file");
        let parser = Parser::new(Format::Text, Settings::default());
        let mut overheard = Overheard::open(&directory, parser).expect("a log");
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
