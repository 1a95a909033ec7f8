//! `cargo xtask page`: builds the page of `web/` into `web/dist`, which the server embeds.
//!
//! Nothing is done when nothing has changed since the last time.

#![expect(clippy::disallowed_methods, reason = "stamps of what was built, not state of the product")]

use std::{
    fs,
    hash::{DefaultHasher, Hash, Hasher},
    path::{Path, PathBuf},
    process::Command,
};

use crate::{
    error::Error,
    process::{cargo, executable, line, output, program, root, run as run_command},
};

/// What the page is not made from.
const LEFT_OUT: [&str; 3] = ["node_modules", "dist", "tests"];

/// The oldest Node that Vite runs on.
const NODE_MIN: (u32, u32) = (20, 19);

pub(crate) fn run() -> Result<(), Error> {
    if let Some(reason) = missing() {
        return Err(Error::Missing { tool: "node", install: format!("Node 20.19 or newer ({reason})") });
    }
    build()
}

/// Why the page cannot be built here, if it cannot.
pub(crate) fn missing() -> Option<&'static str> {
    let Ok(version) = output(program("node").arg("--version")) else { return Some("there is no node") };
    let mut parts = version.trim().trim_start_matches('v').split('.').map_while(|part| part.parse().ok());
    let found = (parts.next().unwrap_or(0), parts.next().unwrap_or(0));
    if found < NODE_MIN {
        return Some("node is older than 20.19");
    }
    output(program("npm").arg("--version")).is_err().then_some("there is no npm")
}

/// Builds it, if it is not what the sources say.
pub(crate) fn build() -> Result<(), Error> {
    install()?;
    let web = root().join("web");
    let stamp = root().join("target/page.stamp");
    let now = digest(&web)?;
    if web.join("dist/index.html").exists() && fs::read_to_string(&stamp).is_ok_and(|known| known == now) {
        println!("the page is fresh");
        return Ok(());
    }
    shown(npm().args(["run", "--silent", "check"]))?;
    shown(npm().args(["run", "--silent", "build"]))?;
    let written = fs::create_dir_all(root().join("target")).and_then(|()| fs::write(&stamp, &now));
    written.map_err(|source| Error::Write { path: stamp, source })
}

/// Brings exactly the packages that the lock names.
fn install() -> Result<(), Error> {
    let web = root().join("web");
    let wanted = read(&web.join("package-lock.json"))?;
    let stamp = web.join("node_modules/.ostler-lock");
    if fs::read(&stamp).is_ok_and(|known| known == wanted) {
        return Ok(());
    }
    shown(npm().args(["ci", "--no-audit", "--no-fund"]))?;
    fs::write(&stamp, wanted).map_err(|source| Error::Write { path: stamp, source })
}

/// Runs the tests of the page: the real binary, scripted agents, a browser.
pub(crate) fn test() -> Result<(), Error> {
    let folder = root().join("web/tests");
    let failed = |source| Error::Read { path: folder.clone(), source };
    let mut tests = Vec::new();
    for entry in fs::read_dir(&folder).map_err(failed)? {
        let path = entry.map_err(failed)?.path();
        tests.extend(path.to_string_lossy().ends_with(".test.mjs").then_some(path));
    }
    tests.sort();
    let mut node = node(&binary()?);
    // One after another: each file has a browser and a server of its own.
    shown(node.args(["--test", "--test-concurrency=1", "--test-reporter=spec"]).args(tests))
}

/// `cargo xtask pictures`: what `docs/pictures` shows, taken anew.
pub(crate) fn pictures() -> Result<(), Error> {
    run()?;
    shown(node(&binary()?).arg("tests/pictures.mjs"))
}

/// The binary, with the page in it.
fn binary() -> Result<PathBuf, Error> {
    executable(cargo().args(["build", "--locked", "--package", "ostler"]), "ostler")
}

/// Node, in `web/`, for something that uses the binary.
fn node(ostler: &Path) -> Command {
    let mut command = program("node");
    command.current_dir(root().join("web")).env("OSTLER_BIN", ostler);
    command
}

/// Npm, in `web/`.
fn npm() -> Command {
    let mut command = program("npm");
    command.current_dir(root().join("web"));
    command
}

fn shown(command: &mut Command) -> Result<(), Error> {
    println!("{}", line(command));
    run_command(command)
}

/// Stands for the content of everything that the page is made from.
fn digest(web: &Path) -> Result<String, Error> {
    let mut files = Vec::new();
    let mut open = vec![web.to_owned()];
    while let Some(folder) = open.pop() {
        let failed = |source| Error::Read { path: folder.clone(), source };
        for entry in fs::read_dir(&folder).map_err(failed)? {
            let path: PathBuf = entry.map_err(failed)?.path();
            let is_left_out = path.file_name().is_some_and(|name| LEFT_OUT.iter().any(|it| name == *it));
            if path.is_dir() && !is_left_out {
                open.push(path);
            } else if path.is_file() {
                files.push(path);
            }
        }
    }
    files.sort();
    let mut hasher = DefaultHasher::new();
    for path in files {
        path.strip_prefix(web).unwrap_or(&path).hash(&mut hasher);
        read(&path)?.hash(&mut hasher);
    }
    Ok(format!("{:016x}", hasher.finish()))
}

fn read(path: &Path) -> Result<Vec<u8>, Error> {
    fs::read(path).map_err(|source| Error::Read { path: path.to_owned(), source })
}
