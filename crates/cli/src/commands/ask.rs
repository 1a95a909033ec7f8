//! `ostler ask`: an agent's process asks a person, and waits.

use clap::{Args, ValueEnum};
use ostler_protocol::signal::QuestionCategory;
use ostler_server::api::{CallAnswer, NewCall};
use serde_json::json;

use crate::{context::Context, error::Error, exit::Exit, inside};

/// Inside a session: ask the person, wait, and print the answer.
///
/// It waits for as long as it takes, also while the server restarts. If the tool that runs it gives up and ends it, the
/// answer comes as a message.
#[derive(Args)]
#[command(after_help = "Examples:\n  ostler ask \"Which database?\" --option PostgreSQL --option SQLite\n  \
                        if [ \"$(ostler ask --type confirm 'Delete the old table?')\" = Yes ]; then …; fi\n\n\
                        Exit codes: 0 answered, 7 not inside a session, 13 a person declined, nobody answered, or the answer comes as a message.")]
pub(crate) struct Arguments {
    /// The question.
    #[arg(value_name = "QUESTION")]
    question: String,
    /// An answer that can be chosen; once for each.
    #[arg(long = "option", value_name = "TEXT")]
    options: Vec<String>,
    /// How it is to be answered [default: choice with options, else text].
    #[arg(long = "type", value_enum, value_name = "TYPE")]
    kind: Option<Kind>,
    /// The answer if nobody gives one.
    #[arg(long, value_name = "TEXT")]
    default: Option<String>,
    /// Do not wait for ever: after a day the default is the answer, or nothing.
    #[arg(long)]
    optional: bool,
}

/// How a question is to be answered.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Kind {
    /// In words.
    Text,
    /// By one of the options.
    Choice,
    /// By yes or no.
    Confirm,
}

pub(crate) fn run(context: &Context, arguments: Arguments) -> Result<Exit, Error> {
    let category = arguments.kind.map(|kind| match kind {
        Kind::Text => QuestionCategory::Clarification,
        Kind::Choice => QuestionCategory::Choice,
        Kind::Confirm => QuestionCategory::Confirmation,
    });
    let Arguments { question, options, default, optional, .. } = arguments;
    let call = NewCall::Question { category, question, options, default, required: !optional };
    let outcome = inside::ask(context, &call)?;
    let (answer, remark) = match &outcome.answer {
        Some(CallAnswer::Text { text, remark, .. }) => (Some(text.as_str()), remark.as_deref()),
        _ => (None, None),
    };
    if let Some(remark) = remark {
        // Beside the answer, so that a script that reads it gets a yes or no and nothing else.
        context.note(remark);
    }
    let said = json!({ "request": outcome.request, "answer": answer, "remark": remark });
    context.print(&said, |_| answer.map(|answer| format!("{answer}\n")).unwrap_or_default())?;
    Ok(inside::exit(&outcome))
}
