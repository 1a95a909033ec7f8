//! `ostler send`: words for an agent that did not ask.

use std::io;

use clap::Args;
use ostler_server::api::{NewMessage, SessionView};

use crate::{
    context::{Context, talk},
    error::Error,
    exit::Exit,
    id,
    words::Key,
};

/// Write to an agent that works.
///
/// It gets the words in its own way: as a line, as a message, or by being resumed with them.
#[derive(Args)]
pub(crate) struct Arguments {
    #[arg(value_name = "ID", help = id::HELP)]
    id: String,
    /// The words.
    #[arg(value_name = "TEXT", required_unless_present = "stdin", conflicts_with = "stdin")]
    text: Option<String>,
    /// Take the words from standard input.
    #[arg(long)]
    stdin: bool,
}

pub(crate) fn run(context: &Context, arguments: &Arguments) -> Result<Exit, Error> {
    let text = match &arguments.text {
        Some(text) => text.clone(),
        None => standard_input()?,
    };
    let session: SessionView = talk(async {
        let client = context.server().await?;
        let id = id::session(&client, &arguments.id).await?;
        Ok(client.post(&format!("/sessions/{id}/messages"), &NewMessage { text }).await?)
    })?;
    let words = context.words;
    context.print(&session, |screen| screen.text(&words.say(Key::Sent, &[("id", &session.id)])))?;
    Ok(Exit::Done)
}

/// All of it. What is no text is refused: it could only be given in another form than it has.
pub(crate) fn standard_input() -> Result<String, Error> {
    io::read_to_string(io::stdin().lock()).map_err(|source| Error::Input { path: None, source })
}
