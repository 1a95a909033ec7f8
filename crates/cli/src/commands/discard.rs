//! `ostler discard`: takes a worktree away. What was done in it is kept under a ref.

use clap::Args;
use ostler_server::api::SessionView;
use serde_json::json;

use super::diff;
use crate::{
    answering,
    context::{Context, talk},
    error::Error,
    exit::Exit,
    id,
    screen::one_line,
    words::Key,
};

/// Take the worktree of a session away.
///
/// What was done in it, committed or not, is kept under a ref that is named.
#[derive(Args)]
pub(crate) struct Arguments {
    #[arg(value_name = "ID", help = id::HELP)]
    id: String,
    /// Do not ask.
    #[arg(short, long)]
    yes: bool,
}

pub(crate) fn run(context: &Context, arguments: &Arguments) -> Result<Exit, Error> {
    let words = context.words;
    talk(async {
        let client = context.server().await?;
        let id = id::session(&client, &arguments.id).await?;
        let session: SessionView = client.get(&format!("/sessions/{id}")).await?;
        if let Some(error) = diff::gone(&session) {
            return Err(error);
        }
        // Without a worktree the server says so; there is nothing to be asked about.
        if let Some(worktree) = session.worktree.as_ref().filter(|_| !arguments.yes) {
            let branch: &str = &worktree.branch;
            let question = words.say(Key::DiscardAsk, &[("id", &session.id), ("branch", &branch)]);
            if !answering::agreed(&question, Key::DiscardHow)? {
                context.note(words.sentence(Key::DiscardNot));
                return Ok(Exit::Refused);
            }
        }
        let session: SessionView = client.post(&format!("/sessions/{id}/discard"), &json!({})).await?;
        let worktree = session.worktree.as_ref();
        let message = worktree.and_then(|it| it.message.as_deref()).map(one_line).unwrap_or_default();
        let is_gone = worktree.is_some_and(|it| it.state == "discarded");
        context.print(&session, |screen| {
            let (key, name) = if is_gone { (Key::Discarded, "kept") } else { (Key::NotDiscarded, "message") };
            screen.text(&words.say(key, &[("id", &session.id), (name, &message)]))
        })?;
        Ok(if is_gone { Exit::Done } else { Exit::Failed })
    })
}
