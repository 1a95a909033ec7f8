//! The files in which a CLI keeps who is signed in, and how a renewed one reaches the user.
//!
//! An agent may write whatever it likes where its copy is. So a copy is read only if it is a regular file of a bounded
//! size that no link leads to, and it replaces the user's only if it is JSON. Nothing but the user's login is ever
//! written, as a whole.

use std::{
    fs,
    fs::File,
    io::{self, Read, Write},
    os::{fd::OwnedFd, unix::fs::PermissionsExt},
    path::{Component, Path},
    thread,
    time::{Duration, SystemTime},
};

use ostler_files::{named, open_directory, private};
use rustix::{
    fs::{
        AtFlags, CWD, FlockOperation, Mode, OFlags, RenameFlags, flock, openat, renameat, renameat_with,
        unlinkat,
    },
    io::Errno,
};
use serde_json::{Map, Value};

use crate::random;

/// The largest login that is read.
const BYTES_MAX: u64 = 1 << 20;

/// So often the lock of a directory is tried for, and so long between two tries.
const LOCK_TRIES: u32 = 40;
const LOCK_WAIT: Duration = Duration::from_millis(50);

/// A login as it was read.
#[derive(Debug)]
pub(crate) struct LoginFile {
    pub(crate) bytes: Vec<u8>,
    /// When it was written.
    pub(crate) at: SystemTime,
}

impl LoginFile {
    /// Reads the user's own, wherever its link leads.
    pub(crate) fn read(path: &Path) -> io::Result<LoginFile> {
        LoginFile::of(&named::open(path)?)
    }

    fn of(file: &File) -> io::Result<LoginFile> {
        let metadata = file.metadata()?;
        if !metadata.is_file() || metadata.len() > BYTES_MAX {
            return Err(io::Error::new(io::ErrorKind::InvalidData, "it is no login"));
        }
        let mut bytes = Vec::new();
        // It may have grown since.
        file.take(BYTES_MAX).read_to_end(&mut bytes)?;
        Ok(LoginFile { bytes, at: metadata.modified()? })
    }

    /// The keys of its JSON object; `None` if it is being written, was given up, or is something else.
    fn keys(&self) -> Option<Vec<String>> {
        let object: Map<String, Value> = serde_json::from_slice(&self.bytes).ok()?;
        (!object.is_empty()).then(|| object.into_iter().map(|(key, _)| key).collect())
    }

    /// Whether it is whole.
    pub(crate) fn is_whole(&self) -> bool {
        self.keys().is_some()
    }

    /// Whether it may be this login, renewed: nobody else is signed in with it, and nowhere else.
    pub(crate) fn renews(&self, users: &LoginFile) -> bool {
        let Some(known) = users.keys() else { return false };
        self.at > users.at && self.keys().is_some_and(|keys| keys.iter().all(|key| known.contains(key)))
    }
}

/// The directory of a login that an agent may write in. Everything is done beside its descriptor: what an agent puts in
/// the place of a directory above leads nowhere.
#[derive(Debug)]
pub(crate) struct LoginFolder {
    folder: OwnedFd,
    name: String,
}

impl LoginFolder {
    /// Opens the directory of a path below another one, through which no link leads.
    pub(crate) fn open(root: &Path, path: &str) -> io::Result<LoginFolder> {
        let flags = OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let mut folder = openat(CWD, root, flags, Mode::empty())?;
        let mut parts: Vec<&str> = Vec::new();
        for component in Path::new(path).components() {
            let Component::Normal(part) = component else { return Err(Errno::INVAL.into()) };
            parts.push(part.to_str().ok_or(Errno::INVAL)?);
        }
        let name = parts.pop().ok_or(Errno::INVAL)?.to_owned();
        for part in parts {
            folder = openat(&folder, part, flags, Mode::empty())?;
        }
        Ok(LoginFolder { folder, name })
    }

    /// Reads what is there; nothing if that is no regular file.
    pub(crate) fn read(&self) -> Option<LoginFile> {
        self.read_named(&self.name)
    }

    /// Reads another file beside it.
    pub(crate) fn read_named(&self, name: &str) -> Option<LoginFile> {
        let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
        let file = openat(&self.folder, name, flags, Mode::empty()).ok()?;
        LoginFile::of(&File::from(file)).ok()
    }

    /// Puts the user's login there, unless what is there has changed since it was read.
    pub(crate) fn put(&self, users: &LoginFile, before: Option<&LoginFile>) -> io::Result<()> {
        let draft = format!(".{}.draft", random::word());
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let mut file = File::from(openat(&self.folder, &*draft, flags, Mode::RUSR | Mode::WUSR)?);
        let written = file.write_all(&users.bytes).and_then(|()| file.set_modified(users.at));
        let placed = written.and_then(|()| match before {
            None => {
                Ok(renameat_with(&self.folder, &*draft, &self.folder, &*self.name, RenameFlags::NOREPLACE)?)
            }
            Some(before) => {
                renameat_with(&self.folder, &*draft, &self.folder, &*self.name, RenameFlags::EXCHANGE)?;
                // One that was renewed at this very moment is put back; the next look brings it to the user.
                if self.read_named(&draft).is_some_and(|found| found.bytes != before.bytes) {
                    return Ok(renameat(&self.folder, &*draft, &self.folder, &*self.name)?);
                }
                Ok(unlinkat(&self.folder, &*draft, AtFlags::empty())?)
            }
        });
        if placed.is_err() {
            unlinkat(&self.folder, &*draft, AtFlags::empty()).ok();
        }
        placed
    }
}

/// Locks the directory of the user's login: everybody who brings something there holds it, and nothing is left behind.
/// Any program may hold it, so it is waited for only a while.
pub(crate) fn lock_folder_of(login: &Path) -> io::Result<File> {
    let folder = open_directory(login.parent().unwrap_or(login))?;
    for _ in 0..LOCK_TRIES {
        match flock(&folder, FlockOperation::NonBlockingLockExclusive) {
            Ok(()) => return Ok(folder),
            Err(Errno::WOULDBLOCK) => thread::sleep(LOCK_WAIT),
            Err(error) => return Err(error.into()),
        }
    }
    Err(io::Error::new(io::ErrorKind::TimedOut, "another program holds its directory"))
}

/// Replaces the user's file as a whole, unless it is newer or the same.
pub(crate) fn replace(renewed: &LoginFile, theirs: &Path) -> io::Result<()> {
    let before = LoginFile::read(theirs)?;
    if before.at >= renewed.at || before.bytes == renewed.bytes {
        return Ok(());
    }
    let draft = theirs.with_file_name(format!(".{}.draft", random::word()));
    let mode = fs::metadata(theirs)?.permissions().mode() & 0o777;
    let written = private::create(&draft).and_then(|mut file| {
        file.write_all(&renewed.bytes)?;
        file.set_permissions(fs::Permissions::from_mode(mode))?;
        // The time of the renewal, not of the copy: another session may have renewed it in between. One that is
        // still to come would keep all others out until then.
        let now = file.metadata()?.modified()?;
        file.set_modified(renewed.at.min(now))?;
        file.sync_all()
    });
    written.and_then(|()| fs::rename(&draft, theirs)).inspect_err(|_| drop(fs::remove_file(&draft)))
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    const USERS: &str = r#"{"token":"old"}"#;

    /// A directory with a user's login and an agent's copy of it.
    fn world(name: &str) -> (std::path::PathBuf, LoginFile) {
        let root = std::env::temp_dir().join(format!("ostler-login-{name}-{}", std::process::id()));
        fs::remove_dir_all(&root).ok();
        fs::create_dir_all(root.join("own/sub")).expect("a folder");
        put(&root.join("login"), USERS.as_bytes());
        let users = LoginFile::read(&root.join("login")).expect("a login");
        (root, users)
    }

    fn put(path: &Path, bytes: &[u8]) {
        let mut file = File::create(path).expect("a file");
        file.write_all(bytes).expect("it can be written");
    }

    fn own(root: &Path) -> Option<LoginFile> {
        LoginFolder::open(&root.join("own"), "sub/login").ok()?.read()
    }

    #[test]
    fn nothing_but_a_file_is_a_login() {
        let (root, _) = world("kinds");
        let path = root.join("own/sub/login");
        put(&path, USERS.as_bytes());
        assert_eq!(own(&root).map(|it| it.bytes), Some(USERS.into()));
        fs::remove_file(&path).expect("a file");
        symlink(root.join("login"), &path).expect("a link");
        assert!(own(&root).is_none(), "a link to a file");
        fs::remove_file(&path).expect("a link");
        rustix::fs::mknodat(CWD, &path, rustix::fs::FileType::Fifo, Mode::RUSR | Mode::WUSR, 0)
            .expect("a pipe");
        assert!(own(&root).is_none(), "nobody waits at a pipe");
        fs::remove_file(&path).expect("a pipe");
        put(&path, &vec![b' '; usize::try_from(BYTES_MAX).expect("it fits") + 1]);
        assert!(own(&root).is_none(), "too large");
        fs::remove_dir_all(root.join("own/sub")).expect("a folder");
        symlink(&root, root.join("own/sub")).expect("a link");
        assert!(own(&root).is_none(), "a link to a directory");
        fs::remove_dir_all(&root).expect("a folder");
    }

    #[test]
    fn a_login_is_renewed_by_the_same_login_alone() {
        let (root, users) = world("renews");
        let later = users.at + Duration::from_secs(1);
        let renews = |text: &str, at| LoginFile { bytes: text.into(), at }.renews(&users);
        assert!(renews(r#"{"token":"new"}"#, later));
        assert!(!renews(r#"{"token":"new"}"#, users.at), "the user's is as new");
        for other in
            ["", "{}", "[1]", r#"{"tok"#, r#"{"token":"new","https://example.org":{"type":"wellknown"}}"#]
        {
            assert!(!renews(other, later), "{other}");
        }
        fs::remove_dir_all(&root).expect("a folder");
    }

    #[test]
    fn a_time_to_come_keeps_nobody_out() {
        let (root, users) = world("time");
        let at = users.at + Duration::from_hours(1000);
        replace(&LoginFile { bytes: br#"{"token":"new"}"#.to_vec(), at }, &root.join("login"))
            .expect("replaced");
        let after = LoginFile::read(&root.join("login")).expect("a login");
        assert_eq!(after.bytes, br#"{"token":"new"}"#);
        assert!(after.at < users.at + Duration::from_hours(1));
        fs::remove_dir_all(&root).expect("a folder");
    }

    #[test]
    fn what_was_renewed_meanwhile_is_not_overwritten() {
        let (root, users) = world("meanwhile");
        let folder = LoginFolder::open(&root.join("own"), "sub/login").expect("a folder");
        folder.put(&users, None).expect("placed");
        let read = folder.read().expect("a login");
        assert_eq!((&read.bytes, read.at), (&users.bytes, users.at));
        put(&root.join("own/sub/login"), br#"{"token":"meanwhile"}"#);
        folder.put(&users, Some(&read)).expect("looked at");
        assert_eq!(own(&root).map(|it| it.bytes), Some(br#"{"token":"meanwhile"}"#.to_vec()));
        let newer = LoginFile { bytes: br#"{"token":"newer"}"#.to_vec(), at: users.at };
        folder.put(&newer, own(&root).as_ref()).expect("placed");
        assert_eq!(own(&root).map(|it| it.bytes), Some(newer.bytes));
        assert_eq!(
            fs::read_dir(root.join("own/sub")).expect("a folder").count(),
            1,
            "nothing is left beside it"
        );
        fs::remove_dir_all(&root).expect("a folder");
    }
}
