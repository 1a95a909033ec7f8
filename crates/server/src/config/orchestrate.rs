//! `[orchestrate]`: how a task file is worked through. What a project's file would have run, a person has to agree to.

use std::{num::NonZeroU32, time::Duration};

use serde::Deserialize;
use toml::Spanned;

use super::{ConfigError, Source, parse_duration};

/// What names the command that tests a phase.
pub(crate) const TEST: &str = "orchestrate.test";

/// What names the command that makes a new worktree ready.
pub(crate) const SETUP: &str = "orchestrate.setup";

/// The port of the first worktree, if nobody says otherwise; each phase has ten of its own.
const PORT: u16 = 4100;

/// How a task file is worked through.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OrchestrateSettings {
    /// What says that a phase may be merged; looked for in the project, if nothing is said.
    pub test: Option<String>,
    /// What makes a new worktree ready.
    pub setup: Option<String>,
    /// How many tasks run at once.
    pub parallel_max: Option<NonZeroU32>,
    /// After how long a task is ended.
    pub timeout: Option<Duration>,
    /// The first port of the worktrees.
    pub port: u16,
    /// The agent that is asked what comes next; nobody, if Ostler says so itself.
    pub resolver: Option<String>,
    /// The agent that is told in one line to do a task; nobody, if the owners do them.
    pub executor: Option<String>,
    /// Whether each task has a worktree of its own.
    pub worktrees: Worktrees,
}

/// Who has a worktree; what separates more comes last.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Worktrees {
    /// Each phase.
    #[default]
    Phase,
    /// Each task, beside the one of its phase.
    Task,
}

impl Default for OrchestrateSettings {
    fn default() -> Self {
        OrchestrateSettings {
            test: None,
            setup: None,
            parallel_max: None,
            timeout: None,
            port: PORT,
            resolver: None,
            executor: None,
            worktrees: Worktrees::default(),
        }
    }
}

/// The table as it stands in the file.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct OrchestrateTable {
    test: Option<String>,
    setup: Option<String>,
    max_parallel: Option<NonZeroU32>,
    timeout: Option<Spanned<String>>,
    port: Option<u16>,
    resolver: Option<String>,
    executor: Option<String>,
    worktrees: Option<Worktrees>,
}

impl OrchestrateTable {
    pub(super) fn withhold_resolver(&mut self) {
        self.resolver = None;
    }

    pub(super) fn withhold_executor(&mut self) {
        self.executor = None;
    }

    /// Takes what it says over what was said before; of limits the smaller counts, of worktrees the more.
    pub(super) fn take(self, source: &Source, before: &mut OrchestrateSettings) -> Result<(), ConfigError> {
        before.test = self.test.or(before.test.take());
        before.setup = self.setup.or(before.setup.take());
        before.parallel_max = smaller(before.parallel_max, self.max_parallel);
        before.port = self.port.unwrap_or(before.port);
        before.resolver = self.resolver.or(before.resolver.take());
        before.executor = self.executor.or(before.executor.take());
        before.worktrees =
            self.worktrees.map_or(before.worktrees, |worktrees| worktrees.max(before.worktrees));
        if let Some(value) = self.timeout {
            let parsed = parse_duration(value.get_ref());
            let timeout = parsed.map_err(|error| source.wrong(value.span(), error.to_string(), None))?;
            before.timeout = smaller(before.timeout, Some(timeout));
        }
        Ok(())
    }
}

fn smaller<T: Ord>(one: Option<T>, other: Option<T>) -> Option<T> {
    match (one, other) {
        (Some(one), Some(other)) => Some(one.min(other)),
        (one, other) => one.or(other),
    }
}
