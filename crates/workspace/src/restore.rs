//! Brings files back to what they were at a checkpoint.
//!
//! What stands there is kept first, so that nothing is overwritten or removed that no ref holds; git itself checks
//! that once more, file by file, before it touches the first one. HEAD and branches stay where they are.

use std::{collections::BTreeSet, fs::File, path::PathBuf};

use crate::{
    Checkpoint, CheckpointOutcome, CheckpointSpec, Commit, GitError, NotRestored, Repository, RestoreError,
    Worktree,
    checkout::{self, Checkout, commit_tree, resolve, tree_of, update_ref},
    commit::Tree,
    exchange::{Exchange, stands, unreadable},
    git::Call,
    index,
    snapshot::{LeftOut, Snapshot, TemporaryIndex, paths, to_path},
    spare::Spared,
};

/// What came of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Restored {
    /// What stood there before: a checkpoint of its own, or the wanted one if nothing was to be changed.
    pub before: CheckpointOutcome,
    /// How many files were written or removed.
    pub changed: usize,
    /// Files that are still not as they were, or may not be: what git's own rules make of them differs, somebody wrote
    /// meanwhile, they cannot be read or removed, or the checkpoint does not have them.
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
        index::give_back(&checkout);
        if let Some(path) = checkout.index_lock() {
            return Err(RestoreError::IndexLocked { path }.into());
        }
        if let Some(what) = checkout.unfinished() {
            return Err(RestoreError::Unfinished { path: checkout.root, what: what.to_owned() }.into());
        }
        let wanted = tree_of(&self.common_dir, target)?;
        let mut snapshot = Snapshot::take_within(&checkout, before.limits)?;
        if snapshot.staged.is_none() {
            return Err(in_conflict(&checkout)?.into());
        }
        self.cover(&checkout, &mut snapshot, &wanted)?;
        let spared = self.spare(&checkout, &self.exchange(&snapshot.tree, &wanted)?, target, &wanted)?;
        let kept = self.keep_before(&checkout, &snapshot, target, before)?;
        // Whatever happens from here on, what stood there has a place, and whoever asked is told which.
        match self.bring(&checkout, &snapshot, target, &wanted, &spared, &lock) {
            Ok((changed, different, submodules)) => {
                Ok(Restored { before: kept, changed, different, submodules })
            }
            Err(error) => Err(NotRestored { error, before: Some(Box::new(kept)) }),
        }
    }

    fn exchange(&self, from: &Tree, to: &Tree) -> Result<Exchange, GitError> {
        Exchange::between(&self.common_dir, from, to)
    }

    /// Writes and removes files, and then what was staged.
    fn bring(
        &self,
        checkout: &Checkout,
        snapshot: &Snapshot,
        target: &Commit,
        wanted: &Tree,
        spared: &Spared,
        lock: &File,
    ) -> Result<(usize, Vec<PathBuf>, Vec<PathBuf>), RestoreError> {
        let Some(index) = &snapshot.index else { return Ok((0, Vec::new(), Vec::new())) };
        let mut from = snapshot.tree.clone();
        let stays: Vec<PathBuf> = spared.ignored.union(&spared.left_out).cloned().collect();
        if !stays.is_empty() {
            index.forget(checkout, &stays)?;
            from = index.write_tree(checkout)?;
        }
        let exchange = self.exchange(&from, wanted)?;
        if from != *wanted {
            let comes = exchange.comes(&checkout.root);
            // From the tree that is there to the one that is wanted. Whatever is not as the first says makes git
            // refuse as a whole.
            let args = ["read-tree", "-m", "-u", "--no-sparse-checkout", &from.0, &wanted.0];
            let message = match index.call(checkout, args).holding(lock).output() {
                Ok(output) if output.status.success() => None,
                Ok(output) if output.stderr.trim().is_empty() => Some(output.status.to_string()),
                Ok(output) => Some(output.stderr.trim().to_owned()),
                Err(error) => Some(error.to_string()),
            };
            if let Some(message) = message {
                return Err(stopped(checkout, index, &exchange, comes, message));
            }
        }
        self.restore_index(checkout, target).map_err(|source| RestoreError::Index { source })?;
        let told = not_as_told(index, checkout);
        let half_done = |error: GitError| {
            let (message, changed) = (error.to_string(), Vec::new());
            RestoreError::HalfDone { message, changed }
        };
        let mut different: BTreeSet<PathBuf> = told.map_err(half_done)?.into_iter().collect();
        // Git only warns of what it cannot remove, and says nothing of what it cannot look at.
        different.extend(exchange.removed().into_iter().filter(|path| stands(&checkout.root, path)));
        different.extend(snapshot.untold.keys().cloned());
        different.extend(spared.left_out.iter().cloned());
        Ok((exchange.count(), different.into_iter().collect(), exchange.submodules()))
    }

    /// Adds to a snapshot what is ignored or was too large, and stands where something will be written.
    fn cover(&self, checkout: &Checkout, snapshot: &mut Snapshot, wanted: &Tree) -> Result<(), RestoreError> {
        let Some(index) = &snapshot.index else { return Ok(()) };
        let uncovered = self.exchange(&snapshot.tree, wanted)?.uncovered(&checkout.root, snapshot)?;
        if uncovered.is_empty() {
            return Ok(());
        }
        let mut closed = Vec::new();
        index.add(checkout, &uncovered.iter().cloned().collect::<Vec<_>>(), &mut closed)?;
        if let Some(LeftOut { path, .. }) = closed.first() {
            return Err(unreadable(path));
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
        target: &Commit,
        spec: &CheckpointSpec,
    ) -> Result<CheckpointOutcome, GitError> {
        let reference = self.free_name(spec)?;
        let Some(first) = resolve(&self.common_dir, &reference)? else {
            // A checkpoint that has it already may be let go by its age, and whoever is killed finds no name. Only
            // where nothing is to be changed there is nothing to be kept.
            let last = spec.last.clone().filter(|last| last == target);
            return self.keep(checkout, snapshot, &reference, &CheckpointSpec { last, ..spec.clone() });
        };
        let tree = tree_of(&self.common_dir, &first)?;
        let mut commit = first.clone();
        if tree != snapshot.tree {
            let who = checkout::ostler();
            let words = "What stood there when it was begun again\n";
            let half = commit_tree(&self.common_dir, &snapshot.tree, &[], words, &who)?;
            let message = self.message(&first)?;
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
}

/// Whether git refused before it touched anything, or stopped half-way. It says neither.
fn stopped(
    checkout: &Checkout,
    index: &TemporaryIndex,
    exchange: &Exchange,
    mut comes: Vec<PathBuf>,
    message: String,
) -> RestoreError {
    // The copied index is written last, so it still speaks of what stood there.
    let changed = not_as_told(index, checkout).map(|mut changed| {
        let touched = exchange.touched();
        changed.retain(|path| touched.contains(path));
        comes.retain(|path| stands(&checkout.root, path));
        changed.extend(comes);
        changed
    });
    match changed {
        Ok(changed) if changed.is_empty() => RestoreError::InTheWay { message },
        changed => RestoreError::HalfDone { message, changed: changed.unwrap_or_default() },
    }
}

/// What is staged beside a conflict cannot be kept, as it makes no tree.
fn in_conflict(checkout: &Checkout) -> Result<RestoreError, GitError> {
    let list = Call::within(checkout).args(["ls-files", "--unmerged", "-z"]).run()?;
    let path = list.split(|byte| *byte == 0).find_map(|entry| entry.splitn(2, |byte| *byte == b'\t').nth(1));
    let what = match path {
        Some(path) => format!("'{}' is in conflict", to_path(path).display()),
        None => "what is staged cannot be read".to_owned(),
    };
    Ok(RestoreError::Unfinished { path: checkout.root.clone(), what })
}

/// The files that are not as an index says.
fn not_as_told(index: &TemporaryIndex, checkout: &Checkout) -> Result<Vec<PathBuf>, GitError> {
    let args = ["diff-files", "-z", "--name-only", "--ignore-submodules=all"];
    Ok(paths(&index.call(checkout, args).run()?))
}
