//! A demonstration: a small project and three scripted agents. `ostler demo` plays it in a terminal, and a new user
//! starts it on the page. Nothing is faked: it is a real repository, and the agents are real processes.
//!
//! An agent waits at a gate, a file that somebody makes, before it goes on with its part: whoever plays says when.

pub mod full;

use std::{
    collections::BTreeMap,
    env, fmt,
    fs::{self, DirBuilder, OpenOptions},
    io::{self, Write},
    os::unix::fs::DirBuilderExt,
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

use ostler_files::private;

use crate::{api::NewRun, helper};

/// The files, below the directory.
const FILES: [(&str, &str); 6] = [
    ("make.sh", include_str!("demo/shop/make.sh")),
    ("shop/order.sh", include_str!("demo/shop/order.sh")),
    ("shop/test.sh", include_str!("demo/shop/test.sh")),
    ("agents/database.sh", include_str!("demo/agents/database.sh")),
    ("agents/total.sh", include_str!("demo/agents/total.sh")),
    ("agents/prices.sh", include_str!("demo/agents/prices.sh")),
];

/// A scripted agent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Agent {
    /// The name of its script.
    pub name: &'static str,
    /// What decides whether it is done.
    pub check: &'static str,
    /// How often it may try.
    pub attempts_max: u32,
}

/// The one that asks, the one that is sent back, and the one that works on.
pub const AGENTS: [Agent; 3] = [
    Agent { name: "database", check: "grep '^database = .' settings.conf", attempts_max: 1 },
    Agent { name: "total", check: "sh test.sh", attempts_max: 3 },
    Agent { name: "prices", check: "test -s prices.txt", attempts_max: 1 },
];

/// How the agents play.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Manner {
    /// Whether they speak Korean.
    pub korean: bool,
    /// Whether somebody watches, who wants to see them work.
    pub watched: bool,
    /// Whether nobody opens the gates: the one that asks does it with its answer.
    pub alone: bool,
}

/// Where a demonstration takes place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Shop {
    root: PathBuf,
}

/// Why there is no demonstration.
#[derive(Debug)]
pub enum DemoError {
    /// Something cannot be written.
    File {
        /// Which file.
        path: PathBuf,
        /// Why not.
        source: io::Error,
    },
    /// The repository cannot be made.
    NoProject(io::Error),
    /// The path is no text.
    NotUnicode(PathBuf),
}

impl Shop {
    /// In this directory, which is there.
    pub fn at(root: &Path) -> Shop {
        Shop { root: root.to_path_buf() }
    }

    /// Makes the project and the agents.
    pub fn furnish(&self) -> Result<(), DemoError> {
        write_files(&self.root, &FILES)?;
        let gates = self.gates();
        fs::create_dir(&gates).map_err(|source| DemoError::File { path: gates, source })?;
        commit(&self.root, &self.project())
    }

    /// The project.
    pub fn project(&self) -> PathBuf {
        self.root.join("shop")
    }

    /// Lets an agent go on.
    pub fn open_gate(&self, name: &str) -> Result<(), DemoError> {
        let path = self.gates().join(name);
        let opened = private::open_or_create(&path, OpenOptions::new().append(true));
        opened.map(drop).map_err(|source| DemoError::File { path, source })
    }

    /// What is asked of each agent, in the order of [`AGENTS`].
    pub fn runs(&self, manner: Manner) -> Result<Vec<NewRun>, DemoError> {
        AGENTS.iter().map(|agent| self.run(agent, manner)).collect()
    }

    fn run(&self, agent: &Agent, manner: Manner) -> Result<NewRun, DemoError> {
        let mut environment = common_environment(manner);
        environment.insert("DEMO_GATES".to_owned(), text(self.gates())?);
        if manner.alone {
            environment.insert("DEMO_ALONE".to_owned(), "1".to_owned());
        }
        let script = self.root.join("agents").join(format!("{}.sh", agent.name));
        Ok(NewRun {
            directory: text(self.project())?,
            command: vec!["sh".to_owned(), text(script)?],
            check: Some(agent.check.to_owned()),
            attempts_max: Some(agent.attempts_max),
            worktree: true,
            environment: Some(environment),
            korean: manner.korean,
            ..NewRun::default()
        })
    }

    fn gates(&self) -> PathBuf {
        self.root.join("gates")
    }
}

/// Writes files that are not there yet, below a directory.
fn write_files(root: &Path, files: &[(&str, &str)]) -> Result<(), DemoError> {
    for (name, text) in files {
        let path = root.join(name);
        let folder = path.parent().unwrap_or(root);
        let written = DirBuilder::new()
            .recursive(true)
            .mode(0o700)
            .create(folder)
            .and_then(|()| private::create(&path)?.write_all(text.as_bytes()));
        written.map_err(|source| DemoError::File { path: path.clone(), source })?;
    }
    Ok(())
}

/// Makes a repository of a project, with one commit.
fn commit(root: &Path, project: &Path) -> Result<(), DemoError> {
    run_script(&root.join("make.sh"), project).map_err(DemoError::NoProject)
}

/// What the agents of every demonstration find in their environment.
fn common_environment(manner: Manner) -> BTreeMap<String, String> {
    let tick = if manner.watched { "0.7" } else { "0.02" };
    let mut environment = BTreeMap::from([
        ("DEMO_LANGUAGE".to_owned(), if manner.korean { "ko" } else { "en" }.to_owned()),
        ("DEMO_TICK".to_owned(), tick.to_owned()),
    ]);
    environment.extend(env::var("PATH").map(|path| ("PATH".to_owned(), path)));
    environment
}

fn text(path: PathBuf) -> Result<String, DemoError> {
    match path.to_str() {
        Some(text) => Ok(text.to_owned()),
        None => Err(DemoError::NotUnicode(path)),
    }
}

/// Runs a shell script in a directory. Of the user's environment it gets the path alone, so that it does the same for
/// everybody.
#[expect(clippy::disallowed_methods, reason = "the project of a demonstration is made by a script")]
fn run_script(script: &Path, directory: &Path) -> Result<(), io::Error> {
    let mut command = Command::new("sh");
    command.arg(script).current_dir(directory).stdin(Stdio::null()).env_clear();
    command.envs(env::var_os("PATH").map(|path| ("PATH", path)));
    helper::mark(&mut command);
    let output = command.output()?;
    if output.status.success() {
        return Ok(());
    }
    let errors = String::from_utf8_lossy(&output.stderr);
    let why = errors.lines().rev().find(|line| !line.trim().is_empty()).unwrap_or("no reason given");
    Err(io::Error::other(format!("{}: {why}", output.status)))
}

impl fmt::Display for DemoError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            DemoError::File { path, source } => write!(f, "cannot write '{}': {source}", path.display()),
            DemoError::NoProject(source) => write!(f, "the project cannot be made: {source}"),
            DemoError::NotUnicode(path) => write!(f, "'{}' is no text in UTF-8", path.display()),
        }
    }
}

impl std::error::Error for DemoError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            DemoError::File { source, .. } | DemoError::NoProject(source) => Some(source),
            DemoError::NotUnicode(_) => None,
        }
    }
}
