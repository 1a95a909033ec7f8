//! Keeps work reachable that is about to lose its place: one ref that leads to everything.
//!
//! A pin only ever grows. If there is one already, what it held becomes a parent of the new one.

use std::collections::BTreeSet;

use crate::{
    Commit, GitError, Repository, Worktree,
    checkout::{self, commit_tree, is_ancestor, resolve, tree_of, update_ref},
    commit::Tree,
    git::{Call, text},
    guard::GitDir,
    snapshot::Snapshot,
};

/// Where the work of a removed worktree is. `git branch NAME REFERENCE` brings it back.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pin {
    /// The full name of the ref.
    pub reference: String,
    /// The commit that it leads to: what stood in the worktree, on top of its last commit.
    pub commit: Commit,
}

/// When to make a pin.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Pinning {
    Always,
    /// Only if something has no other place.
    IfNeeded,
}

impl Repository {
    /// The pin of a worktree that was removed.
    pub fn pin(&self, worktree: &Worktree) -> Result<Option<Pin>, GitError> {
        let reference = pin_name(&worktree.branch);
        let commit = resolve(&self.common_dir, &reference)?;
        Ok(commit.map(|commit| Pin { reference, commit }))
    }

    /// Pins what stands in a worktree: its files, its index, its last commit, its branch, and commits that only its
    /// reflogs remember. The pin is read back before this returns.
    pub(crate) fn pin_worktree(
        &self,
        worktree: &Worktree,
        git_dir: &GitDir,
        snapshot: Option<&Snapshot>,
        pinning: Pinning,
    ) -> Result<Option<Pin>, GitError> {
        let head = resolve(git_dir, "HEAD")?;
        let first = head.clone().unwrap_or_else(|| worktree.base.clone());
        let head_tree = tree_of(git_dir, &first)?;
        let tree = snapshot.map_or(&head_tree, |snapshot| &snapshot.tree);
        let mut parents = vec![first.clone()];
        if let Some(tip) = resolve(git_dir, &worktree.reference())?
            && !is_ancestor(git_dir, &tip, &first)?
        {
            parents.push(tip);
        }
        parents.extend(strays(worktree, git_dir, head.is_some())?);
        let staged = snapshot.and_then(|snapshot| snapshot.staged.as_ref());
        if let Some(staged) = staged.filter(|staged| *staged != tree && **staged != head_tree) {
            parents.push(index_commit(git_dir, staged, Some(&first))?);
        }
        self.pin_commits(worktree, tree, parents, pinning)
    }

    /// Makes one pin of a tree and of commits, the first of which is what the tree was made on.
    pub(crate) fn pin_commits(
        &self,
        worktree: &Worktree,
        tree: &Tree,
        mut parents: Vec<Commit>,
        pinning: Pinning,
    ) -> Result<Option<Pin>, GitError> {
        let git_dir = &self.common_dir;
        let before = self.pin(worktree)?;
        let is_plain = parents.len() == 1 && tree_of(git_dir, &parents[0])? == *tree;
        if let Some(pin) = before.clone()
            && tree_of(git_dir, &pin.commit)? == *tree
            && self.covers(&pin.commit, &parents)?
        {
            return Ok(Some(pin));
        }
        if is_plain && pinning == Pinning::IfNeeded {
            return Ok(before);
        }
        let commit = if is_plain && before.is_none() {
            parents.remove(0)
        } else {
            parents.extend(before.as_ref().map(|pin| pin.commit.clone()));
            let message = format!("What stood in the worktree of {}\n", worktree.branch);
            commit_tree(git_dir, tree, &parents, &message, &checkout::ostler())?
        };
        let reference = pin_name(&worktree.branch);
        let old = before.map(|pin| pin.commit);
        update_ref(git_dir, &reference, &commit, old.as_ref(), "ostler: pin")?;
        match self.pin(worktree)? {
            Some(pin) if pin.commit == commit => Ok(Some(pin)),
            found => Err(GitError::Unexpected {
                command: "update-ref".to_owned(),
                what: format!("{reference} leads to {found:?}, not to {commit}"),
            }),
        }
    }

    fn covers(&self, pin: &Commit, commits: &[Commit]) -> Result<bool, GitError> {
        for commit in commits {
            if !is_ancestor(&self.common_dir, commit, pin)? {
                return Ok(false);
            }
        }
        Ok(true)
    }
}

/// The newest of the commits that were here once and that no ref leads to any more, such as those that were
/// amended. The reflogs that remember them go with the worktree.
fn strays(worktree: &Worktree, git_dir: &GitDir, has_head: bool) -> Result<Vec<Commit>, GitError> {
    let mut remembered = String::new();
    for reference in ["HEAD".to_owned(), worktree.reference()] {
        let exists = Call::on(git_dir).args(["reflog", "exists", &reference]).ask()?.is_some();
        if exists && (has_head || reference != "HEAD") {
            let command = "log";
            let args = [command, "--walk-reflogs", "--format=%H", &reference, "--"];
            remembered.push_str(&text(Call::on(git_dir).args(args).run()?, command)?);
            remembered.push('\n');
        }
    }
    let command = "rev-list";
    let call = Call::on(git_dir).args([command, "--parents", "--stdin", "--not", "--all"]);
    let list = text(call.input(remembered.as_bytes()).run()?, command)?;
    let is_parent: BTreeSet<&str> = list.lines().flat_map(|line| line.split(' ').skip(1)).collect();
    let commits = list.lines().filter_map(|line| line.split(' ').next());
    let newest = commits.filter(|commit| !commit.is_empty() && !is_parent.contains(commit));
    newest.map(|commit| checkout::commit(commit, command)).collect()
}

/// A commit of what is staged. The same tree on the same commit gives the same one, so that repeating adds nothing.
pub(crate) fn index_commit(
    git_dir: &GitDir,
    staged: &Tree,
    parent: Option<&Commit>,
) -> Result<Commit, GitError> {
    let when = match parent {
        Some(parent) => {
            Call::on(git_dir).args(["log", "-1", "--format=%ct +0000", parent.as_str(), "--"]).line()?
        }
        None => "@0 +0000".to_owned(),
    };
    let mut environment = checkout::ostler();
    environment.push(("GIT_AUTHOR_DATE", when.clone()));
    environment.push(("GIT_COMMITTER_DATE", when));
    let parents: Vec<Commit> = parent.into_iter().cloned().collect();
    commit_tree(git_dir, staged, &parents, "What was staged\n", &environment)
}

/// Below it are all pins.
pub(crate) const DISCARDED: &str = "refs/ostler/discarded/";

/// `ostler/s_12` is pinned as `refs/ostler/discarded/s_12`.
fn pin_name(branch: &str) -> String {
    format!("{DISCARDED}{}", branch.strip_prefix("ostler/").unwrap_or(branch))
}
