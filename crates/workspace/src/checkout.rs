//! A directory with files and the repository's side of it: what stands in the way of working there.
//!
//! It only looks. A lock of git is never broken.

use std::{
    fs::{self, File, Metadata},
    io::{self, Read},
    path::{Path, PathBuf},
};

use ostler_files::named;

use crate::{Commit, GitError, commit::Tree, git::Call, guard::GitDir};

/// A directory with files, and the git directory that belongs to it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Checkout {
    /// `.git` of the main checkout, `.git/worktrees/NAME` of another.
    pub(crate) git_dir: GitDir,
    pub(crate) root: PathBuf,
}

/// The most that is read of a file that holds one name.
pub(crate) const LINK_BYTES_MAX: u64 = 64 * 1024;

/// What git leaves in a git directory while something is half done.
const UNFINISHED: [&str; 5] =
    ["MERGE_HEAD", "CHERRY_PICK_HEAD", "REVERT_HEAD", "rebase-merge", "rebase-apply"];

impl Checkout {
    /// The lock of the index, if somebody holds it.
    pub(crate) fn index_lock(&self) -> Option<PathBuf> {
        let lock = self.git_dir.join("index.lock");
        lock.symlink_metadata().is_ok().then_some(lock)
    }

    /// The name of what is half done here.
    pub(crate) fn unfinished(&self) -> Option<&'static str> {
        UNFINISHED.into_iter().find(|name| self.git_dir.join(name).exists())
    }

    /// The commit that is checked out; none before the first one.
    pub(crate) fn commit(&self) -> Result<Option<Commit>, GitError> {
        resolve(&self.git_dir, "HEAD")
    }

    /// The full name of the branch that is checked out; none on a detached HEAD.
    pub(crate) fn branch(&self) -> Result<Option<String>, GitError> {
        branch(&self.git_dir)
    }

    /// The name and address to commit with: the user's own, else that of Ostler.
    pub(crate) fn identity(&self) -> Result<Vec<(&'static str, String)>, GitError> {
        // Without this setting git invents an address from the name of the machine.
        let args = ["-c", "user.useConfigOnly=true", "var", "GIT_COMMITTER_IDENT"];
        let known = Call::within(self).args(args).output()?.status.success();
        Ok(if known { Vec::new() } else { ostler() })
    }
}

/// The identity of what Ostler itself records.
pub(crate) fn ostler() -> Vec<(&'static str, String)> {
    let name = |variable| (variable, "Ostler".to_owned());
    let address = |variable| (variable, "ostler@localhost".to_owned());
    vec![
        name("GIT_AUTHOR_NAME"),
        address("GIT_AUTHOR_EMAIL"),
        name("GIT_COMMITTER_NAME"),
        address("GIT_COMMITTER_EMAIL"),
    ]
}

/// The full name of the branch that HEAD of a git directory stands for.
pub(crate) fn branch(git_dir: &GitDir) -> Result<Option<String>, GitError> {
    let command = "symbolic-ref";
    let answer = Call::on(git_dir).args([command, "--quiet", "HEAD"]).ask()?;
    answer.map(|bytes| crate::git::text(bytes, command)).transpose()
}

/// The commit that a ref leads to; none if there is no such ref.
pub(crate) fn resolve(git_dir: &GitDir, reference: &str) -> Result<Option<Commit>, GitError> {
    let command = "rev-parse";
    let revision = format!("{reference}^{{commit}}");
    let args = [command, "--verify", "--quiet", "--end-of-options", &revision];
    let Some(bytes) = Call::on(git_dir).args(args).ask()? else { return Ok(None) };
    commit(&crate::git::text(bytes, command)?, command).map(Some)
}

/// The tree of a commit.
pub(crate) fn tree_of(git_dir: &GitDir, commit: &Commit) -> Result<Tree, GitError> {
    Call::on(git_dir).args(["rev-parse", "--verify", &format!("{commit}^{{tree}}")]).line().map(Tree)
}

/// The tree without anything in it.
pub(crate) fn empty_tree(git_dir: &GitDir) -> Result<Tree, GitError> {
    Call::on(git_dir).args(["hash-object", "-t", "tree", "--stdin"]).input(b"").line().map(Tree)
}

/// Whether everything in one commit is also in the other.
pub(crate) fn is_ancestor(git_dir: &GitDir, old: &Commit, new: &Commit) -> Result<bool, GitError> {
    let args = ["merge-base", "--is-ancestor", old.as_str(), new.as_str()];
    Ok(Call::on(git_dir).args(args).ask()?.is_some())
}

/// Makes a commit that no ref leads to yet.
pub(crate) fn commit_tree(
    git_dir: &GitDir,
    tree: &Tree,
    parents: &[Commit],
    message: &str,
    environment: &[(&'static str, String)],
) -> Result<Commit, GitError> {
    let command = "commit-tree";
    let parents = parents.iter().flat_map(|parent| ["-p", parent.as_str()]);
    let args = [command].into_iter().chain(parents).chain(["-F", "-", tree.0.as_str()]);
    let line = Call::on(git_dir).args(args).envs(environment).input(message.as_bytes()).line()?;
    commit(&line, command)
}

/// Makes a ref lead to a commit, if it still leads to `old`, or does not exist where there is no `old`.
pub(crate) fn update_ref(
    git_dir: &GitDir,
    reference: &str,
    new: &Commit,
    old: Option<&Commit>,
    why: &str,
) -> Result<(), GitError> {
    let zero = "0".repeat(new.as_str().len());
    let old = old.map_or(zero.as_str(), Commit::as_str);
    let args = ["update-ref", "-m", why, "--no-deref", "--", reference, new.as_str(), old];
    Call::on(git_dir).args(args).envs(&ostler()).run().map(drop)
}

/// Removes a ref, if it still leads to `old`.
pub(crate) fn delete_ref(git_dir: &GitDir, reference: &str, old: &Commit) -> Result<(), GitError> {
    let args = ["update-ref", "--no-deref", "-d", "--", reference, old.as_str()];
    Call::on(git_dir).args(args).run().map(drop)
}

pub(crate) fn commit(text: &str, command: &str) -> Result<Commit, GitError> {
    let unexpected = || GitError::Unexpected { command: command.to_owned(), what: text.to_owned() };
    Commit::parse(text).ok_or_else(unexpected)
}

/// Whether there is anything in a directory.
pub(crate) fn is_empty(directory: &Path) -> Result<bool, GitError> {
    let mut entries = fs::read_dir(directory).map_err(|source| file(directory, source))?;
    Ok(entries.next().is_none())
}

/// What stands on the disk at a path.
pub(crate) enum Standing {
    Nothing,
    /// Something that is no folder, at the path or where it needs a folder.
    File(PathBuf, Metadata),
    Folder,
}

/// From the top down: below a symbolic link everything is somebody else's.
pub(crate) fn standing(root: &Path, path: &Path) -> Standing {
    let mut parts: Vec<&Path> = path.ancestors().filter(|part| !part.as_os_str().is_empty()).collect();
    parts.reverse();
    for part in parts {
        match root.join(part).symlink_metadata() {
            Err(_) => return Standing::Nothing,
            Ok(metadata) if metadata.is_dir() => {}
            Ok(metadata) => return Standing::File(part.to_owned(), metadata),
        }
    }
    Standing::Folder
}

/// What already is where a file is to be added: the file itself, or a file where it needs a directory.
pub(crate) fn blocker(root: &Path, added: &Path) -> Option<PathBuf> {
    if let Standing::File(path, _) = standing(root, added) { Some(path) } else { None }
}

/// Opens a file that an agent may have put there. At a pipe one would wait for ever, so it is opened without waiting
/// and then seen to be a regular file.
pub(crate) fn open_file(path: &Path) -> io::Result<File> {
    named::open(path)
}

/// The beginning of such a file.
pub(crate) fn read_file(path: &Path, bytes_max: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    open_file(path)?.take(bytes_max).read_to_end(&mut bytes)?;
    Ok(bytes)
}

pub(crate) fn file(path: &Path, source: io::Error) -> GitError {
    GitError::File { path: path.to_owned(), source }
}
