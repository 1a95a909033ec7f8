//! `ostler need`: an agent's process asks for a thing, and waits. The value of a secret comes from the session's private
//! file, never over the socket and never with `ostler mcp`.

use clap::{Args, ValueEnum};
use ostler_protocol::signal::DependencyType;
use ostler_server::api::{CallAnswer, NewCall};
use serde_json::json;
use zeroize::Zeroizing;

use crate::{
    context::Context,
    error::Error,
    exit::Exit,
    inside::{self, Outcome},
    words::Key,
};

/// Inside a session: ask for a key, a file, a permission or another thing, and wait for it.
///
/// Prints the value of a key or a variable, the path of a file, `approved` or `installed`. Of a service it prints a line
/// NAME=value for each variable.
#[derive(Args)]
#[command(
    after_help = "Examples:\n  eval \"$(ostler need --export STRIPE_SECRET_KEY --description 'Payments')\"\n  cp \"$(ostler need \
                        logo.svg --type file --description 'The logo of the shop')\" assets/\n  ostler need 'drop the table \
                        orders' --type permission && …\n\nExit codes: 0 it is there, 1 not installed, 7 not inside a \
                        session, 13 nobody answered, or the answer comes as a message, 14 denied, or to be done without."
)]
pub(crate) struct Arguments {
    /// What it is called: a variable, a service, a file, a package, or what is to be allowed.
    #[arg(value_name = "NAME")]
    name: String,
    /// What sort of thing.
    #[arg(long = "type", value_enum, value_name = "TYPE", default_value = "api_key")]
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
    /// Print lines that a shell can evaluate: export NAME='value'.
    #[arg(long)]
    export: bool,
}

/// What sort of thing is needed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
#[value(rename_all = "snake_case")]
enum Kind {
    /// A secret key.
    ApiKey,
    /// An environment variable.
    EnvVariable,
    /// A service with its variables.
    Service,
    /// A file.
    File,
    /// A yes or no.
    Permission,
    /// A package of the project's package manager.
    Package,
}

pub(crate) fn run(context: &Context, arguments: Arguments) -> Result<Exit, Error> {
    let dependency_type = match arguments.kind {
        Kind::ApiKey => DependencyType::ApiKey,
        Kind::EnvVariable => DependencyType::EnvVariable,
        Kind::Service => DependencyType::Service,
        Kind::File => DependencyType::File,
        Kind::Permission => DependencyType::Permission,
        Kind::Package => DependencyType::Package,
    };
    let Arguments { name, description, default, optional, export, .. } = arguments;
    let call = NewCall::Dependency {
        dependency_type,
        name: name.clone(),
        description,
        required: !optional,
        default,
    };
    let outcome = inside::ask(context, &call)?;
    if let Some(CallAnswer::Provided { names }) = &outcome.answer {
        return provided(context, &outcome.request, names, export);
    }
    say(context, &outcome, &name, export)
}

/// Prints values that were given, from the private file.
fn provided(context: &Context, request: &str, names: &[String], export: bool) -> Result<Exit, Error> {
    let mut values = inside::values()?;
    values.retain(|(name, _)| names.contains(name));
    // A value may have been taken back meanwhile.
    if values.is_empty() {
        context.note(&context.words.say(Key::NoAnswerHere, &[("id", &request)]));
        return Ok(Exit::NoAnswer);
    }
    let text = match &values[..] {
        _ if context.json => {
            let answer: serde_json::Map<_, _> =
                values.iter().map(|(name, value)| (name.clone(), json!(value.as_str()))).collect();
            Zeroizing::new(json!({ "request": request, "answer": answer }).to_string() + "\n")
        }
        values if export => lines(values, exported),
        [(_, value)] => Zeroizing::new(format!("{}\n", value.as_str())),
        values => lines(values, |name, value| Zeroizing::new(format!("{name}={value}"))),
    };
    inside::print_secret(&text)?;
    Ok(Exit::Done)
}

/// Prints anything else that came of it.
fn say(context: &Context, outcome: &Outcome, name: &str, export: bool) -> Result<Exit, Error> {
    let said = match &outcome.answer {
        Some(CallAnswer::Path { path }) => Some(path.as_str()),
        Some(CallAnswer::Text { text, .. }) => Some(text.as_str()),
        Some(CallAnswer::Skipped { default: Some(default) }) => Some(default.as_str()),
        Some(CallAnswer::Approved) => Some("approved"),
        Some(CallAnswer::Installed { installed: true, .. }) => Some("installed"),
        _ => None,
    };
    let why = match &outcome.answer {
        Some(CallAnswer::Installed { installed: false, reason }) => {
            Some((Key::WasNotInstalled, reason.as_deref()))
        }
        Some(CallAnswer::Denied { reason: Some(reason) }) => {
            Some((Key::WasDeniedBecause, Some(reason.as_str())))
        }
        Some(CallAnswer::Denied { reason: None }) => Some((Key::WasDenied, None)),
        _ => None,
    };
    if let Some((key, why)) = why {
        let why = why.unwrap_or_default();
        context.note(&context.words.say(key, &[("id", &outcome.request), ("reason", &why)]));
    }
    let value = json!({ "request": outcome.request, "answer": said });
    let is_default = matches!(outcome.answer, Some(CallAnswer::Skipped { .. }));
    context.print(&value, |_| match said {
        Some(said) if export && is_default => format!("{}\n", exported(name, said).as_str()),
        Some(said) => format!("{said}\n"),
        None => String::new(),
    })?;
    Ok(match &outcome.answer {
        Some(CallAnswer::Installed { installed: false, .. }) => Exit::Failed,
        Some(CallAnswer::Skipped { default: None }) => Exit::Denied,
        _ => inside::exit(outcome),
    })
}

fn lines(
    values: &[(String, Zeroizing<String>)],
    line: impl Fn(&str, &str) -> Zeroizing<String>,
) -> Zeroizing<String> {
    let mut text = Zeroizing::new(String::new());
    for (name, value) in values {
        text.push_str(&line(name, value));
        text.push('\n');
    }
    text
}

/// A line that a shell reads as it is meant, whatever stands in the value.
fn exported(name: &str, value: &str) -> Zeroizing<String> {
    Zeroizing::new(format!("export {name}='{}'", value.replace('\'', r"'\''")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_shell_reads_a_value_as_it_is() {
        assert_eq!(exported("KEY", "a'b$(c)\n\"d\"").as_str(), "export KEY='a'\\''b$(c)\n\"d\"'");
    }
}
