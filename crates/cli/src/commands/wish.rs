//! `ostler pause`, `continue` and `cancel`: what is wanted of sessions, one after the other.

use clap::Args;
use ostler_server::api::SessionView;
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
    let (word, key) = match wish {
        Wish::Pause => ("pause", Key::Paused),
        Wish::Continue => ("continue", Key::Continued),
        Wish::Cancel => ("cancel", Key::Cancelled),
    };
    talk(async {
        let client = context.server().await?;
        // What cannot be done to one is not a reason to leave the others out; the first error is told at the end.
        let mut first_error = None;
        for text in &arguments.ids {
            let done = async {
                let id = id::session(&client, text).await?;
                let session: SessionView = client.post(&format!("/sessions/{id}/{word}"), &json!({})).await?;
                context.print(&session, |_| format!("{}\n", context.words.say(key, &[("id", &session.id)])))
            };
            if let Err(error) = done.await {
                match &first_error {
                    None => first_error = Some(error),
                    Some(_) => context.note(&error.message(context.words)),
                }
            }
        }
        first_error.map_or(Ok(Exit::Done), Err)
    })
}
