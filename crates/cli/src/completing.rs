//! What a shell is offered while somebody types: ids and names of sessions, requests, agents, tasks. A server that runs is
//! asked; none is started, and whatever goes wrong, nothing is offered and nothing is said.

use std::{env, ffi::OsStr, process::ExitCode, time::Duration};

use clap::{Arg, Command};
use clap_complete::{ArgValueCompleter, CompleteEnv, CompletionCandidate};
use ostler_orchestrate::Project;
use ostler_server::{
    Home,
    api::{SessionView, StatusView},
    client::Client,
    config::{self, Config},
};
use tokio::time::timeout;

use crate::{context::talk, screen::one_line, sessions};

/// The variable with which a shell asks.
pub(crate) const VARIABLE: &str = "OSTLER_COMPLETE";

/// How long a shell waits at most.
const PATIENCE: Duration = Duration::from_millis(400);

/// How many sessions that have ended are offered.
const ENDED_MAX: usize = 50;

/// Answers a shell that asks; nothing, if this is no such question.
pub(crate) fn answer(command: fn() -> Command) -> Option<ExitCode> {
    env::var_os(VARIABLE).filter(|shell| !shell.is_empty())?;
    let answered = CompleteEnv::with_factory(move || offering(command()))
        .var(VARIABLE)
        .try_complete(env::args_os(), env::current_dir().ok().as_deref());
    answered.unwrap_or(true).then_some(ExitCode::SUCCESS)
}

/// The command with what can be offered for its values, by what help calls them.
fn offering(command: Command) -> Command {
    let name = command.get_name().to_owned();
    let command = command.mut_args(|arg| offered(&name, arg));
    command.mut_subcommands(|sub| match (name.as_str(), sub.get_name()) {
        // Its ids are those of tasks.
        ("tasks", _) => sub.mut_args(|arg| with(arg, "ID", tasks)),
        ("agents", _) => sub.mut_args(|arg| with(arg, "NAME", agents)),
        _ => offering(sub),
    })
}

fn offered(command: &str, arg: Arg) -> Arg {
    match command {
        "exec" => with(arg, "ID", tasks),
        _ => with(with(with(arg, "ID", ids), "AGENT", agents), "TASK", tasks),
    }
}

/// The argument with what is offered, if help calls its value so.
fn with(arg: Arg, value: &str, offer: fn(&OsStr) -> Vec<CompletionCandidate>) -> Arg {
    let is_it = arg.get_value_names().is_some_and(|names| names.iter().any(|name| name.as_str() == value));
    if is_it { arg.add(ArgValueCompleter::new(offer)) } else { arg }
}

/// Those that begin with what is typed. Shells put them on the command line as they are, and a repository may name an
/// agent `x$(command)`: what a shell could read as more than a word is not offered.
fn beginning(typed: &OsStr, all: impl Iterator<Item = (String, String)>) -> Vec<CompletionCandidate> {
    let typed = typed.to_str().unwrap_or("\0");
    let is_word = |value: &str| value.chars().all(|char| char.is_alphanumeric() || "-_.:@+/".contains(char));
    let meant =
        all.filter(|(value, _)| value.starts_with(typed) && is_word(value) && !value.starts_with('-'));
    meant.map(|(value, about)| CompletionCandidate::new(value).help(Some(one_line(&about).into()))).collect()
}

/// Sessions by id and by name, and what waits for somebody.
fn ids(typed: &OsStr) -> Vec<CompletionCandidate> {
    let asked = async {
        let home = Home::find().ok()?;
        let client = Client::new(&home);
        let status: StatusView = client.look("/status").await.ok()?;
        let ended: Vec<SessionView> =
            client.look(&format!("/sessions?all=true&limit={ENDED_MAX}")).await.unwrap_or_default();
        Some((status, ended))
    };
    let found = talk(async { Ok(timeout(PATIENCE, asked).await.ok().flatten()) });
    let Ok(Some((status, ended))) = found else { return Vec::new() };
    let is_new = |it: &&SessionView| !status.sessions.iter().any(|live| live.id == it.id);
    let all = status.sessions.iter().chain(ended.iter().filter(is_new));
    let of_session = |it: &SessionView| {
        let about = format!("{} {}", it.agent, it.title);
        let name = it.name.clone().map(|name| (name, format!("{} {about}", it.id)));
        let label = sessions::named(&it.agent, it.name.as_deref());
        name.into_iter().chain([(it.id.clone(), format!("{label} {}", it.title))])
    };
    let requests = status.needs_you.iter().map(|it| (it.id.clone(), it.ask.text.clone()));
    let last = [("last".to_owned(), String::new())];
    beginning(typed, all.flat_map(of_session).chain(requests).chain(last))
}

fn agents(typed: &OsStr) -> Vec<CompletionCandidate> {
    let root = env::current_dir().ok().and_then(|directory| config::project_root(&directory));
    let Ok(config) = Config::load(root.as_deref(), &[]) else { return Vec::new() };
    beginning(typed, config.agents.iter().map(|agent| (agent.name.clone(), agent.about.clone())))
}

fn tasks(typed: &OsStr) -> Vec<CompletionCandidate> {
    let Ok(directory) = env::current_dir() else { return Vec::new() };
    let Ok((plan, _)) = Project::find(&directory, None).plan() else { return Vec::new() };
    let tasks = plan.tasks().map(|task| (task.name().to_owned(), task.title().into_owned()));
    beginning(typed, tasks.collect::<Vec<_>>().into_iter())
}
