//! What is in a commit, without checking it out: files, what differs, and the tree that it is known by. And a chain of
//! commits for trees that somebody has approved.
//!
//! Everything is read from objects. What stands on the disk now is another matter, and is asked for by [`Repository::tree_now`].

use std::{ffi::OsStr, os::unix::ffi::OsStrExt, path::PathBuf};

use crate::{
    Commit, GitError, Limits, Repository,
    checkout::{commit_tree, ostler, resolve, tree_of, update_ref},
    commit::Tree,
    git::Call,
    snapshot::Snapshot,
};

/// The most files of a commit that are listed.
const FILES_MAX: usize = 200_000;

/// A file in a commit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CommittedFile {
    /// Its path from the root of the repository.
    pub path: PathBuf,
    /// How large it is.
    pub bytes: u64,
    /// Whether it is a file, and not a link to somewhere else.
    pub is_regular: bool,
    blob: String,
}

/// A path that is not the same in two commits.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChangedFile {
    /// Its path from the root of the repository.
    pub path: PathBuf,
    /// How: `A`dded, `M`odified, `D`eleted, or another kind of thing (`T`).
    pub how: char,
    /// Whether what stands in it is the same, and only whether it can be run is not.
    pub mode_alone: bool,
}

/// A commit that is to be made of a tree.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Approved {
    /// The commit that has the tree.
    pub commit: Commit,
    /// What is said about it.
    pub message: String,
}

impl Repository {
    /// The name of a commit's tree.
    pub fn tree(&self, commit: &Commit) -> Result<String, GitError> {
        tree_of(&self.common_dir, commit).map(|tree| tree.0)
    }

    /// The tree of what stands in the checkout right now, untracked files within limits.
    pub fn tree_now(&self, limits: Limits) -> Result<String, GitError> {
        let checkout = self.place(None)?;
        Snapshot::take_within(&checkout, limits).map(|snapshot| snapshot.tree.0)
    }

    /// The first path in which the checkout differs from a commit; `new_too` counts what is not in the commit at all.
    pub fn first_change(
        &self,
        commit: &Commit,
        limits: Limits,
        new_too: bool,
    ) -> Result<Option<PathBuf>, GitError> {
        let tree = self.tree_now(limits)?;
        if tree == self.tree(commit)? {
            return Ok(None);
        }
        let changed = self.changed_between(commit.as_str(), &tree)?;
        Ok(changed.into_iter().find(|it| new_too || it.how != 'A').map(|it| it.path))
    }

    /// Every file of a commit.
    pub fn files(&self, commit: &Commit) -> Result<Vec<CommittedFile>, GitError> {
        let args = ["ls-tree", "-r", "-l", "-z", "--full-tree", commit.as_str()];
        let list = Call::on(&self.common_dir).args(args).run()?;
        let lines = list.split(|&byte| byte == 0).filter(|line| !line.is_empty()).take(FILES_MAX);
        Ok(lines.filter_map(committed).collect())
    }

    /// What stands in a file of a commit, as far as it is wanted.
    pub fn read(&self, file: &CommittedFile, bytes_max: u64) -> Result<Vec<u8>, GitError> {
        let args = ["cat-file", "blob", &file.blob];
        let call = Call::on(&self.common_dir).args(args).stdout_bytes_max(bytes_max);
        let output = call.output()?;
        if output.status.success() || output.truncated {
            Ok(output.stdout)
        } else {
            Err(call.failed(&output))
        }
    }

    /// What differs between two commits.
    pub fn changed(&self, from: &Commit, to: &Commit) -> Result<Vec<ChangedFile>, GitError> {
        self.changed_between(from.as_str(), to.as_str())
    }

    fn changed_between(&self, from: &str, to: &str) -> Result<Vec<ChangedFile>, GitError> {
        let args = ["diff-tree", "-r", "-z", "--raw", "--no-renames", "--no-ext-diff", from, to, "--"];
        let list = Call::on(&self.common_dir).args(args).run()?;
        let mut fields = list.split(|&byte| byte == 0).filter(|field| !field.is_empty());
        let mut changed = Vec::new();
        while let (Some(change), Some(path)) = (fields.next(), fields.next()) {
            // The modes before and after, the blobs before and after, and how it has changed.
            let change: Vec<&[u8]> = change.split(|&byte| byte == b' ').collect();
            let how = change.last().and_then(|how| how.first()).map_or('M', |&byte| char::from(byte));
            let mode_alone = how == 'M' && change.get(2) == change.get(3);
            changed.push(ChangedFile { path: PathBuf::from(OsStr::from_bytes(path)), how, mode_alone });
        }
        Ok(changed)
    }

    /// Keeps a commit under a name below `refs/ostler/`, whatever becomes of other refs.
    pub fn keep_commit(&self, name: &str, commit: &Commit) -> Result<(), GitError> {
        let reference = format!("refs/ostler/{name}");
        let old = resolve(&self.common_dir, &reference)?;
        if old.as_ref() == Some(commit) {
            return Ok(());
        }
        update_ref(&self.common_dir, &reference, commit, old.as_ref(), "ostler: kept")
    }

    /// The first parent of a commit, if it has one.
    pub fn parent(&self, commit: &Commit) -> Result<Option<Commit>, GitError> {
        resolve(&self.common_dir, &format!("{commit}^1"))
    }

    /// Makes a branch with a commit for each tree, on top of a commit. Who asks again gets the same commits. A branch of
    /// that name that leads elsewhere, or that somebody works on, is left alone.
    pub fn export(
        &self,
        branch: &str,
        base: Option<&Commit>,
        approved: &[Approved],
    ) -> Result<Export, GitError> {
        let reference = format!("refs/heads/{branch}");
        if !self.is_branch_name(branch)? || branch.starts_with("refs/") {
            return Ok(Export::BadName);
        }
        let mut parents: Vec<Commit> = base.cloned().into_iter().collect();
        let mut made = Vec::new();
        let mut who = ostler();
        for it in approved {
            let Tree(tree) = tree_of(&self.common_dir, &it.commit)?;
            // The time of what was approved, so that the same gives the same.
            let at = Call::on(&self.common_dir).args([
                "log",
                "-1",
                "--format=%ct +0000",
                it.commit.as_str(),
                "--",
            ]);
            let at = at.line()?;
            who.truncate(4);
            who.extend([("GIT_AUTHOR_DATE", at.clone()), ("GIT_COMMITTER_DATE", at)]);
            let commit = commit_tree(&self.common_dir, &Tree(tree), &parents, &it.message, &who)?;
            parents = vec![commit.clone()];
            made.push(commit);
        }
        let Some(last) = made.last() else { return Ok(Export::Made(made)) };
        match resolve(&self.common_dir, &reference)? {
            Some(there) if there == *last => {}
            Some(there) if !made.contains(&there) => return Ok(Export::Taken),
            // What was exported before is part of it, and the branch goes on; but not under somebody's files, who would
            // take it back with their next commit.
            Some(there) => {
                let args = ["for-each-ref", "--format=%(worktreepath)", &reference];
                let place = Call::on(&self.common_dir).args(args).line()?;
                if !place.is_empty() {
                    return Ok(Export::CheckedOut { place: PathBuf::from(place) });
                }
                update_ref(&self.common_dir, &reference, last, Some(&there), "ostler: export")?;
            }
            None => update_ref(&self.common_dir, &reference, last, None, "ostler: export")?,
        }
        Ok(Export::Made(made))
    }
}

/// What became of an export.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Export {
    /// The branch has these commits.
    Made(Vec<Commit>),
    /// There is such a branch, and it leads elsewhere.
    Taken,
    /// Somebody works on that branch, and it would have to go on.
    CheckedOut {
        /// Where.
        place: PathBuf,
    },
    /// No branch can have that name.
    BadName,
}

/// A line of `ls-tree -l`: mode, kind, object, size, then the path behind a tab.
fn committed(line: &[u8]) -> Option<CommittedFile> {
    let tab = line.iter().position(|&byte| byte == b'\t')?;
    let head = std::str::from_utf8(&line[..tab]).ok()?;
    let mut words = head.split_ascii_whitespace();
    let (mode, kind, blob, size) = (words.next()?, words.next()?, words.next()?, words.next()?);
    (kind == "blob").then(|| CommittedFile {
        path: PathBuf::from(OsStr::from_bytes(&line[tab + 1..])),
        bytes: size.parse().unwrap_or(0),
        is_regular: mode.starts_with("100"),
        blob: blob.to_owned(),
    })
}
