//! `cargo xtask tidy`: what the compiler does not check.
//!
//! It is a test too, so `cargo test` finds what it finds. Each check reads files and returns problems; none
//! changes anything. To see what is checked, read the modules below.

use std::{
    fmt, fs,
    path::{Path, PathBuf},
};

use crate::{error::Error, process::root};

mod crates;
mod documents;
mod opening;
mod rust;
mod sizes;
mod sources;

/// Something to put right, and where.
#[derive(Debug, PartialEq)]
struct Problem {
    /// Relative to the root of the repository.
    path: String,
    line: usize,
    what: String,
}

/// A text file of the repository.
struct File {
    /// Relative to the root, with slashes.
    path: String,
    text: String,
}

pub(crate) fn run() -> Result<(), Error> {
    let problems = check(root())?;
    for problem in &problems {
        println!("{problem}");
    }
    match problems.len() {
        0 => Ok(()),
        count => Err(Error::Untidy { count }),
    }
}

fn check(root: &Path) -> Result<Vec<Problem>, Error> {
    let sources = files(root, &["crates", "xtask", "fuzz"], "rs")?;
    let mut documents = files(root, &["docs"], "md")?;
    for path in entries(root)?.iter().filter(|path| has_extension(path, "md")) {
        documents.push(read(root, path)?);
    }

    let mut problems = Vec::new();
    problems.extend(sources.iter().flat_map(sources::check));
    problems.extend(sources.iter().flat_map(opening::check));
    problems.extend(sizes::check(&sources, &read(root, &root.join(sizes::RATCHET))?));
    problems.extend(crates::check(root, &sources)?);
    problems.extend(documents.iter().flat_map(|file| documents::check_links(root, file)));
    problems.extend(documents::check_decisions(&documents));
    problems.extend(documents::check_codes(&documents, &sources));
    let mut tests = sources;
    tests.extend(files(root, &["web/tests"], "mjs")?);
    problems.extend(documents::check_claims(&documents, &tests));
    problems.sort_by(|a, b| (&a.path, a.line).cmp(&(&b.path, b.line)));
    Ok(problems)
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}: {}", self.path, self.line, self.what)
    }
}

/// All files with that extension below the folders, build output left out.
fn files(root: &Path, folders: &[&str], extension: &str) -> Result<Vec<File>, Error> {
    let mut found = Vec::new();
    let mut open: Vec<PathBuf> = folders.iter().map(|folder| root.join(folder)).collect();
    open.retain(|folder| folder.exists());
    while let Some(folder) = open.pop() {
        for path in entries(&folder)? {
            if path.is_dir() {
                let build_output = path.file_name().is_some_and(|name| name == "target");
                open.extend((!build_output).then_some(path));
            } else if has_extension(&path, extension) {
                found.push(read(root, &path)?);
            }
        }
    }
    Ok(found)
}

fn entries(folder: &Path) -> Result<Vec<PathBuf>, Error> {
    let read_error = |source| Error::Read { path: folder.to_owned(), source };
    let entries = fs::read_dir(folder).map_err(read_error)?;
    entries.map(|entry| entry.map(|entry| entry.path()).map_err(read_error)).collect()
}

fn has_extension(path: &Path, extension: &str) -> bool {
    path.extension().is_some_and(|found| found == extension)
}

fn read(root: &Path, path: &Path) -> Result<File, Error> {
    let text = fs::read_to_string(path).map_err(|source| Error::Read { path: path.to_owned(), source })?;
    Ok(File { path: relative(root, path), text })
}

fn relative(root: &Path, path: &Path) -> String {
    path.strip_prefix(root).unwrap_or(path).to_string_lossy().replace('\\', "/")
}

#[cfg(test)]
mod tests {
    use super::{check, root};

    #[test]
    fn the_repository_is_tidy() {
        let problems = check(root()).expect("tidy can read the repository");
        let lines: Vec<String> = problems.iter().map(ToString::to_string).collect();
        assert!(lines.is_empty(), "\n{}", lines.join("\n"));
    }
}
