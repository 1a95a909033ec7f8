//! Sorts what SQLite says into the errors of the store.

use std::path::Path;

use rusqlite::{Error, ErrorCode};

use crate::error::{CommitError, OpenError, ReadError};

/// Why a write failed.
pub(super) fn commit(path: &Path, error: Error) -> CommitError {
    let place = path.display().to_string();
    match error.sqlite_error_code() {
        Some(ErrorCode::DiskFull) => CommitError::Full { place, source: error.into() },
        // Some file systems find room for what was written only when it is synced, and fail there.
        Some(ErrorCode::SystemIoFailure | ErrorCode::CannotOpen) if no_room(path) => {
            CommitError::Full { place, source: error.into() }
        }
        Some(ErrorCode::SystemIoFailure) => CommitError::Io { place, source: error.into() },
        Some(ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase) => {
            CommitError::Corrupt { place, source: error.into() }
        }
        _ if is_busy(&error) => CommitError::Busy { place },
        Some(ErrorCode::ConstraintViolation) => CommitError::Contradiction { place, source: error.into() },
        _ => CommitError::Refused { place, source: error.into() },
    }
}

/// Why a read failed.
pub(super) fn read(path: &Path, error: Error) -> ReadError {
    let place = path.display().to_string();
    if is_damage(&error) {
        ReadError::Corrupt { place, what: error.to_string() }
    } else {
        ReadError::Failed { place, source: error.into() }
    }
}

/// Why opening failed.
pub(super) fn open(path: &Path, error: Error) -> OpenError {
    let path = path.to_owned();
    if is_damage(&error) {
        OpenError::Corrupt { path, what: error.to_string() }
    } else if is_busy(&error) {
        OpenError::Busy { path }
    } else {
        OpenError::Failed { path, source: error.into() }
    }
}

/// A log that another process locks for long is a broken protocol to SQLite.
fn is_busy(error: &Error) -> bool {
    let busy = [ErrorCode::DatabaseBusy, ErrorCode::DatabaseLocked, ErrorCode::FileLockingProtocolFailed];
    error.sqlite_error_code().is_some_and(|code| busy.contains(&code))
}

/// A short read, a column of another type and a text that is not UTF-8 are damage too: nothing of the kind is
/// ever written. So is a table that is not there, since every database has them all.
fn is_damage(error: &Error) -> bool {
    match error {
        Error::SqliteFailure(code, _) => {
            matches!(code.code, ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase | ErrorCode::Unknown)
                || code.extended_code == rusqlite::ffi::SQLITE_IOERR_SHORT_READ
        }
        Error::SqlInputError { .. }
        | Error::FromSqlConversionFailure(..)
        | Error::IntegralValueOutOfRange(..)
        | Error::InvalidColumnType(..)
        | Error::QueryReturnedNoRows
        | Error::Utf8Error(..) => true,
        _ => false,
    }
}

fn no_room(path: &Path) -> bool {
    let folder = path.parent().unwrap_or(path);
    rustix::fs::statvfs(folder).is_ok_and(|system| system.f_bavail == 0)
}
