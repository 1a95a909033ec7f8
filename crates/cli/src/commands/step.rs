//! `ostler step`: an agent's process tells that a step is done.

use clap::Args;
use ostler_server::api::NewStep;
use serde_json::json;

use crate::{
    context::{Context, talk},
    error::Error,
    exit::Exit,
    inside,
};

/// Inside a session: tell that a step is done.
#[derive(Args)]
pub(crate) struct Arguments {
    /// Which step.
    #[arg(value_name = "NAME")]
    step: String,
    /// What came of it.
    #[arg(long, value_name = "TEXT")]
    summary: Option<String>,
}

pub(crate) fn run(context: &Context, arguments: Arguments) -> Result<Exit, Error> {
    let Arguments { step, summary } = arguments;
    let channel = inside::channel()?;
    let new = NewStep { step, summary };
    talk(async { Ok(channel.step(&new).await?) })?;
    context.print(&json!({ "step": new.step }), |_| String::new())?;
    Ok(Exit::Done)
}
