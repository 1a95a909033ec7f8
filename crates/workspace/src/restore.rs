//! Brings files back to what they were at a checkpoint.
//!
//! What stands there is kept first, so that nothing is overwritten or removed that no ref holds; git itself checks
//! that once more, file by file, before it touches the first one. HEAD and branches stay where they are.

use std::{
    collections::BTreeSet,
    ffi::OsString,
    fs::File,
    os::unix::ffi::OsStrExt,
    path::{Path, PathBuf},
};

use crate::{
    Checkpoint, CheckpointOutcome, CheckpointSpec, Commit, GitError, NotRestored, Repository, RestoreError,
    Worktree,
    checkout::{self, Checkout, blocker, commit_tree, resolve, tree_of, update_ref},
    commit::Tree,
    git::{Call, joined},
    snapshot::{LeftOut, Snapshot, TemporaryIndex, paths},
};

/// What came of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Restored {
    /// What stood there before: a checkpoint of its own, or the last one if nothing had changed since.
    pub before: CheckpointOutcome,
    /// How many files were written or removed.
    pub changed: usize,
    /// Files that are still not as they were: what git's own rules make of them differs, or somebody wrote meanwhile.
    pub different: Vec<PathBuf>,
    /// Submodules that were at another commit then. They are left where they are.
    pub submodules: Vec<PathBuf>,
}

impl Repository {
    /// Brings a worktree, or the checkout that this repository is seen from, back to a checkpoint. Files that came
    /// later go, unless they are ignored; they are in the checkpoint that is made first.
    pub fn restore(
        &self,
        worktree: Option<&Worktree>,
        target: &Commit,
        before: &CheckpointSpec,
    ) -> Result<Restored, NotRestored> {
        let lock = self.hold()?;
        if resolve(&self.common_dir, target.as_str())?.is_none() {
            return Err(RestoreError::Gone { commit: target.clone() }.into());
        }
        let checkout = self.place(worktree)?;
        if let Some(path) = checkout.index_lock() {
            return Err(RestoreError::IndexLocked { path }.into());
        }
        if let Some(what) = checkout.unfinished() {
            return Err(RestoreError::Unfinished { path: checkout.root, what: what.to_owned() }.into());
        }
        let wanted = tree_of(&self.common_dir, target)?;
        let mut snapshot = Snapshot::take_within(&checkout, before.limits)?;
        self.cover(&checkout, &mut snapshot, &wanted)?;
        let kept = self.keep_before(&checkout, &snapshot, before)?;
        // Whatever happens from here on, what stood there has a place, and whoever asked is told which.
        match self.exchange(&checkout, &snapshot, target, &wanted, &lock) {
            Ok((changed, different, submodules)) => {
                Ok(Restored { before: kept, changed, different, submodules })
            }
            Err(error) => Err(NotRestored { error, before: Some(Box::new(kept)) }),
        }
    }

    /// Writes and removes files, and then what was staged.
    fn exchange(
        &self,
        checkout: &Checkout,
        snapshot: &Snapshot,
        target: &Commit,
        wanted: &Tree,
        lock: &File,
    ) -> Result<(usize, Vec<PathBuf>, Vec<PathBuf>), RestoreError> {
        let changed = self.changed_files(&snapshot.tree.0, &wanted.0)?.len();
        let submodules = self.moved_submodules(&snapshot.tree, wanted)?;
        if let Some(index) = snapshot.index.as_ref().filter(|_| snapshot.tree != *wanted) {
            // From the tree that is there to the one that is wanted. Whatever is not as the first says makes git
            // refuse as a whole.
            let args = ["read-tree", "-m", "-u", "--no-sparse-checkout", &snapshot.tree.0, &wanted.0];
            let message = match index.call(checkout, args).holding(lock).output() {
                Ok(output) if output.status.success() => None,
                Ok(output) => Some(output.stderr.trim().to_owned()),
                Err(error) => Some(error.to_string()),
            };
            if let Some(message) = message {
                return Err(self.stopped(checkout, snapshot, index, wanted, message));
            }
        }
        self.restore_index(checkout, target).map_err(|source| RestoreError::Index { source })?;
        let different = match &snapshot.index {
            Some(index) => not_as_told(index, checkout).map_err(|error| RestoreError::HalfDone {
                message: error.to_string(),
                changed: Vec::new(),
            })?,
            None => Vec::new(),
        };
        Ok((changed, different, submodules))
    }

    /// Whether git refused before it touched anything, or stopped half-way. It says neither.
    fn stopped(
        &self,
        checkout: &Checkout,
        snapshot: &Snapshot,
        index: &TemporaryIndex,
        wanted: &Tree,
        message: String,
    ) -> RestoreError {
        // The copied index is written last, so it still speaks of what stood there.
        let changed = not_as_told(index, checkout).and_then(|mut changed| {
            let touched = self.differing(&snapshot.tree, wanted, "--diff-filter=DMT")?;
            let touched: BTreeSet<PathBuf> = touched.into_iter().collect();
            changed.retain(|path| touched.contains(path));
            let added = self.differing(&snapshot.tree, wanted, "--diff-filter=A")?;
            let is_there = |path: &PathBuf| checkout.root.join(path).symlink_metadata().is_ok();
            changed.extend(added.into_iter().filter(is_there));
            Ok(changed)
        });
        match changed {
            Ok(changed) if changed.is_empty() => RestoreError::InTheWay { message },
            changed => RestoreError::HalfDone { message, changed: changed.unwrap_or_default() },
        }
    }

    /// The files that differ between two trees in one way.
    fn differing(&self, from: &Tree, to: &Tree, filter: &str) -> Result<Vec<PathBuf>, GitError> {
        let args = ["diff-tree", "-r", "-z", "--name-only", "--no-renames", filter, &from.0, &to.0, "--"];
        Ok(paths(&Call::on(&self.common_dir).args(args).run()?))
    }

    /// Adds to a snapshot what is ignored or was too large, and stands where something will be written.
    fn cover(&self, checkout: &Checkout, snapshot: &mut Snapshot, wanted: &Tree) -> Result<(), RestoreError> {
        let Some(index) = &snapshot.index else { return Ok(()) };
        let removed: BTreeSet<PathBuf> =
            self.differing(&snapshot.tree, wanted, "--diff-filter=D")?.into_iter().collect();
        let mut uncovered = BTreeSet::new();
        for path in self.differing(&snapshot.tree, wanted, "--diff-filter=A")? {
            // Git takes what is ignored for something that may go.
            if checkout.root.join(&path).is_dir() && !checkout.root.join(&path).is_symlink() {
                uncovered.extend(files_in(index, checkout, &path)?);
            } else {
                uncovered.extend(blocker(&checkout.root, &path).filter(|path| !removed.contains(path)));
            }
        }
        if uncovered.is_empty() {
            return Ok(());
        }
        let mut closed = Vec::new();
        index.add(checkout, uncovered.iter().cloned().collect(), &mut closed)?;
        if let Some(LeftOut { path, .. }) = closed.first() {
            let message = format!("'{}' cannot be read, and would be overwritten", path.display());
            return Err(RestoreError::InTheWay { message });
        }
        snapshot.tree = index.write_tree(checkout)?;
        snapshot.left_out.retain(|left_out| !uncovered.contains(&left_out.path));
        Ok(())
    }

    /// Keeps what is there before anything is changed. Who was killed half-way and begins again finds the first one,
    /// and adds to it what stands there now.
    fn keep_before(
        &self,
        checkout: &Checkout,
        snapshot: &Snapshot,
        spec: &CheckpointSpec,
    ) -> Result<CheckpointOutcome, GitError> {
        let reference = self.free_name(spec)?;
        let Some(first) = resolve(&self.common_dir, &reference)? else {
            return self.keep(checkout, snapshot, &reference, spec);
        };
        let tree = tree_of(&self.common_dir, &first)?;
        let mut commit = first.clone();
        if tree != snapshot.tree {
            let who = checkout::ostler();
            let words = "What stood there when it was begun again\n";
            let half = commit_tree(&self.common_dir, &snapshot.tree, &[], words, &who)?;
            let command = Call::on(&self.common_dir).args(["log", "-1", "--format=%B", first.as_str(), "--"]);
            let message = String::from_utf8_lossy(&command.run()?).into_owned();
            commit = commit_tree(&self.common_dir, &tree, &[first.clone(), half], &message, &who)?;
            update_ref(&self.common_dir, &reference, &commit, Some(&first), "ostler: checkpoint")?;
        }
        Ok(CheckpointOutcome::Made(Checkpoint { reference, commit, left_out: Vec::new() }))
    }

    /// What was staged, if the same commit is checked out; otherwise nothing is staged.
    fn restore_index(&self, checkout: &Checkout, target: &Commit) -> Result<(), GitError> {
        let head = checkout.commit()?;
        let tree = match (self.staged_at(target, head.as_ref())?, &head) {
            (Some(staged), _) => staged.0,
            (None, Some(head)) => tree_of(&self.common_dir, head)?.0,
            (None, None) => return Call::within(checkout).args(["read-tree", "--empty"]).run().map(drop),
        };
        Call::within(checkout).args(["reset", "--quiet", &tree, "--", ":/"]).run().map(drop)
    }

    fn moved_submodules(&self, from: &Tree, to: &Tree) -> Result<Vec<PathBuf>, GitError> {
        let args = ["diff-tree", "-r", "-z", "--no-renames", "--raw", &from.0, &to.0, "--"];
        let list = Call::on(&self.common_dir).args(args).run()?;
        // :MODE MODE OBJECT OBJECT STATUS, then the path.
        let fields: Vec<&[u8]> = list.split(|byte| *byte == 0).collect();
        let moved = fields.chunks_exact(2).filter(|pair| {
            let modes = pair[0].get(1..14).unwrap_or_default();
            modes.split(|byte| *byte == b' ').any(|mode| mode == b"160000")
        });
        Ok(moved.flat_map(|pair| paths(pair[1])).collect())
    }
}

/// The files that are not as an index says.
fn not_as_told(index: &TemporaryIndex, checkout: &Checkout) -> Result<Vec<PathBuf>, GitError> {
    let args = ["diff-files", "-z", "--name-only", "--ignore-submodules=all"];
    Ok(paths(&index.call(checkout, args).run()?))
}

/// The files in a folder that git does not know, ignored or not.
fn files_in(
    index: &TemporaryIndex,
    checkout: &Checkout,
    folder: &Path,
) -> Result<Vec<PathBuf>, RestoreError> {
    let args = ["ls-files", "--others", "-z", "--"].map(OsString::from);
    let wanted = joined(":(top,literal)", folder);
    let found = paths(&index.call(checkout, args.into_iter().chain([wanted])).run()?);
    match found.iter().find(|path| path.as_os_str().as_bytes().ends_with(b"/")) {
        None => Ok(found),
        Some(nested) => {
            let message = format!("'{}' is a repository of its own", nested.display());
            Err(RestoreError::InTheWay { message })
        }
    }
}
