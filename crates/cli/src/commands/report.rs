//! `ostler error`: an agent's process reports what it cannot solve, and waits for what a person decides.

use clap::{Args, ValueEnum};
use ostler_protocol::signal::{ErrorSeverity, Recovery};
use ostler_server::api::{CallAnswer, NewCall};
use serde_json::json;

use crate::{context::Context, error::Error, exit::Exit, inside};

/// Inside a session: report an error, and wait for what is decided.
///
/// Prints `retry`, `continue`, or what the person has to say. If the person gives up, the session ends.
#[derive(Args)]
#[command(
    after_help = "Exit codes: 0 decided, 1 given up, 7 not inside a session, 13 the decision comes as a message."
)]
pub(crate) struct Arguments {
    /// What is wrong, in a line.
    #[arg(value_name = "MESSAGE")]
    message: String,
    /// It cannot be mended by trying again.
    #[arg(long)]
    fatal: bool,
    #[arg(long, value_enum, value_name = "WHAT", help = "What should happen now [default: notify_user]")]
    recovery: Option<Way>,
    /// All there is to know about it.
    #[arg(long, value_name = "TEXT")]
    details: Option<String>,
}

/// What should happen after an error.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
#[value(rename_all = "snake_case")]
enum Way {
    /// Wait, and try again.
    PauseAndRetry,
    /// End the session.
    CheckpointAndFail,
    /// Ask the person.
    NotifyUser,
}

pub(crate) fn run(context: &Context, arguments: Arguments) -> Result<Exit, Error> {
    let recovery = arguments.recovery.map(|way| match way {
        Way::PauseAndRetry => Recovery::PauseAndRetry,
        Way::CheckpointAndFail => Recovery::CheckpointAndFail,
        Way::NotifyUser => Recovery::NotifyUser,
    });
    let severity = if arguments.fatal { ErrorSeverity::Fatal } else { ErrorSeverity::Recoverable };
    let Arguments { message, details, .. } = arguments;
    let outcome = inside::ask(context, &NewCall::Error { severity, message, details, recovery })?;
    let said = match &outcome.answer {
        Some(CallAnswer::Retry) => Some("retry"),
        Some(CallAnswer::GoOn { words: None }) => Some("continue"),
        Some(CallAnswer::GoOn { words: Some(words) }) => Some(words.as_str()),
        _ => None,
    };
    let value = json!({ "request": outcome.request, "answer": said });
    context.print(&value, |_| said.map(|said| format!("{said}\n")).unwrap_or_default())?;
    // An error that is over without a word is one that somebody has given up on.
    Ok(if outcome.is_over { Exit::Failed } else { inside::exit(&outcome) })
}
