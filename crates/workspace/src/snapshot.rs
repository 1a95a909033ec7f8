//! What stands in a checkout right now, as a tree: commits, what is staged, what is not, and untracked files that are
//! not ignored.
//!
//! It works on a copy of the index. The agent's index, branch and files stay as they are.

use std::{
    collections::BTreeSet,
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

/// How much of what git does not know yet goes into a snapshot. What is over is left out, and said.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// The largest file.
    pub file_bytes_max: u64,
    /// All such files together. The small ones come first.
    pub untracked_bytes_max: u64,
}

impl Limits {
    /// Everything, for work that would be lost otherwise.
    pub const NONE: Limits = Limits { file_bytes_max: u64::MAX, untracked_bytes_max: u64::MAX };
}

/// Something that is not in a snapshot.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LeftOut {
    /// Its path, from the root of the checkout.
    pub path: PathBuf,
    /// Why.
    pub why: WhyLeftOut,
}

/// Why something is not in a snapshot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WhyLeftOut {
    /// It is larger than wanted, or the sum would be.
    Large {
        /// How large it is.
        bytes: u64,
    },
    /// This user may not read it. What git knew of it before is in the snapshot.
    Unreadable,
    /// It is a repository of its own.
    Nested,
    /// It is a submodule with changes of its own; only its commit is in the snapshot.
    Submodule,
}

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
    /// What was too large, or not to be read.
    pub(crate) left_out: Vec<LeftOut>,
    /// The index that the tree was written from; none if the files are gone.
    pub(crate) index: Option<TemporaryIndex>,
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
            left_out: Vec::new(),
            index: None,
        }))
    }

    /// Everything that is not ignored.
    pub(crate) fn take(checkout: &Checkout) -> Result<Snapshot, GitError> {
        let snapshot = Snapshot::take_within(checkout, Limits::NONE)?;
        // Who wants everything is about to delete what is not in it.
        let unreadable = snapshot.left_out.first().map(|left_out| checkout.root.join(&left_out.path));
        unreadable
            .map_or(Ok(snapshot), |path| Err(file(&path, io::Error::from(io::ErrorKind::PermissionDenied))))
    }

    /// Everything that is not ignored and not too large.
    pub(crate) fn take_within(checkout: &Checkout, limits: Limits) -> Result<Snapshot, GitError> {
        let index = TemporaryIndex::copy(checkout)?;
        let staged = index.call(checkout, ["write-tree"]).output()?;
        let staged = staged.status.success().then(|| Tree(lossy(&staged.stdout)));
        let entries = Entries::read(&index, checkout)?;
        // To add a submodule, git looks at its files, in a process that goes by its configuration.
        check_submodules(checkout, &entries.submodules)?;
        entries.look_at_all(&index, checkout)?;
        let mut left_out = Vec::new();
        index.update(checkout, &mut left_out)?;
        let untracked = Untracked::list(&index, checkout)?;
        left_out.extend(untracked.closed.into_iter().map(unreadable));
        let chosen = choose(checkout, untracked.files, limits, &mut left_out);
        index.add(checkout, chosen, &mut left_out)?;
        let tree = index.write_tree(checkout)?;
        let (nested, submodules) = (untracked.nested, entries.submodules);
        Ok(Snapshot { tree, staged, nested, submodules, left_out, index: Some(index) })
    }
}

/// What git does not know yet and does not ignore.
struct Untracked {
    files: Vec<PathBuf>,
    /// Repositories: git does not look into one inside another, and prints the directory.
    nested: Vec<PathBuf>,
    /// Directories that cannot be looked into.
    closed: Vec<PathBuf>,
}

impl Untracked {
    fn list(index: &TemporaryIndex, checkout: &Checkout) -> Result<Untracked, GitError> {
        let call = index.call(checkout, ["ls-files", "--others", "--exclude-standard", "-z"]);
        let output = call.output()?;
        if !output.status.success() {
            return Err(call.failed(&output));
        }
        let (mut files, mut nested) = (Vec::new(), Vec::new());
        for path in output.stdout.split(|byte| *byte == 0).filter(|path| !path.is_empty()) {
            match path.strip_suffix(b"/") {
                Some(directory) => nested.push(to_path(directory)),
                None => files.push(to_path(path)),
            }
        }
        let closed = output.stderr.lines().filter_map(|line| {
            let (path, _) = line.strip_prefix("warning: could not open directory '")?.rsplit_once("': ")?;
            Some(PathBuf::from(path.trim_end_matches('/')))
        });
        Ok(Untracked { files, nested, closed: closed.collect() })
    }
}

/// The files that fit, the small ones first.
fn choose(
    checkout: &Checkout,
    files: Vec<PathBuf>,
    limits: Limits,
    left_out: &mut Vec<LeftOut>,
) -> Vec<PathBuf> {
    let mut sized: Vec<(u64, PathBuf)> = Vec::with_capacity(files.len());
    for path in files {
        // What is gone by now, or is a socket or the like, git cannot take either.
        let Ok(metadata) = checkout.root.join(&path).symlink_metadata() else { continue };
        if metadata.is_file() || metadata.is_symlink() {
            sized.push((metadata.len(), path));
        }
    }
    let all = sized.iter().fold(0_u64, |sum, (bytes, _)| sum.saturating_add(*bytes));
    if all > limits.untracked_bytes_max {
        sized.sort();
    }
    let mut sum = 0_u64;
    let mut chosen = Vec::with_capacity(sized.len());
    for (bytes, path) in sized {
        if bytes > limits.file_bytes_max || sum.saturating_add(bytes) > limits.untracked_bytes_max {
            left_out.push(LeftOut { path, why: WhyLeftOut::Large { bytes } });
        } else {
            sum += bytes;
            chosen.push(path);
        }
    }
    chosen
}

fn unreadable(path: PathBuf) -> LeftOut {
    LeftOut { path, why: WhyLeftOut::Unreadable }
}

/// Whether a file is there and this user may not read it.
fn is_unreadable(checkout: &Checkout, path: &Path) -> bool {
    let path = checkout.root.join(path);
    let error = match path.symlink_metadata() {
        Ok(metadata) if metadata.is_file() => File::open(&path).err(),
        Ok(_) => None,
        Err(error) => Some(error),
    };
    error.is_some_and(|error| error.kind() == io::ErrorKind::PermissionDenied)
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
pub(crate) struct TemporaryIndex {
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

    /// Takes over what has changed in files that git knows.
    fn update(&self, checkout: &Checkout, left_out: &mut Vec<LeftOut>) -> Result<(), GitError> {
        let call = self.call(checkout, ["add", "--update"]);
        let output = call.output()?;
        if output.status.success() {
            return Ok(());
        }
        // One file that cannot be read makes the whole command fail.
        let changed = self.call(checkout, ["diff-files", "-z", "--name-only", "--ignore-submodules=all"]);
        let closed: Vec<PathBuf> =
            paths(&changed.run()?).into_iter().filter(|path| is_unreadable(checkout, path)).collect();
        if closed.is_empty() {
            return Err(call.failed(&output));
        }
        let but = closed.iter().map(|path| joined(":(top,exclude,literal)", path));
        let args = ["add", "--update", "--", ":/"].map(OsString::from);
        self.call(checkout, args.into_iter().chain(but)).run()?;
        left_out.extend(closed.into_iter().map(unreadable));
        Ok(())
    }

    /// Adds files that git does not know, whatever the rules say of them.
    pub(crate) fn add(
        &self,
        checkout: &Checkout,
        files: Vec<PathBuf>,
        left_out: &mut Vec<LeftOut>,
    ) -> Result<(), GitError> {
        if files.is_empty() {
            return Ok(());
        }
        // By a list, not by patterns: git compares every pattern with every file. What is gone meanwhile is no error.
        let args = ["update-index", "--add", "--replace", "--remove", "-z", "--stdin"];
        let list = zero_ended(&files);
        let call = self.call(checkout, args).input(&list);
        let output = call.output()?;
        if output.status.success() {
            return Ok(());
        }
        let (closed, open): (BTreeSet<PathBuf>, BTreeSet<PathBuf>) =
            files.into_iter().partition(|path| is_unreadable(checkout, path));
        if closed.is_empty() {
            return Err(call.failed(&output));
        }
        self.call(checkout, args).input(&zero_ended(&open)).run()?;
        left_out.extend(closed.into_iter().map(unreadable));
        Ok(())
    }

    pub(crate) fn write_tree(&self, checkout: &Checkout) -> Result<Tree, GitError> {
        self.call(checkout, ["write-tree"]).line().map(Tree)
    }

    pub(crate) fn call<'a, A: AsRef<OsStr>>(
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

fn zero_ended<'a>(paths: impl IntoIterator<Item = &'a PathBuf>) -> Vec<u8> {
    paths.into_iter().flat_map(|path| path.as_os_str().as_bytes().iter().copied().chain([0])).collect()
}

fn to_path(bytes: &[u8]) -> PathBuf {
    Path::new(OsStr::from_bytes(bytes)).to_owned()
}

fn lossy(line: &[u8]) -> String {
    String::from_utf8_lossy(line.trim_ascii_end()).into_owned()
}
