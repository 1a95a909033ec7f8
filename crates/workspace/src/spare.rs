//! Files that a checkpoint does not have, and that may have stood there all the same: its own rules ignore them, or it
//! says that they were too large. To go back to it is no reason to take them away.

use std::{
    collections::BTreeSet,
    ffi::OsStr,
    fs,
    os::unix::ffi::OsStrExt,
    path::{Path, PathBuf},
};

use crate::{
    Commit, GitError, Repository,
    checkout::{Checkout, file, resolve},
    commit::Tree,
    exchange::Exchange,
    git::Call,
    scratch,
    snapshot::{TemporaryIndex, paths, to_path, zero_ended},
};

/// What is left where it is, although the wanted tree does not have it.
#[derive(Default)]
pub(crate) struct Spared {
    pub(crate) ignored: BTreeSet<PathBuf>,
    /// What was in them at the checkpoint, nobody knows.
    pub(crate) left_out: BTreeSet<PathBuf>,
}

impl Repository {
    /// What stays of the files that would go on the way to a checkpoint.
    pub(crate) fn spare(
        &self,
        checkout: &Checkout,
        exchange: &Exchange,
        target: &Commit,
        wanted: &Tree,
    ) -> Result<Spared, GitError> {
        let mut removed = exchange.removed();
        removed.retain(|path| exchange.leaves_room(path));
        if removed.is_empty() {
            return Ok(Spared::default());
        }
        let message = self.message(target)?;
        let is_named = |path: &PathBuf| {
            let name = format!("  {:?} (", path.to_string_lossy());
            message.lines().any(|line| line.starts_with(&name))
        };
        let left_out = removed.iter().filter(|path| is_named(path)).cloned().collect();
        Ok(Spared { ignored: self.ignored_at(checkout, target, wanted, &removed)?, left_out })
    }

    /// Those that the rules of a checkpoint ignore. Git takes the rules from files; where it was told that a file is
    /// left out of the checkout, from the index. So it is given an index with the rules, and no files at all. What was
    /// committed by then no rule concerns: if the checkpoint does not have it, it had been deleted.
    fn ignored_at(
        &self,
        checkout: &Checkout,
        target: &Commit,
        tree: &Tree,
        files: &[PathBuf],
    ) -> Result<BTreeSet<PathBuf>, GitError> {
        let list = Call::on(&self.common_dir).args(["ls-tree", "-r", "-z", "--full-tree", &tree.0]).run()?;
        // MODE TYPE OBJECT, a tab, the path.
        let rules = list.split(|byte| *byte == 0).filter(|entry| {
            let path = entry.splitn(2, |byte| *byte == b'\t').nth(1).unwrap_or_default();
            Path::new(OsStr::from_bytes(path)).file_name() == Some(OsStr::new(".gitignore"))
        });
        let rules: Vec<&[u8]> = rules.collect();
        let names: Vec<PathBuf> = rules
            .iter()
            .filter_map(|entry| entry.splitn(2, |byte| *byte == b'\t').nth(1))
            .map(to_path)
            .collect();
        let folder = EmptyFolder::make(checkout)?;
        let nowhere = Checkout { git_dir: checkout.git_dir.clone(), root: folder.path.clone() };
        let index = TemporaryIndex::empty(checkout);
        if let Some(committed) = resolve(&self.common_dir, &format!("{target}^1"))? {
            index.call(&nowhere, ["read-tree", committed.as_str()]).run()?;
        }
        if !rules.is_empty() {
            let mut info = rules.join(&0);
            info.push(0);
            index.call(&nowhere, ["update-index", "-z", "--index-info"]).input(&info).run()?;
            let args = ["update-index", "--skip-worktree", "-z", "--stdin"];
            index.call(&nowhere, args).input(&zero_ended(&names)).run()?;
        }
        let list = zero_ended(files);
        let ignored = index.call(&nowhere, ["check-ignore", "-z", "--stdin"]).input(&list).ask()?;
        Ok(paths(&ignored.unwrap_or_default()).into_iter().collect())
    }
}

/// A folder without anything in it, removed in the end.
struct EmptyFolder {
    path: PathBuf,
}

impl EmptyFolder {
    fn make(checkout: &Checkout) -> Result<EmptyFolder, GitError> {
        let path = checkout.git_dir.join(scratch::name(scratch::EMPTY));
        match fs::create_dir(&path) {
            // Of somebody else. Were anything in it, it would only be taken for a rule.
            Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => {}
            made => made.map_err(|source| file(&path, source))?,
        }
        Ok(EmptyFolder { path })
    }
}

impl Drop for EmptyFolder {
    fn drop(&mut self) {
        drop(fs::remove_dir(&self.path));
    }
}
