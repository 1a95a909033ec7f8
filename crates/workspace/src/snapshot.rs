//! What stands in a checkout right now, as a tree: commits, what is staged, what is not, and untracked files that are
//! not ignored.
//!
//! It works on a copy of the index. The agent's index, branch and files stay as they are.

use std::{
    collections::{BTreeMap, BTreeSet},
    ffi::{OsStr, OsString},
    fs::{self, File, FileTimes},
    io,
    os::unix::ffi::OsStrExt,
    path::{Path, PathBuf},
};

use crate::{
    GitError,
    checkout::{Checkout, file, open_file},
    commit::Tree,
    git::{Call, joined},
    guard::{GitDir, check_submodules},
    scratch,
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
    /// It is a pipe, a socket or a device. What git knew of its path before is in the snapshot.
    Special,
    /// It is a repository of its own.
    Nested,
    /// It is a submodule with changes of its own; only its commit is in the snapshot.
    Submodule,
}

/// What a checkout holds.
pub(crate) struct Snapshot {
    /// Everything that is not ignored.
    pub(crate) tree: Tree,
    /// What is staged; none while something is in conflict.
    pub(crate) staged: Option<Tree>,
    /// Repositories in it that are not part of it. Their files are not in the tree.
    pub(crate) nested: Vec<PathBuf>,
    /// Submodules that are checked out. Only their commits are in the tree.
    pub(crate) submodules: Vec<PathBuf>,
    /// What was too large, or not to be read.
    pub(crate) left_out: Vec<LeftOut>,
    /// Files that git knows and that could not be looked at. The tree has what it knew before.
    pub(crate) untold: BTreeMap<PathBuf, WhyLeftOut>,
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
            untold: BTreeMap::new(),
            index: None,
        }))
    }

    /// Everything that is not ignored.
    pub(crate) fn take(checkout: &Checkout) -> Result<Snapshot, GitError> {
        let snapshot = Snapshot::take_within(checkout, Limits::NONE)?;
        // Who wants everything is about to delete what is not in it. A pipe holds nothing.
        let unreadable = snapshot.left_out.iter().find(|left_out| left_out.why != WhyLeftOut::Special);
        let unreadable = unreadable.map(|left_out| checkout.root.join(&left_out.path));
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
        let mut untold: BTreeMap<PathBuf, WhyLeftOut> =
            left_out.iter().map(|left_out| (left_out.path.clone(), left_out.why)).collect();
        let untracked = Untracked::list(&index, checkout)?;
        untold.extend(
            index.within(checkout, &untracked.closed)?.into_iter().map(|path| (path, WhyLeftOut::Unreadable)),
        );
        left_out.extend(untracked.closed.into_iter().map(unreadable));
        let chosen = choose(checkout, untracked.files, limits, &mut left_out);
        index.add(checkout, &chosen, &mut left_out)?;
        let tree = index.write_tree(checkout)?;
        let submodules = entries.submodules;
        // Git takes a repository for a submodule where it knew a file.
        let mut nested = Entries::read(&index, checkout)?.submodules;
        nested.retain(|path| submodules.binary_search(path).is_err());
        nested.extend(untracked.nested);
        Ok(Snapshot { tree, staged, nested, submodules, left_out, untold, index: Some(index) })
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

/// Why git cannot take what stands at a path, if that is why.
fn not_taken(checkout: &Checkout, path: &Path) -> Option<WhyLeftOut> {
    let path = checkout.root.join(path);
    let error = match path.symlink_metadata() {
        Ok(metadata) if metadata.is_file() => open_file(&path).err(),
        Ok(metadata) if metadata.is_symlink() || metadata.is_dir() => None,
        Ok(_) => return Some(WhyLeftOut::Special),
        Err(error) => Some(error),
    };
    let is_closed = error.is_some_and(|error| error.kind() == io::ErrorKind::PermissionDenied);
    is_closed.then_some(WhyLeftOut::Unreadable)
}

/// What of these git cannot take.
fn those_not_taken<'a>(checkout: &Checkout, paths: impl IntoIterator<Item = &'a PathBuf>) -> Vec<LeftOut> {
    let left_out = |path: &PathBuf| Some(LeftOut { path: path.clone(), why: not_taken(checkout, path)? });
    paths.into_iter().filter_map(left_out).collect()
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
        entries.submodules.sort();
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
    /// One that is not there yet.
    pub(crate) fn empty(checkout: &Checkout) -> TemporaryIndex {
        TemporaryIndex { path: checkout.git_dir.join(scratch::name(scratch::INDEX)) }
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    pub(crate) fn copy(checkout: &Checkout) -> Result<TemporaryIndex, GitError> {
        scratch::sweep(&checkout.git_dir);
        let index = TemporaryIndex::empty(checkout);
        let live = checkout.git_dir.join("index");
        match copy_with_time(&live, &index.path) {
            Ok(()) => {}
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                // Tracked files that an ignore rule fits would be left out if one began from nothing.
                if checkout.commit()?.is_some() {
                    index.call(checkout, ["read-tree", "HEAD"]).run()?;
                }
            }
            Err(source) => return Err(file(&live, source)),
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
        // One file that cannot be taken makes the whole command fail.
        let changed = self.call(checkout, ["diff-files", "-z", "--name-only", "--ignore-submodules=all"]);
        let closed = those_not_taken(checkout, &paths(&changed.run()?));
        if closed.is_empty() {
            return Err(call.failed(&output));
        }
        let but = closed.iter().map(|it| joined(":(top,exclude,literal)", &it.path));
        let args = ["add", "--update", "--", ":/"].map(OsString::from);
        self.call(checkout, args.into_iter().chain(but)).run()?;
        left_out.extend(closed);
        Ok(())
    }

    /// The files in some folders.
    fn within(&self, checkout: &Checkout, folders: &[PathBuf]) -> Result<Vec<PathBuf>, GitError> {
        if folders.is_empty() {
            return Ok(Vec::new());
        }
        let wanted = folders.iter().map(|folder| joined(":(top,literal)", folder));
        let args = ["ls-files", "-z", "--"].map(OsString::from);
        Ok(paths(&self.call(checkout, args.into_iter().chain(wanted)).run()?))
    }

    /// Forgets files, which stay where they are.
    pub(crate) fn forget(&self, checkout: &Checkout, files: &[PathBuf]) -> Result<(), GitError> {
        let args = ["update-index", "--force-remove", "-z", "--stdin"];
        self.call(checkout, args).input(&zero_ended(files)).run().map(drop)
    }

    /// Adds files that git does not know, whatever the rules say of them.
    pub(crate) fn add(
        &self,
        checkout: &Checkout,
        files: &[PathBuf],
        left_out: &mut Vec<LeftOut>,
    ) -> Result<(), GitError> {
        if files.is_empty() {
            return Ok(());
        }
        // By a list, not by patterns: git compares every pattern with every file. What is gone meanwhile is no error.
        let args = ["update-index", "--add", "--replace", "--remove", "-z", "--stdin"];
        let list = zero_ended(files);
        let call = self.call(checkout, args).input(&list);
        let output = call.output()?;
        if output.status.success() {
            return Ok(());
        }
        let closed = those_not_taken(checkout, files);
        if closed.is_empty() {
            return Err(call.failed(&output));
        }
        let names: BTreeSet<&PathBuf> = closed.iter().map(|it| &it.path).collect();
        let open: Vec<&PathBuf> = files.iter().filter(|path| !names.contains(path)).collect();
        self.call(checkout, args).input(&zero_ended(open)).run()?;
        left_out.extend(closed);
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
    let mut from = open_file(from)?;
    let modified = from.metadata()?.modified()?;
    // Somebody may have put something there.
    drop(fs::remove_file(to));
    let mut copy = File::options().write(true).create_new(true).open(to)?;
    io::copy(&mut from, &mut copy)?;
    copy.set_times(FileTimes::new().set_modified(modified))
}

impl Drop for TemporaryIndex {
    fn drop(&mut self) {
        // What a server that is killed leaves behind, the next one sweeps away. A git that was killed leaves a lock.
        drop(fs::remove_file(&self.path));
        drop(fs::remove_file(self.path.with_added_extension("lock")));
    }
}

pub(crate) fn zero_ended<'a>(paths: impl IntoIterator<Item = &'a PathBuf>) -> Vec<u8> {
    paths.into_iter().flat_map(|path| path.as_os_str().as_bytes().iter().copied().chain([0])).collect()
}

pub(crate) fn to_path(bytes: &[u8]) -> PathBuf {
    Path::new(OsStr::from_bytes(bytes)).to_owned()
}

fn lossy(line: &[u8]) -> String {
    String::from_utf8_lossy(line.trim_ascii_end()).into_owned()
}
