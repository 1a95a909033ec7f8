//! `ostler inbox`: what waits for somebody.

use clap::Args;
use ostler_server::{api::RequestView, client::Client};

use super::{token, trust};
use crate::{
    card,
    context::{Context, talk},
    error::Error,
    exit::Exit,
    words::Key,
};

/// How many are asked for at once.
const PAGE: usize = 1000;

/// List what waits for you, oldest first. Of one session, errors come before what it needs, and questions last.
#[derive(Args)]
pub(crate) struct Arguments {}

pub(crate) fn run(context: &Context) -> Result<Exit, Error> {
    let (open, waiting, forged) = talk(async {
        let client = context.server().await?;
        Ok((open(&client).await?, trust::waiting(&client).await, token::forged(&client).await))
    })?;
    let words = context.words;
    context.print(&open, |screen| {
        let notice = token::notice(words, screen, &forged) + &trust::notice(words, screen, &waiting);
        if open.is_empty() && notice.is_empty() {
            return screen.text(words.sentence(Key::NothingNeedsYou));
        }
        let cards: Vec<String> = open.iter().map(|request| card::card(words, screen, request)).collect();
        notice + &cards.join("\n")
    })?;
    Ok(Exit::Done)
}

/// All of a request from a list: nobody is asked about the beginning of a text.
pub(super) async fn whole(client: &Client, request: RequestView) -> Result<RequestView, Error> {
    if request.cut.is_empty() {
        return Ok(request);
    }
    Ok(client.get(&format!("/requests/{}", request.id)).await?)
}

/// Everything that is open, in the order in which the server offers it.
pub(super) async fn open(client: &Client) -> Result<Vec<RequestView>, Error> {
    let mut open: Vec<RequestView> = Vec::new();
    loop {
        let after = open.last().map(|request| format!("&after={}", request.id)).unwrap_or_default();
        let page: Vec<RequestView> = client.get(&format!("/inbox?limit={PAGE}{after}")).await?;
        let is_last = page.len() < PAGE;
        open.extend(page);
        if is_last {
            return Ok(open);
        }
    }
}
