//! A person's own program that is told. It runs without a shell, in a group of its own, for a while and no longer, and
//! ends with the server.

use std::{env, fmt, io, path::Path, process::ExitStatus, process::Stdio, time::Duration};

use rustix::process::{Pid, Signal, kill_process_group};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    process::{Child, Command},
    time::timeout,
};

use super::attendant::NOT_STARTED;
use crate::helper;

/// The hidden command that runs it.
const ATTENDANT: &str = "__attend";

/// The most bytes of why it was not started.
const WHY_BYTES_MAX: u64 = 1024;

/// How long it may take.
const TIME_MAX: Duration = Duration::from_secs(30);

/// What it has of the server's environment: what programs need to find files, a language and a desktop. Nothing of an
/// agent is ever in there, and no key that the server was started with.
const VARIABLES: [&str; 15] = [
    "PATH",
    "HOME",
    "USER",
    "LOGNAME",
    "LANG",
    "LC_ALL",
    "TZ",
    "TMPDIR",
    "DISPLAY",
    "WAYLAND_DISPLAY",
    "XAUTHORITY",
    "XDG_RUNTIME_DIR",
    "XDG_CONFIG_HOME",
    "DBUS_SESSION_BUS_ADDRESS",
    "OSTLER_HOME",
];

/// Why it was not told, or not certainly.
#[derive(Debug)]
pub(crate) enum CommandError {
    /// It cannot be started.
    NotStarted(io::Error),
    /// It ended with something else than success.
    Failed(ExitStatus),
    /// It took too long, and was ended.
    Late,
}

/// Runs it, with something to read and some variables. The attendant is this very program.
pub(crate) async fn run(
    attendant: &Path,
    arguments: &[String],
    variables: Vec<(&'static str, String)>,
    input: &[u8],
) -> Result<(), CommandError> {
    let mut command = Command::new(attendant);
    // The attendant ends all of it once nobody reads its output any more: also if this is given up in the middle.
    command.arg(ATTENDANT).args(arguments).env_clear().process_group(0);
    let kept = VARIABLES.into_iter().filter_map(|name| Some((name, env::var_os(name)?)));
    command.envs(kept).envs(variables).current_dir(env::var_os("HOME").unwrap_or_else(|| "/".into()));
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
    helper::mark(command.as_std_mut());
    let mut child = command.spawn().map_err(CommandError::NotStarted)?;
    let output = child.stdout.take();
    let group = child.id().and_then(|pid| Pid::from_raw(i32::try_from(pid).ok()?));
    let ended = timeout(TIME_MAX, told(&mut child, input)).await;
    if ended.is_err() {
        // It is not waited for yet, so its number is still its own.
        group.map(|group| kill_process_group(group, Signal::KILL).ok());
        child.wait().await.ok();
    }
    let status = ended.map_err(|_| CommandError::Late)?.map_err(CommandError::NotStarted)?;
    let mut why = String::new();
    if let Some(output) = output.filter(|_| status.code() == Some(i32::from(NOT_STARTED))) {
        // What it could not say is not said here either.
        output.take(WHY_BYTES_MAX).read_to_string(&mut why).await.ok();
    }
    match status.success() {
        true => Ok(()),
        false if why.is_empty() => Err(CommandError::Failed(status)),
        false => Err(CommandError::NotStarted(io::Error::other(why))),
    }
}

async fn told(child: &mut Child, input: &[u8]) -> io::Result<ExitStatus> {
    if let Some(mut stdin) = child.stdin.take() {
        // Who does not read it may not need it: how it ends says how it went.
        stdin.write_all(input).await.ok();
    }
    child.wait().await
}

impl fmt::Display for CommandError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            CommandError::NotStarted(source) => write!(f, "the command cannot be started: {source}"),
            CommandError::Failed(status) => write!(f, "the command failed ({status})"),
            CommandError::Late => write!(f, "the command took longer than {} seconds", TIME_MAX.as_secs()),
        }
    }
}

impl std::error::Error for CommandError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            CommandError::NotStarted(source) => Some(source),
            CommandError::Failed(_) | CommandError::Late => None,
        }
    }
}
