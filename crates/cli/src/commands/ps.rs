//! `ostler ps`: the sessions.

use clap::Args;
use ostler_server::api::SessionView;

use crate::{
    context::{Context, talk},
    error::Error,
    exit::Exit,
    sessions,
    words::Key,
};

/// How many are asked for at once.
const PAGE: usize = 200;

/// List the sessions that are not over.
///
/// Each line says how a session is, in a word and a shape, since when, and what it waits for.
#[derive(Args)]
pub(crate) struct Arguments {
    /// Also those that are over, newest first.
    #[arg(short, long)]
    all: bool,
    /// At most so many.
    #[arg(short = 'n', long, value_name = "N")]
    limit: Option<usize>,
}

pub(crate) fn run(context: &Context, arguments: &Arguments) -> Result<Exit, Error> {
    let mut sessions: Vec<SessionView> = talk(async {
        let client = context.server().await?;
        let mut sessions: Vec<SessionView> = Vec::new();
        loop {
            let wanted = arguments.limit.unwrap_or(usize::MAX).saturating_sub(sessions.len()).min(PAGE);
            if wanted == 0 {
                return Ok(sessions);
            }
            let before = sessions.last().map(|session| format!("&before={}", session.id)).unwrap_or_default();
            let page: Vec<SessionView> =
                client.get(&format!("/sessions?all={}&limit={wanted}{before}", arguments.all)).await?;
            let is_last = page.len() < wanted;
            sessions.extend(page);
            if is_last {
                return Ok(sessions);
            }
        }
    })?;
    sessions.truncate(arguments.limit.unwrap_or(usize::MAX));
    let words = context.words;
    context.print(&sessions, |screen| match (sessions.is_empty(), arguments.all) {
        (false, _) => sessions::table(words, screen, &sessions),
        (true, true) => screen.text(words.sentence(Key::NoSessions)),
        (true, false) => screen.text(words.sentence(Key::NoSessionsNow)),
    })?;
    Ok(Exit::Done)
}
