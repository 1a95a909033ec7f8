//! `ostler need`: an agent's process asks for a thing, and waits.

use clap::{Args, ValueEnum};
use ostler_protocol::signal::DependencyType;
use ostler_server::api::{CallAnswer, NewCall};
use serde_json::json;

use crate::{context::Context, error::Error, exit::Exit, inside, words::Key};

/// Inside a session: ask for a file, a permission or another thing, and wait for it.
///
/// A file's path is printed, and `approved` for a permission.
#[derive(Args)]
#[command(
    after_help = "Examples:\n  cp \"$(ostler need logo.svg --type file --description 'The logo of the shop')\" assets/\n  \
                        ostler need 'drop the table orders' --type permission && …\n\n\
                        Exit codes: 0 it is there, 7 not inside a session, 13 nobody answered, or the answer comes as a \
                        message, 14 denied."
)]
pub(crate) struct Arguments {
    /// What it is called: a variable, a service, a file, a package, or what is to be allowed.
    #[arg(value_name = "NAME")]
    name: String,
    /// What sort of thing.
    #[arg(long = "type", value_enum, value_name = "TYPE")]
    kind: Kind,
    /// What it is for.
    #[arg(long, value_name = "TEXT", default_value = "")]
    description: String,
    /// What to use if nobody gives it.
    #[arg(long, value_name = "TEXT")]
    default: Option<String>,
    /// Do without it if it is denied.
    #[arg(long)]
    optional: bool,
}

/// What sort of thing is needed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
#[value(rename_all = "snake_case")]
enum Kind {
    /// A file.
    File,
    /// A yes or no.
    Permission,
}

pub(crate) fn run(context: &Context, arguments: Arguments) -> Result<Exit, Error> {
    let dependency_type = match arguments.kind {
        Kind::File => DependencyType::File,
        Kind::Permission => DependencyType::Permission,
    };
    let Arguments { name, description, default, optional, .. } = arguments;
    let call = NewCall::Dependency { dependency_type, name, description, required: !optional, default };
    let outcome = inside::ask(context, &call)?;
    let said = match &outcome.answer {
        Some(CallAnswer::Path { path }) => Some(path.as_str()),
        Some(CallAnswer::Text { text, .. }) => Some(text.as_str()),
        Some(CallAnswer::Approved) => Some("approved"),
        _ => None,
    };
    if let Some(CallAnswer::Denied { reason }) = &outcome.answer {
        let why = reason.as_deref().unwrap_or_default();
        let key = if why.is_empty() { Key::WasDenied } else { Key::WasDeniedBecause };
        context.note(&context.words.say(key, &[("id", &outcome.request), ("reason", &why)]));
    }
    let value = json!({ "request": outcome.request, "answer": said });
    context.print(&value, |_| said.map(|said| format!("{said}\n")).unwrap_or_default())?;
    Ok(inside::exit(&outcome))
}
