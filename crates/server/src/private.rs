//! A configuration directory of its own for a session, where its agent's table asks for one.
//!
//! What is the user's own is linked into it, so that settings, servers and the login are there; the rest is private.
//! A CLI that renews a login may put a new file in the place of the link. That file is brought back to the user's
//! own, under a lock, unless the user's is newer, and the link is put back. Nothing else of the user's is ever written.

use std::{
    collections::BTreeMap,
    fmt, fs,
    fs::{File, OpenOptions},
    io::{self, Write},
    os::unix::fs::{OpenOptionsExt, PermissionsExt, symlink},
    path::{Path, PathBuf},
    sync::Arc,
    time::Duration,
};

use ostler_agents::{Agent, agent::Private};
use ostler_engine::{SessionId, session::Session};
use rustix::fs::{CWD, FlockOperation, RenameFlags, flock, renameat_with};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::{
    driver::Driver,
    home::{private_directory, write_private},
    random,
};

/// The name of the directory in the session's.
const FOLDER: &str = "config";

/// The name of the file beside it that says for what it stands.
const FILE: &str = "config.json";

/// Between two looks at whether a login was renewed: a session beside this one may need it.
const LOOK: Duration = Duration::from_secs(1);

/// Why a session cannot have a directory of its own, or a login cannot be brought back.
#[derive(Debug)]
pub(crate) struct PrivateError {
    path: PathBuf,
    source: io::Error,
}

/// A session's own directory, and the user's for which it stands.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Place {
    own: PathBuf,
    user: PathBuf,
    /// The user's home, if the table's variable is not set.
    home: Option<PathBuf>,
    private: Private,
}

impl Place {
    /// The place of a session; nothing if its table asks for none, or nobody knows where the user's is.
    pub(crate) fn of(session: &Path, agent: &Agent, variables: &BTreeMap<String, String>) -> Option<Place> {
        let private = agent.private.as_ref().filter(|private| private.used)?.clone();
        let absolute = |name: &str| variables.get(name).map(PathBuf::from).filter(|path| path.is_absolute());
        let (user, home) = match absolute(&private.variable) {
            Some(user) => (user, None),
            None => {
                let home = absolute("HOME")?;
                (home.join(&private.default), Some(home))
            }
        };
        Some(Place { own: session.join(FOLDER), user, home, private })
    }

    /// The place that an earlier launch of the session has made.
    pub(crate) fn made(session: &Path) -> Option<Place> {
        serde_json::from_slice(&fs::read(session.join(FILE)).ok()?).ok()
    }

    /// The variable that names the directory, and its path.
    pub(crate) fn variable(&self) -> (String, String) {
        (self.private.variable.clone(), self.own.display().to_string())
    }

    /// The user's directory, for which it stands.
    pub(crate) fn users(self) -> PathBuf {
        self.user
    }

    /// Makes the directory, or brings what was changed since in order.
    pub(crate) fn prepare(&self) -> Result<(), PrivateError> {
        private_directory(&self.own).map_err(|source| PrivateError { path: self.own.clone(), source })?;
        // Written before anything is linked: whoever finds a link knows for what it stands.
        let file = self.own.with_file_name(FILE);
        let text = serde_json::to_vec(self).expect("paths of letters, and names");
        write_private(&file, &text).map_err(|source| PrivateError { path: file, source })?;
        for name in self.private.shared.iter().chain(&self.private.login) {
            // Where the user's own is a link, it is what that leads to that is meant.
            if let Ok(theirs) = fs::canonicalize(self.theirs(name)) {
                self.link(name, &theirs)?;
            }
        }
        for name in &self.private.locks {
            self.link(name, &self.theirs(name))?;
        }
        for name in &self.private.copied {
            self.copy(name)?;
        }
        self.share()
    }

    /// Brings back what was renewed.
    pub(crate) fn share(&self) -> Result<(), PrivateError> {
        for name in &self.private.login {
            let own = self.own.join(name);
            let is_renewed = fs::symlink_metadata(&own).is_ok_and(|it| it.is_file());
            // Who has signed out meanwhile does not want it back.
            if is_renewed && let Ok(theirs) = fs::canonicalize(self.theirs(name)) {
                bring_back(&own, &theirs).map_err(|source| PrivateError { path: own, source })?;
            }
        }
        Ok(())
    }

    fn theirs(&self, name: &str) -> PathBuf {
        match (&self.home, self.private.elsewhere.get(name)) {
            (Some(home), Some(place)) => home.join(place),
            _ => self.user.join(name),
        }
    }

    fn link(&self, name: &str, theirs: &Path) -> Result<(), PrivateError> {
        let own = self.parents_of(name)?;
        match symlink(theirs, &own) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(()),
            made => made.map_err(|source| PrivateError { path: own, source }),
        }
    }

    fn copy(&self, name: &str) -> Result<(), PrivateError> {
        let own = self.parents_of(name)?;
        if own.exists() {
            return Ok(());
        }
        match fs::copy(self.theirs(name), &own) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
            copied => copied.map(drop).map_err(|source| PrivateError { path: own, source }),
        }
    }

    fn parents_of(&self, name: &str) -> Result<PathBuf, PrivateError> {
        let own = self.own.join(name);
        let folder = own.parent().unwrap_or(&self.own);
        private_directory(folder).map_err(|source| PrivateError { path: own.clone(), source })?;
        Ok(own)
    }
}

/// Puts a renewed login in the place of the user's, if that is older, and the link back in its own place.
fn bring_back(own: &Path, theirs: &Path) -> io::Result<()> {
    // The directory is the lock: everybody who brings something there holds it, and nothing is left behind.
    let folder = theirs.parent().unwrap_or(theirs);
    let lock = File::open(folder)?;
    flock(&lock, FlockOperation::LockExclusive)?;
    let renewed = fs::read(own)?;
    if !is_login(&renewed) {
        // It is being written, or was given up. Either way the user's is the better one.
        return Ok(());
    }
    replace(own, &renewed, theirs)?;
    // Exchanged and then looked at, so that one that is written at this very moment is not lost.
    let aside = own.with_file_name(format!(".{}.renewed", random::word()));
    symlink(theirs, &aside)?;
    if let Err(error) = renameat_with(CWD, &aside, CWD, own, RenameFlags::EXCHANGE) {
        fs::remove_file(&aside)?;
        return Err(error.into());
    }
    let last = fs::read(&aside)?;
    if last != renewed && is_login(&last) {
        replace(&aside, &last, theirs)?;
    }
    fs::remove_file(&aside)
}

/// Replaces the user's file as a whole, unless it is newer or the same.
fn replace(own: &Path, renewed: &[u8], theirs: &Path) -> io::Result<()> {
    let at = fs::symlink_metadata(own)?.modified()?;
    let before = fs::metadata(theirs)?;
    if before.modified()? >= at || fs::read(theirs)? == renewed {
        return Ok(());
    }
    let draft = theirs.with_file_name(format!(".{}.draft", random::word()));
    let mode = before.permissions().mode() & 0o777;
    let written =
        OpenOptions::new().write(true).create_new(true).mode(mode).open(&draft).and_then(|mut file| {
            file.write_all(renewed)?;
            // The time of the renewal, not of the copy: another session may have renewed it in between.
            file.set_modified(at)?;
            file.sync_all()
        });
    written.and_then(|()| fs::rename(&draft, theirs)).inspect_err(|_| drop(fs::remove_file(&draft)))
}

/// Whether it is whole: an object of JSON that says something.
fn is_login(text: &[u8]) -> bool {
    serde_json::from_slice::<Map<String, Value>>(text).is_ok_and(|login| !login.is_empty())
}

/// Brings back what is renewed for as long as a process of the session lives, and once more when it has ended.
pub(crate) async fn watch(driver: Arc<Driver>, session: SessionId) {
    let is_asked_for = |session: &Session| session.order.agent.private.as_ref().is_some_and(|it| it.used);
    let known =
        |read: &dyn Fn(&Session) -> bool| driver.journal.world().sessions.get(&session).is_some_and(read);
    if !known(&is_asked_for) {
        return;
    }
    loop {
        let lives = known(&|session| session.live().is_some());
        let folder = driver.home.session(session);
        // What could not be brought back is tried again at the next look, and before the next launch.
        tokio::task::spawn_blocking(move || Place::made(&folder).map(|place| place.share())).await.ok();
        if !lives {
            return;
        }
        tokio::time::sleep(LOOK).await;
    }
}

impl fmt::Display for PrivateError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the session's own configuration '{}': {}", self.path.display(), self.source)
    }
}

impl std::error::Error for PrivateError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        Some(&self.source)
    }
}
