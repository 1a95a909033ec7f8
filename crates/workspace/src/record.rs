//! Commits of some of what has changed in a checkout, beside whatever else is going on there.
//!
//! The commit is made from an index of its own, so nothing that somebody has staged gets into it. A call that was cut
//! short is made again: it finds the commit at the head, and brings the live index up to it.

use std::{
    collections::BTreeSet,
    fs, io,
    path::{Path, PathBuf},
    thread,
    time::Duration,
};

use crate::{
    Commit, GitError, Pin, Repository, Worktree,
    checkout::{Checkout, commit_tree, file, resolve, tree_of, update_ref},
    git::Call,
    index::{self, Held},
    make::read_mark,
    pin::Pinning,
    snapshot::{Snapshot, TemporaryIndex, paths, zero_ended},
};

/// The most commits that are listed.
const SUBJECTS_MAX: u32 = 20_000;

/// How often the live index is tried while somebody else holds its lock, and for how long in between.
const INDEX_TRIES: u32 = 20;
const INDEX_WAIT: Duration = Duration::from_millis(100);

impl Repository {
    /// The files in the checkout that this is seen from that are not as the head has them: edited, staged, removed, or
    /// unknown to git. What is ignored does not count.
    pub fn changed_now(&self) -> Result<Vec<PathBuf>, GitError> {
        self.checkout.as_ref().map_or(Ok(Vec::new()), changed)
    }

    /// A commit on top of the head with everything that the checkout holds and does not ignore; on no branch. None where
    /// the head has all of it.
    pub fn commit_of_changes(&self, message: &str) -> Result<Option<Commit>, GitError> {
        let (Some(checkout), Some(head)) = (&self.checkout, self.head()?.commit) else { return Ok(None) };
        let tree = Snapshot::take(checkout)?.tree;
        if tree == tree_of(&self.common_dir, &head)? {
            return Ok(None);
        }
        commit_tree(&self.common_dir, &tree, &[head], message, &checkout.identity()?).map(Some)
    }

    /// Whether anything was done in a worktree since it was made: a commit, or a file that is not as it was. In one that
    /// was never finished nobody has worked.
    pub fn has_work(&self, worktree: &Worktree) -> Result<bool, GitError> {
        let is_other = |commit: Option<Commit>| commit.is_some_and(|commit| commit != worktree.base);
        if is_other(resolve(&self.common_dir, &worktree.reference())?) {
            return Ok(true);
        }
        let Some(git_dir) = self.registration(&worktree.path)? else { return Ok(false) };
        if read_mark(&git_dir)?.is_none() || !worktree.path.exists() {
            return Ok(false);
        }
        let checkout = Checkout { git_dir, root: worktree.path.clone() };
        Ok(is_other(checkout.commit()?) || !changed(&checkout)?.is_empty())
    }

    /// The commits that the head has, newest first, with the first line of what each says; and apart from them those that
    /// only branches have whose names begin so. The newest of very many.
    pub fn subjects(&self, branches: &str) -> Result<[Vec<(Commit, String)>; 2], GitError> {
        let Some(head) = self.head()?.commit else { return Ok([Vec::new(), Vec::new()]) };
        let list = |revisions: &[&str]| {
            let command = "log";
            let newest = format!("--max-count={SUBJECTS_MAX}");
            let args = [command, "-z", "--format=%H %s", "--no-show-signature", newest.as_str()];
            let args = args.into_iter().chain(revisions.iter().copied()).chain(["--"]);
            let text = Call::on(&self.common_dir).args(args).run()?;
            let text = String::from_utf8_lossy(&text);
            let entries = text.split('\0').filter_map(|entry| entry.split_once(' '));
            Ok(entries.filter_map(|(commit, said)| Some((Commit::parse(commit)?, said.to_owned()))).collect())
        };
        let branches = format!("--branches={branches}*");
        Ok([list(&[head.as_str()])?, list(&[&branches, "--not", head.as_str()])?])
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
        // Read before the commit that it leads to: whoever checks out something else meanwhile does not get what is
        // committed here.
        let reference = checkout.branch()?.unwrap_or_else(|| "HEAD".to_owned());
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
            update_ref(&checkout.git_dir, &reference, &commit, head.as_ref(), "ostler: commit")?;
            Some(commit)
        };
        // The live index knows nothing of that commit yet, and would show it taken back. Files are not touched.
        bring_up(checkout, &files);
        drop(lock);
        Ok(made)
    }

    /// Brings the changed files of a worktree for which `is_wanted` back to what its head has. What stood there is pinned
    /// first, and the pin is given; none if there are no such files.
    pub fn put_back(
        &self,
        worktree: &Worktree,
        is_wanted: impl Fn(&Path) -> bool,
    ) -> Result<Option<Pin>, GitError> {
        let checkout = self.checkout_of(worktree)?;
        let lock = self.hold()?;
        index::give_back(&checkout);
        let files: Vec<PathBuf> = changed(&checkout)?.into_iter().filter(|path| is_wanted(path)).collect();
        if files.is_empty() {
            return Ok(None);
        }
        let snapshot = Snapshot::take(&checkout)?;
        let pin = self.pin_worktree(worktree, &checkout.git_dir, Some(&snapshot), Pinning::Always)?;
        let index = TemporaryIndex::empty(&checkout);
        index.call(&checkout, ["read-tree", "HEAD"]).run()?;
        let known: BTreeSet<PathBuf> =
            paths(&index.call(&checkout, ["ls-files", "-z"]).run()?).into_iter().collect();
        let (known, unknown): (Vec<PathBuf>, Vec<PathBuf>) =
            files.iter().cloned().partition(|path| known.contains(path));
        for path in unknown.iter().map(|path| checkout.root.join(path)) {
            match fs::remove_file(&path) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(file(&path, error)),
                _ => {}
            }
        }
        let args = ["checkout-index", "--force", "-z", "--stdin"];
        index.call(&checkout, args).input(&zero_ended(&known)).run()?;
        bring_up(&checkout, &files);
        drop(lock);
        Ok(pin)
    }

    /// Has git take no notice of a folder in the root, in all checkouts; that stands in the repository's own list, not
    /// in a file that is committed.
    pub fn exclude(&self, folder: &str) -> Result<(), GitError> {
        self.exclude_paths(&[&format!("/{folder}/")])
    }
}

/// Has the live index know these files as they are. An agent may be using git there: whoever comes next brings it up to
/// date where this does not.
fn bring_up(checkout: &Checkout, files: &[PathBuf]) {
    let mut tries = 1;
    while !matches!(brought_up(checkout, files), Ok(true)) && tries < INDEX_TRIES {
        tries += 1;
        thread::sleep(INDEX_WAIT);
    }
}

/// Has the live index know these files as they are; false while somebody else holds its lock.
fn brought_up(checkout: &Checkout, files: &[PathBuf]) -> Result<bool, GitError> {
    let live = checkout.git_dir.join("index");
    match Held::take(checkout) {
        Ok(Some(held)) => {
            let index = TemporaryIndex::copy(checkout)?;
            index.add(checkout, files, &mut Vec::new())?;
            held.replace(&index).map_err(|source| file(&live, source))?;
            Ok(true)
        }
        Ok(None) => Ok(false),
        // Not every file system gives a file two names. There git takes the lock itself.
        Err(_) => {
            let args = ["update-index", "--add", "--replace", "--remove", "-z", "--stdin"];
            Call::within(checkout).args(args).input(&zero_ended(files)).run().map(|_| true)
        }
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
