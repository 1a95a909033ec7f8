//! Whether an agent's program is where it would be started. It is looked for, and never run.

use std::{
    collections::BTreeMap,
    env,
    ffi::OsStr,
    os::unix::fs::PermissionsExt,
    path::{Path, PathBuf},
};

use axum::http::StatusCode;
use ostler_agents::Agent;
use serde_json::json;

use super::code::Code;
use crate::api::Problem;

/// An agent whose program cannot be found.
pub(super) struct MissingProgram {
    pub(super) agent: String,
    pub(super) program: String,
    /// The command that installs it, where its table names one.
    pub(super) install: Option<String>,
}

impl MissingProgram {
    /// Looks for the program of an agent that would have this environment. A program that is filled in later, or named
    /// relative to a directory, or looked for on a path that is filled in later, is not judged.
    pub(super) fn of(agent: &Agent, environment: &BTreeMap<String, String>) -> Option<MissingProgram> {
        let program = agent.command.first()?.fill(|_| None).ok()?;
        let is_relative = program.contains('/') && !Path::new(&program).is_absolute();
        if is_relative || agent.environment.contains_key("PATH") {
            return None;
        }
        let search = environment.get("PATH").map(String::as_str).unwrap_or_default();
        let is_missing = !is_installed(&program, OsStr::new(search));
        is_missing.then(|| MissingProgram {
            agent: agent.name.clone(),
            program,
            install: agent.install.clone(),
        })
    }

    pub(super) fn says(&self) -> String {
        let MissingProgram { agent, program, .. } = self;
        format!("agent '{agent}' is not installed: there is no program '{program}'")
    }
}

impl From<MissingProgram> for Problem {
    fn from(missing: MissingProgram) -> Problem {
        let hint = match &missing.install {
            Some(install) => format!("Install it: {install}. Nothing was started."),
            None => "Install it, or see `ostler agents list`. Nothing was started.".to_owned(),
        };
        let MissingProgram { agent, program, install } = &missing;
        let details =
            json!({ "key": "not_installed", "name": agent, "program": program, "install": install });
        Problem::new(StatusCode::NOT_FOUND, Code::NotInstalled, missing.says()).hint(hint).details(details)
    }
}

/// Whether a program is in one of the folders that are searched.
pub(super) fn is_installed(program: &str, search: &OsStr) -> bool {
    let is_program =
        |path: PathBuf| path.metadata().is_ok_and(|it| it.is_file() && it.permissions().mode() & 0o111 != 0);
    if program.contains('/') {
        is_program(program.into())
    } else {
        env::split_paths(search).any(|folder| is_program(folder.join(program)))
    }
}
