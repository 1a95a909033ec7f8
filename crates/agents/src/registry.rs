//! The agents that a user can name: those that come with Ostler and those of the configuration.

use alloc::{
    collections::BTreeMap,
    string::{String, ToString},
};

use crate::{
    agent::Agent,
    nearest::nearest,
    table::{Overlay, TableError, read_agents},
};

/// The names of the tables that come with Ostler.
pub const BUILTIN_NAMES: [&str; 4] = ["claude", "codex", "gemini", "opencode"];

/// All agents by name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Agents {
    agents: BTreeMap<String, Agent>,
}

impl Agents {
    /// Those that come with Ostler.
    pub fn builtin() -> Agents {
        let agents =
            BUILTIN_NAMES.into_iter().filter_map(|name| Some((name.to_string(), Agent::builtin(name)?)));
        Agents { agents: agents.collect() }
    }

    /// Adds the `[agents.NAME]` tables of a configuration file; its other tables are somebody else's.
    ///
    /// A table whose name is taken changes that agent; `extends` begins with another one. Nothing is added when
    /// one of them has a mistake.
    pub fn add(&mut self, toml: &str) -> Result<(), TableError> {
        let mut open = read_agents(toml)?;
        let mut agents = self.agents.clone();
        // A table may extend one that stands behind it, so each round takes those whose base is there.
        while let Some(name) = ready(&open, &agents) {
            let Some(overlay) = open.remove(&name) else { break };
            let base = overlay.extends().map_or(name.as_str(), |base| base);
            let agent = match agents.get(base) {
                Some(base) => overlay.extend(base, &name, toml)?,
                None => overlay.extend(&Agent::empty(&name), &name, toml)?,
            };
            agents.insert(name, agent);
        }
        if let Some((name, overlay)) = open.first_key_value() {
            let known = agents.keys().chain(open.keys().filter(|key| *key != name)).map(String::as_str);
            return Err(overlay.unknown_base(name, toml, known));
        }
        self.agents = agents;
        Ok(())
    }

    /// The agent of that name.
    pub fn get(&self, name: &str) -> Option<&Agent> {
        self.agents.get(name)
    }

    /// The name that was probably meant by one that is unknown.
    pub fn nearest(&self, name: &str) -> Option<&str> {
        nearest(name, self.agents.keys().map(String::as_str))
    }

    /// All of them, by name.
    pub fn iter(&self) -> impl Iterator<Item = &Agent> {
        self.agents.values()
    }
}

/// The next table whose base is there.
fn ready(open: &BTreeMap<String, Overlay>, agents: &BTreeMap<String, Agent>) -> Option<String> {
    let is_ready = |name: &String, overlay: &Overlay| match overlay.extends() {
        None => true,
        // What stands in the file under that name comes first, except the table itself.
        Some(base) => agents.contains_key(base) && (base == name || !open.contains_key(base)),
    };
    open.iter().find(|(name, overlay)| is_ready(name, overlay)).map(|(name, _)| name.clone())
}
