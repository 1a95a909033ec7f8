//! Everything that would stop a loop, looked for before it begins and said in one message: agents that do not exist or are
//! not installed, and commands of the repository that nobody agreed to. Nothing is started, and nothing is run.

use std::collections::{BTreeMap, BTreeSet};

use axum::http::StatusCode;
use ostler_agents::Agent;
use ostler_engine::plan::{Plan, State as TaskState, Task};
use ostler_orchestrate::Project;
use serde_json::{Value, json};

use super::super::{code::Code, installed::MissingProgram};
use crate::{
    api::{NewLoop, Problem},
    config::{Config, RepositoryCommand, orchestrate::TEST},
    driver::find_tests,
    environment,
    task_list::{named, short_list},
};

/// The settings of a repository that decide how a loop works.
const SETTINGS: &str = "orchestrate.";

/// What names the agent that is meant where none is named.
const DEFAULT_AGENT: &str = "default_agent";

/// What a loop is about to begin with.
pub(super) struct Preflight<'a> {
    pub(super) new: &'a NewLoop,
    pub(super) project: &'a Project,
    pub(super) plan: &'a Plan,
    pub(super) config: &'a Config,
    /// The fingerprints of what a person agreed to.
    pub(super) trusted: &'a [String],
}

/// One reason not to begin.
enum Obstacle {
    /// A name that no agent has, and where it stands.
    UnknownAgent { name: String, at: &'static str, nearest: Option<String> },
    /// These tasks have nobody to do them.
    NoAgent { tasks: Vec<String> },
    /// An agent whose program cannot be found.
    NotInstalled(MissingProgram),
    /// What nobody agreed to.
    Untrusted { command: RepositoryCommand, tasks: Vec<String> },
}

impl Preflight<'_> {
    /// Refuses with all reasons at once, if there are any.
    pub(super) fn check(&self) -> Result<(), Problem> {
        let open: Vec<Task<'_>> = self.open_tasks();
        let mut found = self.unknown_agents();
        let mut workers: BTreeMap<&String, &Agent> = BTreeMap::new();
        let mut without = Vec::new();
        let named = self.config.orchestrate.executor.as_ref().or(self.new.agent.as_ref());
        let owners: Vec<Option<String>> = open.iter().map(|task| task.owner()).collect();
        for (task, owner) in open.iter().zip(&owners) {
            match self.config.agent_of_task(named, owner.as_ref()) {
                Some(name) => workers.extend(self.config.agents.get(name).map(|agent| (name, agent))),
                None => without.push(task.name().to_owned()),
            }
        }
        workers.extend(
            self.config
                .orchestrate
                .resolver
                .iter()
                .filter_map(|name| Some((name, self.config.agents.get(name)?))),
        );
        // Whoever is asked to agree to a default agent has one afterwards.
        let offers_default = !without.is_empty() && self.unseen(|key| key == DEFAULT_AGENT).next().is_some();
        if !without.is_empty() && !offers_default {
            found.push(Obstacle::NoAgent { tasks: without });
        }
        let needs_agents = workers.keys().any(|name| self.config.is_of_repository(name));
        let counts = |key: &str| {
            key.starts_with(SETTINGS)
                || (needs_agents && key.starts_with("agents."))
                || (offers_default && key == DEFAULT_AGENT)
        };
        let is_usable = |agent: &&Agent| !self.config.is_of_repository(&agent.name);
        found.extend(workers.into_values().filter(is_usable).filter_map(|agent| self.not_installed(agent)));
        found.extend(
            self.unseen(counts).map(|it| Obstacle::Untrusted { command: it.clone(), tasks: Vec::new() }),
        );
        found.extend(self.unseen_tests());
        found.extend(self.unseen_checks(&open));
        if found.is_empty() { Ok(()) } else { Err(refused(&found, &self.project.trust_command())) }
    }

    /// The tasks that this loop would do.
    fn open_tasks(&self) -> Vec<Task<'_>> {
        let state = self.project.state().ok().flatten();
        let states = state.as_ref().map(ostler_orchestrate::State::tasks).unwrap_or_default();
        let is_settled = |state: &TaskState| matches!(state, TaskState::Completed | TaskState::Skipped);
        let settled = states.iter().filter(|(_, state)| is_settled(state)).map(|(id, _)| id.as_str());
        let settled: BTreeSet<&str> = settled.collect();
        let is_wanted = |task: &Task<'_>| self.new.phase.is_none_or(|phase| task.phase() == phase);
        let open = self.plan.tasks().filter(|task| !task.is_done() && !settled.contains(task.name()));
        open.filter(is_wanted).collect()
    }

    fn unknown_agents(&self) -> Vec<Obstacle> {
        let settings = &self.config.orchestrate;
        let executor = settings.executor.as_ref();
        // An executor does everything, whoever else is named.
        let asked_for = self.new.agent.as_ref().filter(|_| executor.is_none());
        let all = [
            (asked_for, "--agent"),
            (settings.resolver.as_ref(), "orchestrate.resolver"),
            (executor, "orchestrate.executor"),
        ];
        let unknown = all.into_iter().filter_map(|(name, at)| Some((name?, at)));
        let unknown = unknown.filter(|(name, _)| self.config.agents.get(name).is_none());
        let obstacle = |(name, at): (&String, &'static str)| Obstacle::UnknownAgent {
            name: name.clone(),
            at,
            nearest: self.config.agents.nearest(name).map(str::to_owned),
        };
        unknown.map(obstacle).collect()
    }

    fn not_installed(&self, agent: &Agent) -> Option<Obstacle> {
        let variables = self.new.environment.clone().unwrap_or_else(environment::of_server);
        MissingProgram::of(agent, &variables).map(Obstacle::NotInstalled)
    }

    /// What the repository's file says, of which these keys count, and nobody agreed to.
    fn unseen(&self, counts: impl Fn(&str) -> bool) -> impl Iterator<Item = &RepositoryCommand> {
        self.config.commands.iter().filter(move |it| counts(&it.key) && self.is_unseen(it))
    }

    fn is_unseen(&self, command: &RepositoryCommand) -> bool {
        !self.trusted.contains(&command.fingerprint())
    }

    /// The command that tests a phase, where nobody says which it is and it was found.
    fn unseen_tests(&self) -> Option<Obstacle> {
        if self.config.orchestrate.test.is_some() {
            return None;
        }
        let value = find_tests(self.project.root())?;
        let command =
            RepositoryCommand { key: TEST.to_owned(), value, file: self.project.root().to_path_buf() };
        self.is_unseen(&command).then_some(Obstacle::Untrusted { command, tasks: Vec::new() })
    }

    /// The verify commands, each with the tasks that have it.
    fn unseen_checks(&self, open: &[Task<'_>]) -> Vec<Obstacle> {
        let file = self.project.task_file().map(|(path, _)| path).unwrap_or_default();
        let mut tasks: BTreeMap<String, Vec<String>> = BTreeMap::new();
        for task in open {
            if let Some(check) = task.verify() {
                tasks.entry(check).or_default().push(task.name().to_owned());
            }
        }
        let command = |value| RepositoryCommand { key: "verify".to_owned(), value, file: file.clone() };
        let all = tasks.into_iter().map(|(value, tasks)| (command(value), tasks));
        let unseen = all.filter(|(command, _)| self.is_unseen(command));
        unseen.map(|(command, tasks)| Obstacle::Untrusted { command, tasks }).collect()
    }
}

impl Obstacle {
    fn says(&self) -> String {
        match self {
            Obstacle::UnknownAgent { name, at, nearest } => {
                let meant = nearest.as_ref().map(|it| format!("; did you mean '{it}'?")).unwrap_or_default();
                format!("there is no agent '{name}' ({at}){meant}")
            }
            Obstacle::NoAgent { tasks } => format!(
                "no agent for {}: none has the name of the owner, and there is no default agent",
                short_list(tasks, false)
            ),
            Obstacle::NotInstalled(missing) => missing.says(),
            Obstacle::Untrusted { command, tasks } if tasks.is_empty() => {
                format!("nobody has agreed to {} = {}", command.key, command.value.trim_end())
            }
            Obstacle::Untrusted { command, tasks } => {
                format!(
                    "nobody has agreed to the verify command of {}: {}",
                    short_list(tasks, false),
                    command.value
                )
            }
        }
    }

    /// The same for programs, and for words in other languages.
    fn to_json(&self) -> Value {
        match self {
            Obstacle::UnknownAgent { name, at, nearest } => {
                json!({ "why": "unknown_agent", "name": name, "at": at, "nearest": nearest })
            }
            Obstacle::NoAgent { tasks } => {
                json!({ "why": "no_agent", "tasks": named(tasks), "count": tasks.len() })
            }
            Obstacle::NotInstalled(MissingProgram { agent, program, install }) => {
                json!({ "why": "not_installed", "name": agent, "program": program, "install": install })
            }
            Obstacle::Untrusted { command, tasks } => json!({
                "why": "untrusted", "key": command.key, "value": command.value, "file": command.file,
                "tasks": named(tasks), "count": tasks.len(),
            }),
        }
    }
}

/// All of it in one message.
fn refused(found: &[Obstacle], trust: &str) -> Problem {
    let is_untrusted = |it: &Obstacle| matches!(it, Obstacle::Untrusted { .. });
    let code = if found.iter().all(is_untrusted) { Code::Untrusted } else { Code::NoAgent };
    let mut says: Vec<String> = named(found).iter().map(Obstacle::says).collect();
    if found.len() > says.len() {
        says.push(format!("and {} more", found.len() - says.len()));
    }
    let title = match says.as_slice() {
        [one] => one.clone(),
        all => format!("{} obstacles:\n- {}", found.len(), all.join("\n- ")),
    };
    let mut hints = Vec::new();
    if found.iter().any(is_untrusted) {
        hints.push(format!("Look at what would run, and decide: {trust}."));
    }
    if found.iter().any(|it| matches!(it, Obstacle::NoAgent { .. })) {
        hints.push("Name an agent with --agent, or as `default_agent`.".to_owned());
    }
    hints.push("Nothing was started.".to_owned());
    let obstacles: Vec<Value> = named(found).iter().map(Obstacle::to_json).collect();
    Problem::new(StatusCode::CONFLICT, code, title).hint(hints.join(" ")).details(
        json!({ "key": "loop_obstacles", "obstacles": obstacles, "count": found.len(), "trust": trust }),
    )
}
