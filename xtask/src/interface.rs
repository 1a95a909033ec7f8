//! Installs schemathesis, which tests the interface against its own document, below the target directory and nowhere
//! else. Which version stands in `tests/interface`.

use std::{fs, path::PathBuf};

use crate::{
    error::Error,
    process::{line, metadata, program, root, run, succeeds},
};

/// What is to be installed; a copy in the directory says that it is.
const REQUIREMENTS: &str = "requirements.txt";

/// The program, if the version of this checkout is installed.
pub(crate) fn installed() -> Result<Option<PathBuf>, Error> {
    let (directory, path) = (directory()?, wanted());
    let wanted = fs::read(&path).map_err(|source| Error::Read { path, source })?;
    let is_current = fs::read(directory.join(REQUIREMENTS)).is_ok_and(|there| there == wanted);
    Ok(is_current.then(|| directory.join("bin/schemathesis")))
}

/// Installs it from Python's registry, and says so. Gives whether that was possible.
pub(crate) fn install() -> Result<bool, Error> {
    let directory = directory()?;
    let mut make = program("python3");
    make.args(["-m", "venv"]).arg(&directory);
    let mut pip = program(directory.join("bin/python"));
    pip.args(["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "-r"]).arg(wanted());
    println!("schemathesis is missing: installing it with `{}` and `{}`", line(&make), line(&pip));
    if !succeeds(&mut make) || run(&mut pip).is_err() {
        return Ok(false);
    }
    let path = directory.join(REQUIREMENTS);
    fs::copy(wanted(), &path).map_err(|source| Error::Write { path, source })?;
    Ok(true)
}

fn wanted() -> PathBuf {
    root().join("tests/interface").join(REQUIREMENTS)
}

fn directory() -> Result<PathBuf, Error> {
    let metadata = metadata(&root().join("Cargo.toml"))?;
    let target = metadata["target_directory"].as_str().expect("cargo names its target directory");
    Ok(PathBuf::from(target).join("schemathesis"))
}
