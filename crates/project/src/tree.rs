//! The directories of a project that may hold manifests, bounded: other people's trees are of any size.

use std::{
    collections::BTreeSet,
    fs,
    path::{Path, PathBuf},
};

/// How deep below the root manifests are looked for.
const DEPTH_MAX: usize = 3;

/// How many directories are looked at.
const DIRECTORIES_MAX: usize = 512;

/// How many entries of one directory are looked at.
const ENTRIES_MAX: usize = 4096;

/// Directories whose manifests say nothing about the project: installed, built, copied or made up for tests.
const SKIPPED: &[&str] = &[
    "__fixtures__",
    "__tests__",
    "bin",
    "bower_components",
    "build",
    "coverage",
    "demo",
    "demos",
    "dist",
    "doc",
    "docs",
    "e2e",
    "env",
    "example",
    "examples",
    "fixtures",
    "fuzz",
    "node_modules",
    "obj",
    "out",
    "sample",
    "samples",
    "scaffold",
    "site-packages",
    "spec",
    "target",
    "template",
    "templates",
    "test",
    "testdata",
    "tests",
    "third_party",
    "tmp",
    "vendor",
    "venv",
];

/// One directory of a project.
#[derive(Debug)]
pub(crate) struct TreeDirectory {
    /// Relative to the root; empty for the root itself.
    pub(crate) path: PathBuf,
    /// The regular files in it.
    pub(crate) files: BTreeSet<String>,
    /// The directories in it that are not skipped.
    pub(crate) directories: Vec<String>,
}

/// The directories of a project, the root first, and whether there were more than are looked at.
pub(crate) fn walk(root: &Path) -> std::io::Result<(Vec<TreeDirectory>, bool)> {
    let (first, mut is_cut) = list(root, PathBuf::new())?;
    let mut found = vec![first];
    let mut next = 0;
    while next < found.len() {
        let parent = &found[next];
        next += 1;
        if parent.path.components().count() >= DEPTH_MAX {
            continue;
        }
        let below: Vec<PathBuf> = parent.directories.iter().map(|name| parent.path.join(name)).collect();
        for path in below {
            if found.len() >= DIRECTORIES_MAX {
                return Ok((found, true));
            }
            // What cannot be listed, or went away, holds nothing that could be shown.
            if let Ok((directory, more)) = list(&root.join(&path), path) {
                is_cut |= more;
                found.push(directory);
            }
        }
    }
    Ok((found, is_cut))
}

fn list(place: &Path, path: PathBuf) -> std::io::Result<(TreeDirectory, bool)> {
    let mut directory = TreeDirectory { path, files: BTreeSet::new(), directories: Vec::new() };
    for (seen, entry) in fs::read_dir(place)?.enumerate() {
        if seen == ENTRIES_MAX {
            return Ok((directory, true));
        }
        let Ok(entry) = entry else { continue };
        let (Ok(kind), Ok(name)) = (entry.file_type(), entry.file_name().into_string()) else { continue };
        if name.chars().any(char::is_control) {
            continue;
        }
        if kind.is_file() {
            directory.files.insert(name);
        } else if kind.is_dir() && !name.starts_with('.') && !SKIPPED.contains(&name.as_str()) {
            directory.directories.push(name);
        }
    }
    directory.directories.sort();
    Ok((directory, false))
}
