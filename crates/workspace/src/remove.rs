//! Takes a worktree away: discarded, or after its merge.
//!
//! The order is what makes it safe: pin, move the directory aside, look again and pin again, forget the
//! registration, delete the branch, delete the files. A crash between any two of these is finished by the next call.
//! Files are deleted only after the registration, which is gone only after the pin has been read back.

use std::{
    ffi::OsString,
    fs::{self, File},
    path::{Path, PathBuf},
    thread,
    time::{Duration, Instant},
};

use crate::{
    GitError, Pin, RemoveError, Repository, Worktree,
    checkout::{
        Checkout, LINK_BYTES_MAX, delete_ref, file, is_ancestor, is_empty, read_file, resolve, tree_of,
    },
    git::Call,
    guard::{GitDir, check_submodules, submodules_in},
    index,
    make::{is_being_made, read_mark, remove_directory},
    pin::Pinning,
    snapshot::{Snapshot, count_ignored},
};

/// After a commit git looks in the background whether it should pack, for a moment that nobody asked for.
const PROCESSES_WAIT_MAX: Duration = Duration::from_secs(2);
const PROCESSES_POLL: Duration = Duration::from_millis(20);

/// What became of a worktree.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Removed {
    /// Where its work is; none if all of it has another place.
    pub pin: Option<Pin>,
    /// How many ignored files are gone, which are in no pin; none if the files were gone before this call.
    pub ignored: Option<u64>,
}

impl Repository {
    /// Removes a worktree and its branch. Everything that is not ignored is pinned first, committed or not.
    pub fn discard(&self, worktree: &Worktree) -> Result<Removed, RemoveError> {
        let lock = self.hold()?;
        let existed = self.exists(worktree)?;
        let removed = self.remove(worktree, Pinning::Always, &lock)?;
        if removed.pin.is_none() && !existed {
            return Err(RemoveError::Unknown { branch: worktree.branch.clone() });
        }
        Ok(removed)
    }

    /// Removes a worktree and its branch after a merge into the branch it came from, or into `into`. What the merge did not take, such as files that were written
    /// afterwards, is pinned first.
    pub fn remove_merged(&self, worktree: &Worktree, into: Option<&str>) -> Result<Removed, RemoveError> {
        let lock = self.hold()?;
        if let Some(tip) = resolve(&self.common_dir, &worktree.reference())? {
            let target = into.or(worktree.target.as_deref()).map(|target| format!("refs/heads/{target}"));
            let target = target.map(|target| resolve(&self.common_dir, &target)).transpose()?.flatten();
            let merged = match target {
                Some(target) => is_ancestor(&self.common_dir, &tip, &target)?,
                None => false,
            };
            if !merged {
                return Err(RemoveError::NotMerged { branch: worktree.branch.clone() });
            }
        }
        self.remove(worktree, Pinning::IfNeeded, &lock)
    }

    fn exists(&self, worktree: &Worktree) -> Result<bool, GitError> {
        Ok(worktree.path.exists()
            || self.registration(&worktree.path)?.is_some()
            || resolve(&self.common_dir, &worktree.reference())?.is_some())
    }

    fn remove(&self, worktree: &Worktree, pinning: Pinning, lock: &File) -> Result<Removed, RemoveError> {
        let aside = aside(&worktree.path);
        let registration = self.registration(&worktree.path)?;
        if let Some(path) = self.checked_out_at(&worktree.reference(), registration.as_deref())? {
            return Err(RemoveError::BranchElsewhere { branch: worktree.branch.clone(), path });
        }
        let ignored = match registration {
            // Nobody was told of these files, so nobody has worked in them.
            Some(git_dir) if read_mark(&git_dir)?.is_none() && is_being_made(&git_dir) => {
                remove_directory(&worktree.path)?;
                self.forget(&worktree.path, lock)?;
                None
            }
            Some(git_dir) => {
                let ignored = self.pin_and_move(worktree, &git_dir, &aside, pinning)?;
                self.forget(&worktree.path, lock)?;
                ignored
            }
            None if worktree.path.exists() => {
                if !is_empty(&worktree.path)? {
                    return Err(RemoveError::Unregistered { path: worktree.path.clone() });
                }
                fs::remove_dir(&worktree.path).map_err(|source| file(&worktree.path, source))?;
                None
            }
            None => None,
        };
        if let Some(tip) = resolve(&self.common_dir, &worktree.reference())? {
            // After a crash, somebody may have gone on with the branch alone.
            if pinning == Pinning::Always {
                let pinned = self.pin(worktree)?;
                let covered = match pinned {
                    Some(pin) => is_ancestor(&self.common_dir, &tip, &pin.commit)?,
                    None => false,
                };
                if !covered {
                    let tree = tree_of(&self.common_dir, &tip)?;
                    self.pin_commits(worktree, &tree, vec![tip.clone()], pinning)?;
                }
            }
            delete_ref(&self.common_dir, &worktree.reference(), &tip)?;
        }
        remove_directory(&aside)?;
        if let Some(record) = resolve(&self.common_dir, &worktree.record())? {
            delete_ref(&self.common_dir, &worktree.record(), &record)?;
        }
        Ok(Removed { pin: self.pin(worktree)?, ignored })
    }

    /// Pins what is there and moves the files aside, so that nobody who knows the path can add to them any more.
    fn pin_and_move(
        &self,
        worktree: &Worktree,
        git_dir: &GitDir,
        aside: &Path,
        pinning: Pinning,
    ) -> Result<Option<u64>, RemoveError> {
        let checkout = Checkout { git_dir: git_dir.clone(), root: worktree.path.clone() };
        check_free(worktree, &checkout)?;
        match (checkout.root.exists(), aside.exists()) {
            (true, true) => return Err(RemoveError::InTheWay { path: aside.to_owned() }),
            // Somebody deleted the files. Commits and the index are left.
            (false, false) => {
                let staged = Snapshot::of_index(git_dir)?;
                self.pin_worktree(worktree, git_dir, staged.as_ref(), pinning)?;
                return Ok(None);
            }
            (true, false) => {
                let snapshot = Snapshot::take(&checkout)?;
                check_nested(&checkout, &snapshot)?;
                self.pin_worktree(worktree, git_dir, Some(&snapshot), pinning)?;
                rename(&checkout.root, aside)?;
            }
            (false, true) => {}
        }
        let moved = Checkout { root: aside.to_owned(), ..checkout };
        let pinned = self.pin_moved(worktree, &moved, pinning);
        if pinned.is_err() {
            rename(aside, &worktree.path)?;
        }
        pinned.map(Some)
    }

    /// The last look at the files, at a place where nobody expects them.
    fn pin_moved(&self, worktree: &Worktree, moved: &Checkout, pinning: Pinning) -> Result<u64, RemoveError> {
        let snapshot = Snapshot::take(moved)?;
        self.pin_worktree(worktree, &moved.git_dir, Some(&snapshot), pinning)?;
        Ok(count_ignored(moved)?)
    }
}

/// Nobody is at work in a worktree, and nobody wants it kept.
fn check_free(worktree: &Worktree, checkout: &Checkout) -> Result<(), RemoveError> {
    index::give_back(checkout);
    if let Some(path) = checkout.index_lock() {
        return Err(RemoveError::IndexLocked { path });
    }
    if let Ok(reason) = read_file(&checkout.git_dir.join("locked"), LINK_BYTES_MAX) {
        let reason = String::from_utf8_lossy(reason.trim_ascii()).into_owned();
        return Err(RemoveError::WorktreeLocked { path: worktree.path.clone(), reason });
    }
    let since = Instant::now();
    let mut pids = processes_in(&worktree.path);
    while !pids.is_empty() && since.elapsed() < PROCESSES_WAIT_MAX {
        thread::sleep(PROCESSES_POLL);
        pids = processes_in(&worktree.path);
    }
    if !pids.is_empty() {
        return Err(RemoveError::Processes { path: worktree.path.clone(), pids });
    }
    Ok(())
}

/// A repository inside the worktree may go only if it is clean and all its commits are on some remote.
fn check_nested(checkout: &Checkout, snapshot: &Snapshot) -> Result<(), RemoveError> {
    let mut paths = Vec::new();
    for nested in snapshot.nested.iter().chain(&snapshot.submodules) {
        let inner = checkout.git_dir.inner(&checkout.root.join(nested))?;
        inner.git_dir.check()?;
        check_submodules(&inner, &submodules_in(&inner)?)?;
        let has_none = |args: &[&str]| -> Result<bool, GitError> {
            let output = Call::within(&inner).args(args).output()?;
            Ok(output.status.success() && output.stdout.is_empty())
        };
        let clean = has_none(&["status", "--porcelain", "--ignore-submodules=none"])?
            && has_none(&["rev-list", "--max-count=1", "--all", "--reflog", "--not", "--remotes"])?;
        if !clean {
            paths.push(nested.clone());
        }
    }
    if paths.is_empty() { Ok(()) } else { Err(RemoveError::Nested { paths }) }
}

/// The processes whose current directory lies in a directory. Where there is no `/proc`, none are found.
fn processes_in(directory: &Path) -> Vec<u32> {
    let processes = fs::read_dir("/proc").into_iter().flatten().flatten();
    let ids = processes.filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    let is_inside = |id: &u32| {
        fs::read_link(format!("/proc/{id}/cwd")).is_ok_and(|current| current.starts_with(directory))
    };
    ids.filter(is_inside).collect()
}

/// The name under which a directory waits to be deleted.
fn aside(path: &Path) -> PathBuf {
    let mut name = OsString::from(".");
    name.push(path.file_name().unwrap_or_default());
    name.push(".removing");
    path.with_file_name(name)
}

fn rename(from: &Path, to: &Path) -> Result<(), GitError> {
    fs::rename(from, to).map_err(|source| file(from, source))
}
