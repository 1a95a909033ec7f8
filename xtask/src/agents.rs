//! Installs the real agent CLIs for the tests that run them, below the target directory and nowhere else.
//!
//! Which versions stands in `tests/real-agents`, and which install scripts may run.

use std::{fs, path::PathBuf};

use crate::{
    error::Error,
    process::{line, metadata, program, root, run, succeeds},
};

/// Says what is installed, in `tests/real-agents` and in the directory itself. It names exact versions; there is no
/// lock file, because each CLI brings what it needs in its own package.
const MANIFEST: &str = "package.json";

/// The directory with the CLIs, if those of this checkout are installed.
pub(crate) fn installed() -> Result<Option<PathBuf>, Error> {
    let directory = directory()?;
    let path = manifest();
    let wanted = fs::read(&path).map_err(|source| Error::Read { path, source })?;
    let is_current = fs::read(directory.join(MANIFEST)).is_ok_and(|there| there == wanted);
    // npm writes this file last.
    let is_complete = directory.join("node_modules/.package-lock.json").exists();
    Ok((is_current && is_complete).then_some(directory))
}

/// Installs them from npm.
pub(crate) fn install() -> Result<(), Error> {
    if !succeeds(program("npm").arg("--version")) {
        return Err(Error::Missing { tool: "npm", install: "https://nodejs.org".into() });
    }
    let directory = directory()?;
    let write_error = |source| Error::Write { path: directory.clone(), source };
    fs::create_dir_all(&directory).map_err(write_error)?;
    fs::copy(manifest(), directory.join(MANIFEST)).map_err(write_error)?;
    let mut npm = program("npm");
    npm.args(["install", "--no-package-lock", "--no-audit", "--no-fund"]);
    npm.current_dir(&directory);
    println!("{}", line(&npm));
    run(&mut npm)
}

fn manifest() -> PathBuf {
    root().join("tests/real-agents").join(MANIFEST)
}

fn directory() -> Result<PathBuf, Error> {
    let metadata = metadata(&root().join("Cargo.toml"))?;
    let target = metadata["target_directory"].as_str().expect("cargo names its target directory");
    Ok(PathBuf::from(target).join("real-agents"))
}
