//! The table `office`: which CLI works as a role, and roles that no file of their own describes.

use std::{collections::BTreeMap, path::PathBuf, time::Duration};

use ostler_agents::Agents;
use serde::Deserialize;
use toml::Spanned;

use super::{ConfigError, Source, parse_duration};

/// How long a role that has nothing to do is kept, if nobody says otherwise.
const IDLE: Duration = Duration::from_mins(10);

/// How often the same call may end in a row while nothing changes, if nobody says otherwise.
const REPEATS: u32 = 5;

/// What is said of roles.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Office {
    /// The agent of roles that name none.
    pub agent: Option<String>,
    /// How long a role that has nothing to do is kept.
    pub idle: Duration,
    /// How often the same call may end in a row while nothing changes, before a person is asked; without an end if none.
    pub repeats: Option<u32>,
    /// Roles by name.
    pub roles: BTreeMap<String, RoleSetting>,
}

/// What is said of one role.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RoleSetting {
    /// The agent.
    pub agent: Option<String>,
    /// What it is there for, in a sentence.
    pub description: Option<String>,
    /// The model.
    pub model: Option<String>,
    /// The most turns.
    pub turns: Option<u32>,
    /// The tools that need no permission.
    pub tools: Vec<String>,
    /// What it is told.
    pub instruction: Option<String>,
    /// The file with what it is told, below the project.
    pub file: Option<String>,
    /// Whether it works in a worktree of its own.
    pub worktree: bool,
    /// Whether it is spoken to in Korean; as its caller is, if nothing.
    pub korean: Option<bool>,
    /// Where that stands.
    pub place: (PathBuf, usize),
}

impl Default for Office {
    fn default() -> Self {
        Office { agent: None, idle: IDLE, repeats: Some(REPEATS), roles: BTreeMap::new() }
    }
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct OfficeTable {
    agent: Option<Spanned<String>>,
    idle: Option<Spanned<String>>,
    repeats: Option<Spanned<u32>>,
    #[serde(default)]
    roles: BTreeMap<Spanned<String>, RoleTable>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct RoleTable {
    agent: Option<Spanned<String>>,
    description: Option<String>,
    model: Option<String>,
    turns: Option<u32>,
    #[serde(default)]
    tools: Vec<String>,
    instruction: Option<Spanned<String>>,
    file: Option<String>,
    isolation: Option<Spanned<String>>,
    language: Option<Spanned<String>>,
}

impl OfficeTable {
    /// What a file says goes over what the one before said.
    pub(super) fn take(
        self,
        source: &Source,
        agents: &Agents,
        office: &mut Office,
    ) -> Result<(), ConfigError> {
        if let Some(name) = &self.agent {
            office.agent = Some(agent(source, agents, name)?);
        }
        if let Some(idle) = &self.idle {
            office.idle = parse_duration(idle.get_ref())
                .map_err(|error| source.wrong(idle.span(), error.to_string(), None))?;
        }
        if let Some(repeats) = &self.repeats {
            office.repeats = match repeats.get_ref() {
                0 => None,
                1 => {
                    let message = "`repeats` must be 2 or more, or 0 to never ask".to_owned();
                    return Err(source.wrong(repeats.span(), message, None));
                }
                more => Some(*more),
            };
        }
        for (name, table) in self.roles {
            let line = source.line(name.span()).unwrap_or(1);
            if name.get_ref().parse::<ostler_protocol::name::AgentName>().is_err() {
                let message = format!("`{}` is no name of a role", name.get_ref());
                return Err(source.wrong(name.span(), message, None));
            }
            let role = table.read(source, agents, line)?;
            office.roles.insert(name.into_inner(), role);
        }
        Ok(())
    }

    pub(super) fn withhold_agent(&mut self) {
        self.agent = None;
    }

    pub(super) fn withhold_idle(&mut self) {
        self.idle = None;
    }

    pub(super) fn withhold_repeats(&mut self) {
        self.repeats = None;
    }
}

impl RoleTable {
    fn read(self, source: &Source, agents: &Agents, line: usize) -> Result<RoleSetting, ConfigError> {
        let worktree = match self.isolation.as_ref().map(|it| it.get_ref().as_str()) {
            None | Some("none") => false,
            Some("worktree") => true,
            Some(other) => {
                let message = format!("unknown isolation `{other}`, expected `worktree` or `none`");
                let span = self.isolation.as_ref().map(Spanned::span).unwrap_or_default();
                return Err(source.wrong(span, message, None));
            }
        };
        let korean = match self.language.as_ref().map(|it| it.get_ref().as_str()) {
            None => None,
            Some("ko") => Some(true),
            Some("en") => Some(false),
            Some(other) => {
                let message = format!("unknown language `{other}`, expected `en` or `ko`");
                let span = self.language.as_ref().map(Spanned::span).unwrap_or_default();
                return Err(source.wrong(span, message, None));
            }
        };
        if let Some(instruction) = self.instruction.as_ref().filter(|_| self.file.is_some()) {
            let message = "a role has an `instruction` or a `file`, not both".to_owned();
            return Err(source.wrong(instruction.span(), message, None));
        }
        Ok(RoleSetting {
            agent: self.agent.map(|name| agent(source, agents, &name)).transpose()?,
            description: self.description,
            model: self.model,
            turns: self.turns,
            tools: self.tools,
            instruction: self.instruction.map(Spanned::into_inner),
            file: self.file,
            worktree,
            korean,
            place: (source.path.clone(), line),
        })
    }
}

fn agent(source: &Source, agents: &Agents, name: &Spanned<String>) -> Result<String, ConfigError> {
    if agents.get(name.get_ref()).is_none() {
        let message = format!("`{}` is no agent", name.get_ref());
        return Err(source.wrong(name.span(), message, agents.nearest(name.get_ref())));
    }
    Ok(name.get_ref().clone())
}
