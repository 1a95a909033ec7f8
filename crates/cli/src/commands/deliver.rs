//! `ostler deliver`: an agent's process brings another agent a result.

use clap::{Args, ValueEnum};
use ostler_server::api::NewResult;
use serde_json::json;

use crate::{
    commands::send::standard_input,
    context::{Context, talk},
    error::Error,
    exit::Exit,
    inside,
};

/// Inside a session: bring another agent of this project a result.
///
/// If it is the result of a call that you work on, the call is done by it.
#[derive(Args)]
#[command(after_help = "Examples:\n  ostler deliver PO \"All tests pass\"\n  \
                        ostler deliver PO --type json --stdin < report.json\n  \
                        ostler deliver PO --type file_path docs/design.md")]
pub(crate) struct Arguments {
    /// Who is to have it.
    #[arg(value_name = "ROLE")]
    role: String,
    /// The result.
    #[arg(value_name = "CONTENT", required_unless_present = "stdin", conflicts_with = "stdin")]
    content: Option<String>,
    /// Take it from standard input.
    #[arg(long)]
    stdin: bool,
    /// What sort of thing it is.
    #[arg(long = "type", value_enum, value_name = "TYPE", default_value_t = Type::Message)]
    kind: Type,
    #[arg(
        long = "for",
        value_name = "CALL",
        help = "The call that is meant, such as i_7; the one that you work on, if nothing is said"
    )]
    invocation: Option<String>,
}

/// What a result can be.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
#[value(rename_all = "snake_case")]
enum Type {
    /// Plain words.
    Message,
    /// A GitHub issue.
    GithubIssue,
    /// A Markdown text.
    Markdown,
    /// JSON.
    Json,
    /// The path of a file of the project.
    FilePath,
}

pub(crate) fn run(context: &Context, arguments: &Arguments) -> Result<Exit, Error> {
    let channel = inside::channel()?;
    let brought = match &arguments.content {
        Some(words) => words.clone(),
        None => standard_input()?,
    };
    let kind = match arguments.kind {
        Type::Message => "message",
        Type::GithubIssue => "github_issue",
        Type::Markdown => "markdown",
        Type::Json => "json",
        Type::FilePath => "file_path",
    };
    let (agent, kind) = (arguments.role.clone(), kind.to_owned());
    let new = NewResult { agent, kind, content: brought, invocation: arguments.invocation.clone() };
    let result = talk(async { Ok(channel.deliver(&new).await?) })?;
    let id = result.unwrap_or_default();
    context.print(&json!({ "result": id }), |_| format!("{id}\n"))?;
    Ok(Exit::Done)
}
