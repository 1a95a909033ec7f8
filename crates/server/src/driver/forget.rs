//! Takes the launch files of older versions away when their shims have ended: each holds the whole environment of an
//! agent, keys and all. What a session needs to be resumed is kept elsewhere. And texts of an office that nothing names, and what a verifier
//! has left.
//!
//! A file is removed only behind the commit that says that its launch, check or installation has ended. A server that dies between
//! the two leaves it to the next one, which looks through all directories once when it starts.

use std::{
    collections::BTreeSet,
    fs,
    path::{Path, PathBuf},
};

use ostler_engine::{RequestId, SessionId, World, session::Session};
use ostler_shim::launch::FILE;
use ostler_store::{ReadError, Reads};

use super::{Driver, gate};
use crate::{office::kept, verifier_config::VerifierConfig};

/// Removes the launch file of a directory whose shim nobody needs any more.
pub(super) fn forget(directory: &Path) {
    for name in [FILE, "launch.draft"] {
        // It may never have been written. One that cannot be removed now is tried again at the next start.
        fs::remove_file(directory.join(name)).ok();
    }
}

/// Removes what earlier servers have left.
pub(super) fn forget_all(driver: &Driver) {
    gate::sweep_places(driver);
    driver.texts.tidy(|| named_texts(driver));
    settle_verifiers(driver);
    for (id, session) in sessions(driver) {
        let Ok(directories) = fs::read_dir(session) else { continue };
        for directory in directories.filter_map(Result::ok) {
            let name = directory.file_name();
            // Asked of the world behind the look at the disk: what begins meanwhile is known there first.
            if !is_needed(&driver.journal.world(), id, name.to_str().unwrap_or_default()) {
                forget(&directory.path());
            }
        }
    }
}

/// Brings the logins of verifiers that are over back, and removes what they have written.
pub(super) fn settle_verifiers(driver: &Driver) {
    let is_at_work = |session: &Session| !session.is_over() || session.live().is_some();
    for (id, folder) in sessions(driver) {
        if VerifierConfig::is_left(&folder)
            && !driver.journal.world().sessions.get(&id).is_some_and(is_at_work)
        {
            VerifierConfig::settle(&folder);
        }
    }
}

/// The directories of all sessions.
fn sessions(driver: &Driver) -> impl Iterator<Item = (SessionId, PathBuf)> {
    let entries = fs::read_dir(driver.home.root().join("sessions")).into_iter().flatten();
    entries.filter_map(Result::ok).filter_map(|entry| {
        let id = entry.file_name().to_str()?.parse::<SessionId>().ok()?;
        Some((id, entry.path()))
    })
}

/// The names of the texts that calls and results of all times name.
fn named_texts(driver: &Driver) -> Result<BTreeSet<String>, ReadError> {
    let mut names = BTreeSet::new();
    // Others read between two pages.
    let page = |page: &_| driver.kept.lock().expect("nobody panics while reading").page(page);
    kept::references(page, |reference| {
        names.extend(Path::new(&reference.path).file_name().and_then(|it| it.to_str()).map(str::to_owned));
    })?;
    Ok(names)
}

/// Whether a shim of this directory may still be started, or what it has left has still to be read.
fn is_needed(world: &World, id: SessionId, name: &str) -> bool {
    let Some(session) = world.sessions.get(&id) else { return false };
    // One that had to begin again has a number behind a dot.
    let first = name.split('.').next().unwrap_or_default();
    if let Some(check) = first.strip_prefix("check-") {
        let number = check.parse::<u32>().ok();
        number.is_some() && session.checking == number
    } else if let Some(install) = first.strip_prefix("install-") {
        let request = install.parse::<RequestId>().ok().and_then(|request| world.requests.get(&request));
        request.is_some_and(|request| request.installing)
    } else if first.starts_with("loop-") {
        !session.is_over()
    } else if first.starts_with("gate-") {
        // Its command may still run, or its result still be read.
        session.gated
    } else {
        session.live().is_some_and(|live| name == live.number.to_string())
    }
}
