//! Writes a group of commits within a transaction that the caller holds.
//!
//! Order matters only where a row refers to another at once: events come before the actions that name them.

use std::path::Path;

use rusqlite::{Transaction, params};

use super::{fault, sum};
use crate::{
    error::CommitError,
    rows::{ActionName, ActionRow, Commit, EventRow, Projection, StoredReply},
};

/// Writes all rows of a group.
pub(super) fn group(transaction: &Transaction<'_>, path: &Path, group: &[Commit]) -> Result<(), CommitError> {
    let failed = |error| fault::commit(path, error);
    for Commit { events, upserts, actions, done, reply } in group {
        for row in events {
            event(transaction, row).map_err(failed)?;
        }
        for row in upserts {
            projection(transaction, row).map_err(failed)?;
        }
        for row in actions {
            action(transaction, row).map_err(failed)?;
        }
        for name in done {
            if !finish(transaction, *name).map_err(failed)? {
                return Err(CommitError::NotOpen { action: *name });
            }
        }
        if let Some(row) = reply
            && !answer(transaction, row).map_err(failed)?
        {
            return Err(CommitError::KeyTaken { key: row.key.clone() });
        }
    }
    Ok(())
}

fn event(transaction: &Transaction<'_>, row: &EventRow) -> rusqlite::Result<()> {
    let EventRow { seq, version, at_ms, kind, project, run, session, body } = row;
    transaction
        .prepare_cached(
            "INSERT INTO events (seq, version, at_ms, kind, project, run, session, body, sum) \
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)",
        )?
        .execute(params![
            seq,
            version,
            at_ms,
            kind,
            project,
            run,
            session,
            body,
            sum::of(row).cast_signed()
        ])?;
    Ok(())
}

/// Most often only what it says has changed. Then no index has to be written.
fn projection(transaction: &Transaction<'_>, row: &Projection) -> rusqlite::Result<()> {
    let Projection { entity, id, project, run, session, live, seq, body } = row;
    let table = super::read::table(*entity);
    let touched = transaction
        .prepare_cached(&format!(
            "UPDATE {table} SET seq = ?6, body = ?7 WHERE id = ?1 AND project IS ?2 AND run IS ?3 \
             AND session IS ?4 AND live = ?5"
        ))?
        .execute(params![id, project, run, session, live, seq, body])?;
    if touched == 1 {
        return Ok(());
    }
    transaction
        .prepare_cached(&format!(
            "INSERT INTO {table} (id, project, run, session, live, seq, body) \
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7) ON CONFLICT (id) DO UPDATE SET project = excluded.project, \
             run = excluded.run, session = excluded.session, live = excluded.live, seq = excluded.seq, \
             body = excluded.body"
        ))?
        .execute(params![id, project, run, session, live, seq, body])?;
    Ok(())
}

fn action(transaction: &Transaction<'_>, row: &ActionRow) -> rusqlite::Result<()> {
    let ActionRow { name: ActionName { seq, index }, session, body } = row;
    transaction
        .prepare_cached("INSERT INTO actions (seq, number, session, body) VALUES (?1, ?2, ?3, ?4)")?
        .execute(params![seq, index, session, body])?;
    Ok(())
}

/// Takes an action out, and says whether it was there.
fn finish(transaction: &Transaction<'_>, name: ActionName) -> rusqlite::Result<bool> {
    let gone = transaction
        .prepare_cached("DELETE FROM actions WHERE seq = ?1 AND number = ?2")?
        .execute(params![name.seq, name.index])?;
    Ok(gone == 1)
}

/// Keeps a reply, and says whether its key was free.
fn answer(transaction: &Transaction<'_>, row: &StoredReply) -> rusqlite::Result<bool> {
    let StoredReply { key, fingerprint, at_ms, status, body } = row;
    let new = transaction
        .prepare_cached(
            "INSERT INTO replies (key, fingerprint, at_ms, status, body) VALUES (?1, ?2, ?3, ?4, ?5) \
             ON CONFLICT (key) DO NOTHING",
        )?
        .execute(params![key, fingerprint, at_ms, status, body])?;
    Ok(new == 1)
}
