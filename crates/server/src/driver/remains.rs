//! What a shim that is gone has left: its spool, and in its log perhaps more than it had written down.

use std::{fs::File, io::Read, path::Path};

use ostler_engine::SessionId;
use ostler_protocol::{Format, Item, Parser, Settings, stream::Table};
use ostler_shim::{
    LOCK, OUT,
    launch::{Launch, OutputFormat},
    spool::{self, Record},
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

/// The records behind a number.
pub(super) fn records(directory: &Path, after_seq: u64) -> Vec<Record> {
    let records = spool::read(directory).unwrap_or_default();
    records.into_iter().filter(|record| record.seq > after_seq).collect()
}

/// Everything that can be heard in the log. Those who know some of it already compare places.
pub(super) fn overheard(directory: &Path, session: SessionId) -> Vec<Value> {
    let Ok(launch) = Launch::read(directory) else { return Vec::new() };
    let Ok(mut log) = File::open(directory.join(OUT)) else { return Vec::new() };
    let format = match &launch.format {
        OutputFormat::Text => Format::Text,
        OutputFormat::Table(toml) => match Table::parse(toml) {
            Ok(table) => Format::Structured(table),
            Err(_) => return Vec::new(),
        },
    };
    let settings = Settings {
        nonce: launch.nonce.as_deref().and_then(|nonce| nonce.parse().ok()),
        thin_role: launch.thin_role,
        ..Settings::default()
    };
    let mut parser = Parser::new(format, settings);
    let mut items: Vec<Item> = Vec::new();
    let mut chunk = vec![0; 64 << 10];
    while let Ok(length @ 1..) = log.read(&mut chunk) {
        parser.push(&chunk[..length]);
        items.extend(parser.by_ref());
    }
    parser.finish();
    items.extend(parser.by_ref());
    debug_assert!(launch.session.starts_with(&session.to_string()), "a directory is for one session");
    items.iter().filter_map(|item| serde_json::to_value(item).ok()).collect()
}
