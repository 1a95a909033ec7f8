//! Secrets that somebody else keeps: a variable, a file, a command. They are looked up each time they are needed.
//!
//! A reference comes from a person and from nobody else: its command runs with the person's rights, outside any
//! shim. It must never be taken from a repository or an agent.

use std::{
    env, fmt,
    io::{self, Read},
    os::unix::process::CommandExt,
    path::PathBuf,
    process::{Child, Command, ExitStatus, Stdio},
    sync::{OnceLock, mpsc},
    thread,
    time::{Duration, Instant},
};

use ostler_files::named;
use rustix::process::{Pid, Signal, kill_process_group};
use zeroize::Zeroizing;

use crate::{
    name::Name,
    secret::{Secret, VALUE_BYTES_MAX},
};

/// How long a command may take.
const COMMAND_TIME: Duration = Duration::from_secs(30);

/// Between two looks whether a command has ended, after its output has.
const LOOK: Duration = Duration::from_millis(2);

/// What is done to every command before it is started.
static PREPARE: OnceLock<fn(&mut Command)> = OnceLock::new();

/// Where a secret is to be looked up.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Reference {
    /// `env:NAME`: a variable of the server's own environment.
    Env(Name),
    /// `file:PATH`: what stands in a file.
    File(PathBuf),
    /// `cmd:COMMAND`: what a shell command prints.
    Cmd(String),
}

/// What was said refers to nothing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum InvalidReference {
    /// It begins with none of the three words.
    Kind,
    /// Behind `env:` stands no name of a variable.
    Env,
    /// Behind `file:` stands no absolute path.
    File,
    /// Behind `cmd:` stands nothing.
    Cmd,
}

/// Why a secret could not be looked up.
#[derive(Debug)]
pub enum ReferenceError {
    /// The variable is not set, or no text.
    Env {
        /// The variable.
        name: Name,
    },
    /// The file cannot be read.
    File {
        /// The file.
        path: PathBuf,
        /// Why not.
        source: io::Error,
    },
    /// The command cannot be run.
    Run {
        /// Why not.
        source: io::Error,
    },
    /// The command ended with something else than success.
    Failed {
        /// How it ended.
        status: ExitStatus,
    },
    /// The command took too long and was ended.
    Late,
    /// It is longer than a value can be.
    TooLong,
    /// It is no text that a variable can hold.
    NotText,
    /// There is nothing in it.
    Empty,
}

/// Has something done to every command that this process starts for a secret from now on. The first caller decides.
pub fn prepare_commands_with(prepare: fn(&mut Command)) {
    PREPARE.set(prepare).ok();
}

impl Reference {
    /// Reads `env:NAME`, `file:PATH` or `cmd:COMMAND`.
    pub fn parse(text: &str) -> Result<Reference, InvalidReference> {
        match text.split_once(':') {
            Some(("env", name)) => Name::new(name).map(Reference::Env).map_err(|_| InvalidReference::Env),
            Some(("file", path)) if path.starts_with('/') => Ok(Reference::File(PathBuf::from(path))),
            Some(("file", _)) => Err(InvalidReference::File),
            Some(("cmd", command)) if !command.trim().is_empty() => Ok(Reference::Cmd(command.to_owned())),
            Some(("cmd", _)) => Err(InvalidReference::Cmd),
            _ => Err(InvalidReference::Kind),
        }
    }

    /// Looks it up. One line break at the end does not belong to it.
    pub fn resolve(&self) -> Result<Secret, ReferenceError> {
        let bytes = match self {
            Reference::Env(name) => {
                let value = env::var(name.as_str());
                let value = value.map_err(|_| ReferenceError::Env { name: name.clone() })?;
                Zeroizing::new(value.into_bytes())
            }
            Reference::File(path) => {
                let failed = |source| ReferenceError::File { path: path.clone(), source };
                let file = named::open(path).map_err(failed)?;
                if !file.metadata().map_err(failed)?.is_file() {
                    return Err(failed(io::Error::other("it is no plain file")));
                }
                read(file).map_err(failed)?
            }
            Reference::Cmd(command) => run(command, COMMAND_TIME)?,
        };
        value(&bytes)
    }
}

/// As it would be given to [`Reference::parse`].
impl fmt::Display for Reference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Reference::Env(name) => write!(f, "env:{name}"),
            Reference::File(path) => write!(f, "file:{}", path.display()),
            Reference::Cmd(command) => write!(f, "cmd:{command}"),
        }
    }
}

fn value(bytes: &[u8]) -> Result<Secret, ReferenceError> {
    if bytes.len() > VALUE_BYTES_MAX {
        return Err(ReferenceError::TooLong);
    }
    let text = str::from_utf8(bytes).map_err(|_| ReferenceError::NotText)?;
    let text = text.strip_suffix('\n').map_or(text, |text| text.strip_suffix('\r').unwrap_or(text));
    if text.contains('\0') {
        return Err(ReferenceError::NotText);
    }
    if text.is_empty() { Err(ReferenceError::Empty) } else { Ok(Secret::new(text.to_owned())) }
}

/// Reads a little more than the longest value, so that a longer one is seen as such.
fn read(from: impl Read) -> io::Result<Zeroizing<Vec<u8>>> {
    let most = VALUE_BYTES_MAX + 3;
    let mut bytes = Zeroizing::new(Vec::with_capacity(most));
    from.take(most as u64).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// Runs a shell command in a group of its own, which is ended when the time is up or too much comes.
fn run(command: &str, time: Duration) -> Result<Zeroizing<Vec<u8>>, ReferenceError> {
    let until = Instant::now() + time;
    let mut child = start(command).map_err(|source| ReferenceError::Run { source })?;
    let output = child.stdout.take().expect("it was started with a pipe");
    let (tell, told) = mpsc::sync_channel(1);
    // A thread, because a pipe cannot be read with a time limit. It ends with the group that holds the other end.
    let reader = thread::spawn(move || tell.send(read(output)));
    let heard = told.recv_timeout(time);
    let ended = heard.is_ok().then(|| wait(&mut child, until)).flatten();
    if ended.is_none() {
        end(&mut child);
    }
    if heard.is_ok() || ended.is_some() {
        drop(reader.join());
    }
    let bytes = heard.map_err(|_| ReferenceError::Late)?.map_err(|source| ReferenceError::Run { source })?;
    if bytes.len() > VALUE_BYTES_MAX + 2 {
        return Err(ReferenceError::TooLong);
    }
    match ended {
        Some(status) if status.success() => Ok(bytes),
        Some(status) => Err(ReferenceError::Failed { status }),
        None => Err(ReferenceError::Late),
    }
}

#[expect(
    clippy::disallowed_methods,
    reason = "a person's own command is run, which is what this module is for"
)]
fn start(command: &str) -> io::Result<Child> {
    let home = env::var_os("HOME").map(PathBuf::from).filter(|home| home.is_dir());
    let mut shell = Command::new("/bin/sh");
    shell.args(["-c", command]).current_dir(home.unwrap_or_else(|| PathBuf::from("/")));
    // What it has to say besides might be about the secret; nobody is there to read it.
    shell.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null());
    if let Some(prepare) = PREPARE.get() {
        prepare(&mut shell);
    }
    shell.process_group(0).spawn()
}

/// Waits for the end until the time is up.
fn wait(child: &mut Child, until: Instant) -> Option<ExitStatus> {
    loop {
        if let Some(status) = child.try_wait().ok()? {
            return Some(status);
        }
        if Instant::now() >= until {
            return None;
        }
        thread::sleep(LOOK);
    }
}

fn end(child: &mut Child) {
    let group = i32::try_from(child.id()).ok().and_then(Pid::from_raw);
    // The child is not waited for yet, so its number is still its own.
    group.map(|group| kill_process_group(group, Signal::KILL).ok());
    child.wait().ok();
}

impl fmt::Display for InvalidReference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            InvalidReference::Kind => "a reference is env:NAME, file:PATH or cmd:COMMAND",
            InvalidReference::Env => "behind env: stands the name of a variable",
            InvalidReference::File => "behind file: stands an absolute path",
            InvalidReference::Cmd => "behind cmd: stands a command",
        })
    }
}

impl fmt::Display for ReferenceError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ReferenceError::Env { name } => write!(f, "the variable {name} is not set where the server runs"),
            ReferenceError::File { path, source } => write!(f, "cannot read '{}': {source}", path.display()),
            ReferenceError::Run { source } => write!(f, "its command cannot be run: {source}"),
            ReferenceError::Failed { status } => write!(f, "its command failed ({status})"),
            ReferenceError::Late => {
                write!(f, "its command took longer than {} seconds", COMMAND_TIME.as_secs())
            }
            ReferenceError::TooLong => write!(f, "it is longer than {} KiB", VALUE_BYTES_MAX >> 10),
            ReferenceError::NotText => write!(f, "it is no text"),
            ReferenceError::Empty => write!(f, "it is empty"),
        }
    }
}

impl std::error::Error for InvalidReference {}

impl std::error::Error for ReferenceError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            ReferenceError::File { source, .. } | ReferenceError::Run { source } => Some(source),
            ReferenceError::Env { .. }
            | ReferenceError::Failed { .. }
            | ReferenceError::Late
            | ReferenceError::TooLong
            | ReferenceError::NotText
            | ReferenceError::Empty => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, Instant};

    use super::{InvalidReference, Reference, ReferenceError, run};
    use crate::secret::VALUE_BYTES_MAX;

    #[test]
    fn references_are_read_and_written_alike() {
        for text in ["env:HOME", "file:/etc/hostname", "cmd:pass show stripe | head -1"] {
            assert_eq!(Reference::parse(text).unwrap().to_string(), text);
        }
        let check = |text: &str, why| assert_eq!(Reference::parse(text), Err(why), "{text}");
        check("HOME", InvalidReference::Kind);
        check("http://x", InvalidReference::Kind);
        check("env:A B", InvalidReference::Env);
        check("file:key", InvalidReference::File);
        check("cmd: ", InvalidReference::Cmd);
    }

    #[test]
    fn a_command_says_it() {
        let said = |command: &str| Reference::parse(command).unwrap().resolve();
        assert_eq!(said("cmd:printf 'a\\nb\\n'").ok().unwrap().expose(), "a\nb");
        assert_eq!(said("cmd:printf 'a\\r\\n'").ok().unwrap().expose(), "a");
        assert!(matches!(said("cmd:true"), Err(ReferenceError::Empty)));
        assert!(matches!(said("cmd:echo a; exit 3"), Err(ReferenceError::Failed { .. })));
        assert!(matches!(said("cmd:printf '\\377'"), Err(ReferenceError::NotText)));
        assert!(matches!(said("cmd:printf 'a\\000b'"), Err(ReferenceError::NotText)));
        assert!(matches!(said("cmd:yes"), Err(ReferenceError::TooLong)));
        let longest = format!("cmd:head -c {VALUE_BYTES_MAX} /dev/zero | tr '\\0' a");
        assert_eq!(said(&longest).ok().unwrap().expose().len(), VALUE_BYTES_MAX);
    }

    #[test]
    fn a_command_does_not_wait_for_ever() {
        let began = Instant::now();
        for hang in ["sleep 600", "exec 1>&-; sleep 600", "echo a; sleep 600"] {
            assert!(matches!(run(hang, Duration::from_millis(300)), Err(ReferenceError::Late)), "{hang}");
        }
        assert!(began.elapsed() < Duration::from_mins(1));
    }

    #[test]
    fn what_is_not_there_is_said() {
        let said = |reference: &str| Reference::parse(reference).unwrap().resolve();
        assert!(matches!(said("env:OSTLER_NO_SUCH_VARIABLE"), Err(ReferenceError::Env { .. })));
        assert!(matches!(said("file:/no/such/file"), Err(ReferenceError::File { .. })));
        assert!(matches!(said("file:/proc/self"), Err(ReferenceError::File { .. })));
    }
}
