//! What a shim is told about the agent it is to run: one file, written by the server before the shim starts.

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
};

use ostler_files::{FILE_BYTES_MAX, private};
use serde::{Deserialize, Serialize};

use crate::{error::Error, lock_limit::LockLimit};

/// The name of the file in the shim's directory.
pub const FILE: &str = "launch.json";

/// How to run an agent and how to listen to it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Launch {
    /// The session's id; the agent's tree can be found by it when all else is lost.
    pub session: String,
    /// Program and arguments.
    pub command: Vec<String>,
    /// Where it runs.
    pub directory: PathBuf,
    /// Its whole environment.
    pub environment: BTreeMap<String, String>,
    /// What it is connected to.
    pub terminal: Terminal,
    /// What it reads from.
    pub input: Input,
    /// What it prints.
    pub format: OutputFormat,
    /// The word that makes its tags trustworthy.
    pub nonce: Option<String>,
    /// Whether it speaks the thin dialect.
    pub thin_role: bool,
    /// Whether a message that asks for something stops it.
    pub stop: bool,
    /// How large its output log may become.
    pub log_bytes_max: u64,
    /// How many files it may have open, if not as many as the shim: a server may have raised its own limit, and
    /// programs that still use `select` come to harm above 1,024.
    #[serde(default)]
    pub open_files_max: Option<u64>,
    /// Whether it may have a control group of its own.
    #[serde(default)]
    pub cgroup: CgroupPolicy,
    /// The private file with the values that it was given, if there is one: they are added to its environment and stand
    /// in no other file.
    #[serde(default)]
    pub values: Option<PathBuf>,
    /// The only places where it may write, if it may not write everywhere the user may. Where the kernel cannot see to
    /// that, it is not seen to.
    #[serde(default)]
    pub writes: Option<Vec<PathBuf>>,
    /// The limit of file locks that a person's processes have. The agent gets a lower one, and the shim obeys nobody who
    /// has a lower one. Without it the shim's own limit counts: an agent that exchanges this file gains nothing.
    #[serde(default)]
    pub baseline: Option<LockLimit>,
    /// Whether the agent may send no signal to a process outside of its own tree.
    #[serde(default)]
    pub scope_signals: bool,
}

impl Launch {
    /// The lowest limit of file locks with which a process may steer the shim. The file can only raise it.
    pub(crate) fn person_limit(&self) -> LockLimit {
        let own = LockLimit::own();
        self.baseline.map_or(own, |baseline| baseline.max(own))
    }

    /// The limit of file locks that marks the agent. The file can only lower it.
    pub(crate) fn agent_limit(&self) -> LockLimit {
        let own = LockLimit::own();
        self.baseline.map_or(own, |baseline| baseline.min(own)).agent_mark()
    }
}

/// Whether an agent gets a control group.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CgroupPolicy {
    /// Where the system allows it.
    #[default]
    Auto,
    /// Not even there.
    Off,
}

/// What an agent's streams are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Terminal {
    /// Pipes, with standard error apart.
    None,
    /// A terminal of this size; both streams are one.
    Pty {
        /// Lines.
        rows: u16,
        /// Characters in a line.
        columns: u16,
    },
}

/// Where an agent's input comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Input {
    /// From the server, whenever there is some: through a pipe, or the terminal if there is one.
    Open,
    /// From the server through a pipe, also where the rest is a terminal.
    Piped,
    /// From nowhere: some CLIs wait for the end of an input that never comes.
    Empty,
}

/// How an agent's output is to be read.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum OutputFormat {
    /// As text.
    Text,
    /// As events that a table describes, in TOML.
    Table(String),
}

impl Launch {
    /// Reads the file in a shim's directory.
    pub fn read(directory: &Path) -> Result<Launch, Error> {
        let path = directory.join(FILE);
        let text = private::read(&path, FILE_BYTES_MAX)
            .map_err(|source| Error::Read { path: path.clone(), source })?;
        serde_json::from_slice(&text).map_err(|source| Error::Launch { path, source })
    }
}
