//! Starts other programs, always from the root of the repository.
//!
//! The other modules build their commands here and never reach for `Command::new` themselves.
#![expect(clippy::disallowed_methods, reason = "the home of `Command::new` in xtask")]

use std::{
    env,
    os::unix::process::CommandExt,
    path::{Path, PathBuf},
    process::{Command, Stdio},
    sync::LazyLock,
};

use serde_json::Value;

use crate::error::Error;

/// The root of the repository.
///
/// Asked for at run time first: checkouts that share a target directory share this program too.
pub(crate) fn root() -> &'static Path {
    static ROOT: LazyLock<PathBuf> = LazyLock::new(|| {
        let xtask = env::var_os("CARGO_MANIFEST_DIR").unwrap_or_else(|| env!("CARGO_MANIFEST_DIR").into());
        Path::new(&xtask).parent().expect("xtask lies in the repository").to_owned()
    });
    &ROOT
}

/// The cargo that runs us, or the one on the path.
pub(crate) fn cargo() -> Command {
    at_root(Command::new(env::var_os("CARGO").unwrap_or_else(|| "cargo".into())))
}

/// The cargo of another toolchain, found through rustup.
pub(crate) fn cargo_nightly() -> Command {
    let mut command = program("cargo");
    command.arg("+nightly");
    command
}

/// Any other program.
pub(crate) fn program(name: impl AsRef<std::ffi::OsStr>) -> Command {
    at_root(Command::new(name))
}

fn at_root(mut command: Command) -> Command {
    command.current_dir(root());
    command
}

/// Runs a command that shows its own output.
pub(crate) fn run(command: &mut Command) -> Result<(), Error> {
    let status = command.status().map_err(|source| start_error(command, source))?;
    if status.success() { Ok(()) } else { Err(Error::Failed { command: line(command), status }) }
}

/// Becomes the command. Comes back only if it could not be started.
pub(crate) fn replace(command: &mut Command) -> Error {
    let source = command.exec();
    start_error(command, source)
}

/// Runs a command and returns what it wrote to stdout. Its stderr is shown.
pub(crate) fn output(command: &mut Command) -> Result<String, Error> {
    let output = command.stderr(Stdio::inherit()).output().map_err(|source| start_error(command, source))?;
    if !output.status.success() {
        return Err(Error::Failed { command: line(command), status: output.status });
    }
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}

/// Whether a command runs and succeeds; shows nothing.
pub(crate) fn succeeds(command: &mut Command) -> bool {
    let quiet = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    quiet.status().is_ok_and(|status| status.success())
}

/// Builds with cargo and returns the path of the executable that belongs to the named target.
pub(crate) fn executable(build: &mut Command, target: &str) -> Result<PathBuf, Error> {
    build.arg("--message-format=json-render-diagnostics");
    output(build)?
        .lines()
        .filter_map(|line| serde_json::from_str::<Value>(line).ok())
        .filter(|message| message["target"]["name"] == target)
        .find_map(|message| message["executable"].as_str().map(PathBuf::from))
        .ok_or_else(|| Error::Output { command: line(build), lacks: format!("executable named {target}") })
}

/// What cargo knows of the packages of a manifest, without their dependencies.
pub(crate) fn metadata(manifest: &Path) -> Result<Value, Error> {
    let mut command = cargo();
    command
        .args(["metadata", "--format-version=1", "--no-deps", "--offline", "--manifest-path"])
        .arg(manifest);
    let text = output(&mut command)?;
    serde_json::from_str(&text).map_err(|_| Error::Output { command: line(&command), lacks: "JSON".into() })
}

/// A command as a person would type it.
pub(crate) fn line(command: &Command) -> String {
    let name = Path::new(command.get_program()).file_name().unwrap_or(command.get_program());
    let mut line = name.to_string_lossy().into_owned();
    for argument in command.get_args() {
        line.push(' ');
        line.push_str(&argument.to_string_lossy());
    }
    line
}

/// The error for a command that did not start.
pub(crate) fn start_error(command: &Command, source: std::io::Error) -> Error {
    Error::Start { program: command.get_program().to_string_lossy().into_owned(), source }
}
