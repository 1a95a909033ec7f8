//! What going from one tree to another does to the files of a checkout, looked at before the first one is touched.
//!
//! Whatever would be taken away or overwritten stands in the first tree, can be added to it, or is a reason to refuse.
//! It only looks, and it goes by what is on the disk: git passes over what it takes for rubbish or for somebody else's.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs::{self, Metadata},
    io,
    path::{Path, PathBuf},
};

use crate::{
    GitError, RestoreError, WhyLeftOut,
    checkout::{Standing, file, standing},
    commit::Tree,
    git::Call,
    guard::GitDir,
    snapshot::{Snapshot, to_path},
};

/// What a tree has at a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Nothing,
    /// Or a symbolic link.
    File,
    /// Only its commit.
    Submodule,
}

impl Kind {
    fn of(mode: &[u8]) -> Kind {
        match mode {
            b"000000" => Kind::Nothing,
            b"160000" => Kind::Submodule,
            _ => Kind::File,
        }
    }
}

/// Everything that differs between two trees, by path.
pub(crate) struct Exchange {
    changes: BTreeMap<PathBuf, [Kind; 2]>,
}

impl Exchange {
    pub(crate) fn between(git_dir: &GitDir, from: &Tree, to: &Tree) -> Result<Exchange, GitError> {
        let args = ["diff-tree", "-r", "-z", "--no-renames", "--raw", &from.0, &to.0, "--"];
        let list = Call::on(git_dir).args(args).run()?;
        // :MODE MODE OBJECT OBJECT STATUS, then the path.
        let fields: Vec<&[u8]> = list.split(|byte| *byte == 0).collect();
        let changes = fields.chunks_exact(2).map(|pair| {
            let mode = |at: usize| Kind::of(pair[0].get(at..at + 6).unwrap_or_default());
            (to_path(pair[1]), [mode(1), mode(8)])
        });
        Ok(Exchange { changes: changes.collect() })
    }

    pub(crate) fn count(&self) -> usize {
        self.changes.len()
    }

    /// Submodules that are at another commit, or none.
    pub(crate) fn submodules(&self) -> Vec<PathBuf> {
        self.paths(|kinds| kinds.contains(&Kind::Submodule))
    }

    /// Files that go.
    pub(crate) fn removed(&self) -> Vec<PathBuf> {
        self.paths(|kinds| kinds == [Kind::File, Kind::Nothing])
    }

    /// Files that go or become others.
    pub(crate) fn touched(&self) -> BTreeSet<PathBuf> {
        self.paths(|[from, _]| from == Kind::File).into_iter().collect()
    }

    /// Files that come where nothing stands.
    pub(crate) fn comes(&self, root: &Path) -> Vec<PathBuf> {
        let mut added = self.paths(|kinds| kinds == [Kind::Nothing, Kind::File]);
        added.retain(|path| matches!(standing(root, path), Standing::Nothing));
        added
    }

    /// Whether a file that goes could stay: nothing comes to its place.
    pub(crate) fn leaves_room(&self, path: &Path) -> bool {
        let comes = |path: &Path| self.changes.get(path).is_some_and(|[_, to]| *to != Kind::Nothing);
        let mut below =
            self.changes.range(path.to_owned()..).take_while(|(other, _)| other.starts_with(path));
        !path.ancestors().any(comes) && !below.any(|(other, _)| comes(other))
    }

    /// The files that would be lost because the first tree does not have them: git takes what is ignored for something
    /// that may go. Refuses where something would be lost that is no file of this repository.
    pub(crate) fn uncovered(
        &self,
        root: &Path,
        snapshot: &Snapshot,
    ) -> Result<BTreeSet<PathBuf>, RestoreError> {
        for (path, why) in &snapshot.untold {
            if self.changes.get(path).is_some_and(|[from, _]| *from == Kind::File) {
                return Err(match why {
                    WhyLeftOut::Unreadable => unreadable(path),
                    _ => special(path),
                });
            }
        }
        let mut found = BTreeSet::new();
        for (path, [from, to]) in &self.changes {
            if *to == Kind::Nothing || *from == Kind::File {
                continue;
            }
            match standing(root, path) {
                Standing::Nothing => {}
                Standing::File(path, metadata) => self.cover(path, &metadata, &mut found)?,
                // A folder is all that git makes for a submodule.
                Standing::Folder if *to == Kind::Submodule => {}
                Standing::Folder => self.cover_folder(root, path, &mut found)?,
            }
        }
        Ok(found)
    }

    fn cover(
        &self,
        path: PathBuf,
        metadata: &Metadata,
        found: &mut BTreeSet<PathBuf>,
    ) -> Result<(), RestoreError> {
        if self.changes.get(&path).is_some_and(|[from, _]| *from == Kind::File) {
            return Ok(());
        }
        if !(metadata.is_file() || metadata.is_symlink()) {
            return Err(special(&path));
        }
        found.insert(path);
        Ok(())
    }

    /// Everything in a folder that a file is to replace.
    fn cover_folder(
        &self,
        root: &Path,
        folder: &Path,
        found: &mut BTreeSet<PathBuf>,
    ) -> Result<(), RestoreError> {
        let mut folders = vec![folder.to_owned()];
        while let Some(folder) = folders.pop() {
            let entries = match fs::read_dir(root.join(&folder)) {
                Ok(entries) => entries,
                Err(error) if error.kind() == io::ErrorKind::PermissionDenied => {
                    return Err(unreadable(&folder));
                }
                Err(error) => return Err(file(&root.join(&folder), error).into()),
            };
            for entry in entries {
                let entry = entry.map_err(|source| file(&root.join(&folder), source))?;
                let path = folder.join(entry.file_name());
                if entry.file_name() == ".git" {
                    let what = folder.display();
                    let said = format!(
                        "'{what}' is a repository of its own, and would be removed: move it away first"
                    );
                    return Err(in_the_way(said));
                }
                let metadata = entry.metadata().map_err(|source| file(&root.join(&path), source))?;
                if metadata.is_dir() {
                    folders.push(path);
                } else {
                    self.cover(path, &metadata, found)?;
                }
            }
        }
        Ok(())
    }

    fn paths(&self, wanted: impl Fn([Kind; 2]) -> bool) -> Vec<PathBuf> {
        let wanted = self.changes.iter().filter(|(_, kinds)| wanted(**kinds));
        wanted.map(|(path, _)| path.clone()).collect()
    }
}

/// Whether something that is no folder stands at a path, without following links on the way.
pub(crate) fn stands(root: &Path, path: &Path) -> bool {
    matches!(standing(root, path), Standing::File(found, _) if found == path)
}

pub(crate) fn unreadable(path: &Path) -> RestoreError {
    let path = path.display();
    in_the_way(format!(
        "'{path}' cannot be read, and would be overwritten: make it readable, or move it away"
    ))
}

fn special(path: &Path) -> RestoreError {
    in_the_way(format!("'{}' is a pipe, a socket or a device: remove it, or move it away", path.display()))
}

fn in_the_way(message: String) -> RestoreError {
    RestoreError::InTheWay { message }
}
