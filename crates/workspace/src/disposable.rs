//! A checkout that is made to be thrown away: the files of a commit, with a git directory of its own that borrows the
//! objects of the repository. A commit, a ref or a setting that is made in it goes with it.
//!
//! A note in its git directory says that it is complete; one without it is made anew.

use std::{
    fs::{self, DirBuilder},
    io::{self, Write},
    os::unix::{ffi::OsStrExt, fs::DirBuilderExt},
    path::Path,
};

use ostler_files::{FILE_BYTES_MAX, named};

use crate::{
    Commit, GitError, Repository,
    checkout::file,
    git::{Call, text},
};

/// The note in the git directory.
const COMPLETE: &str = "ostler-complete";

impl Repository {
    /// Makes one at a path in Ostler's own state, or finds the one that was made there of the same commit.
    pub fn make_disposable(&self, path: &Path, commit: &Commit) -> Result<(), GitError> {
        let note = path.join(".git").join(COMPLETE);
        if named::read_text(&note, FILE_BYTES_MAX).is_ok_and(|text| text == commit.as_str()) {
            return Ok(());
        }
        remove_disposable(path)?;
        DirBuilder::new().recursive(true).mode(0o700).create(path).map_err(|source| file(path, source))?;
        let command = "rev-parse";
        let format = Call::on(&self.common_dir).args([command, "--show-object-format"]).run()?;
        let format = format!("--object-format={}", text(format, command)?);
        Call::at(path).args(["init", "--quiet", "--template=", &format]).run()?;
        let mut objects = self.common_dir.join("objects").as_os_str().as_bytes().to_vec();
        objects.push(b'\n');
        let info = path.join(".git/objects/info");
        fs::create_dir_all(&info).map_err(|source| file(&info, source))?;
        let alternates = info.join("alternates");
        put(&alternates, &objects)?;
        let missing = || GitError::NoWorktree { path: path.to_owned() };
        let inner = Repository::find(path)?.ok_or_else(missing)?;
        let checkout = inner.place(None)?;
        let args = ["checkout", "--quiet", "--force", "--detach", commit.as_str(), "--"];
        Call::within(&checkout).args(args).run()?;
        put(&note, commit.as_str().as_bytes())
    }
}

/// Half a file is no harm: without the note that comes last, all of it is made anew.
fn put(path: &Path, bytes: &[u8]) -> Result<(), GitError> {
    named::create(path).and_then(|mut it| it.write_all(bytes)).map_err(|source| file(path, source))
}

/// Throws one away. It is ours, whatever is in it: nothing of it was ever anybody's work.
pub fn remove_disposable(path: &Path) -> Result<(), GitError> {
    match fs::remove_dir_all(path) {
        Err(source) if source.kind() != io::ErrorKind::NotFound => Err(file(path, source)),
        _ => Ok(()),
    }
}
