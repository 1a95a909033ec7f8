//! Other processes that lock the journal's database, and what the server does about them.
//!
//! | who holds the lock | then |
//! |---|---|
//! | a process of an agent, by its mark | the server ends it and writes again |
//! | a process of a person, such as `sqlite3` | the server names it, and writes again until [`WAIT_MAX`] |
//! | a process that the kernel does not name | as for a person, without a name |

use std::{
    fmt,
    path::{Path, PathBuf},
    sync::Arc,
    thread,
    time::{Duration, Instant},
};

use ostler_shim::{RecordLockHolder, end_record_lock_holder, record_lock_holders};
use ostler_store::{CommitError, OpenError, Sqlite, lock_bytes};
use serde_json::json;
use tokio::time::sleep;

use crate::{home::Home, log::Log, strays::server_pid};

/// How long a write waits for a process that may hold the lock.
const WAIT_MAX: Duration = Duration::from_secs(5);

/// How long a write goes on against processes of agents that take the lock one after the other.
const FIGHT_MAX: Duration = Duration::from_secs(30);

/// How long SQLite itself waits before the holder of the lock is looked for. A reader needs the lock for less.
const BUSY_TIMEOUT: Duration = Duration::from_millis(100);

/// Between two looks at who holds the lock.
const LOOK: Duration = Duration::from_millis(50);

/// Between two looks while nothing is written.
const WATCH: Duration = Duration::from_secs(2);

/// How long a process of an agent may lock the database while nothing is written.
const GLANCE: Duration = Duration::from_millis(250);

/// Why a write failed.
#[derive(Debug)]
pub(crate) enum WriteRefusal {
    /// Other processes keep the database locked.
    Locked(Vec<RecordLockHolder>),
    /// The store says no for another reason.
    Failed(String),
}

/// The processes that keep the journal of a state directory from being written: number and name. Its server is not among
/// them.
pub fn lock_holders(home: &Home) -> Vec<(i32, String)> {
    let server = server_pid(home);
    let found = holders(&home.database()).into_iter().filter(|holder| Some(holder.pid) != server);
    found.map(|holder| (holder.pid, holder.name)).collect()
}

/// Ends processes of agents that keep the database locked while nothing is written, and while the server starts: readers
/// would wait for them.
pub(crate) async fn watch_locks(database: PathBuf, log: Arc<Log>) {
    loop {
        let (database, log) = (database.clone(), Arc::clone(&log));
        let look = move || {
            let is_locked = holders(&database).iter().any(|holder| holder.is_marked);
            if is_locked {
                // A process that reads the database locks it for a moment when it closes it.
                thread::sleep(GLANCE);
                end_marked(&database, Some(&log));
            }
        };
        tokio::task::spawn_blocking(look).await.ok();
        sleep(WATCH).await;
    }
}

/// The other processes that keep the database from being written.
fn holders(database: &Path) -> Vec<RecordLockHolder> {
    let mut found: Vec<RecordLockHolder> = lock_bytes(database)
        .iter()
        .flat_map(|(file, byte)| record_lock_holders(file, *byte).unwrap_or_default())
        .filter(|holder| !holder.waits)
        .collect();
    found.sort_unstable_by_key(|holder| holder.pid);
    found.dedup_by_key(|holder| holder.pid);
    found
}

/// Ends the processes of agents that lock the database or wait for it. Says how many it ended.
fn end_marked(database: &Path, log: Option<&Log>) -> usize {
    let mut ended = 0;
    for (file, byte) in lock_bytes(database) {
        let found = record_lock_holders(&file, byte).unwrap_or_default();
        for holder in found.iter().filter(|holder| holder.is_marked) {
            if end_record_lock_holder(holder, &file, byte).unwrap_or(false) {
                ended += 1;
                if let Some(log) = log {
                    log.error(
                        "journal.locked",
                        json!({ "pid": holder.pid, "name": holder.name, "ended": true }),
                    );
                }
            }
        }
    }
    ended
}

/// Opens the database, against whoever locks it.
pub(crate) fn open(database: &Path, now_ms: u64) -> Result<Sqlite, OpenError> {
    end_marked(database, None);
    let since = Instant::now();
    loop {
        let opened = Sqlite::open(database, now_ms);
        let may_go_on = match &opened {
            Err(OpenError::Busy { .. }) => end_marked(database, None) > 0 && since.elapsed() < FIGHT_MAX,
            _ => false,
        };
        if !may_go_on {
            return opened;
        }
    }
}

/// Writes, against whoever locks the database. Nothing is written in part: each try is one transaction.
pub(super) fn write<T>(
    store: &mut Sqlite,
    log: &Log,
    mut work: impl FnMut(&mut Sqlite) -> Result<T, CommitError>,
) -> Result<T, CommitError> {
    let since = Instant::now();
    let mut is_named = false;
    store.set_busy_timeout(BUSY_TIMEOUT).ok();
    loop {
        match work(store) {
            Err(CommitError::Busy { .. }) => {}
            written => return written,
        }
        let has_ended_some = end_marked(store.path(), Some(log)) > 0;
        let others = if is_named { Vec::new() } else { holders(store.path()) };
        for RecordLockHolder { pid, name, .. } in others.iter().filter(|holder| !holder.is_marked) {
            is_named = true;
            log.error("journal.locked", json!({ "pid": pid, "name": name, "ended": false }));
        }
        let time_max = if has_ended_some { FIGHT_MAX } else { WAIT_MAX };
        if since.elapsed() >= time_max {
            return Err(CommitError::Busy { place: store.path().display().to_string() });
        }
        if !has_ended_some {
            thread::sleep(LOOK);
        }
    }
}

impl WriteRefusal {
    /// What a failed write says to whoever submitted it.
    pub(super) fn of(error: &CommitError, database: &Path) -> WriteRefusal {
        match error {
            CommitError::Busy { .. } => WriteRefusal::Locked(holders(database)),
            _ => WriteRefusal::Failed(error.to_string()),
        }
    }

    /// The same refusal for one more who submitted.
    pub(super) fn again(&self) -> WriteRefusal {
        match self {
            WriteRefusal::Locked(holders) => WriteRefusal::Locked(holders.clone()),
            WriteRefusal::Failed(message) => WriteRefusal::Failed(message.clone()),
        }
    }
}

impl fmt::Display for WriteRefusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            WriteRefusal::Failed(message) => write!(f, "{message}"),
            WriteRefusal::Locked(holders) if holders.is_empty() => {
                write!(f, "another process keeps the journal locked, and the system does not name it")
            }
            WriteRefusal::Locked(holders) => {
                let named: Vec<String> =
                    holders.iter().map(|it| format!("process {} ({})", it.pid, it.name)).collect();
                write!(f, "{} keeps the journal locked", named.join(", "))
            }
        }
    }
}
