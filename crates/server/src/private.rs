//! A configuration directory of its own for a session, where its agent's table asks for one.
//!
//! What is the user's own is linked into it, so that settings, servers and the login are there; the rest is private.
//! A CLI that renews a login may put a new file in the place of the link. That file is brought back to the user's
//! own, under a lock, unless the user's is newer, and the link is put back. Nothing else of the user's is ever written.

use std::{
    collections::BTreeMap,
    fmt, fs, io,
    os::unix::fs::symlink,
    path::{Path, PathBuf},
    sync::Arc,
    time::Duration,
};

use ostler_agents::{Agent, agent::Private};
use ostler_engine::{SessionId, session::Session};
use ostler_files::{FILE_BYTES_MAX, named, private};
use rustix::fs::{CWD, RenameFlags, renameat_with};
use serde::{Deserialize, Serialize};

use crate::{
    driver::Driver,
    home::{private_directory, write_private},
    login_file::{self, LoginFile, LoginFolder},
    random,
    verifier_config::VerifierConfig,
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
    pub(crate) path: PathBuf,
    pub(crate) source: io::Error,
}

/// The directory in which a CLI keeps the user's own things.
#[derive(Debug)]
pub(crate) struct UserDirectory {
    pub(crate) path: PathBuf,
    /// The user's home, if the variable that names the directory is not set.
    pub(crate) home: Option<PathBuf>,
}

impl UserDirectory {
    /// Where a variable leads, else a place below the user's home.
    pub(crate) fn of(
        variable: &str,
        default: &str,
        variables: &BTreeMap<String, String>,
    ) -> Option<UserDirectory> {
        let absolute = |name: &str| variables.get(name).map(PathBuf::from).filter(|path| path.is_absolute());
        if let Some(path) = absolute(variable) {
            return Some(UserDirectory { path, home: None });
        }
        let home = absolute("HOME")?;
        Some(UserDirectory { path: home.join(default), home: Some(home) })
    }
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
        let UserDirectory { path: user, home } =
            UserDirectory::of(&private.variable, &private.default, variables)?;
        Some(Place { own: session.join(FOLDER), user, home, private })
    }

    /// The place that an earlier launch of the session has made.
    pub(crate) fn made(session: &Path) -> Option<Place> {
        serde_json::from_slice(&private::read(session.join(FILE), FILE_BYTES_MAX).ok()?).ok()
    }

    /// The variable that names the directory, and its path.
    pub(crate) fn variable(&self) -> (String, String) {
        (self.private.variable.clone(), self.own.display().to_string())
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
        // What cannot be brought back now is tried again while the session lives.
        self.share().ok();
        Ok(())
    }

    /// Brings back what was renewed.
    pub(crate) fn share(&self) -> Result<(), PrivateError> {
        for name in &self.private.login {
            let own = self.own.join(name);
            let is_renewed = fs::symlink_metadata(&own).is_ok_and(|it| it.is_file());
            // Who has signed out meanwhile does not want it back.
            if is_renewed && let Ok(theirs) = fs::canonicalize(self.theirs(name)) {
                bring_back(&self.own, name, &theirs).map_err(|source| PrivateError { path: own, source })?;
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
        // What is no regular file is left out, as if it were missing.
        let Ok(mut theirs) = named::open(self.theirs(name)) else { return Ok(()) };
        let copied = private::create(&own).and_then(|mut file| {
            io::copy(&mut theirs, &mut file)?;
            file.set_permissions(theirs.metadata()?.permissions())
        });
        copied.map_err(|source| PrivateError { path: own, source })
    }

    fn parents_of(&self, name: &str) -> Result<PathBuf, PrivateError> {
        let own = self.own.join(name);
        let folder = own.parent().unwrap_or(&self.own);
        private_directory(folder).map_err(|source| PrivateError { path: own.clone(), source })?;
        Ok(own)
    }
}

/// Puts a renewed login in the place of the user's, if that is older, and the link back in its own place.
fn bring_back(root: &Path, name: &str, theirs: &Path) -> io::Result<()> {
    let _lock = login_file::lock_folder_of(theirs)?;
    let folder = LoginFolder::open(root, name)?;
    let Some(renewed) = folder.read().filter(LoginFile::is_whole) else {
        // It is being written, or was given up. Either way the user's is the better one.
        return Ok(());
    };
    login_file::replace(&renewed, theirs)?;
    // Exchanged and then looked at, so that one that is written at this very moment is not lost.
    let own = root.join(name);
    let aside_name = format!(".{}.renewed", random::word());
    let aside = own.with_file_name(&aside_name);
    symlink(theirs, &aside)?;
    if let Err(error) = renameat_with(CWD, &aside, CWD, &own, RenameFlags::EXCHANGE) {
        fs::remove_file(&aside)?;
        return Err(error.into());
    }
    let last = folder.read_named(&aside_name);
    if let Some(last) = last.filter(|last| last.bytes != renewed.bytes && last.is_whole()) {
        login_file::replace(&last, theirs)?;
    }
    fs::remove_file(&aside)
}

/// Brings back what is renewed for as long as a process of the session lives, and once more when it has ended. What a
/// verifier has written is removed then.
pub(crate) async fn watch(driver: Arc<Driver>, session: SessionId) {
    let is_asked_for = |session: &Session| {
        session.verifies() || session.order.agent.private.as_ref().is_some_and(|it| it.used)
    };
    let known =
        |read: &dyn Fn(&Session) -> bool| driver.journal.world().sessions.get(&session).is_some_and(read);
    if !known(&is_asked_for) {
        return;
    }
    let verifies = known(&Session::verifies);
    loop {
        let lives = known(&|session| session.live().is_some());
        // The world lets go of a session that is over.
        let is_over = verifies && !known(&|session| !session.is_over());
        let folder = driver.home.session(session);
        // What could not be brought back is tried again at the next look, and before the next launch.
        tokio::task::spawn_blocking(move || share(&folder, is_over && !lives)).await.ok();
        if !lives {
            return;
        }
        tokio::time::sleep(LOOK).await;
    }
}

fn share(session: &Path, is_over: bool) {
    if let Some(place) = Place::made(session) {
        place.share().ok();
    }
    if is_over {
        VerifierConfig::settle(session);
    } else if let Some(config) = VerifierConfig::made(session) {
        config.share();
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
