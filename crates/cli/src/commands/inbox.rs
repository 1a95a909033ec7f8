//! `ostler inbox`: what waits for somebody.

use clap::Args;
use ostler_server::{
    api::{InfoView, RequestView, TakenSocketView},
    client::Client,
};

use super::{token, trust};
use crate::{
    card,
    clock::{local, now_ms},
    context::{Context, talk},
    error::{Error, Message},
    exit::Exit,
    screen::Style,
    words::Key,
};

/// How many are asked for at once.
const PAGE: usize = 1000;

/// For how long the inbox says that a socket was taken. `doctor` says it for as long as the server runs.
const LATELY_MS: u64 = 60 * 60 * 1000;

/// List what waits for you, oldest first. Of one session, errors come before what it needs, and questions last.
#[derive(Args)]
pub(crate) struct Arguments {}

pub(crate) fn run(context: &Context) -> Result<Exit, Error> {
    let (open, waiting, forged, taken) = talk(async {
        let client = context.server().await?;
        let (waiting, forged) = (trust::waiting(&client).await, token::forged(&client).await);
        Ok((open(&client).await?, waiting, forged, taken_lately(&client).await))
    })?;
    let words = context.words;
    context.print(&open, |screen| {
        let mut notice = token::notice(words, screen, &forged) + &trust::notice(words, screen, &waiting);
        for it in &taken {
            screen.add_text(&mut notice, 0, Style::Plain, &taken_message(it).say(words));
            notice.push('\n');
        }
        if open.is_empty() && notice.is_empty() {
            return screen.text(words.sentence(Key::NothingNeedsYou));
        }
        let cards: Vec<String> = open.iter().map(|request| card::card(words, screen, request)).collect();
        notice + &cards.join("\n")
    })?;
    Ok(Exit::Done)
}

/// The sockets of the server that another process has removed or replaced of late.
async fn taken_lately(client: &Client) -> Vec<TakenSocketView> {
    let all = client.get::<InfoView>("/info").await.map(|info| info.taken_sockets).unwrap_or_default();
    all.into_iter().filter(|it| now_ms().saturating_sub(it.last_at_ms) < LATELY_MS).collect()
}

pub(super) fn taken_message(it: &TakenSocketView) -> Message {
    let message = Message::new(Key::DoctorSocketTaken).with("socket", &it.socket).with("times", &it.times);
    message.with("time", &local(it.last_at_ms))
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
