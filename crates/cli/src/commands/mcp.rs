//! `ostler mcp`: lets an agent's CLI ask by tools.

use std::path::PathBuf;

use clap::Args;
use ostler_server::channel::Channel;

use crate::{context::talk, error::Error, exit::Exit, inside, mcp};

/// Inside a session: an MCP server on standard input and output, with tools to ask a person.
///
/// The tools are `ask_human`, `need` and `report_error`. Agents that Ostler starts have it without your doing.
#[derive(Args)]
pub(crate) struct Arguments {
    /// The session's socket [default: as the environment says].
    #[arg(long, value_name = "PATH")]
    channel: Option<PathBuf>,
}

pub(crate) fn run(arguments: Arguments) -> Result<Exit, Error> {
    // Not every CLI hands its environment on to the servers that it starts.
    let channel = arguments.channel.map_or_else(inside::channel, |socket| Ok(Channel::at(socket)))?;
    talk(async { mcp::serve(channel).await.map_err(Error::Output) })?;
    Ok(Exit::Done)
}
