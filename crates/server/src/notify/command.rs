//! A person's own program that is told. It runs without a shell, in a group of its own, for a while and no longer.

use std::{env, fmt, io, process::ExitStatus, process::Stdio, time::Duration};

use rustix::process::{Pid, Signal, kill_process_group};
use tokio::{
    io::AsyncWriteExt,
    process::{Child, Command},
    time::timeout,
};

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

/// Runs it, with something to read and some variables.
pub(crate) async fn run(
    arguments: &[String],
    variables: Vec<(&'static str, String)>,
    input: &[u8],
) -> Result<(), CommandError> {
    let Some((program, arguments)) = arguments.split_first() else { return Ok(()) };
    let mut command = Command::new(program);
    command.args(arguments).env_clear().process_group(0).kill_on_drop(true);
    let kept = VARIABLES.into_iter().filter_map(|name| Some((name, env::var_os(name)?)));
    command.envs(kept).envs(variables).current_dir(env::var_os("HOME").unwrap_or_else(|| "/".into()));
    // What it prints may hold what it was told, and its own keys.
    command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null());
    let mut child = command.spawn().map_err(CommandError::NotStarted)?;
    let group = child.id().and_then(|pid| Pid::from_raw(i32::try_from(pid).ok()?));
    let ended = timeout(TIME_MAX, told(&mut child, input)).await;
    if ended.is_err() {
        // It is not waited for yet, so its number is still its own.
        group.map(|group| kill_process_group(group, Signal::KILL).ok());
        child.wait().await.ok();
    }
    let status = ended.map_err(|_| CommandError::Late)?.map_err(CommandError::NotStarted)?;
    if status.success() { Ok(()) } else { Err(CommandError::Failed(status)) }
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
