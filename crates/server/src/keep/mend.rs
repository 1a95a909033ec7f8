//! Keeps what can be read of a damaged journal. Nothing that was lost with it may be mistaken for something new: ids
//! that it may have given are not given again, and agents that it does not know any more are ended.

use std::{fs, path::PathBuf};

use ostler_engine::{SessionId, session::Session};
use ostler_store::{Counters, Entity, Reads, Salvaged, Sqlite, Store, salvage};

use super::KeepError;
use crate::{
    baseline,
    clock::wall_ms,
    driver::end_unknown,
    home::Home,
    journal::{self, Found, IDS_FROM, LoadError},
    journal_fact, mark,
    serve::hold,
};

/// New ids behind a loss begin behind a round number: it is seen which ones are older, and those that are lost and
/// not known of are most likely below it.
const ROUND: u64 = 1000;

/// What has become of a damaged journal.
#[derive(Debug)]
pub struct Mended {
    /// What was kept of it.
    pub salvaged: Salvaged,
    /// Agents that were ended because the journal does not know them any more: the directories of their launches.
    pub ended: Vec<PathBuf>,
    /// New ids are higher than this, if something was lost.
    pub ids_from: Option<u64>,
}

/// Keeps what can be read of a damaged journal; the damaged one is set aside. Nothing, if it is not damaged.
pub fn mend(home: &Home) -> Result<Option<Mended>, KeepError> {
    let path = home.database();
    let begins = |name: &std::ffi::OsStr| name.to_string_lossy().starts_with("journal.sqlite");
    let mut files = fs::read_dir(home.root()).into_iter().flatten().filter_map(Result::ok);
    if !files.any(|entry| begins(&entry.file_name())) {
        return Err(KeepError::Nothing { path });
    }
    let _lock = hold(home).map_err(|error| KeepError::Held(Box::new(error)))?;
    if super::verify(home).is_ok_and(|replayed| replayed.differences.is_empty()) {
        return Ok(None);
    }
    let salvaged = salvage(&path, wall_ms()).map_err(KeepError::Salvage)?;
    let mut store = Sqlite::open(&path, wall_ms()).map_err(KeepError::Open)?;
    journal_fact::allow_nothing(&mut store);
    journal::rebuild(&mut store).map_err(KeepError::Load)?;
    let is_whole = salvaged.why.is_none() && salvaged.seen == salvaged.kept;
    if is_whole {
        return Ok(Some(Mended { salvaged, ended: Vec::new(), ids_from: None }));
    }
    let counters = store.counters().map_err(read)?;
    let ids_from = ids_from(home, counters, salvaged.seen - salvaged.kept);
    store
        .set_meta(IDS_FROM, &ids_from.to_string())
        .map_err(|error| KeepError::Load(LoadError::Write(error)))?;
    let ended = end_all_unknown(home, &store)?;
    Ok(Some(Mended { salvaged, ended, ids_from: Some(ids_from) }))
}

/// A number that nothing had that was lost: each event makes one new thing at most, and sessions leave directories.
fn ids_from(home: &Home, counters: Counters, lost: u64) -> u64 {
    let Counters { project, run, session, request, account, checkpoint, invocation, result, .. } = counters;
    let Counters { graph, node, group, .. } = counters;
    let known = [project, run, session, request, account, checkpoint, invocation, result, graph, node, group];
    let known = known.into_iter().max().unwrap_or(0) + lost;
    let left = sessions(home).into_iter().map(|(id, _)| id.0).max().unwrap_or(0);
    (known.max(left) / ROUND + 1) * ROUND
}

/// Ends agents whose launch is lost: nobody could answer them, or end them later.
fn end_all_unknown(home: &Home, store: &Sqlite) -> Result<Vec<PathBuf>, KeepError> {
    let mut ended = Vec::new();
    let Some(mark) = mark::find(home) else { return Ok(ended) };
    let baseline = baseline::find(home);
    for (id, path) in sessions(home) {
        let known = session(store, id)?;
        for entry in fs::read_dir(path).into_iter().flatten().filter_map(Result::ok) {
            let name = entry.file_name().to_string_lossy().into_owned();
            let is_known = |session: &Session| {
                // Checks and installations end by themselves.
                name.parse::<u32>().map_or(true, |it| session.launches.iter().any(|known| known.number == it))
            };
            if !known.as_ref().is_some_and(is_known)
                && end_unknown((&mark, baseline), id, &name, &entry.path())
            {
                ended.push(entry.path());
            }
        }
    }
    Ok(ended)
}

fn session(store: &Sqlite, id: SessionId) -> Result<Option<Session>, KeepError> {
    let Some(row) = store.entity(Entity::Session, id.0).map_err(read)? else { return Ok(None) };
    match journal::read(&row).map_err(KeepError::Load)? {
        Found::Session(session) => Ok(Some(*session)),
        _ => Ok(None),
    }
}

fn sessions(home: &Home) -> Vec<(SessionId, PathBuf)> {
    let entries = fs::read_dir(home.sessions()).into_iter().flatten().filter_map(Result::ok);
    let id = |name: &std::ffi::OsStr| name.to_str()?.parse::<SessionId>().ok();
    entries.filter_map(|entry| Some((id(&entry.file_name())?, entry.path()))).collect()
}

fn read(error: ostler_store::ReadError) -> KeepError {
    KeepError::Load(LoadError::Read(error))
}
