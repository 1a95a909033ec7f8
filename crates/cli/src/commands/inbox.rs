//! `ostler inbox`: what waits for somebody.

use clap::Args;
use ostler_server::api::RequestView;

use crate::{
    card,
    context::{Context, talk},
    error::Error,
    exit::Exit,
    words::Key,
};

/// List what waits for you, oldest first.
#[derive(Args)]
pub(crate) struct Arguments {}

pub(crate) fn run(context: &Context) -> Result<Exit, Error> {
    let open: Vec<RequestView> = talk(async { Ok(context.server().await?.get("/inbox").await?) })?;
    let words = context.words;
    context.print(&open, |screen| {
        if open.is_empty() {
            return format!("{}\n", words.sentence(Key::NothingNeedsYou));
        }
        let cards: Vec<String> = open.iter().map(|request| card::card(words, screen, request)).collect();
        cards.join("\n")
    })?;
    Ok(Exit::Done)
}
