//! What can go wrong in a command: the message, what to do next, and the exit code.

use std::{
    fmt::Display,
    io,
    path::{Path, PathBuf},
    sync::Arc,
};

use ostler_orchestrate::{StateError, TASK_FILES, TasksError, plan::Problem};
use ostler_server::{
    HomeError, KeepError, SecretsError, ServeError, client::ClientError, config::ConfigError,
    start::StartError,
};
use ostler_vault::OpenError;
use serde_json::{Value, json};

use crate::{
    exit::Exit,
    refusal,
    screen::one_line,
    words::{Key, Words},
};

/// Why a command failed. Each has its exit code in `docs/exit-codes.md`.
#[derive(Debug)]
pub(crate) enum Error {
    /// A file or standard input could not be read.
    Input {
        /// The file; `None` is standard input.
        path: Option<PathBuf>,
        /// Why not.
        source: io::Error,
    },
    /// What is to be parsed could not be read.
    Stream {
        /// The file, if it is not standard input.
        path: Option<PathBuf>,
        /// Why not.
        source: io::Error,
    },
    /// Standard output could not be written.
    Output(io::Error),
    /// Standard error could not be written.
    Stats(io::Error),
    /// A file could not be written.
    File {
        /// Which one.
        path: PathBuf,
        /// Why not.
        source: io::Error,
    },
    /// There is no such command.
    UnknownCommand {
        /// What was named.
        name: String,
        /// The one that was probably meant.
        nearest: Option<String>,
    },
    /// The command line cannot be read.
    CommandLine {
        /// What is wrong with it.
        message: String,
        /// What to do.
        hint: String,
    },
    /// Something on the command line or of the environment makes no sense.
    Usage {
        /// What is wrong.
        message: Message,
        /// Of which command.
        command: &'static str,
    },
    /// There is nothing of that name.
    NotFound {
        /// Which one.
        message: Message,
        /// What to do.
        hint: Message,
    },
    /// It cannot be done as things stand.
    Refused {
        /// Why not.
        message: Message,
        /// What to do.
        hint: Message,
    },
    /// A demonstration did not come about as promised.
    Demo {
        /// What was not so.
        message: Message,
    },
    /// The state directory cannot be used.
    Home(HomeError),
    /// The server does not answer, or not as wanted.
    Client(ClientError),
    /// The server cannot be started.
    Start(StartError),
    /// The server ended with an error.
    Serve(ServeError),
    /// The journal cannot be read.
    Keep(KeepError),
    /// The configuration has a mistake.
    Config(Arc<ConfigError>),
    /// The vault cannot be used.
    Secrets(Box<SecretsError>),
    /// There is no task file, or it cannot be read.
    Tasks(TasksError),
    /// The state of the tasks cannot be used.
    State(StateError),
    /// The task file cannot be worked with.
    Plan {
        /// What the file is called.
        name: String,
        /// The first thing that is wrong.
        problem: Box<Problem>,
    },
}

/// A key and its values, said when it is known in which language.
#[derive(Debug)]
pub(crate) struct Message {
    key: Key,
    values: Vec<(&'static str, String)>,
}

impl Message {
    pub(crate) fn new(key: Key) -> Message {
        Message { key, values: Vec::new() }
    }

    /// With a value.
    pub(crate) fn with(mut self, name: &'static str, value: &dyn Display) -> Message {
        self.values.push((name, value.to_string()));
        self
    }

    pub(crate) fn say(&self, words: Words) -> String {
        let values: Vec<(&str, &dyn Display)> =
            self.values.iter().map(|(name, value)| (*name, value as &dyn Display)).collect();
        words.say(self.key, &values)
    }
}

impl Error {
    /// What happened, in a sentence.
    pub(crate) fn message(&self, words: Words) -> String {
        match self {
            Error::Input { path: Some(path), source } | Error::Stream { path: Some(path), source } => {
                words.say(Key::CannotRead, &[("path", &path.display()), ("source", source)])
            }
            Error::Input { path: None, source } | Error::Stream { path: None, source } => {
                words.say(Key::CannotReadInput, &[("source", source)])
            }
            Error::Output(source) => words.say(Key::CannotWrite, &[("source", source)]),
            Error::Stats(source) => words.say(Key::CannotWriteStats, &[("source", source)]),
            Error::File { path, source } => {
                words.say(Key::CannotWriteFile, &[("path", &path.display()), ("source", source)])
            }
            Error::UnknownCommand { name, .. } => {
                words.say(Key::UnknownCommand, &[("name", &one_line(name))])
            }
            Error::CommandLine { message, .. } => message.clone(),
            Error::Usage { message, .. }
            | Error::NotFound { message, .. }
            | Error::Refused { message, .. }
            | Error::Demo { message } => message.say(words),
            Error::Home(error) => error.to_string(),
            Error::Start(StartError::NotTheServer { path, pid }) => not_the_server(words, path, *pid),
            Error::Client(error) => unanswered(words, error),
            Error::Start(StartError::Refused(problem)) => refusal::message(words, problem),
            // A server that is there and silent was started.
            Error::Start(error @ (StartError::NoAnswer { .. } | StartError::Silent { .. })) => {
                error.to_string()
            }
            Error::Start(error) => words.say(Key::NotStarted, &[("message", error)]),
            Error::Serve(error) => words.say(Key::NotStarted, &[("message", error)]),
            Error::Keep(error) => error.to_string(),
            Error::Config(error) => error.to_string(),
            Error::Tasks(error) => match error {
                TasksError::NotFound { named: None } => {
                    words.say(Key::NoTaskFile, &[("files", &TASK_FILES.join(", "))])
                }
                TasksError::NotFound { named: Some(path) } => {
                    words.say(Key::NoTaskFileAt, &[("path", &path.display())])
                }
                TasksError::TooLarge { name } => words.say(Key::TaskFileTooLarge, &[("name", name)]),
                TasksError::Unreadable { name, source } => {
                    words.say(Key::TaskFileUnreadable, &[("name", name), ("source", source)])
                }
            },
            Error::State(error) => words.say(Key::StateRefused, &[("message", error)]),
            Error::Plan { name, problem } => {
                format!("{name}:{}: {}", problem.line(), words.plan_problem(problem))
            }
            Error::Secrets(error) => match **error {
                SecretsError::Locked => words.sentence(Key::VaultLocked).to_owned(),
                SecretsError::Open(OpenError::WrongKey { .. }) => {
                    words.sentence(Key::VaultNotOpened).to_owned()
                }
                _ => error.to_string(),
            },
        }
    }

    /// What to do next.
    pub(crate) fn hint(&self, words: Words) -> Option<String> {
        let key = match self {
            Error::Input { source, .. } => match source.kind() {
                io::ErrorKind::NotFound => Key::HintCheckPath,
                io::ErrorKind::IsADirectory => Key::HintFileInIt,
                io::ErrorKind::PermissionDenied => Key::HintPermission,
                io::ErrorKind::InvalidData => Key::HintText,
                _ => Key::HintUnchanged,
            },
            Error::Stream { source, .. } => match source.kind() {
                io::ErrorKind::NotFound => Key::HintPath,
                io::ErrorKind::IsADirectory => Key::HintDirectory,
                io::ErrorKind::PermissionDenied => Key::HintPermission,
                _ => Key::HintReadBefore,
            },
            Error::File { source, .. } if source.kind() == io::ErrorKind::AlreadyExists => Key::HintExists,
            Error::Output(_) | Error::Stats(_) | Error::File { .. } => Key::HintOutputCut,
            Error::UnknownCommand { nearest: Some(nearest), .. } => {
                return Some(words.say(Key::HintDidYouMean, &[("nearest", nearest)]));
            }
            Error::UnknownCommand { nearest: None, .. } => Key::HintHelp,
            Error::CommandLine { hint, .. } => return Some(hint.clone()),
            Error::Usage { command, .. } => return Some(words.say(Key::HintUsage, &[("command", command)])),
            Error::NotFound { hint, .. } | Error::Refused { hint, .. } => return Some(hint.say(words)),
            Error::Home(_) | Error::Start(StartError::Home(_)) | Error::Serve(ServeError::Home(_)) => {
                Key::HintHome
            }
            Error::Start(StartError::Marked { .. }) | Error::Serve(ServeError::Marked { .. }) => {
                Key::HintMarked
            }
            Error::Demo { .. } => Key::HintDemo,
            Error::Client(ClientError::Refused(problem)) | Error::Start(StartError::Refused(problem)) => {
                return refusal::hint(words, problem);
            }
            Error::Start(StartError::Silent { pid: Some(pid) }) => {
                return Some(words.say(Key::HintServerSilent, &[("pid", pid)]));
            }
            Error::Client(ClientError::Strange { .. }) => Key::HintStrange,
            Error::Client(ClientError::NotTheServer { pid, .. })
            | Error::Start(StartError::NotTheServer { pid, .. }) => {
                return Some(words.say(Key::HintNotTheServer, &[("pid", pid)]));
            }
            Error::Keep(KeepError::Held(_)) => Key::HintMendStop,
            Error::Keep(error) if error.is_damage() => Key::HintMend,
            Error::Serve(error) if error.is_damage() => Key::HintMend,
            Error::Start(StartError::NoAnswer { is_damaged: true, .. }) => Key::HintMend,
            Error::Client(_) | Error::Start(_) | Error::Serve(_) | Error::Keep(_) => Key::HintServer,
            Error::Config(error) => match **error {
                ConfigError::Unreadable { .. } => Key::HintConfigFile,
                ConfigError::Wrong { .. } => Key::HintConfig,
            },
            Error::Tasks(TasksError::NotFound { .. }) => Key::HintTaskFile,
            Error::Tasks(TasksError::TooLarge { .. }) => Key::HintTaskFileLarge,
            Error::Tasks(TasksError::Unreadable { .. }) => Key::HintPermission,
            Error::State(StateError::Locked { pid: None }) => Key::HintStateLockUnowned,
            Error::State(StateError::Locked { .. }) => Key::HintStateLocked,
            Error::State(StateError::Corrupt { .. }) => Key::HintStateRepair,
            Error::State(StateError::Outside | StateError::Unreadable(_)) => Key::HintState,
            Error::State(StateError::Unwritable(_)) => Key::HintStateUnwritable,
            Error::Plan { .. } => Key::HintPlan,
            Error::Secrets(error) if matches!(**error, SecretsError::Locked) => Key::HintUnlock,
            Error::Secrets(error) => return Some(error.advice().to_owned()),
        };
        Some(words.sentence(key).to_owned())
    }

    /// The documented exit code.
    pub(crate) fn exit(&self) -> Exit {
        match self {
            Error::Input { .. } | Error::Stream { .. } | Error::Tasks(TasksError::Unreadable { .. }) => {
                Exit::Input
            }
            Error::Output(_)
            | Error::Stats(_)
            | Error::File { .. }
            | Error::State(StateError::Unwritable(_)) => Exit::Output,
            Error::UnknownCommand { .. } | Error::CommandLine { .. } | Error::Usage { .. } => Exit::Usage,
            Error::NotFound { .. }
            | Error::Keep(KeepError::Nothing { .. })
            | Error::Tasks(TasksError::NotFound { .. }) => Exit::NotFound,
            Error::Tasks(TasksError::TooLarge { .. }) | Error::Plan { .. } | Error::State(_) => Exit::Plan,
            Error::Secrets(error) if matches!(**error, SecretsError::Config(_)) => Exit::Config,
            Error::Refused { .. } | Error::Secrets(_) | Error::Keep(KeepError::Held(_)) => Exit::Refused,
            Error::Client(ClientError::Refused(problem)) | Error::Start(StartError::Refused(problem)) => {
                refusal::exit(problem)
            }
            Error::Home(_) | Error::Client(_) | Error::Start(_) | Error::Serve(_) => Exit::NoServer,
            Error::Keep(_) | Error::Demo { .. } => Exit::Failed,
            Error::Config(_) => Exit::Config,
        }
    }

    /// The word by which programs know it, explained in docs/troubleshooting.md. The server has words of its own.
    fn code(&self) -> &'static str {
        match self {
            Error::Input { .. } | Error::Stream { .. } => "input",
            Error::Output(_) | Error::Stats(_) => "output",
            Error::File { .. } => "file",
            Error::UnknownCommand { .. } => "unknown_command",
            Error::CommandLine { .. } | Error::Usage { .. } => "usage",
            Error::NotFound { .. } => "not_found",
            Error::Refused { .. } => "refused",
            Error::Demo { .. } => "demo",
            Error::Home(_) | Error::Start(StartError::Home(_)) | Error::Serve(ServeError::Home(_)) => "home",
            Error::Client(ClientError::Strange { .. }) => "strange_server",
            Error::Client(ClientError::NotTheServer { .. })
            | Error::Start(StartError::NotTheServer { .. }) => "not_the_server",
            Error::Client(_) => "no_server",
            Error::Start(_) | Error::Serve(_) => "not_started",
            Error::Keep(_) => "journal",
            Error::Config(_) => "configuration",
            Error::Secrets(_) => "vault",
            Error::Tasks(_) => "task_file",
            Error::State(_) => "task_state",
            Error::Plan { .. } => "plan",
        }
    }

    /// For `--json`: never translated.
    pub(crate) fn to_json(&self, words: Words) -> Value {
        let problem = match self {
            Error::Client(ClientError::Refused(problem)) | Error::Start(StartError::Refused(problem)) => {
                json!(problem)
            }
            _ => json!({ "type": self.code(), "title": self.message(words), "hint": self.hint(words) }),
        };
        json!({ "error": problem, "exit_code": self.exit() as u8 })
    }
}

impl From<ClientError> for Error {
    fn from(error: ClientError) -> Self {
        Error::Client(error)
    }
}

/// Why a server gave no answer, or not the one that was wanted.
fn unanswered(words: Words, error: &ClientError) -> String {
    match error {
        ClientError::NoServer { path, source } => {
            words.say(Key::NoServerAt, &[("path", &path.display()), ("source", source)])
        }
        ClientError::NotTheServer { path, pid } => not_the_server(words, path, *pid),
        ClientError::Broken { message, .. } => words.say(Key::Broken, &[("message", message)]),
        ClientError::Strange { message, .. } => words.say(Key::Strange, &[("message", message)]),
        ClientError::Refused(problem) => refusal::message(words, problem),
    }
}

fn not_the_server(words: Words, path: &Path, pid: i32) -> String {
    words.say(Key::NotTheServer, &[("path", &path.display()), ("pid", &pid)])
}
