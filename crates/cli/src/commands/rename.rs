//! `ostler rename`: what a person calls a session.

use clap::Args;
use ostler_server::api::{NewSessionName, SessionView};

use crate::{
    context::{Context, talk},
    error::Error,
    exit::Exit,
    id,
    words::Key,
};

/// Call a session something.
///
/// The name can be given wherever an id can. No two sessions that have not ended share a name; a name that a session had
/// means the newest of those that had it.
#[derive(Args)]
pub(crate) struct Arguments {
    #[arg(value_name = "ID", help = id::HELP)]
    id: String,
    /// The name: letters, digits, '-', '_' and '.', a letter first.
    #[arg(value_name = "NAME", required_unless_present = "remove", conflicts_with = "remove")]
    name: Option<String>,
    /// Take its name away.
    #[arg(long)]
    remove: bool,
}

pub(crate) fn run(context: &Context, arguments: &Arguments) -> Result<Exit, Error> {
    let new = NewSessionName { name: arguments.name.clone() };
    let session: SessionView = talk(async {
        let client = context.server().await?;
        let id = id::session(&client, &arguments.id).await?;
        Ok(client.post(&format!("/sessions/{id}/rename"), &new).await?)
    })?;
    let words = context.words;
    context.print(&session, |_| {
        let said = match &session.name {
            Some(name) => words.say(Key::Renamed, &[("id", &session.id), ("name", name)]),
            None => words.say(Key::NameRemoved, &[("id", &session.id)]),
        };
        format!("{said}\n")
    })?;
    Ok(Exit::Done)
}
