//! Starts a shim: plans the command line, hands the launch over in memory, and lets go of the process.
//!
//! A directory is for one launch. If two shims were ever started in it, only one gets its lock, and the other ends.

use std::{
    collections::BTreeMap,
    fmt, fs, io,
    path::{Path, PathBuf},
    process::Stdio,
};

use ostler_agents::{
    ChannelPlace, Conversation, InputPlan, LaunchRequest, Output, PlanError, Terminal as AgentTerminal,
    Verifies,
};
use ostler_engine::{
    checkpoint::RewindWay,
    input_id,
    session::{Launch, Order, Role, Screen, Session},
};
use ostler_files::{FILE_BYTES_MAX, private};
use ostler_protocol::guide::{self, Language};
use ostler_shim::{
    can_confine,
    launch::{CgroupPolicy, Input, Launch as LaunchFile, OutputFormat, Terminal},
    spool,
};
use serde_json::json;
use tokio::{io::AsyncReadExt, process::Command};

use super::{Driver, tell};
use crate::{
    descriptors, environment,
    home::{self, private_directory},
    inject,
    private::{Place, PrivateError},
    verifier_config::VerifierConfig,
};

/// How large an agent's log may become before somebody is asked.
const LOG_BYTES_MAX: u64 = 1 << 30;

/// The longest prompt that stands in a variable too.
const PROMPT_BYTES_MAX: usize = 64 << 10;

/// Why a shim could not be started.
#[derive(Debug)]
pub(super) enum LaunchError {
    /// The command line cannot be made.
    Plan(PlanError),
    /// The environment is not there any more.
    Environment(environment::EnvironmentError),
    /// Its own configuration directory cannot be made.
    Private(PrivateError),
    /// The prompt fits into no variable, and the agent is told by nothing else.
    PromptTooLong {
        /// Its length.
        bytes: usize,
    },
    /// The prompt cannot be written to its input, not even by a file.
    PromptNotTaken {
        /// Its length.
        bytes: usize,
    },
    /// The server has too few file descriptors left.
    NoDescriptors {
        /// How many it may have.
        limit: u64,
    },
    /// The shim ended before it had begun.
    NoShim {
        /// Its last words.
        words: String,
    },
    /// A file could not be written, or the program not be started.
    Io {
        /// Which file.
        path: PathBuf,
        /// Why not.
        source: io::Error,
    },
}

/// A launch as it is carried out.
#[derive(Debug)]
pub(super) struct Plan {
    pub(super) file: LaunchFile,
    /// What is written to its input first.
    pub(super) first_input: String,
}

/// Plans the launch of an agent, and puts into place what it needs. Copies files: on a thread that may wait.
pub(super) fn plan(driver: &Driver, session: &Session, launch: &Launch) -> Result<Plan, LaunchError> {
    let order = &session.order;
    let guide = guide_of(order);
    let guide_file = driver.home.session(session.id).join("guide.md");
    if let Some(text) = guide.as_deref().filter(|_| order.agent.needs_guide_file()) {
        let folder = driver.home.session(session.id);
        private_directory(&folder).map_err(|source| LaunchError::Io { path: folder, source })?;
        write_private(&guide_file, text.as_bytes())?;
    }
    if order.reads_answers_only() && launch.prompt.len() > PROMPT_BYTES_MAX {
        return Err(LaunchError::PromptTooLong { bytes: launch.prompt.len() });
    }
    let given = session.given_conversation();
    let [ostler, channel] = &channel_place(driver);
    let channel = order.channel.then_some(ChannelPlace { ostler, channel });
    let prompt_id = input_id::of_prompt(session.id, launch.number);
    let request = LaunchRequest {
        prompt: Some(launch.prompt.as_str()).filter(|prompt| !prompt.is_empty()),
        prompt_id: &prompt_id,
        conversation: conversation_of(session, launch, &given),
        guide: guide.as_deref(),
        guide_file: guide_file.to_str(),
        model: order.model.as_deref(),
        max_turns: order.turns_max,
        tools: &order.tools,
        channel,
        verifies: verifies(&order.role),
        ..LaunchRequest::default()
    };
    let plan = order.agent.launch(&request).map_err(LaunchError::Plan)?;
    let (input, first_input) = match plan.input {
        InputPlan::Empty => (Input::Empty, String::new()),
        // The next line that it reads is an answer, however often it was started before.
        InputPlan::Open { .. } if order.reads_answers_only() => (Input::Open, String::new()),
        InputPlan::Open { first, words } => {
            let is_apart = plan.terminal == AgentTerminal::Pty && !order.agent.reads_terminal();
            let input = if is_apart { Input::Piped } else { Input::Open };
            (input, tell::first_input(&driver.home, session, (first, &words))?)
        }
    };
    let file = LaunchFile {
        session: driver.marker(session.id, &launch.number.to_string()),
        command: plan.command,
        directory: PathBuf::from(session.directory()),
        environment: environment_of(driver, session, launch, plan.environment)?,
        terminal: terminal_of(plan.terminal, launch.screen),
        input,
        format: match plan.output {
            Output::Text => OutputFormat::Text,
            Output::Table(toml) => OutputFormat::Table(toml),
        },
        nonce: order.nonce.clone(),
        thin_role: order.role.is_main(),
        stop: true,
        log_bytes_max: LOG_BYTES_MAX,
        open_files_max: driver.open_files_max,
        cgroup: CgroupPolicy::Auto,
        values: Some(driver.home.values(session.id)),
        given: BTreeMap::new(),
        writes: None,
        baseline: Some(driver.baseline),
        scope_signals: order.agent.scope_signals || session.verifies(),
        end_key: Some(driver.end_secret.key(&driver.marker(session.id, &launch.number.to_string()))),
    };
    Ok(Plan { file: confined(driver, session, file)?, first_input })
}

/// The conversation that a launch goes on with. A CLI that is given an id for a new one gets `given`.
fn conversation_of<'a>(session: &'a Session, launch: &'a Launch, given: &'a str) -> Conversation<'a> {
    match launch.rewind.as_ref().map(|rewind| &rewind.way) {
        Some(RewindWay::To { conversation, anchor }) => Conversation::Rewind { id: conversation, anchor },
        _ if launch.fresh => Conversation::Fresh { id: Some(given) },
        _ => Conversation::Resume { id: session.conversation.as_ref().map_or(given, |known| &known.id) },
    }
}

fn terminal_of(wanted: AgentTerminal, screen: Option<Screen>) -> Terminal {
    match wanted {
        AgentTerminal::None => Terminal::None,
        AgentTerminal::Pty => {
            let Screen { rows, columns } = screen.unwrap_or(Screen::USUAL);
            Terminal::Pty { rows, columns }
        }
    }
}

/// What an agent is told beside its prompt: how to ask, and what its role is.
fn guide_of(order: &Order) -> Option<String> {
    let language = if order.korean { Language::Korean } else { Language::English };
    let guide = order.guide.then(|| guide::text(language).trim_end());
    let parts: Vec<&str> = guide.into_iter().chain(order.instruction.as_deref()).collect();
    (!parts.is_empty()).then(|| parts.join("\n\n"))
}

/// Whether it looks at the work of another one, and whether this kernel keeps it from writing elsewhere.
fn verifies(role: &Role) -> Verifies {
    match role {
        Role::Verify { confined: true, .. } if can_confine() => Verifies::Confined,
        Role::Verify { .. } => Verifies::Free,
        Role::Work
        | Role::Main
        | Role::Phase { .. }
        | Role::Office { .. }
        | Role::Graph { .. }
        | Role::Conduct(_) => Verifies::No,
    }
}

/// The program that serves an agent's CLI with tools to ask by, and the socket at which it asks.
fn channel_place(driver: &Driver) -> [String; 2] {
    [driver.home.programs().join("ostler"), driver.home.channel()].map(|path| path.display().to_string())
}

/// The user's own environment, then what the agent's table sets, then what Ostler says to it.
fn environment_of(
    driver: &Driver,
    session: &Session,
    launch: &Launch,
    set: BTreeMap<String, String>,
) -> Result<BTreeMap<String, String>, LaunchError> {
    let kept =
        environment::read(&driver.home, &session.order.environment).map_err(LaunchError::Environment)?;
    let mut environment: BTreeMap<String, String> =
        kept.iter().filter(|(name, _)| !name.starts_with("OSTLER_")).map(clone_pair).collect();
    environment.extend(set);
    let (folder, agent) = (driver.home.session(session.id), &session.order.agent);
    if session.verifies() {
        let config = VerifierConfig::of(&folder, agent, &environment);
        let left_out = config.prepare().map_err(LaunchError::Private)?;
        if !left_out.is_empty() {
            let names = json!({ "session": session.id.to_string(), "too_large": left_out });
            driver.log.info("verifier.not_copied", names);
        }
        environment.extend(config.variables());
    } else if let Some(place) = Place::of(&folder, agent, &environment) {
        place.prepare().map_err(LaunchError::Private)?;
        environment.extend([place.variable()]);
    }
    let values = driver.home.values(session.id);
    inject::add(&mut environment, &kept, &driver.home, &values, session.order.agent.values);
    environment.insert("OSTLER_HOME".to_owned(), driver.home.root().display().to_string());
    environment.insert("OSTLER_CHANNEL".to_owned(), driver.home.channel().display().to_string());
    // Behind everything that the user has: where this program is found if it is found nowhere else.
    if let Some(path) = environment.get_mut("PATH") {
        path.push(':');
        path.push_str(&driver.home.programs().to_string_lossy());
    }
    environment.insert("OSTLER_LAUNCH".to_owned(), launch.number.to_string());
    // The system takes no longer variable than this; who needs a longer prompt reads it from its input.
    if launch.prompt.len() <= PROMPT_BYTES_MAX {
        environment.insert("OSTLER_PROMPT".to_owned(), launch.prompt.clone());
    }
    if let Some(nonce) = &session.order.nonce {
        environment.insert("OSTLER_NONCE".to_owned(), nonce.clone());
    }
    Ok(environment)
}

fn clone_pair((name, value): (&String, &String)) -> (String, String) {
    (name.clone(), value.clone())
}

/// A check: a shell command under a shim of its own, which nothing it prints can stop. It gets what the agent was given:
/// without it, it could not see whether the work is done.
pub(super) fn check(
    driver: &Driver,
    session: &Session,
    number: u32,
    command: &str,
) -> Result<LaunchFile, LaunchError> {
    let command = vec!["/bin/sh".to_owned(), "-c".to_owned(), command.to_owned()];
    let file = errand(driver, session, &format!("check{number}"), command)?;
    Ok(LaunchFile { values: Some(driver.home.values(session.id)), ..file })
}

/// Something that is done for a session beside its agent, under a shim of its own.
pub(super) fn errand(
    driver: &Driver,
    session: &Session,
    name: &str,
    command: Vec<String>,
) -> Result<LaunchFile, LaunchError> {
    let environment =
        environment::read(&driver.home, &session.order.environment).map_err(LaunchError::Environment)?;
    Ok(LaunchFile {
        session: driver.marker(session.id, name),
        command,
        directory: PathBuf::from(session.directory()),
        environment,
        terminal: Terminal::None,
        input: Input::Empty,
        format: OutputFormat::Text,
        nonce: None,
        thin_role: false,
        stop: false,
        log_bytes_max: LOG_BYTES_MAX,
        open_files_max: driver.open_files_max,
        cgroup: CgroupPolicy::Auto,
        values: None,
        given: BTreeMap::new(),
        writes: None,
        baseline: Some(driver.baseline),
        scope_signals: false,
        end_key: None,
    })
}

/// A verifier writes in its place and below its own directory, where its configuration, temporary files and caches are,
/// and to devices. Nothing of that outlives it.
fn confined(driver: &Driver, session: &Session, mut file: LaunchFile) -> Result<LaunchFile, LaunchError> {
    let Role::Verify { confined: true, .. } = &session.order.role else { return Ok(file) };
    let root = VerifierConfig::root(&driver.home.session(session.id));
    for (variable, name) in [("TMPDIR", "tmp"), ("XDG_CACHE_HOME", "cache")] {
        let is_its_own = file.environment.get(variable).is_some_and(|it| Path::new(it).starts_with(&root));
        if !is_its_own {
            let path = root.join(name);
            file.environment.insert(variable.to_owned(), path.display().to_string());
            private_directory(&path).map_err(|source| LaunchError::Io { path, source })?;
        }
    }
    file.writes = Some(vec![file.directory.clone(), root, PathBuf::from("/dev")]);
    Ok(file)
}

/// Starts a shim in a directory and lets go of it: it leads a session of its own and outlives the server. As long as
/// that lives, the runtime waits for it when it ends.
pub(super) async fn start(program: &Path, directory: &Path, file: &LaunchFile) -> Result<(), LaunchError> {
    if !descriptors::can_launch() {
        return Err(LaunchError::NoDescriptors { limit: descriptors::limit() });
    }
    let failed = |source| LaunchError::Io { path: directory.to_path_buf(), source };
    private_directory(directory).map_err(failed)?;
    // Not by its name: a program that was exchanged since may want another launch than this server makes.
    let mut command = Command::new("/proc/self/exe");
    command.arg0(program).arg("__shim").arg(directory).current_dir("/");
    let log = directory.join("shim.log");
    let words = private::open_or_create(&log, fs::OpenOptions::new().append(true)).map_err(failed)?;
    let sealed = file.seal().map_err(failed)?;
    command.env_clear().stdin(sealed).stdout(Stdio::piped()).stderr(words);
    let mut shim = command.spawn().map_err(|source| LaunchError::Io { path: program.into(), source })?;
    let ready = shim.stdout.take();
    // It lets go of its output once there is a spool and it can be talked to: whatever happens from then on is in that.
    if let Some(mut ready) = ready {
        ready.read_to_end(&mut Vec::new()).await.map_err(failed)?;
    }
    if !directory.join(spool::FILE).exists() {
        shim.wait().await.map_err(failed)?;
        let words = private::read_text(&log, FILE_BYTES_MAX).unwrap_or_default().trim().to_owned();
        return Err(LaunchError::NoShim { words });
    }
    Ok(())
}

/// Replaces a file as a whole.
pub(super) fn write_private(path: &Path, text: &[u8]) -> Result<(), LaunchError> {
    home::write_private(path, text).map_err(|source| LaunchError::Io { path: path.to_path_buf(), source })
}

impl fmt::Display for LaunchError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            LaunchError::Plan(source) => write!(f, "{source}"),
            LaunchError::NoDescriptors { limit } => write!(
                f,
                "the server may have {limit} open files, and too few are left for another agent: raise 'ulimit -n', \
                 restart it with 'ostler serve --stop', then 'ostler resume'"
            ),
            LaunchError::Environment(source) => write!(f, "{source}"),
            LaunchError::Private(source) => write!(f, "{source}"),
            LaunchError::PromptTooLong { bytes } => write!(
                f,
                "the prompt has {bytes} bytes, and a plain command is told at most {PROMPT_BYTES_MAX}, in \
                 OSTLER_PROMPT: put the text into a file and name it in the prompt"
            ),
            LaunchError::PromptNotTaken { bytes } => write!(
                f,
                "the prompt has {bytes} bytes, which the agent's input does not take: put the text into a file and \
                 name it in the prompt"
            ),
            LaunchError::NoShim { words } => write!(f, "the shim did not start: {words}"),
            LaunchError::Io { path, source } => write!(f, "cannot start '{}': {source}", path.display()),
        }
    }
}
