//! `ostler pause`, `continue` and `cancel`: what is wanted of sessions, one after the other.

use clap::Args;
use ostler_server::{api::SessionView, client::Client};
use serde_json::json;

use crate::{
    context::{Context, talk},
    error::Error,
    exit::Exit,
    id,
    words::Key,
};

/// Which sessions.
#[derive(Args)]
pub(crate) struct Arguments {
    #[arg(value_name = "ID", required = true, help = id::HELP)]
    ids: Vec<String>,
}

/// What is wanted.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Wish {
    Pause,
    Continue,
    Cancel,
}

pub(crate) fn run(context: &Context, arguments: &Arguments, wish: Wish) -> Result<Exit, Error> {
    let words = context.words;
    talk(async {
        let client = context.server().await?;
        // What cannot be done to one is not a reason to leave the others out; the first error is told at the end.
        let mut first_error = None;
        let mut sessions = Vec::new();
        for text in &arguments.ids {
            match carry_out(&client, text, wish).await {
                Ok((session, key)) => {
                    if !context.json {
                        context
                            .print(&session, |screen| screen.text(&words.say(key, &[("id", &session.id)])))?;
                    }
                    sessions.push(session);
                }
                Err(error) if first_error.is_none() => first_error = Some(error),
                Err(error) => context.note(&error.message(words)),
            }
        }
        // Machines get one document: the session that was named, or all of them.
        if context.json {
            match (arguments.ids.as_slice(), sessions.as_slice()) {
                ([_], [session]) => context.print(session, |_| String::new())?,
                ([_], _) => {}
                _ => context.print(&sessions, |_| String::new())?,
            }
        }
        first_error.map_or(Ok(Exit::Done), Err)
    })
}

/// Does it to one session; what it is then, and what is said of it.
async fn carry_out(client: &Client, text: &str, wish: Wish) -> Result<(SessionView, Key), Error> {
    let (word, key) = match wish {
        Wish::Pause => ("pause", Key::Paused),
        Wish::Continue => ("continue", Key::Continued),
        Wish::Cancel => ("cancel", Key::Cancelled),
    };
    let id = id::session(client, text).await?;
    if matches!(wish, Wish::Cancel) {
        let session: SessionView = client.get(&format!("/sessions/{id}")).await?;
        if session.outcome.is_some() {
            return Ok((session, Key::OverAlready));
        }
    }
    Ok((client.post(&format!("/sessions/{id}/{word}"), &json!({})).await?, key))
}
