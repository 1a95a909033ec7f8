//! What stands in a checkout right now, as a tree: commits, what is staged, what is not, and untracked files that are
//! not ignored.
//!
//! It works on a copy of the index. The agent's index, branch and files stay as they are.

use std::{
    ffi::{OsStr, OsString},
    fs::{self, File, FileTimes},
    io,
    os::unix::ffi::OsStrExt,
    path::{Path, PathBuf},
    process,
    sync::atomic::{AtomicU32, Ordering},
};

use crate::{
    GitError,
    checkout::{Checkout, file},
    commit::Tree,
    git::{Call, joined},
    guard::{GitDir, check_submodules},
};

/// What a checkout holds.
pub(crate) struct Snapshot {
    /// Everything that is not ignored.
    pub(crate) tree: Tree,
    /// What is staged; none while a merge has conflicts.
    pub(crate) staged: Option<Tree>,
    /// Repositories in it that are not part of it. Their files are not in the tree.
    pub(crate) nested: Vec<PathBuf>,
    /// Submodules that are checked out. Only their commits are in the tree.
    pub(crate) submodules: Vec<PathBuf>,
}

impl Snapshot {
    /// What is left of a checkout whose files are gone.
    pub(crate) fn of_index(git_dir: &GitDir) -> Result<Option<Snapshot>, GitError> {
        let output = Call::on(git_dir).args(["write-tree"]).output()?;
        let exists = output.status.success() && git_dir.join("index").exists();
        Ok(exists.then(|| Snapshot {
            tree: Tree(lossy(&output.stdout)),
            staged: None,
            nested: Vec::new(),
            submodules: Vec::new(),
        }))
    }

    pub(crate) fn take(checkout: &Checkout) -> Result<Snapshot, GitError> {
        let index = TemporaryIndex::copy(checkout)?;
        let staged = index.call(checkout, ["write-tree"]).output()?;
        let staged = staged.status.success().then(|| Tree(lossy(&staged.stdout)));
        let entries = Entries::read(&index, checkout)?;
        // To add a submodule, git looks at its files, in a process that goes by its configuration.
        check_submodules(checkout, &entries.submodules)?;
        entries.look_at_all(&index, checkout)?;
        let untracked = index.call(checkout, ["ls-files", "--others", "--exclude-standard", "-z"]).run()?;
        // Git does not look into a repository inside another and prints the directory.
        let is_directory = |path: &&[u8]| path.ends_with(b"/");
        let nested = untracked.split(|byte| *byte == 0).filter(is_directory);
        let nested: Vec<PathBuf> = nested.map(|path| to_path(&path[..path.len() - 1])).collect();
        let mut add: Vec<OsString> = ["add", "--all", "--", "."].map(OsString::from).to_vec();
        // A repository without commits would make the whole command fail.
        add.extend(nested.iter().map(|path| joined(":(top,exclude,literal)", path)));
        index.call(checkout, add).run()?;
        let tree = Tree(index.call(checkout, ["write-tree"]).line()?);
        Ok(Snapshot { tree, staged, nested, submodules: entries.submodules })
    }
}

/// How many files git ignores here.
pub(crate) fn count_ignored(checkout: &Checkout) -> Result<u64, GitError> {
    let args = ["ls-files", "--others", "--ignored", "--exclude-standard", "-z"];
    let files = Call::within(checkout).args(args).run()?;
    Ok(files.iter().map(|byte| u64::from(*byte == 0)).sum())
}

/// The paths in a list that git ended each with a zero byte.
pub(crate) fn paths(list: &[u8]) -> Vec<PathBuf> {
    list.split(|byte| *byte == 0).filter(|path| !path.is_empty()).map(to_path).collect()
}

/// What the index says about files that need care.
struct Entries {
    /// Files that git was told not to look at.
    assumed_unchanged: Vec<u8>,
    /// Files that git was told to leave out, and which are there all the same.
    skipped: Vec<u8>,
    submodules: Vec<PathBuf>,
}

impl Entries {
    fn read(index: &TemporaryIndex, checkout: &Checkout) -> Result<Entries, GitError> {
        let list = index.call(checkout, ["ls-files", "-v", "--stage", "-z"]).run()?;
        let mut entries =
            Entries { assumed_unchanged: Vec::new(), skipped: Vec::new(), submodules: Vec::new() };
        // TAG MODE OBJECT STAGE, a tab, the path.
        for entry in list.split(|byte| *byte == 0) {
            let Some(tab) = entry.iter().position(|byte| *byte == b'\t') else { continue };
            let (facts, path) = (&entry[..tab], &entry[tab + 1..]);
            let there = || checkout.root.join(OsStr::from_bytes(path));
            if facts[0].is_ascii_lowercase() {
                entries.assumed_unchanged.extend(path.iter().chain(&[0]));
            }
            if facts[0].eq_ignore_ascii_case(&b'S') && there().symlink_metadata().is_ok() {
                entries.skipped.extend(path.iter().chain(&[0]));
            }
            if facts[1..].starts_with(b" 160000 ") && there().join(".git").exists() {
                entries.submodules.push(to_path(path));
            }
        }
        entries.submodules.dedup();
        Ok(entries)
    }

    /// What git was told to overlook is work like any other.
    fn look_at_all(&self, index: &TemporaryIndex, checkout: &Checkout) -> Result<(), GitError> {
        for (option, files) in
            [("--no-assume-unchanged", &self.assumed_unchanged), ("--no-skip-worktree", &self.skipped)]
        {
            if !files.is_empty() {
                index.call(checkout, ["update-index", option, "-z", "--stdin"]).input(files).run()?;
            }
        }
        Ok(())
    }
}

/// A copy of the live index, removed in the end. Its knowledge of unchanged files makes a snapshot cheap.
struct TemporaryIndex {
    path: PathBuf,
}

impl TemporaryIndex {
    fn copy(checkout: &Checkout) -> Result<TemporaryIndex, GitError> {
        static NUMBER: AtomicU32 = AtomicU32::new(0);
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let path = checkout.git_dir.join(format!("ostler-index.{}.{number}", process::id()));
        let index = TemporaryIndex { path };
        match copy_with_time(&checkout.git_dir.join("index"), &index.path) {
            Ok(()) => {}
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                // Tracked files that an ignore rule fits would be left out if one began from nothing.
                if checkout.commit()?.is_some() {
                    index.call(checkout, ["read-tree", "HEAD"]).run()?;
                }
            }
            Err(source) => return Err(file(&index.path, source)),
        }
        Ok(index)
    }

    fn call<'a, A: AsRef<OsStr>>(
        &self,
        checkout: &'a Checkout,
        args: impl IntoIterator<Item = A>,
    ) -> Call<'a> {
        Call::within(checkout).args(args).env("GIT_INDEX_FILE", &self.path)
    }
}

/// Copies a file together with the time of its last change. Git takes a file that is as old as the index, or newer,
/// for one that may have changed; a copy that looks younger would hide edits of the same second.
fn copy_with_time(from: &Path, to: &Path) -> io::Result<()> {
    let modified = fs::metadata(from)?.modified()?;
    fs::copy(from, to)?;
    File::options().write(true).open(to)?.set_times(FileTimes::new().set_modified(modified))
}

impl Drop for TemporaryIndex {
    fn drop(&mut self) {
        // What stays behind takes room and does no harm; it goes with the worktree.
        drop(fs::remove_file(&self.path));
    }
}

fn to_path(bytes: &[u8]) -> PathBuf {
    Path::new(OsStr::from_bytes(bytes)).to_owned()
}

fn lossy(line: &[u8]) -> String {
    String::from_utf8_lossy(line.trim_ascii_end()).into_owned()
}
