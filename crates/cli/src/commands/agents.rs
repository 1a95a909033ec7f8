//! `ostler agents`: which agents can be run, what is known of them, and whether they are there.

use clap::{Args, Subcommand};
use ostler_agents::{Agent, Agents, Output};
use ostler_protocol::stream::Cli;
use ostler_server::config::Config;
use serde_json::{Value, json};

use crate::{
    context::Context,
    error::{Error, Message},
    exit::Exit,
    program,
    screen::{Cell, Style},
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
    /// List the agents: those that come with Ostler and yours.
    List,
    /// Show the table of an agent.
    Show {
        /// Its name.
        #[arg(value_name = "NAME")]
        name: String,
    },
    /// Ask the CLIs for their versions and compare with those that were tested.
    ///
    /// The exit code is 1 if the named one, or all of them, cannot be found.
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
    let agents = &config.agents;
    let value: Vec<Value> = agents
        .iter()
        .map(|it| {
            json!({
                "name": it.name, "about": it.about, "tested": it.tested, "source": source(config, it),
                "installed": is_installed(it),
            })
        })
        .collect();
    let words = context.words;
    context.print(&value, |screen| {
        let keys =
            [Key::ColumnAgent, Key::ColumnInstalled, Key::ColumnTested, Key::ColumnSource, Key::ColumnAbout];
        let head = keys.iter().map(|key| Cell::styled(Style::Dim, words.sentence(*key))).collect();
        let rows = agents.iter().map(|agent| {
            let tested = agent.tested.as_deref().unwrap_or("-");
            vec![
                Cell::new(&agent.name),
                Cell::new(match is_installed(agent) {
                    Some(true) => "✓",
                    Some(false) => "-",
                    None => "?",
                }),
                Cell::new(tested),
                Cell::new(source(config, agent)),
                Cell::new(&agent.about),
            ]
        });
        screen.columns(&std::iter::once(head).chain(rows).collect::<Vec<_>>())
    })?;
    Ok(Exit::Done)
}

/// Whether an agent's program is there; nothing where only a launch knows which it is. It is not run for that.
fn is_installed(agent: &Agent) -> Option<bool> {
    let program = agent.command.first()?.fill(|_| None).ok()?;
    Some(program::is_installed(&program))
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
    let checked: Vec<Checked<'_>> = agents.iter().map(|agent| Checked::of(config, agent)).collect();
    let value: Vec<Value> = checked.iter().map(Checked::to_json).collect();
    context.print(&value, |_| {
        let lines: Vec<String> = checked.iter().map(|it| it.say(context.words)).collect();
        lines.join("\n") + "\n"
    })?;
    let is_missing = |it: &Checked<'_>| matches!(it.version, Some(Err(_)));
    let is_unasked = checked.iter().all(|it| it.is_of_repository);
    Ok(if is_unasked || checked.iter().any(is_missing) { Exit::Failed } else { Exit::Done })
}

/// What a CLI says of itself.
struct Checked<'a> {
    agent: &'a Agent,
    /// A repository says what it is, and nobody may have agreed to run it.
    is_of_repository: bool,
    /// Nothing if it cannot be asked.
    version: Option<Result<String, std::io::Error>>,
}

impl Checked<'_> {
    fn of<'a>(config: &Config, agent: &'a Agent) -> Checked<'a> {
        let is_of_repository = config.is_of_repository(&agent.name);
        let can_be_asked = !agent.version.is_empty() && !is_of_repository;
        let version = can_be_asked.then(|| program::first_line(&agent.version));
        Checked { agent, is_of_repository, version }
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
        })
    }
}
