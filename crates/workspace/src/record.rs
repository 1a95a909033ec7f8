//! Commits of some of what has changed in a checkout, beside whatever else is going on there.
//!
//! The commit is made from an index of its own, so nothing that somebody has staged gets into it. A call that was cut
//! short is made again: it finds the commit at the head, and brings the live index up to it.

use std::{
    fs::{self, File},
    io::{self, Write},
    path::{Path, PathBuf},
    thread,
    time::Duration,
};

use crate::{
    Commit, GitError, Repository,
    checkout::{Checkout, commit_tree, file, tree_of, update_ref},
    git::Call,
    snapshot::{TemporaryIndex, paths, zero_ended},
};

/// The most that is read of the list of what a repository ignores by itself.
const EXCLUDE_BYTES_MAX: u64 = 1 << 20;

/// How often the live index is tried while somebody else holds its lock, and for how long in between.
const INDEX_TRIES: u32 = 20;
const INDEX_WAIT: Duration = Duration::from_millis(100);

impl Repository {
    /// The files in the checkout that this is seen from that are not as the head has them: edited, staged, removed, or
    /// unknown to git. What is ignored does not count.
    pub fn changed_now(&self) -> Result<Vec<PathBuf>, GitError> {
        self.checkout.as_ref().map_or(Ok(Vec::new()), changed)
    }

    /// Commits the changed files for which `is_wanted`, on whatever is checked out. None if there are none.
    pub fn commit_changed(
        &self,
        is_wanted: impl Fn(&Path) -> bool,
        message: &str,
    ) -> Result<Option<Commit>, GitError> {
        let Some(checkout) = &self.checkout else { return Ok(None) };
        let lock = self.hold()?;
        let files: Vec<PathBuf> = changed(checkout)?.into_iter().filter(|path| is_wanted(path)).collect();
        if files.is_empty() {
            return Ok(None);
        }
        let head = checkout.commit()?;
        let index = TemporaryIndex::empty(checkout);
        if head.is_some() {
            index.call(checkout, ["read-tree", "HEAD"]).run()?;
        }
        index.add(checkout, &files, &mut Vec::new())?;
        let tree = index.write_tree(checkout)?;
        let before = head.as_ref().map(|head| tree_of(&checkout.git_dir, head)).transpose()?;
        let made = if before.as_ref() == Some(&tree) {
            None
        } else {
            let parents: Vec<Commit> = head.iter().cloned().collect();
            let commit = commit_tree(&checkout.git_dir, &tree, &parents, message, &checkout.identity()?)?;
            let reference = checkout.branch()?.unwrap_or_else(|| "HEAD".to_owned());
            update_ref(&checkout.git_dir, &reference, &commit, head.as_ref(), "ostler: commit")?;
            Some(commit)
        };
        // The live index knows nothing of that commit yet, and would show it taken back. Files are not touched.
        let args = ["update-index", "--add", "--replace", "--remove", "-z", "--stdin"];
        let list = zero_ended(&files);
        let mut tries = 1;
        // An agent may be using git there. Whoever comes next brings it up to date where this does not.
        while Call::within(checkout).args(args).input(&list).run().is_err() && tries < INDEX_TRIES {
            tries += 1;
            thread::sleep(INDEX_WAIT);
        }
        drop(lock);
        Ok(made)
    }

    /// Has git take no notice of a folder in the root, in all checkouts; that stands in the repository's own list, not
    /// in a file that is committed.
    pub fn exclude(&self, folder: &str) -> Result<(), GitError> {
        let path = self.common_dir.join("info/exclude");
        let line = format!("/{folder}/");
        let lock = self.hold()?;
        let text = match crate::checkout::read_file(&path, EXCLUDE_BYTES_MAX) {
            Ok(bytes) => bytes,
            Err(error) if error.kind() == io::ErrorKind::NotFound => Vec::new(),
            Err(source) => return Err(file(&path, source)),
        };
        if !text.split(|byte| *byte == b'\n').any(|it| it == line.as_bytes()) {
            let mut text = text;
            if !text.is_empty() && !text.ends_with(b"\n") {
                text.push(b'\n');
            }
            text.extend_from_slice(format!("{line}\n").as_bytes());
            let draft = path.with_extension("ostler");
            let written = fs::create_dir_all(self.common_dir.join("info"))
                .and_then(|()| File::create(&draft)?.write_all(&text))
                .and_then(|()| fs::rename(&draft, &path));
            written.map_err(|source| file(&path, source))?;
        }
        drop(lock);
        Ok(())
    }
}

fn changed(checkout: &Checkout) -> Result<Vec<PathBuf>, GitError> {
    let args =
        ["status", "--porcelain", "-z", "--no-renames", "--untracked-files=all", "--ignore-submodules=all"];
    let status = Call::within(checkout).args(args).run()?;
    // XY, a space, the path.
    let entries = status.split(|byte| *byte == 0).filter_map(|entry| entry.get(3..));
    // A repository inside this one ends with a slash: it is not part of it.
    Ok(entries.filter(|path| !path.ends_with(b"/")).flat_map(paths).collect())
}
