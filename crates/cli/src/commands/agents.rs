//! `ostler agents`: which agents can be run, what is known of them, and whether they are there.

use std::thread;

use clap::{Args, Subcommand};
use ostler_agents::{Agent, Agents, Output};
use ostler_protocol::stream::Cli;
use ostler_server::config::Config;
use serde_json::{Value, json};

use crate::{
    context::Context,
    error::{Error, Message},
    exit::Exit,
    login::Login,
    program,
    screen::{Cell, Style, one_line},
    words::{Key, Words},
};

/// The agents that can be run.
#[derive(Args)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// List the agents: those that come with Ostler and yours, whether each is installed, and whether somebody is signed in.
    ///
    /// The table of an agent names the variables and files that prove a login; their values are never shown. Where none of
    /// them is there, no login is found; where the table names none, it is unknown.
    List,
    /// Show the table of an agent.
    Show {
        /// Its name.
        #[arg(value_name = "NAME")]
        name: String,
    },
    /// Ask the CLIs for their versions and compare with those that were tested.
    ///
    /// The exit code is 1 if one of them is missing. Name one to check that one alone.
    Check {
        /// Only this one.
        #[arg(value_name = "NAME")]
        name: Option<String>,
    },
}

pub(crate) fn run(context: &Context, arguments: &Arguments) -> Result<Exit, Error> {
    let config = context.config()?;
    let agents = &config.agents;
    match &arguments.command {
        Command::List => list(context, config),
        Command::Show { name } => show(context, config, find(agents, name)?),
        Command::Check { name: Some(name) } => check(context, config, &[find(agents, name)?]),
        Command::Check { name: None } => check(context, config, &agents.iter().collect::<Vec<_>>()),
    }
}

fn find<'a>(agents: &'a Agents, name: &str) -> Result<&'a Agent, Error> {
    agents.get(name).ok_or_else(|| Error::NotFound {
        message: Message::new(Key::UnknownAgent).with("name", &name),
        hint: match agents.nearest(name) {
            Some(nearest) => Message::new(Key::HintDidYouMean).with("nearest", &nearest),
            None => Message::new(Key::HintAgents),
        },
    })
}

fn source(config: &Config, agent: &Agent) -> &'static str {
    if config.is_of_repository(&agent.name) {
        return "repository";
    }
    let is_builtin = Agent::builtin(&agent.name).is_some_and(|builtin| builtin == *agent);
    if is_builtin { "built in" } else { "configuration" }
}

fn list(context: &Context, config: &Config) -> Result<Exit, Error> {
    let listed = asked(config, &config.agents.iter().collect::<Vec<_>>());
    let value: Vec<Value> = listed
        .iter()
        .map(|it| {
            let Checked { agent, login, .. } = it;
            let proof = if let Login::Found(proof) = login { Some(proof) } else { None };
            json!({
                "name": agent.name, "about": agent.about, "tested": agent.tested,
                "source": source(config, agent), "installed": it.is_installed,
                "version": it.version.as_ref().and_then(|it| it.as_ref().ok()), "install": agent.install,
                "signed_in": login.word(), "signed_in_by": proof,
            })
        })
        .collect();
    let words = context.words;
    context.print(&value, |screen| {
        let keys = [
            Key::ColumnAgent,
            Key::ColumnInstalled,
            Key::ColumnSignedIn,
            Key::ColumnTested,
            Key::ColumnSource,
            Key::ColumnAbout,
        ];
        let head = keys.iter().map(|key| Cell::styled(Style::Dim, words.sentence(*key))).collect();
        let rows = listed.iter().map(|it| {
            vec![
                Cell::new(&it.agent.name),
                Cell::new(&it.installed(words)),
                Cell::new(&signed_in(words, &it.login)),
                Cell::new(it.agent.tested.as_deref().unwrap_or("-")),
                Cell::new(source(config, it.agent)),
                Cell::new(&it.agent.about),
            ]
        });
        screen.columns(&std::iter::once(head).chain(rows).collect::<Vec<_>>())
    })?;
    for it in listed.iter().filter(|it| it.is_installed == Some(false)) {
        if let Some(install) = &it.agent.install {
            let values: &[(&str, &dyn std::fmt::Display)] =
                &[("name", &it.agent.name), ("install", &one_line(install))];
            context.note(&words.say(Key::InstallWith, values));
        }
    }
    Ok(Exit::Done)
}

fn signed_in(words: Words, login: &Login) -> String {
    match login {
        Login::Found(proof) => words.say(Key::SignedIn, &[("proof", proof)]),
        Login::NotFound => words.sentence(Key::SignInNotFound).to_owned(),
        Login::Unknown => words.sentence(Key::SignInUnknown).to_owned(),
    }
}

/// Whether an agent's program is there; nothing where only a launch knows which it is. It is not run for that.
fn is_installed(agent: &Agent) -> Option<bool> {
    let program = agent.command.first()?.fill(|_| None).ok()?;
    Some(program::is_installed(&program))
}

/// Asks all of them at once: some take a second to say who they are.
fn asked<'a>(config: &Config, agents: &[&'a Agent]) -> Vec<Checked<'a>> {
    thread::scope(|scope| {
        let asked: Vec<_> = agents.iter().map(|agent| scope.spawn(|| Checked::of(config, agent))).collect();
        asked.into_iter().filter_map(|it| it.join().ok()).collect()
    })
}

fn show(context: &Context, config: &Config, agent: &Agent) -> Result<Exit, Error> {
    let value = json!(agent);
    context.print(&value, |_| match Agent::builtin_toml(&agent.name) {
        // Its own text has comments; what a user changed has none to show.
        Some(toml) if source(config, agent) == "built in" => below(&agent.name, toml),
        _ => {
            let table = json!({ "agents": { agent.name.as_str(): table(agent) } });
            toml::to_string_pretty(&table).unwrap_or_else(|_| format!("{value:#}\n"))
        }
    })?;
    Ok(Exit::Done)
}

/// A table of its own, as it stands in a configuration file.
fn below(name: &str, toml: &str) -> String {
    let line = |line: &str| match line.strip_prefix('[').filter(|_| line.ends_with(']')) {
        Some(rest) => format!("[agents.{name}.{rest}\n"),
        None => format!("{line}\n"),
    };
    let head = format!("[agents.{name}]\n");
    core::iter::once(head).chain(toml.lines().map(line)).collect()
}

/// An agent in the keys that a configuration file has for it.
fn table(agent: &Agent) -> Value {
    let mut table = without_nothing(json!(agent));
    let Some(keys) = table.as_object_mut() else { return table };
    keys.remove("name");
    let output = match &agent.output {
        Output::Text => json!("text"),
        Output::Table(rules) => match Cli::ALL.into_iter().find(|cli| cli.table_toml() == rules) {
            Some(cli) => json!(cli.name()),
            None => toml::from_str(rules).unwrap_or_default(),
        },
    };
    keys.insert("output".to_owned(), output);
    if let Some(input) = keys.get_mut("input").and_then(Value::as_object_mut) {
        // Derived when the table is read.
        input.remove("proven");
    }
    let private = keys.get_mut("private").and_then(Value::as_object_mut);
    if let Some(private) = private
        && let Some(used) = private.remove("used")
    {
        private.insert("use".to_owned(), used);
    }
    table
}

/// TOML has no word for nothing: such keys are left out.
fn without_nothing(value: Value) -> Value {
    match value {
        Value::Object(map) => Value::Object(
            map.into_iter()
                .filter(|(_, value)| !value.is_null())
                .map(|(key, value)| (key, without_nothing(value)))
                .collect(),
        ),
        other => other,
    }
}

fn check(context: &Context, config: &Config, agents: &[&Agent]) -> Result<Exit, Error> {
    let checked = asked(config, agents);
    let value: Vec<Value> = checked.iter().map(Checked::to_json).collect();
    context.print(&value, |_| {
        let lines: Vec<String> = checked.iter().map(|it| it.say(context.words)).collect();
        lines.join("\n") + "\n"
    })?;
    let is_unasked = checked.iter().all(|it| it.is_of_repository);
    let is_missing = checked.iter().any(Checked::is_missing);
    if is_missing && checked.len() > 1 {
        context.note(context.words.sentence(Key::HintCheckOne));
    }
    Ok(if is_unasked || is_missing { Exit::Failed } else { Exit::Done })
}

/// What a CLI says of itself.
struct Checked<'a> {
    agent: &'a Agent,
    /// A repository says what it is, and nobody may have agreed to run it.
    is_of_repository: bool,
    /// Whether its program is there; nothing where only a launch knows which it is.
    is_installed: Option<bool>,
    login: Login,
    /// Nothing if it cannot be asked.
    version: Option<Result<String, std::io::Error>>,
}

impl Checked<'_> {
    fn of<'a>(config: &Config, agent: &'a Agent) -> Checked<'a> {
        let is_of_repository = config.is_of_repository(&agent.name);
        let can_be_asked = !agent.version.is_empty() && !is_of_repository;
        let version = can_be_asked.then(|| program::first_line(&agent.version));
        let (is_installed, login) = (is_installed(agent), Login::of(agent));
        Checked { agent, is_of_repository, is_installed, login, version }
    }

    fn is_missing(&self) -> bool {
        let is_silent = matches!(self.version, Some(Err(_)));
        is_silent || (self.is_installed == Some(false) && !self.is_of_repository)
    }

    /// The version, or whether it is there at all.
    fn installed(&self, words: Words) -> String {
        let version = self.version.as_ref().and_then(|it| it.as_ref().ok());
        match (version.and_then(|version| Agent::version_in(version)), self.is_installed) {
            (_, Some(false)) => words.sentence(Key::NotThere).to_owned(),
            (Some(version), _) => version.to_owned(),
            (None, Some(true)) => words.sentence(Key::ThereUnasked).to_owned(),
            (None, None) => words.sentence(Key::SignInUnknown).to_owned(),
        }
    }

    fn is_as_tested(&self) -> Option<bool> {
        let numbers = program::version_numbers(self.version.as_ref()?.as_ref().ok()?);
        let tested = program::version_numbers(self.agent.tested.as_ref()?);
        Some(numbers.starts_with(&tested))
    }

    fn say(&self, words: Words) -> String {
        let name: &str = &self.agent.name;
        match &self.version {
            None if self.is_of_repository => words.say(Key::AgentOfRepository, &[("name", &name)]),
            _ if self.is_installed == Some(false) && self.agent.install.is_some() => {
                let install = one_line(self.agent.install.as_deref().unwrap_or_default());
                words.say(Key::InstallWith, &[("name", &name), ("install", &install)])
            }
            None => words.say(Key::AgentNoVersion, &[("name", &name)]),
            Some(Err(error)) => words.say(Key::AgentMissing, &[("name", &name), ("message", error)]),
            Some(Ok(version)) => {
                let tested = self.agent.tested.as_deref().unwrap_or_default();
                let key = match self.is_as_tested() {
                    Some(true) => Key::AgentSame,
                    Some(false) => Key::AgentFound,
                    None => Key::AgentUntested,
                };
                words.say(key, &[("name", &name), ("version", version), ("tested", &tested)])
            }
        }
    }

    fn to_json(&self) -> Value {
        let (version, error) = match &self.version {
            Some(Ok(version)) => (Some(version.clone()), None),
            Some(Err(error)) => (None, Some(error.to_string())),
            None => (None, None),
        };
        json!({
            "name": self.agent.name,
            "version": version,
            "tested": self.agent.tested,
            "as_tested": self.is_as_tested(),
            "error": error,
            "installed": self.is_installed,
            "install": self.agent.install,
        })
    }
}
