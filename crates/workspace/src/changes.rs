//! What a session has done: everything in its worktree since the commit it began from, committed or not.
//!
//! Reading leaves the worktree exactly as it is, so it may be done while an agent works there.

use std::path::PathBuf;

use crate::{
    Commit, GitError, Repository, Worktree,
    checkout::{Checkout, empty_tree, resolve, tree_of},
    git::Call,
    guard::GitDir,
    snapshot::{Limits, Snapshot, paths},
};

/// How much has changed in a worktree.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Status {
    /// Files that differ from the base.
    pub changed: usize,
    /// Files of these that differ from the last commit.
    pub uncommitted: usize,
    /// Commits since the base.
    pub ahead: usize,
    /// Repositories inside the worktree that are not part of it. What is in them is in no diff and no merge.
    pub nested: Vec<PathBuf>,
}

/// How a diff is to look.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DiffOptions {
    /// Its form.
    pub format: DiffFormat,
    /// With colours for a terminal.
    pub color: bool,
    /// Where it is cut off.
    pub bytes_max: u64,
}

/// The form of a diff.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DiffFormat {
    /// A line per file.
    Stat,
    /// Every changed line.
    Patch,
    /// Every changed line and nothing around it, of files that are no text too.
    Added,
}

/// A diff, as bytes: what is in files need not be text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diff {
    /// The diff.
    pub bytes: Vec<u8>,
    /// There would have been more.
    pub truncated: bool,
}

impl Repository {
    /// How much has changed in a worktree since it was made.
    pub fn status(&self, worktree: &Worktree) -> Result<Status, GitError> {
        let checkout = self.checkout_of(worktree)?;
        let snapshot = Snapshot::take_within(&checkout, Limits::NONE)?;
        let changed = self.changed_files(worktree.base.as_str(), &snapshot.tree.0)?.len();
        let head = checkout.commit()?;
        let from = match &head {
            Some(head) => tree_of(&self.common_dir, head)?.0,
            None => worktree.base.to_string(),
        };
        let uncommitted = self.changed_files(&from, &snapshot.tree.0)?.len();
        let ahead = match head {
            Some(head) => self.count(&format!("{}..{head}", worktree.base))?,
            None => 0,
        };
        Ok(Status { changed, uncommitted, ahead, nested: snapshot.nested })
    }

    /// Everything that changed in a worktree since it was made.
    pub fn diff(&self, worktree: &Worktree, options: &DiffOptions) -> Result<Diff, GitError> {
        let checkout = self.checkout_of(worktree)?;
        let snapshot = Snapshot::take_within(&checkout, Limits::NONE)?;
        diff_trees(&checkout.git_dir, worktree.base.as_str(), &snapshot.tree.0, options)
    }

    /// The checkout of a worktree, which must be there.
    pub(crate) fn checkout_of(&self, worktree: &Worktree) -> Result<Checkout, GitError> {
        let missing = || GitError::NoWorktree { path: worktree.path.clone() };
        let git_dir = self.registration(&worktree.path)?.ok_or_else(missing)?;
        let checkout = Checkout { git_dir, root: worktree.path.clone() };
        if checkout.root.is_dir() { Ok(checkout) } else { Err(missing()) }
    }

    /// The files that differ between two trees or commits.
    pub(crate) fn changed_files(&self, from: &str, to: &str) -> Result<Vec<PathBuf>, GitError> {
        let args = ["diff-tree", "-r", "-z", "--name-only", "--no-renames", from, to, "--"];
        Ok(paths(&Call::on(&self.common_dir).args(args).run()?))
    }

    fn count(&self, range: &str) -> Result<usize, GitError> {
        let command = "rev-list";
        let line = Call::on(&self.common_dir).args([command, "--count", range, "--"]).line()?;
        line.parse().map_err(|_| GitError::Unexpected { command: command.to_owned(), what: line })
    }
}

impl Repository {
    /// The difference that a commit makes to its first parent, or to nothing.
    pub fn diff_commit(&self, commit: &Commit, options: &DiffOptions) -> Result<Diff, GitError> {
        let parent = match resolve(&self.common_dir, &format!("{}^", commit.as_str()))? {
            Some(parent) => parent.as_str().to_owned(),
            None => empty_tree(&self.common_dir)?.0,
        };
        diff_trees(&self.common_dir, &parent, commit.as_str(), options)
    }
}

/// The difference between two trees or commits.
pub(crate) fn diff_trees(
    git_dir: &GitDir,
    from: &str,
    to: &str,
    options: &DiffOptions,
) -> Result<Diff, GitError> {
    let format = match options.format {
        DiffFormat::Stat => &["--stat"][..],
        DiffFormat::Patch => &["--patch"],
        DiffFormat::Added => &["--patch", "--unified=0", "--text"],
    };
    let color = if options.color { "--color=always" } else { "--color=never" };
    let call = Call::on(git_dir)
        .args(["diff-tree", "-r", "-M", "--no-ext-diff", "--no-textconv"])
        .args(format)
        .args([color, from, to, "--"])
        .stdout_bytes_max(options.bytes_max);
    let output = call.output()?;
    if !output.status.success() && !output.truncated {
        return Err(call.failed(&output));
    }
    Ok(Diff { bytes: output.stdout, truncated: output.truncated })
}
