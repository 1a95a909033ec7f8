//! The store on one machine: a SQLite file with a write-ahead log, synced at every commit.
//!
//! [`Sqlite`] is the one connection that writes, [`SqliteReader`] one of many that read beside it. Both are used by
//! one thread at a time. That no other process writes is seen to by the server's lock; should one do so all the
//! same, its events do not follow ours and are refused.

use std::{
    ffi::OsString,
    ops::ControlFlow,
    path::{Path, PathBuf},
    sync::Arc,
    time::Duration,
};

use rusqlite::{Connection, TransactionBehavior, params};

use self::held::Held;
use crate::{
    error::{CommitError, OpenError, ReadError},
    rows::{ActionRow, Commit, Counters, Entity, EventRow, Page, Projection, Scope, StoredReply},
    store::{CREATED_AT_MS, Reads, SCHEMA_VERSION, Store},
};

mod fault;
mod graft;
mod held;
mod open;
mod read;
mod salvage;
mod schema;
mod sum;
mod wal;
mod write;

pub use self::salvage::{Salvaged, salvage};

/// What a database is called while it is made from a damaged one, behind the name of that.
const SALVAGED: &str = ".salvaged";

/// The files of a database that another process can lock, each with the byte that a writer locks.
///
/// A transaction that writes locks byte 120 of the index of the log; a process that wants the database for itself locks
/// byte 2^30 of the database.
pub fn lock_bytes(path: &Path) -> [(PathBuf, u64); 2] {
    [(beside(path, "-shm"), 120), (path.to_owned(), 1 << 30)]
}

/// The connection that writes.
#[derive(Debug)]
pub struct Sqlite {
    reader: SqliteReader,
    /// The last event, so that a group is checked before it is written.
    last_seq: u64,
}

/// A connection that reads, beside the one that writes.
#[derive(Debug)]
pub struct SqliteReader {
    connection: Connection,
    held: Arc<Held>,
}

impl Sqlite {
    /// Opens a database, or makes it where there is none. Takes the steps to the newest form.
    pub fn open(path: &Path, now_ms: u64) -> Result<Sqlite, OpenError> {
        open::make_folder(path)?;
        let held = Held::take(path)?;
        let connection = open::writer(held.path(), now_ms)?;
        let last_seq = read::last_seq(&connection).map_err(|error| fault::open(path, error))?;
        Ok(Sqlite { reader: SqliteReader { connection, held: Arc::new(held) }, last_seq })
    }

    /// Opens another connection, for reading.
    pub fn reader(&self) -> Result<SqliteReader, OpenError> {
        let held = Arc::clone(&self.reader.held);
        Ok(SqliteReader { connection: open::reader(held.path())?, held })
    }

    /// Sets how long a write waits for another process that writes.
    pub fn set_busy_timeout(&self, timeout: Duration) -> Result<(), CommitError> {
        let SqliteReader { connection, held } = &self.reader;
        connection.busy_timeout(timeout).map_err(|error| fault::commit(held.path(), error))
    }

    /// Where the database is.
    pub fn path(&self) -> &Path {
        self.reader.held.path()
    }

    /// Writes the log back into the database and removes it. Dropping does the same, but cannot say that it failed.
    pub fn close(self) -> Result<(), CommitError> {
        let SqliteReader { connection, held } = self.reader;
        let path = held.path();
        let busy: bool = connection
            .query_row("PRAGMA wal_checkpoint(TRUNCATE)", (), |row| row.get(0))
            .map_err(|error| fault::commit(path, error))?;
        if busy {
            return Err(CommitError::Busy { place: path.display().to_string() });
        }
        connection.close().map_err(|(_, error)| fault::commit(path, error))
    }

    fn write<T>(
        &mut self,
        work: impl FnOnce(&rusqlite::Transaction<'_>, &Path) -> Result<T, CommitError>,
    ) -> Result<T, CommitError> {
        let SqliteReader { connection, held } = &mut self.reader;
        let path = held.path();
        let transaction = connection
            .transaction_with_behavior(TransactionBehavior::Immediate)
            .map_err(|error| fault::commit(path, error))?;
        let result = work(&transaction, path)?;
        transaction.commit().map_err(|error| fault::commit(path, error))?;
        Ok(result)
    }
}

impl Store for Sqlite {
    fn commit(&mut self, group: &[Commit]) -> Result<(), CommitError> {
        if group.iter().all(|commit| *commit == Commit::default()) {
            return Ok(());
        }
        let mut last = self.last_seq;
        for event in group.iter().flat_map(|commit| &commit.events) {
            assert_eq!(event.seq, last + 1, "an event goes where the journal ends");
            last = event.seq;
        }
        self.write(|transaction, path| write::group(transaction, path, group))?;
        self.last_seq = last;
        Ok(())
    }

    fn set_meta(&mut self, name: &str, value: &str) -> Result<(), CommitError> {
        assert!(name != SCHEMA_VERSION && name != CREATED_AT_MS, "{name} is the store's own");
        self.write(|transaction, path| {
            transaction
                .execute(
                    "INSERT INTO meta (name, value) VALUES (?1, ?2) \
                     ON CONFLICT DO UPDATE SET value = excluded.value",
                    params![name, value],
                )
                .map(|_| ())
                .map_err(|error| fault::commit(path, error))
        })
    }

    fn prune_replies(&mut self, before_ms: u64) -> Result<usize, CommitError> {
        self.write(|transaction, path| {
            transaction
                .execute("DELETE FROM replies WHERE at_ms < ?1", [before_ms])
                .map_err(|error| fault::commit(path, error))
        })
    }
}

impl SqliteReader {
    /// Goes through the whole database: its structure, the references, and every event. Takes as long as reading
    /// it does.
    pub fn check(&self) -> Result<(), ReadError> {
        if let Some(what) = self.read(read::integrity)? {
            return Err(ReadError::Corrupt { place: self.held.path().display().to_string(), what });
        }
        self.each_event(&mut |_| ControlFlow::Continue(()))
    }

    fn read<T>(&self, read: impl FnOnce(&Connection) -> rusqlite::Result<T>) -> Result<T, ReadError> {
        read(&self.connection).map_err(|error| fault::read(self.held.path(), error))
    }
}

impl Reads for SqliteReader {
    fn last_seq(&self) -> Result<u64, ReadError> {
        self.read(read::last_seq)
    }

    fn counters(&self) -> Result<Counters, ReadError> {
        self.read(read::counters)
    }

    fn live(&self, entity: Entity) -> Result<Vec<Projection>, ReadError> {
        self.read(|connection| read::live(connection, entity))
    }

    fn entity(&self, entity: Entity, id: u64) -> Result<Option<Projection>, ReadError> {
        self.read(|connection| read::entity(connection, entity, id))
    }

    fn page(&self, page: &Page) -> Result<Vec<Projection>, ReadError> {
        self.read(|connection| read::page(connection, page))
    }

    fn events(&self, after: u64, scope: Scope, limit: u32) -> Result<Vec<EventRow>, ReadError> {
        self.read(|connection| read::events(connection, after, &scope, limit))
    }

    fn events_before(&self, before: u64, scope: Scope, limit: u32) -> Result<Vec<EventRow>, ReadError> {
        self.read(|connection| read::events_before(connection, before, &scope, limit))
    }

    fn open_actions(&self) -> Result<Vec<ActionRow>, ReadError> {
        self.read(read::open_actions)
    }

    fn reply(&self, key: &str) -> Result<Option<StoredReply>, ReadError> {
        self.read(|connection| read::reply(connection, key))
    }

    fn meta(&self, name: &str) -> Result<Option<String>, ReadError> {
        self.read(|connection| read::meta(connection, name))
    }

    fn snapshot(&self, work: &mut dyn FnMut(&dyn Reads) -> Result<(), ReadError>) -> Result<(), ReadError> {
        // It ends by being dropped, also when the work fails or panics.
        let _open =
            self.connection.unchecked_transaction().map_err(|error| fault::read(self.held.path(), error))?;
        work(self)
    }
}

impl Reads for Sqlite {
    fn last_seq(&self) -> Result<u64, ReadError> {
        self.reader.last_seq()
    }

    fn counters(&self) -> Result<Counters, ReadError> {
        self.reader.counters()
    }

    fn live(&self, entity: Entity) -> Result<Vec<Projection>, ReadError> {
        self.reader.live(entity)
    }

    fn entity(&self, entity: Entity, id: u64) -> Result<Option<Projection>, ReadError> {
        self.reader.entity(entity, id)
    }

    fn page(&self, page: &Page) -> Result<Vec<Projection>, ReadError> {
        self.reader.page(page)
    }

    fn events(&self, after: u64, scope: Scope, limit: u32) -> Result<Vec<EventRow>, ReadError> {
        self.reader.events(after, scope, limit)
    }

    fn events_before(&self, before: u64, scope: Scope, limit: u32) -> Result<Vec<EventRow>, ReadError> {
        self.reader.events_before(before, scope, limit)
    }

    fn open_actions(&self) -> Result<Vec<ActionRow>, ReadError> {
        self.reader.open_actions()
    }

    fn reply(&self, key: &str) -> Result<Option<StoredReply>, ReadError> {
        self.reader.reply(key)
    }

    fn meta(&self, name: &str) -> Result<Option<String>, ReadError> {
        self.reader.meta(name)
    }

    fn snapshot(&self, work: &mut dyn FnMut(&dyn Reads) -> Result<(), ReadError>) -> Result<(), ReadError> {
        self.reader.snapshot(work)
    }
}

/// The directory of a database.
fn folder(path: &Path) -> &Path {
    match path.parent() {
        Some(parent) if parent != Path::new("") => parent,
        _ => Path::new("."),
    }
}

/// A file whose name is that of the database and something more.
fn beside(path: &Path, more: &str) -> PathBuf {
    let mut name = OsString::from(path);
    name.push(more);
    name.into()
}
