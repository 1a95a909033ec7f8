//! Keeps what can be read of a damaged database.
//!
//! The journal is kept up to its first event that is missing or is not what was written, because a later one may
//! rest on it. States are not kept: they follow from the journal and are made again from it. The damaged files are
//! only ever copied and renamed. A new database takes the name of the damaged one when it is complete; until then
//! opening is refused, so that a crash in between never ends with an empty journal.

use std::{
    fs,
    io::{self, ErrorKind},
    path::{Path, PathBuf},
};

use ostler_files::private;
use rusqlite::{Connection, OpenFlags};

use super::{SALVAGED, Sqlite, beside, graft, held::Held, open, read, schema, wal};
use crate::{
    error::{CommitError, OpenError, SalvageError},
    rows::{Commit, Scope},
    store::{NEEDS_REPLAY, Store},
};

/// How many rows are held and written at once.
const ROWS_AT_ONCE: u32 = 256;

/// What has become of a damaged database.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Salvaged {
    /// How many events were kept: those from 1 to this one.
    pub kept: u64,
    /// The last event that the damaged database is known to have had. Those between are lost.
    pub seen: u64,
    /// What ended the reading of the journal, unless its end did.
    pub why: Option<String>,
    /// Whether actions may be missing that were still to be done.
    pub actions_lost: bool,
    /// Whether replies may be missing that clients were given.
    pub replies_lost: bool,
    /// Where the damaged database is now.
    pub aside: PathBuf,
}

/// Replaces a damaged database by what can be read of it, and sets it aside. The new one says under
/// [`NEEDS_REPLAY`] that the states have to be made again from the events.
pub fn salvage(path: &Path, now_ms: u64) -> Result<Salvaged, SalvageError> {
    let held = Held::take(path).map_err(SalvageError::Open)?;
    let path = held.path();
    let ready = beside(path, SALVAGED);
    let aside = free_name(path, now_ms)?;
    // An error names the file beside the database that is none: nobody is told to remove the database for it.
    open::look_beside(path).map_err(SalvageError::Open)?;
    // SQLite takes a torn log up to the tear and says nothing, so what is missing is looked for before.
    let torn = wal::loss(&beside(path, "-wal"), &beside(path, "-shm")).map_err(io(path))?;
    let found = if exists(path)? || exists(&beside(path, "-wal"))? && !exists(&ready)? {
        read_into(&ready, path, now_ms)?
    } else {
        finished_before(&ready, now_ms)?
    };
    for (from, to) in [
        (path.to_owned(), aside.clone()),
        (beside(path, "-wal"), beside(&aside, "-wal")),
        (beside(path, "-shm"), beside(&aside, "-shm")),
        (ready, path.to_owned()),
    ] {
        if exists(&from)? {
            fs::rename(&from, &to).map_err(io(&from))?;
        }
    }
    open::sync_folder(path).map_err(io(path))?;
    let (actions_lost, replies_lost) =
        (found.actions_lost | torn.is_some(), found.replies_lost | torn.is_some());
    Ok(Salvaged { why: found.why.or(torn), actions_lost, replies_lost, aside, ..found })
}

/// What is known of a salvage that was cut short when the new database was ready.
fn finished_before(ready: &Path, now_ms: u64) -> Result<Salvaged, SalvageError> {
    fs::metadata(ready).map_err(io(ready))?;
    let kept = Sqlite::open(ready, now_ms).map_err(SalvageError::Open)?.last_seq;
    let why = Some("an earlier salvage was cut short; how much was lost is not known".to_owned());
    Ok(Salvaged { kept, seen: kept, why, actions_lost: true, replies_lost: true, aside: PathBuf::new() })
}

/// Makes a new database of what can be read of a copy of the damaged one, which SQLite may change as it likes.
fn read_into(ready: &Path, path: &Path, now_ms: u64) -> Result<Salvaged, SalvageError> {
    let making = beside(ready, ".making");
    let reading = beside(ready, ".reading");
    let clear = |files: &[&Path]| files.iter().try_for_each(|file| open::remove(file).map_err(io(file)));
    clear(&[ready, &making, &reading])?;
    let found = copy_files(path, &reading).and_then(|()| make(&making, &reading, path, now_ms));
    clear(&[&reading])?;
    if found.is_err() {
        clear(&[&making])?;
        return found;
    }
    private::open(&making).and_then(|file| file.sync_all()).map_err(io(&making))?;
    fs::rename(&making, ready).map_err(io(&making))?;
    found
}

fn copy_files(path: &Path, to: &Path) -> Result<(), SalvageError> {
    for end in ["", "-wal"] {
        let from = beside(path, end);
        match copy(&from, &beside(to, end)) {
            Err(error) if error.kind() != ErrorKind::NotFound => return Err(io(&from)(error)),
            _ => {}
        }
    }
    Ok(())
}

fn copy(from: &Path, to: &Path) -> io::Result<u64> {
    let mut from = private::open(from)?;
    io::copy(&mut from, &mut private::create(to)?)
}

fn make(making: &Path, reading: &Path, path: &Path, now_ms: u64) -> Result<Salvaged, SalvageError> {
    let mut new = Sqlite::open(making, now_ms).map_err(SalvageError::Open)?;
    let found = match connect(reading, making).map_err(io(reading))? {
        Ok(old) => copy_rows(&old, &mut new, path)?,
        Err(error) => Salvaged {
            kept: 0,
            seen: 0,
            why: Some(error.to_string()),
            actions_lost: true,
            replies_lost: true,
            aside: PathBuf::new(),
        },
    };
    new.set_meta(NEEDS_REPLAY, "yes").map_err(SalvageError::Commit)?;
    new.close().map_err(SalvageError::Commit)?;
    Ok(found)
}

/// Opens the copy. Where SQLite does not even find the tables, it gets their list from a new database.
fn connect(reading: &Path, new: &Path) -> io::Result<rusqlite::Result<Connection>> {
    let attempt = || {
        let connection = open::connect(reading, OpenFlags::SQLITE_OPEN_READ_WRITE)?;
        read::events(&connection, 0, &Scope::default(), 0)?;
        Ok(connection)
    };
    if let Ok(connection) = attempt() {
        return Ok(Ok(connection));
    }
    graft::list_of_tables(new, reading)?;
    Ok(attempt())
}

fn copy_rows(old: &Connection, new: &mut Sqlite, path: &Path) -> Result<Salvaged, SalvageError> {
    if let Ok(schema::Form::Version(version)) = schema::form(old)
        && version > schema::NEWEST
    {
        let newer = OpenError::Newer { path: path.to_owned(), version, known: schema::NEWEST };
        return Err(SalvageError::Open(newer));
    }
    let why = events(old, new).map_err(SalvageError::Commit)?;
    let kept = new.last_seq;
    Ok(Salvaged {
        kept,
        seen: read::last_seq(old).unwrap_or_default().max(kept),
        why,
        actions_lost: !actions(old, new).map_err(SalvageError::Commit)?,
        replies_lost: !replies(old, new).map_err(SalvageError::Commit)?,
        aside: PathBuf::new(),
    })
}

/// Copies the journal up to the first event that is missing or damaged, and says what is wrong with that.
fn events(old: &Connection, new: &mut Sqlite) -> Result<Option<String>, CommitError> {
    let mut limit = ROWS_AT_ONCE;
    loop {
        match read::events(old, new.last_seq, &Scope::default(), limit) {
            Ok(events) if events.is_empty() => return Ok(None),
            Ok(events) => new.commit(&[Commit { events, ..Commit::default() }])?,
            // The last ones before the damage are read one by one.
            Err(_) if limit > 1 => limit = 1,
            Err(error) => return Ok(Some(error.to_string())),
        }
    }
}

/// Copies what was still to be done because of the events that were kept, and says whether that is all.
fn actions(old: &Connection, new: &mut Sqlite) -> Result<bool, CommitError> {
    let Ok(mut actions) = read::open_actions(old) else { return Ok(false) };
    let count = actions.len();
    actions.retain(|action| action.name.seq <= new.last_seq);
    let complete = actions.len() == count;
    new.commit(&[Commit { actions, ..Commit::default() }])?;
    Ok(complete)
}

/// Copies the replies, and says whether those are all.
fn replies(old: &Connection, new: &mut Sqlite) -> Result<bool, CommitError> {
    let mut after = String::new();
    loop {
        let Ok(replies) = read::replies(old, &after, ROWS_AT_ONCE) else { return Ok(false) };
        let Some(last) = replies.last() else { return Ok(true) };
        if last.key <= after {
            // A damaged page has led back to where we were.
            return Ok(false);
        }
        after.clone_from(&last.key);
        let commits: Vec<Commit> =
            replies.into_iter().map(|reply| Commit { reply: Some(reply), ..Commit::default() }).collect();
        match new.commit(&commits) {
            Err(CommitError::KeyTaken { .. }) => return Ok(false),
            written => written?,
        }
    }
}

/// A name for the damaged database that nothing has yet.
fn free_name(path: &Path, now_ms: u64) -> Result<PathBuf, SalvageError> {
    let mut name = beside(path, &format!(".broken-{now_ms}"));
    let mut number = 1;
    while exists(&name)? {
        number += 1;
        name = beside(path, &format!(".broken-{now_ms}-{number}"));
    }
    Ok(name)
}

fn exists(path: &Path) -> Result<bool, SalvageError> {
    path.try_exists().map_err(io(path))
}

fn io(path: &Path) -> impl Fn(io::Error) -> SalvageError {
    let path = path.to_owned();
    move |source| SalvageError::Io { path: path.clone(), source }
}
