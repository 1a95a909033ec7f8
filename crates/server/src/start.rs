//! Starts a server where none answers, and lets go of it.

use std::{
    env, fmt,
    fs::OpenOptions,
    future::Future,
    io,
    os::unix::process::CommandExt,
    path::PathBuf,
    process::{Command, Stdio},
    time::Duration,
};

use ostler_files::{FILE_BYTES_MAX, kernel, private};
use ostler_shim::LockLimit;
use tokio::time::{Instant, sleep};

use crate::{
    api::{InfoView, Problem},
    baseline,
    client::{Client, ClientError},
    home::{Home, HomeError},
    http::NO_DESCRIPTORS,
    keep,
    server_peer::NotTheServer,
};

/// How long a server may take until it answers, on a machine that has a lot else to do.
const START_MAX: Duration = Duration::from_mins(1);

/// How long a server may take for the simplest answer.
const ANSWER_MAX: Duration = Duration::from_secs(20);

/// So long may be what a server prints before the next one begins anew. The one before it is kept.
const LOG_BYTES_MAX: u64 = 1 << 20;

/// Between two attempts.
const LOOK: Duration = Duration::from_millis(5);

/// How long a server that lets nobody in is asked again, and how often.
const REFUSED_MAX: Duration = Duration::from_secs(5);
const REFUSED_LOOK: Duration = Duration::from_millis(250);

/// Why there is no server to talk to.
#[derive(Debug)]
pub enum StartError {
    /// The state directory cannot be used.
    Home(HomeError),
    /// The program could not be started.
    Program {
        /// The log or the program.
        path: PathBuf,
        /// Why not.
        source: io::Error,
    },
    /// This process belongs to an agent that Ostler looks after.
    Inside,
    /// This process carries the mark of an agent.
    Marked {
        /// The file with the limit of a person's processes.
        path: PathBuf,
    },
    /// A server is there and does not answer.
    Silent {
        /// Its process, if it says so.
        pid: Option<u32>,
    },
    /// A server is there, and a process of an agent listens in its place.
    NotTheServer {
        /// The socket.
        path: PathBuf,
        /// The process that listens.
        pid: i32,
    },
    /// A server is there and lets nobody in for now, for want of file descriptors.
    Refused(Box<Problem>),
    /// It ended, or did not answer in time; its log says why.
    NoAnswer {
        /// The log.
        log: PathBuf,
        /// Its last words.
        last_words: String,
        /// Whether the journal is damaged.
        is_damaged: bool,
    },
}

/// A client of the server of this directory, which is started if nobody answers.
pub async fn ensure(home: &Home) -> Result<Client, StartError> {
    home.prepare().map_err(StartError::Home)?;
    let client = Client::reviving(home);
    if answers(&client, home).await?.is_some() {
        return Ok(client);
    }
    if is_inside_session() {
        return Err(StartError::Inside);
    }
    if baseline::find(home).is_some_and(|baseline| LockLimit::own() < baseline) {
        return Err(StartError::Marked { path: baseline::path(home) });
    }
    let mut server = spawn(home)?;
    let deadline = Instant::now() + START_MAX;
    loop {
        if let Some(pid) = answers(&client, home).await? {
            if pid != server.id() {
                // Somebody else was faster. Ours waits for the place of theirs, and must not take it when that is
                // told to end.
                server.kill().and_then(|()| server.wait()).ok();
            }
            return Ok(client);
        }
        // Somebody else may have been faster: then ours has ended, and theirs is about to answer.
        let has_ended = server.try_wait().ok().flatten().is_some_and(|status| !status.success());
        if Instant::now() > deadline || (has_ended && !answers_soon(&client).await) {
            return Err(match client.look::<InfoView>("/info").await {
                Err(ClientError::NotTheServer { path, pid }) => StartError::NotTheServer { path, pid },
                _ => no_answer(home),
            });
        }
        if has_ended {
            return Ok(client);
        }
        sleep(LOOK).await;
    }
}

/// The process of the server that answers, if one does. One that takes the connection and says nothing is worse than
/// none.
async fn answers(client: &Client, home: &Home) -> Result<Option<u32>, StartError> {
    let since = Instant::now();
    loop {
        match in_time(home, client.look::<InfoView>("/info")).await? {
            Ok(info) => return Ok(Some(info.pid)),
            Err(ClientError::Refused(problem)) if problem.kind == NO_DESCRIPTORS => {
                if since.elapsed() >= REFUSED_MAX {
                    return Err(StartError::Refused(problem));
                }
                sleep(REFUSED_LOOK).await;
            }
            Err(_) => return Ok(None),
        }
    }
}

/// Waits for the simplest answers of a server no longer than for any: one that is stopped never answers.
pub async fn in_time<T>(home: &Home, answer: impl Future<Output = T>) -> Result<T, StartError> {
    let pid =
        || private::read_text(home.lock(), FILE_BYTES_MAX).ok().and_then(|text| text.trim().parse().ok());
    tokio::time::timeout(ANSWER_MAX, answer).await.map_err(|_| StartError::Silent { pid: pid() })
}

/// Whether this process belongs to an agent: a server that it started would be stopped and ended with it.
fn is_inside_session() -> bool {
    let group = kernel::read_text("/proc/self/cgroup").unwrap_or_default();
    let in_group = group.lines().any(|line| line.starts_with("0::") && line.contains("/ostler."));
    in_group || env::var_os("OSTLER_SESSION").is_some()
}

/// Whether a server that holds the lock answers before long.
async fn answers_soon(client: &Client) -> bool {
    for _ in 0..200 {
        match client.look::<InfoView>("/info").await {
            Ok(_) => return true,
            Err(ClientError::NoServer { .. } | ClientError::Broken { .. }) => sleep(LOOK).await,
            Err(_) => return false,
        }
    }
    false
}

fn no_answer(home: &Home) -> StartError {
    let log = home.log();
    let text = private::read_text(&log, FILE_BYTES_MAX).unwrap_or_default();
    // What to do about it is said below.
    let words = text.lines().rev().find_map(|line| line.strip_prefix("ostler: "));
    let last_words = words.unwrap_or_default().to_owned();
    StartError::NoAnswer { log, last_words, is_damaged: keep::is_damaged(home) }
}

#[expect(clippy::disallowed_methods, reason = "this is where the server is started")]
fn spawn(home: &Home) -> Result<std::process::Child, StartError> {
    let log = home.log();
    let failed = |path: &PathBuf| {
        let path = path.clone();
        move |source| StartError::Program { path, source }
    };
    if log.metadata().is_ok_and(|it| it.len() > LOG_BYTES_MAX) {
        // Where it cannot be set aside it goes on growing, by a sentence now and then.
        std::fs::rename(&log, log.with_extension("1.log")).ok();
    }
    let file = private::open_or_create(&log, OpenOptions::new().append(true)).map_err(failed(&log))?;
    let program = env::current_exe().map_err(failed(&PathBuf::from("ostler")))?;
    let mut command = Command::new(&program);
    command.args(["serve", "--background"]).env("OSTLER_HOME", home.root()).current_dir("/");
    let errors = file.try_clone().map_err(failed(&log))?;
    command.stdin(Stdio::null()).stdout(file).stderr(errors).process_group(0);
    command.spawn().map_err(failed(&program))
}

impl fmt::Display for StartError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            StartError::Home(source) => write!(f, "{source}"),
            StartError::Program { path, source } => {
                write!(f, "cannot start the server ('{}'): {source}", path.display())
            }
            StartError::Inside => {
                write!(f, "no server runs, and an agent cannot start one: it would stop with the agent")
            }
            StartError::Marked { path } => write!(
                f,
                "no server runs, and this process carries the mark of an agent: its limit of file locks is {}, \
                 which is below that in '{}'",
                LockLimit::own(),
                path.display()
            ),
            StartError::Silent { pid: Some(pid) } => {
                let seconds = ANSWER_MAX.as_secs();
                write!(
                    f,
                    "the server (process {pid}) did not answer within {seconds} s; it may be stopped, or hang"
                )
            }
            StartError::Refused(problem) => write!(f, "{}", problem.title),
            StartError::NotTheServer { path, pid } => {
                write!(f, "{} at '{}'", NotTheServer { pid: *pid }, path.display())
            }
            StartError::Silent { pid: None } => write!(f, "the server does not answer; it may hang"),
            StartError::NoAnswer { log, last_words, .. } if last_words.is_empty() => {
                write!(f, "the server does not answer; see '{}'", log.display())
            }
            StartError::NoAnswer { last_words, .. } => write!(f, "{last_words}"),
        }
    }
}

impl std::error::Error for StartError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            StartError::Home(source) => Some(source),
            StartError::Program { source, .. } => Some(source),
            StartError::Inside
            | StartError::Marked { .. }
            | StartError::Silent { .. }
            | StartError::NotTheServer { .. }
            | StartError::Refused(_)
            | StartError::NoAnswer { .. } => None,
        }
    }
}
