//! `ostler resolve`: what can run now, in one line of the thin dialect. Needs no server.

use std::{
    io::{self, Write},
    path::PathBuf,
};

use clap::Args;
use ostler_orchestrate::{Project, Resolve, StateError, resolve};
use ostler_protocol::thin::{ErrorCode, Thin};
use serde_json::json;

use crate::{
    clock,
    context::{self, Context, directory},
    error::Error,
    exit::Exit,
    screen::one_line,
    words::Key,
};

/// Print what of a task file can run now, in exactly one line, for main agents.
///
/// It is the answer of a resolver: READY:T1.3,T1.4 (these may all be started), WAIT, that a phase or everything is done, or
/// ERROR:…, with exit code 15; docs/orchestrate.md has them all.
/// The resolver's parts of .claude/orchestrate-state.json are written, and both lines go to .claude/orchestrate.log.
#[derive(Args)]
pub(crate) struct Arguments {
    /// Only this phase.
    #[arg(long, value_name = "N")]
    phase: Option<u32>,
    /// Afresh from the file; it always is.
    #[arg(long)]
    force: bool,
    /// Go on with the later waves of the phase: READY:T1.3,T1.4|T1.5.
    #[arg(long)]
    groups: bool,
    /// Begin a new state from the done marks and the log if the old one cannot be understood; it is kept aside.
    #[arg(long)]
    repair: bool,
    /// The task file [default: that of the project].
    #[arg(long, value_name = "FILE")]
    tasks: Option<PathBuf>,
}

pub(crate) fn run(context: &Context, arguments: &Arguments) -> Result<Exit, Error> {
    let project = Project::find(&directory()?, arguments.tasks.as_deref());
    let asked = Resolve {
        phase: arguments.phase,
        force: arguments.force,
        groups: arguments.groups,
        repair: arguments.repair,
    };
    let resolved = resolve(&project, asked, clock::now_ms());
    let line = if context.json {
        context::json(
            &json!({ "kind": resolved.line.kind(), "line": resolved.line.to_string(), "about": resolved.line }),
        )
    } else {
        format!("{}\n", resolved.line)
    };
    let mut stdout = io::stdout().lock();
    stdout.write_all(line.as_bytes()).and_then(|()| stdout.flush()).map_err(Error::Output)?;
    if let Some(other) = &resolved.other {
        context.note(&context.words.say(Key::StateOfOther, &[("file", &one_line(other))]));
    }
    let is_corrupt = matches!(resolved.line, Thin::Error { code: ErrorCode::StateCorrupt, .. });
    if is_corrupt && matches!(project.state(), Err(StateError::Corrupt { .. })) {
        context.note(context.words.sentence(Key::HintStateRepair));
    }
    if let Some(error) = &resolved.unwritten {
        context.note(&context.words.say(Key::StateUnwritten, &[("message", error)]));
    }
    Ok(if matches!(resolved.line, Thin::Error { .. }) { Exit::Plan } else { Exit::Done })
}
