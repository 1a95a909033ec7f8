//! Whether somebody is signed in with an agent's CLI, as far as its table says what proves it. Values are looked at and
//! never shown.

use std::{
    env,
    path::{Path, PathBuf},
};

use ostler_agents::Agent;
use ostler_files::named;
use serde_json::Value;

/// A file that says who is signed in is shorter than this.
const FILE_BYTES_MAX: u64 = 1 << 20;

/// Whether somebody is signed in.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Login {
    /// By this variable or file.
    Found(String),
    /// Nothing of what would prove it is there.
    NotFound,
    /// The table does not say what proves it, or what it names cannot be read.
    Unknown,
}

impl Login {
    /// Looks for what the table names.
    pub(crate) fn of(agent: &Agent) -> Login {
        Login::found(agent, |name| env::var_os(name).and_then(|value| value.into_string().ok()))
    }

    fn found(agent: &Agent, variable: impl Fn(&str) -> Option<String>) -> Login {
        let login = &agent.login;
        if login.variables.is_empty() && login.files.is_empty() {
            return Login::Unknown;
        }
        // What the table sets counts as if somebody had set it.
        let is_set = |name: &&String| {
            agent.environment.contains_key(*name) || variable(name).is_some_and(|value| !value.is_empty())
        };
        if let Some(name) = login.variables.iter().find(is_set) {
            return Login::Found(name.clone());
        }
        if login.files.is_empty() {
            return Login::NotFound;
        }
        let Some(directory) = directory(agent, &variable) else { return Login::Unknown };
        let mut is_clear = true;
        for (name, keys) in &login.files {
            match proves(&directory.join(name), keys) {
                Ok(true) => return Login::Found(name.clone()),
                Ok(false) => {}
                Err(()) => is_clear = false,
            }
        }
        if is_clear { Login::NotFound } else { Login::Unknown }
    }

    /// The word for machines.
    pub(crate) fn word(&self) -> &'static str {
        match self {
            Login::Found(_) => "yes",
            Login::NotFound => "not_found",
            Login::Unknown => "unknown",
        }
    }
}

/// Where the CLI keeps its own things: what a variable names, what the table sets it to, or the usual place.
fn directory(agent: &Agent, variable: impl Fn(&str) -> Option<String>) -> Option<PathBuf> {
    let home = PathBuf::from(variable("HOME").filter(|home| !home.is_empty())?);
    let Some(private) = &agent.private else { return Some(home) };
    let set = agent.environment.get(&private.variable).map(|value| value.fill(|_| None).ok());
    let named = match set {
        Some(set) => Some(set?),
        None => variable(&private.variable).filter(|value| !value.is_empty()),
    };
    Some(named.map_or_else(|| home.join(&private.default), PathBuf::from))
}

/// Whether a file holds something under one of the keys; what is there and cannot be read proves nothing either way.
fn proves(path: &Path, keys: &[String]) -> Result<bool, ()> {
    let text = match named::read_text(path, FILE_BYTES_MAX) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(false),
        text => text.map_err(drop)?,
    };
    let Ok(Value::Object(all)) = serde_json::from_str(&text) else { return Err(()) };
    let holds = |value: &Value| match value {
        Value::Null => false,
        Value::String(text) => !text.is_empty(),
        Value::Object(all) => !all.is_empty(),
        _ => true,
    };
    Ok(if keys.is_empty() {
        all.values().any(holds)
    } else {
        keys.iter().filter_map(|key| all.get(key)).any(holds)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_table_that_comes_along_says_what_proves_a_login() {
        for agent in ostler_agents::Agents::builtin().iter() {
            let nobody = |name: &str| (name == "HOME").then(|| "/nonexistent".to_owned());
            assert_eq!(Login::found(agent, nobody), Login::NotFound, "{}", agent.name);
            assert!(
                agent.install.as_ref().is_some_and(|it| it.starts_with("npm install -g ")),
                "{}",
                agent.name
            );
        }
        let claude = Agent::builtin("claude").expect("it comes along");
        let set = |name: &str| (name == "ANTHROPIC_API_KEY").then(|| "value".to_owned());
        assert_eq!(Login::found(&claude, set), Login::Found("ANTHROPIC_API_KEY".to_owned()));
        assert_eq!(
            Login::found(&claude, |_| None),
            Login::Unknown,
            "without a home nothing can be looked for"
        );
        assert_eq!(Login::found(&Agent::plain(&["cat".to_owned()]), |_| None), Login::Unknown);
    }
}
