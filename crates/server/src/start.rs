//! Starts a server where none answers, and lets go of it.

use std::{
    env, fmt,
    fs::OpenOptions,
    io,
    os::unix::{fs::OpenOptionsExt, process::CommandExt},
    path::PathBuf,
    process::{Command, Stdio},
    time::Duration,
};

use tokio::time::{Instant, sleep};

use crate::{
    api::InfoView,
    client::{Client, ClientError},
    home::{Home, HomeError},
};

/// How long a server may take until it answers, on a machine that has a lot else to do.
const START_MAX: Duration = Duration::from_mins(1);

/// Between two attempts.
const LOOK: Duration = Duration::from_millis(5);

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
    /// It ended, or did not answer in time; its log says why.
    NoAnswer {
        /// The log.
        log: PathBuf,
        /// Its last words.
        last_words: String,
    },
}

/// A client of the server of this directory, which is started if nobody answers.
pub async fn ensure(home: &Home) -> Result<Client, StartError> {
    home.prepare().map_err(StartError::Home)?;
    let client = Client::new(home);
    if answers(&client).await {
        return Ok(client);
    }
    let mut server = spawn(home)?;
    let deadline = Instant::now() + START_MAX;
    loop {
        if answers(&client).await {
            return Ok(client);
        }
        // Somebody else may have been faster: then ours has ended, and theirs is about to answer.
        let has_ended = server.try_wait().ok().flatten().is_some_and(|status| !status.success());
        if Instant::now() > deadline || (has_ended && !answers_soon(&client).await) {
            return Err(no_answer(home));
        }
        if has_ended {
            return Ok(client);
        }
        sleep(LOOK).await;
    }
}

async fn answers(client: &Client) -> bool {
    client.get::<InfoView>("/info").await.is_ok()
}

/// Whether a server that holds the lock answers before long.
async fn answers_soon(client: &Client) -> bool {
    for _ in 0..200 {
        match client.get::<InfoView>("/info").await {
            Ok(_) => return true,
            Err(ClientError::NoServer { .. } | ClientError::Broken { .. }) => sleep(LOOK).await,
            Err(_) => return false,
        }
    }
    false
}

fn no_answer(home: &Home) -> StartError {
    let log = home.log();
    let text = std::fs::read_to_string(&log).unwrap_or_default();
    let last_words = text.lines().rev().find(|line| !line.trim().is_empty()).unwrap_or_default().to_owned();
    StartError::NoAnswer { log, last_words }
}

#[expect(clippy::disallowed_methods, reason = "this is where the server is started")]
fn spawn(home: &Home) -> Result<std::process::Child, StartError> {
    let log = home.log();
    let failed = |path: &PathBuf| {
        let path = path.clone();
        move |source| StartError::Program { path, source }
    };
    let file = OpenOptions::new().create(true).append(true).mode(0o600).open(&log).map_err(failed(&log))?;
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
            StartError::NoAnswer { log, last_words } if last_words.is_empty() => {
                write!(f, "the server does not answer; see '{}'", log.display())
            }
            StartError::NoAnswer { last_words, .. } => write!(f, "the server did not start: {last_words}"),
        }
    }
}

impl std::error::Error for StartError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            StartError::Home(source) => Some(source),
            StartError::Program { source, .. } => Some(source),
            StartError::NoAnswer { .. } => None,
        }
    }
}
