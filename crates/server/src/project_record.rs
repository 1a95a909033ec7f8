//! What a project has on record, for the agents that work in it. It comes with the guide, so only an agent that can be
//! given the guide is told.

use std::path::Path;

use ostler_agents::{Agent, Guide};
use ostler_project::AgentContext;

use crate::api::NewRun;

/// For a run, unless whoever asks for it does not want that.
pub(crate) fn of_run(new: &NewRun, agent: &Agent, root: &Path) -> Option<String> {
    new.context.unwrap_or(true).then(|| for_agent(agent, root)).flatten()
}

/// For an agent that works in a project.
pub(crate) fn for_agent(agent: &Agent, root: &Path) -> Option<String> {
    let context = (agent.guide != Guide::None).then(|| AgentContext::of(root))?;
    Some(context.text.trim_end().to_owned()).filter(|text| !text.is_empty())
}
