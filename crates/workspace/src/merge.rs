//! Brings a session's work into the branch that it came from.
//!
//! The merge is computed among objects alone. The target is touched only when the result is known, nothing stands in
//! its way, and then by a fast-forward, which git checks once more. Until then the target stays as it is to the
//! byte.

use std::{collections::BTreeSet, fs::File, path::PathBuf};

use crate::{
    Commit, GitError, MergeError, Repository, Worktree,
    checkout::{Checkout, blocker, commit_tree, is_ancestor, resolve, tree_of, update_ref},
    commit::Tree,
    git::{Call, text},
    index, rescue,
    snapshot::{Snapshot, paths},
};

/// What the commits of a merge say.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MergeMessages<'a> {
    /// For what the agent had not committed.
    pub work: &'a str,
    /// For the merge itself, where one is needed.
    pub merge: &'a str,
}

/// What came of a merge. Only [`MergeOutcome::Merged`] has changed the target.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum MergeOutcome {
    /// The target has it now.
    Merged {
        /// The new head of the target.
        commit: Commit,
    },
    /// The target had it already.
    AlreadyMerged {
        /// The head of the target.
        commit: Commit,
    },
    /// Nothing was done in the worktree.
    NothingToDo,
    /// Both sides changed the same places.
    Conflict {
        /// The files.
        files: Vec<PathBuf>,
    },
    /// The target has edits, or files that git does not know, which the merge would overwrite.
    TargetDirty {
        /// The files.
        files: Vec<PathBuf>,
    },
}

/// What was done in a worktree, all of it committed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Work {
    /// Nothing.
    Nothing,
    /// The branch that it is merged into has it already.
    Merged {
        /// The head of its own branch.
        commit: Commit,
    },
    /// That branch does not have it.
    Waits {
        /// The head of its own branch.
        commit: Commit,
    },
}

impl Repository {
    /// Commits what is left in the worktree on its branch, and merges that branch into the one it came from, or into
    /// `into`. The branch must be checked out in the checkout that this repository is seen from, or nowhere.
    pub fn merge(
        &self,
        worktree: &Worktree,
        into: Option<&str>,
        messages: MergeMessages<'_>,
    ) -> Result<MergeOutcome, MergeError> {
        let lock = self.hold()?;
        let target = self.target(worktree, into, &lock)?;
        let checkout = self.checkout_of(worktree)?;
        let tip = commit_rest(&checkout, worktree, messages.work, &lock)?;
        self.merge_tip(worktree, &checkout, &target, tip, messages.merge, &lock)
    }

    /// Merges what is committed on the branch of the worktree, and nothing else, into the branch that it came from.
    pub fn merge_committed(&self, worktree: &Worktree, message: &str) -> Result<MergeOutcome, MergeError> {
        let lock = self.hold()?;
        let target = self.target(worktree, None, &lock)?;
        let checkout = self.checkout_of(worktree)?;
        check_ready(&checkout)?;
        let tip = head_of(&checkout, worktree)?;
        self.merge_tip(worktree, &checkout, &target, tip, message, &lock)
    }

    /// Merges this commit, if it is still the head of the branch of the worktree: what was looked at, and nothing else.
    pub fn merge_seen(
        &self,
        worktree: &Worktree,
        seen: &Commit,
        message: &str,
    ) -> Result<MergeOutcome, MergeError> {
        let lock = self.hold()?;
        let target = self.target(worktree, None, &lock)?;
        let checkout = self.checkout_of(worktree)?;
        check_ready(&checkout)?;
        let tip = head_of(&checkout, worktree)?;
        if tip != *seen {
            return Err(MergeError::BranchMoved { branch: worktree.branch.clone() });
        }
        self.merge_tip(worktree, &checkout, &target, tip, message, &lock)
    }

    /// Commits what is left in the worktree on its branch, without merging it.
    pub fn commit_work(&self, worktree: &Worktree, message: &str) -> Result<Work, MergeError> {
        let lock = self.hold()?;
        let checkout = self.checkout_of(worktree)?;
        let commit = commit_rest(&checkout, worktree, message, &lock)?;
        if commit == worktree.base {
            return Ok(Work::Nothing);
        }
        let target = self.target_head(worktree)?;
        let is_merged = is_ancestor(&self.common_dir, &commit, &target)?;
        Ok(if is_merged { Work::Merged { commit } } else { Work::Waits { commit } })
    }

    /// The head of the branch that a worktree is merged into.
    pub fn target_head(&self, worktree: &Worktree) -> Result<Commit, MergeError> {
        let branch = worktree.target.as_deref().ok_or(MergeError::NoTarget)?;
        let gone = || MergeError::TargetGone { branch: branch.to_owned() };
        resolve(&self.common_dir, &format!("refs/heads/{branch}"))?.ok_or_else(gone)
    }

    fn target(&self, worktree: &Worktree, into: Option<&str>, lock: &File) -> Result<Target, MergeError> {
        let branch = into.or(worktree.target.as_deref()).ok_or(MergeError::NoTarget)?;
        if let Some(checkout) = &self.checkout {
            rescue::finish(checkout, lock)?;
        }
        Target::of(self, branch)
    }

    fn merge_tip(
        &self,
        worktree: &Worktree,
        checkout: &Checkout,
        target: &Target,
        tip: Commit,
        message: &str,
        lock: &File,
    ) -> Result<MergeOutcome, MergeError> {
        if is_ancestor(&self.common_dir, &tip, &target.commit)? {
            return Ok(if tip == worktree.base {
                MergeOutcome::NothingToDo
            } else {
                MergeOutcome::AlreadyMerged { commit: target.commit.clone() }
            });
        }
        let commit = if is_ancestor(&self.common_dir, &target.commit, &tip)? {
            tip
        } else {
            match merge_trees(checkout, &target.commit, &tip)? {
                Ok(tree) => {
                    let parents = [target.commit.clone(), tip];
                    let identity = checkout.identity()?;
                    commit_tree(&self.common_dir, &tree, &parents, message, &identity)?
                }
                Err(files) => return Ok(MergeOutcome::Conflict { files }),
            }
        };
        self.advance(target, commit, lock)
    }

    /// Moves the target to the commit, and the files with it where it is checked out.
    fn advance(&self, target: &Target, commit: Commit, lock: &File) -> Result<MergeOutcome, MergeError> {
        if let Some(checkout) = &target.checkout {
            let files = self.in_the_way(checkout, &target.commit, &commit)?;
            if !files.is_empty() {
                return Ok(MergeOutcome::TargetDirty { files });
            }
            let args = ["merge", "--ff-only", "--no-squash", "--commit", "--no-verify-signatures"];
            let more = ["--no-autostash", "--no-overwrite-ignore", "--quiet", "--no-stat", commit.as_str()];
            let call = Call::within(checkout).args(args).args(more).envs(&checkout.identity()?);
            rescue::note(checkout, &target.commit, &commit)?;
            let merged = call.holding(lock).run();
            rescue::finish(checkout, lock)?;
            if resolve(&self.common_dir, &target.reference)?.as_ref() == Some(&commit) {
                return Ok(MergeOutcome::Merged { commit });
            }
            merged?;
        } else {
            let old = Some(&target.commit);
            let moved = update_ref(&self.common_dir, &target.reference, &commit, old, "ostler: merge");
            if moved.is_ok() {
                return Ok(MergeOutcome::Merged { commit });
            }
        }
        Err(MergeError::TargetMoved { branch: target.branch.clone() })
    }

    /// The files in the target that a merge would overwrite: edited ones, and ones that git does not know. The latter
    /// may be ignored ones too: what is ignored is still somebody's.
    fn in_the_way(&self, checkout: &Checkout, old: &Commit, new: &Commit) -> Result<Vec<PathBuf>, GitError> {
        let changes: BTreeSet<PathBuf> =
            self.changed_files(old.as_str(), new.as_str())?.into_iter().collect();
        let args = [
            "status",
            "--porcelain",
            "-z",
            "--no-renames",
            "--untracked-files=no",
            "--ignore-submodules=all",
        ];
        let status = Call::within(checkout).args(args).run()?;
        // XY, a space, the path.
        let edited = status.split(|byte| *byte == 0).filter_map(|entry| entry.get(3..));
        let mut found: BTreeSet<PathBuf> =
            edited.flat_map(paths).filter(|path| changes.contains(path)).collect();
        let args = ["diff-tree", "-r", "-z", "--name-only", "--no-renames", "--diff-filter=A"];
        let args = args.into_iter().chain([old.as_str(), new.as_str(), "--"]);
        for added in paths(&Call::on(&self.common_dir).args(args).run()?) {
            found.extend(
                blocker(&checkout.root, &added).filter(|path| !changes.contains(path) || *path == added),
            );
        }
        Ok(found.into_iter().collect())
    }
}

/// The branch that is merged into.
struct Target {
    branch: String,
    reference: String,
    commit: Commit,
    /// Where it is checked out, if it is.
    checkout: Option<Checkout>,
}

impl Target {
    fn of(repository: &Repository, branch: &str) -> Result<Target, MergeError> {
        let mut reference = format!("refs/heads/{branch}");
        // A branch may be another name for a branch, and it is that one that somebody has checked out.
        let args = ["symbolic-ref", "--quiet", &reference];
        if let Some(real) = Call::on(&repository.common_dir).args(args).ask()? {
            reference = text(real, "symbolic-ref")?;
        }
        let gone = || MergeError::TargetGone { branch: branch.to_owned() };
        let commit = resolve(&repository.common_dir, &reference)?.ok_or_else(gone)?;
        let mut checkout = repository.checkout.clone();
        if let Some(here) = checkout.clone() {
            if here.branch()?.as_ref() == Some(&reference) {
                check_ready(&here)?;
            } else {
                checkout = None;
            }
        }
        let but = checkout.as_ref().map(|checkout| &*checkout.git_dir);
        if let Some(path) = repository.checked_out_at(&reference, but)? {
            return Err(MergeError::TargetElsewhere { branch: branch.to_owned(), path });
        }
        Ok(Target { branch: branch.to_owned(), reference, commit, checkout })
    }
}

/// Commits everything that is not committed in the worktree, on its own branch. The commit that results, or that was
/// there.
fn commit_rest(
    checkout: &Checkout,
    worktree: &Worktree,
    message: &str,
    lock: &File,
) -> Result<Commit, MergeError> {
    check_ready(checkout)?;
    let head = head_of(checkout, worktree)?;
    let snapshot = Snapshot::take(checkout)?;
    if snapshot.staged.is_none() {
        let what = "files with conflicts".to_owned();
        return Err(MergeError::Unfinished { path: worktree.path.clone(), what });
    }
    let is_clean = tree_of(&checkout.git_dir, &head)? == snapshot.tree;
    if is_clean && snapshot.staged.as_ref() == Some(&snapshot.tree) {
        return Ok(head);
    }
    let mut tip = head.clone();
    if !is_clean {
        let parents = [head.clone()];
        tip = commit_tree(&checkout.git_dir, &snapshot.tree, &parents, message, &checkout.identity()?)?;
        update_ref(&checkout.git_dir, &worktree.reference(), &tip, Some(&head), "ostler: commit the rest")?;
    }
    // The index knows nothing of that commit yet, and would show it taken back. Files are not touched.
    Call::within(checkout).args(["reset", "--quiet", "--mixed"]).holding(lock).run()?;
    Ok(tip)
}

/// The head of the branch of a worktree, which has to be checked out there.
fn head_of(checkout: &Checkout, worktree: &Worktree) -> Result<Commit, MergeError> {
    let on = checkout.branch()?;
    match checkout.commit()? {
        Some(head) if on == Some(worktree.reference()) => Ok(head),
        _ => {
            let on = on.map(|full| full.trim_start_matches("refs/heads/").to_owned());
            let (path, branch) = (worktree.path.clone(), worktree.branch.clone());
            Err(MergeError::OffBranch { path, branch, on })
        }
    }
}

/// Nobody else is at work in a checkout, and nothing is half done there.
fn check_ready(checkout: &Checkout) -> Result<(), MergeError> {
    index::give_back(checkout);
    if let Some(path) = checkout.index_lock() {
        return Err(MergeError::IndexLocked { path });
    }
    if let Some(what) = checkout.unfinished() {
        return Err(MergeError::Unfinished { path: checkout.root.clone(), what: what.to_owned() });
    }
    Ok(())
}

/// The tree of a merge, or the files that are in conflict. It runs in the worktree, whose attributes it goes by.
fn merge_trees(
    checkout: &Checkout,
    ours: &Commit,
    theirs: &Commit,
) -> Result<Result<Tree, Vec<PathBuf>>, GitError> {
    let args = ["merge-tree", "--write-tree", "-z", "--name-only", "--no-messages"];
    let call = Call::within(checkout).args(args).args([ours.as_str(), theirs.as_str()]);
    let output = call.output()?;
    let mut parts = output.stdout.splitn(2, |byte| *byte == 0);
    let tree = parts.next().unwrap_or_default().to_vec();
    match output.status.code() {
        Some(0) => Ok(Ok(Tree(text(tree, "merge-tree")?))),
        Some(1) => Ok(Err(paths(parts.next().unwrap_or_default()))),
        _ => Err(call.failed(&output)),
    }
}
