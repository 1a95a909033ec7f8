//! The directories of a verifier: its CLI's configuration, its temporary files and its caches.
//!
//! A verifier runs what somebody else has made, so nothing that it writes outlives it. Its configuration is a copy of
//! the user's, without a link to it, and all of it is removed when its verdict was read. Only a login that its CLI has
//! renewed reaches the user ([`crate::login_file`]). The list of what was copied from where lies beside the directories,
//! where a confined verifier cannot write.

use std::{
    collections::BTreeMap,
    fs,
    fs::{File, OpenOptions},
    io::{self, Read},
    os::unix::fs::{OpenOptionsExt, PermissionsExt},
    path::{Path, PathBuf},
};

use ostler_agents::{Agent, agent::Private};
use ostler_files::{FILE_BYTES_MAX, private};
use rustix::fs::OFlags;
use serde::{Deserialize, Serialize};

use crate::{
    home::{private_directory, write_private},
    login_file::{self, LoginFile, LoginFolder},
    private::{PrivateError, UserDirectory},
};

/// The name of the directory in the session's, below which everything is the verifier's.
const FOLDER: &str = "verifier";

/// The name of the file beside it. It is written when all is copied, and removed last.
const FILE: &str = "verifier.json";

/// How much of one name is copied. What is larger is left out: a verifier can do without it.
const FILES_MAX: u32 = 20_000;
const BYTES_MAX: u64 = 256 << 20;
const DEPTH_MAX: u32 = 16;

/// What is the verifier's own.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct VerifierConfig {
    root: PathBuf,
    directories: Vec<CopiedDirectory>,
}

/// A directory of a CLI, and where its content comes from.
#[derive(Debug, Serialize, Deserialize)]
struct CopiedDirectory {
    /// The variable that names it. It is called like that, too.
    variable: String,
    copied: Vec<CopiedName>,
    login: Vec<CopiedName>,
}

#[derive(Debug, Serialize, Deserialize)]
struct CopiedName {
    name: String,
    theirs: PathBuf,
}

/// What may still be copied.
#[derive(Debug)]
struct CopyBudget {
    files: u32,
    bytes: u64,
}

impl VerifierConfig {
    /// What a verifier has. A CLI whose table says nothing of a private directory has no configuration at all.
    pub(crate) fn of(session: &Path, agent: &Agent, variables: &BTreeMap<String, String>) -> VerifierConfig {
        let private = agent.private.as_ref();
        let directories = private.map(|private| directories_of(private, variables)).unwrap_or_default();
        VerifierConfig { root: VerifierConfig::root(session), directories }
    }

    /// The file by which the login of a verifier is told from others, if somebody is signed in.
    pub(crate) fn login_of(agent: &Agent, variables: &BTreeMap<String, String>) -> Option<PathBuf> {
        let directories = directories_of(agent.private.as_ref()?, variables);
        let mut logins = directories.iter().flat_map(|directory| &directory.login);
        logins.find_map(|login| fs::canonicalize(&login.theirs).ok())
    }

    /// The directory below which a verifier may write.
    pub(crate) fn root(session: &Path) -> PathBuf {
        session.join(FOLDER)
    }

    /// What an earlier launch of the session has made.
    pub(crate) fn made(session: &Path) -> Option<VerifierConfig> {
        serde_json::from_slice(&private::read(session.join(FILE), FILE_BYTES_MAX).ok()?).ok()
    }

    /// The variables that name the directories.
    pub(crate) fn variables(&self) -> impl Iterator<Item = (String, String)> {
        let own = |directory: &CopiedDirectory| self.own(directory).display().to_string();
        self.directories.iter().map(move |directory| (directory.variable.clone(), own(directory)))
    }

    /// Copies everything, before the first launch alone: later on the directories are the verifier's, and a link in them
    /// could lead anywhere. Gives what was too large.
    pub(crate) fn prepare(&self) -> Result<Vec<String>, PrivateError> {
        let file = self.root.with_file_name(FILE);
        if file.exists() {
            self.share();
            return Ok(Vec::new());
        }
        let failed = |path: &Path| {
            let path = path.to_path_buf();
            move |source| PrivateError { path, source }
        };
        // A server that ended half-way has left some of it.
        remove(&self.root).and_then(|()| private_directory(&self.root)).map_err(failed(&self.root))?;
        let mut left_out = Vec::new();
        for directory in &self.directories {
            let own = self.own(directory);
            private_directory(&own).map_err(failed(&own))?;
            for CopiedName { name, theirs } in &directory.copied {
                let mut budget = CopyBudget { files: FILES_MAX, bytes: BYTES_MAX };
                let to = own.join(name);
                make_parent(&to).and_then(|()| budget.copy(theirs, &to, 0)).map_err(failed(&to))?;
                if budget.is_exceeded() {
                    remove(&to).map_err(failed(&to))?;
                    left_out.push(name.clone());
                }
            }
            for CopiedName { name, theirs } in &directory.login {
                let Ok(users) = LoginFile::read(theirs) else { continue };
                let placed = make_parent(&own.join(name))
                    .and_then(|()| LoginFolder::open(&own, name))
                    .and_then(|folder| folder.put(&users, None));
                placed.map_err(failed(&own.join(name)))?;
            }
        }
        let text = serde_json::to_vec(self).expect("paths of letters, and names");
        write_private(&file, &text).map_err(failed(&file))?;
        Ok(left_out)
    }

    /// Brings a renewed login to the user, and a newer one of the user's here. What cannot be done now is tried again.
    pub(crate) fn share(&self) {
        for directory in &self.directories {
            for login in &directory.login {
                self.share_login(directory, login).ok();
            }
        }
    }

    fn share_login(&self, directory: &CopiedDirectory, login: &CopiedName) -> io::Result<()> {
        // Who has signed out meanwhile does not want it back.
        let Ok(theirs) = fs::canonicalize(&login.theirs) else { return Ok(()) };
        let folder = LoginFolder::open(&self.own(directory), &login.name)?;
        let is_same = |own: &LoginFile, users: &LoginFile| own.bytes == users.bytes;
        if folder.read().is_some_and(|own| LoginFile::read(&theirs).is_ok_and(|it| is_same(&own, &it))) {
            return Ok(());
        }
        let _lock = login_file::lock_folder_of(&theirs)?;
        let (Some(own), users) = (folder.read(), LoginFile::read(&theirs)?) else { return Ok(()) };
        if own.renews(&users) {
            login_file::replace(&own, &theirs)
        } else if users.at > own.at && !is_same(&own, &users) {
            folder.put(&users, Some(&own))
        } else {
            Ok(())
        }
    }

    /// Brings a renewed login to the user and removes everything of a verifier that has ended.
    pub(crate) fn settle(session: &Path) {
        if let Some(config) = VerifierConfig::made(session) {
            config.share();
        }
        // What cannot be removed is tried again at the next start.
        if remove(&VerifierConfig::root(session)).is_ok() {
            fs::remove_file(session.join(FILE)).ok();
        }
    }

    /// Whether there is anything of a verifier in a session's directory.
    pub(crate) fn is_left(session: &Path) -> bool {
        [FOLDER, FILE].iter().any(|name| session.join(name).symlink_metadata().is_ok())
    }

    fn own(&self, directory: &CopiedDirectory) -> PathBuf {
        self.root.join(&directory.variable)
    }
}

/// The directories that a table names, where somebody knows where the user's are.
fn directories_of(private: &Private, variables: &BTreeMap<String, String>) -> Vec<CopiedDirectory> {
    let first = UserDirectory::of(&private.variable, &private.default, variables).map(|user| {
        let theirs = |name: &String| match (&user.home, private.elsewhere.get(name)) {
            (Some(home), Some(place)) => home.join(place),
            _ => user.path.join(name),
        };
        let named = |name: &String| CopiedName { name: name.clone(), theirs: theirs(name) };
        CopiedDirectory {
            variable: private.variable.clone(),
            copied: private.shared.iter().chain(&private.copied).map(named).collect(),
            login: private.login.iter().map(named).collect(),
        }
    });
    let further = private.further.iter().filter_map(|(variable, further)| {
        let user = UserDirectory::of(variable, &further.default, variables)?;
        let named = |name: &String| CopiedName { name: name.clone(), theirs: user.path.join(name) };
        let copied = further.copied.iter().map(named).collect();
        Some(CopiedDirectory { variable: variable.clone(), copied, login: Vec::new() })
    });
    first.into_iter().chain(further).collect()
}

impl CopyBudget {
    /// Copies a file or a directory, and what links in it lead to. What cannot be read, and what is neither, is left out.
    fn copy(&mut self, from: &Path, to: &Path, depth: u32) -> io::Result<()> {
        self.files = self.files.saturating_sub(1);
        let nonblocking = i32::try_from(OFlags::NONBLOCK.bits()).expect("flags of the system fit");
        let opened = OpenOptions::new().read(true).custom_flags(nonblocking).open(from);
        let Ok((source, metadata)) = opened.and_then(|file| file.metadata().map(|it| (file, it))) else {
            return Ok(());
        };
        if self.is_exceeded() {
            return Ok(());
        }
        if metadata.is_file() {
            return self.copy_file(&source, metadata.permissions().mode(), to);
        }
        if !metadata.is_dir() || depth == DEPTH_MAX {
            return Ok(());
        }
        private_directory(to)?;
        for entry in fs::read_dir(from).into_iter().flatten().filter_map(Result::ok) {
            self.copy(&entry.path(), &to.join(entry.file_name()), depth + 1)?;
        }
        Ok(())
    }

    fn copy_file(&mut self, from: &File, mode: u32, to: &Path) -> io::Result<()> {
        // Its owner may write it, whoever owns the original may not.
        let mode = mode & 0o700 | 0o600;
        let mut file = OpenOptions::new().write(true).create_new(true).mode(mode).open(to)?;
        let copied = io::copy(&mut from.take(self.bytes), &mut file)?;
        self.bytes -= copied;
        Ok(())
    }

    fn is_exceeded(&self) -> bool {
        self.files == 0 || self.bytes == 0
    }
}

fn make_parent(path: &Path) -> io::Result<()> {
    path.parent().map_or(Ok(()), private_directory)
}

/// Removes a directory or file, also one in which a directory was closed to keep it from being removed.
fn remove(path: &Path) -> io::Result<()> {
    let Ok(metadata) = fs::symlink_metadata(path) else { return Ok(()) };
    if !metadata.is_dir() {
        return fs::remove_file(path);
    }
    match fs::remove_dir_all(path) {
        Err(error) if error.kind() == io::ErrorKind::PermissionDenied => {
            open_all(path, 0);
            fs::remove_dir_all(path)
        }
        removed => removed,
    }
}

/// Opens directories that were closed. No link is followed.
fn open_all(directory: &Path, depth: u32) {
    /// Deeper ones would have to be made on purpose.
    const OPENED_MAX: u32 = 128;
    fs::set_permissions(directory, fs::Permissions::from_mode(0o700)).ok();
    if depth == OPENED_MAX {
        return;
    }
    for entry in fs::read_dir(directory).into_iter().flatten().filter_map(Result::ok) {
        if entry.file_type().is_ok_and(|it| it.is_dir()) {
            open_all(&entry.path(), depth + 1);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::{io::Write, os::unix::fs::symlink};

    use rustix::fs::{CWD, FileType, Mode, mknodat};

    use super::*;

    fn world(name: &str) -> PathBuf {
        let root = std::env::temp_dir().join(format!("ostler-verifier-{name}-{}", std::process::id()));
        remove(&root).expect("what was left goes away");
        fs::create_dir_all(root.join("users/skills")).expect("a folder");
        for (file, text) in [("settings.json", "{}"), ("skills/one", "one"), ("skills/two", "two")] {
            let mut file = File::create(root.join("users").join(file)).expect("a file");
            file.write_all(text.as_bytes()).expect("it can be written");
        }
        root
    }

    fn copied(root: &Path, files: u32, bytes: u64) -> bool {
        let to = root.join("own");
        remove(&to).expect("what was copied goes away");
        let mut budget = CopyBudget { files, bytes };
        budget.copy(&root.join("users"), &to, 0).expect("copied");
        !budget.is_exceeded()
    }

    #[test]
    fn copies_are_bounded_and_hold_no_link() {
        let root = world("bounds");
        assert!(!copied(&root, 3, 1000), "too many files");
        assert!(!copied(&root, 100, 5), "too much in them");
        symlink(root.join("users/settings.json"), root.join("users/linked")).expect("a link");
        mknodat(CWD, root.join("users/pipe"), FileType::Fifo, Mode::RUSR | Mode::WUSR, 0).expect("a pipe");
        assert!(copied(&root, 100, 1000));
        assert_eq!(fs::read_to_string(root.join("own/skills/two")).expect("a file"), "two");
        assert!(root.join("own/linked").is_file() && !root.join("own/linked").is_symlink());
        assert!(!root.join("own/pipe").exists());
        for name in ["again", "skills/again"] {
            symlink(root.join("users"), root.join("users").join(name)).expect("a link");
        }
        assert!(!copied(&root, 1000, 1 << 20), "links that lead in circles end");
        remove(&root).expect("all goes away");
    }

    #[test]
    fn what_was_closed_is_removed_too() {
        let root = world("closed");
        let closed = root.join("users/skills");
        symlink("/", closed.join("root")).expect("a link");
        for folder in [&closed, &root.join("users")] {
            fs::set_permissions(folder, fs::Permissions::from_mode(0o000)).expect("it is ours");
        }
        remove(&root).expect("all goes away");
        assert!(!root.exists() && Path::new("/tmp").exists());
    }
}
