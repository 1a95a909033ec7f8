//! Opens a database, or makes one, and looks whether it is whole.
//!
//! A database appears under its name only when it is complete, so a file that is empty is a damaged one. What is
//! looked at here takes milliseconds; going through everything is `Sqlite::check`.

use std::{
    fs::{self, DirBuilder, Permissions},
    io::{self, ErrorKind},
    os::unix::fs::{DirBuilderExt, PermissionsExt},
    path::Path,
    sync::atomic::{AtomicU32, Ordering},
    time::Duration,
};

use ostler_files::{private, sync_directory};
use rusqlite::{Connection, OpenFlags, config::DbConfig};

use super::{beside, fault, folder, schema, wal};
use crate::error::OpenError;

/// How long to wait for somebody else who writes. There should be nobody.
const BUSY_TIMEOUT: Duration = Duration::from_secs(5);
/// The log is written back when it has so many pages (16 MiB). Larger means fewer syncs and a longer start after a
/// crash.
const LOG_PAGES: u32 = 4096;
/// What a large transaction leaves behind is cut off beyond this.
const LOG_BYTES_KEPT: u32 = 64 << 20;
/// The files that SQLite keeps beside a database: the index of its log, the log, and one from before there was a log.
const BESIDE: [&str; 3] = ["-shm", "-wal", "-journal"];
/// All statements of the crate fit, with their variants.
const STATEMENTS_MAX: usize = 64;

/// Opens the one connection that writes.
pub(super) fn writer(path: &Path, now_ms: u64) -> Result<Connection, OpenError> {
    let io = |source| OpenError::Io { path: path.to_owned(), source };
    if !path.try_exists().map_err(io)? {
        for remains in ["-wal", super::SALVAGED] {
            if beside(path, remains).try_exists().map_err(io)? {
                let what = format!("it is gone, but '{}' is there", beside(path, remains).display());
                return Err(OpenError::Corrupt { path: path.to_owned(), what });
            }
        }
        create(path, now_ms)?;
    }
    existing(path, now_ms)
}

/// Opens a database that is there.
fn existing(path: &Path, now_ms: u64) -> Result<Connection, OpenError> {
    let io = |source| OpenError::Io { path: path.to_owned(), source };
    let damaged = |what: String| OpenError::Corrupt { path: path.to_owned(), what };
    let failed = |error| fault::open(path, error);
    // A link may lead to a file that somebody wants changed.
    let metadata = private::look(path).map_err(io)?;
    if metadata.len() == 0 {
        return Err(damaged("it is empty".to_owned()));
    }
    look_beside(path)?;
    if let Some(what) = wal::loss(&beside(path, "-wal"), &beside(path, "-shm")).map_err(io)? {
        return Err(damaged(what));
    }
    fs::set_permissions(path, Permissions::from_mode(0o600)).map_err(io)?;
    let mut connection = connect(path, OpenFlags::SQLITE_OPEN_READ_WRITE).map_err(failed)?;
    let version = match schema::form(&connection).map_err(failed)? {
        schema::Form::Version(0) => return Err(damaged("it is not finished".to_owned())),
        schema::Form::Version(version) => version,
        schema::Form::Foreign => return Err(damaged("it is not a database of Ostler".to_owned())),
    };
    if version > schema::NEWEST {
        return Err(OpenError::Newer { path: path.to_owned(), version, known: schema::NEWEST });
    }
    log_ahead(&connection).map_err(failed)?;
    schema::migrate(&mut connection, version, now_ms).map_err(failed)?;
    contiguous(&connection).map_err(failed)?.map_or(Ok(connection), |what| Err(damaged(what)))
}

/// Sees that what SQLite would open beside a database is a regular file: it would wait for a pipe.
pub(super) fn look_beside(path: &Path) -> Result<(), OpenError> {
    for end in BESIDE {
        let file = beside(path, end);
        match private::look(&file) {
            Err(source) if source.kind() != ErrorKind::NotFound => {
                return Err(OpenError::Io { path: file, source });
            }
            _ => {}
        }
    }
    Ok(())
}

/// Opens a connection that only reads, beside the one that writes.
pub(super) fn reader(path: &Path) -> Result<Connection, OpenError> {
    connect(path, OpenFlags::SQLITE_OPEN_READ_ONLY).map_err(|error| fault::open(path, error))
}

/// Makes an empty database under another name, and gives it the right one when it is complete.
///
/// Of two that do this at the same time one wins, and both go on with the same file.
pub(super) fn create(path: &Path, now_ms: u64) -> Result<(), OpenError> {
    static NUMBER: AtomicU32 = AtomicU32::new(0);
    let number = NUMBER.fetch_add(1, Ordering::Relaxed);
    let new = beside(path, &format!(".{}-{number}.new", std::process::id()));
    let io = |source| OpenError::Io { path: new.clone(), source };
    let result = fill(&new, now_ms).and_then(|()| {
        match fs::hard_link(&new, path) {
            Err(error) if error.kind() != ErrorKind::AlreadyExists => return Err(io(error)),
            _ => {}
        }
        sync_folder(path).map_err(io)
    });
    let removed = remove(&new);
    result.and_then(|()| removed.map_err(io))
}

fn fill(new: &Path, now_ms: u64) -> Result<(), OpenError> {
    let io = |source| OpenError::Io { path: new.to_owned(), source };
    let failed = |error| fault::open(new, error);
    // Left by a process of the same number that was killed here.
    remove(new).map_err(io)?;
    private::create(new).map_err(io)?;
    let mut connection = connect(new, OpenFlags::SQLITE_OPEN_READ_WRITE).map_err(failed)?;
    log_ahead(&connection).map_err(failed)?;
    schema::claim(&connection).map_err(failed)?;
    schema::migrate(&mut connection, 0, now_ms).map_err(failed)?;
    // Closing writes the log back and removes it.
    connection.close().map_err(|(_, error)| failed(error))?;
    private::open(new).and_then(|file| file.sync_all()).map_err(io)
}

/// Opens a connection with everything set that belongs to the connection and not to the file.
pub(super) fn connect(path: &Path, access: OpenFlags) -> rusqlite::Result<Connection> {
    let connection = Connection::open_with_flags(path, access | OpenFlags::SQLITE_OPEN_NO_MUTEX)?;
    connection.busy_timeout(BUSY_TIMEOUT)?;
    connection.set_prepared_statement_cache_capacity(STATEMENTS_MAX);
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_DEFENSIVE, true)?;
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_TRUSTED_SCHEMA, false)?;
    connection.pragma_update(None, "foreign_keys", true)?;
    connection.pragma_update(None, "cell_size_check", true)?;
    connection.pragma_update(None, "synchronous", "FULL")?;
    Ok(connection)
}

/// Chooses the write-ahead log, which the file remembers, and how large it grows, which it does not.
fn log_ahead(connection: &Connection) -> rusqlite::Result<()> {
    let mode: String = connection.pragma_update_and_check(None, "journal_mode", "WAL", |row| row.get(0))?;
    assert_eq!(mode, "wal", "SQLite gives an error where a log cannot be had");
    connection.pragma_update_and_check(None, "wal_autocheckpoint", LOG_PAGES, |_| Ok(()))?;
    connection.pragma_update_and_check(None, "journal_size_limit", LOG_BYTES_KEPT, |_| Ok(()))
}

/// What is wrong with the numbers of the events, if anything is. Counting goes over an index, which is small.
fn contiguous(connection: &Connection) -> rusqlite::Result<Option<String>> {
    let (count, first, last): (u64, u64, u64) = connection.query_row(
        "SELECT (SELECT count(*) FROM events), (SELECT coalesce(min(seq), 1) FROM events), \
         (SELECT coalesce(max(seq), 0) FROM events)",
        (),
        |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)),
    )?;
    let what = || format!("it holds {count} events, numbered from {first} to {last}");
    Ok((first != 1 || count != last).then(what))
}

/// Makes the directory of a database, for its owner alone. One that is there is left as it is.
pub(super) fn make_folder(path: &Path) -> Result<(), OpenError> {
    let folder = folder(path);
    DirBuilder::new()
        .recursive(true)
        .mode(0o700)
        .create(folder)
        .map_err(|source| OpenError::Io { path: folder.to_owned(), source })
}

/// Makes the disk keep the names in the directory of a database.
pub(super) fn sync_folder(path: &Path) -> io::Result<()> {
    sync_directory(folder(path))
}

/// Removes a database and what belongs to it, if it is there.
pub(super) fn remove(path: &Path) -> io::Result<()> {
    for file in BESIDE.map(|end| beside(path, end)).into_iter().chain([path.to_owned()]) {
        match fs::remove_file(&file) {
            Err(error) if error.kind() != ErrorKind::NotFound => return Err(error),
            _ => {}
        }
    }
    Ok(())
}
