//! `ostler token`: keys for scripts, and everybody who may come in over TCP.

use clap::{Args, Subcommand};
use ostler_server::{
    api::{NewToken, SignInKind, SignInView, TokenView},
    client::{Client, encoded},
};
use serde_json::json;

use crate::{
    clock,
    context::{Context, talk},
    error::{Error, Message},
    exit::Exit,
    screen::{Cell, Screen, Style, one_line},
    words::{Key, Words},
};

/// Let scripts in over TCP, and see who may come in.
#[derive(Args)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Make a token and print it, this once.
    Make {
        /// What you call it.
        #[arg(value_name = "NAME")]
        name: String,
        /// For how many days it is good.
        #[arg(long, value_name = "N", default_value_t = 90)]
        days: u32,
        /// It may only look, and sees no secrets.
        #[arg(long)]
        read_only: bool,
    },
    /// List tokens and the browsers that are signed in.
    List,
    /// End a token by its name, or any sign-in by its id.
    Revoke {
        /// Which one.
        #[arg(value_name = "NAME|ID")]
        name: String,
    },
}

pub(crate) fn run(context: &Context, arguments: Arguments) -> Result<Exit, Error> {
    match arguments.command {
        Command::Make { name, days, read_only } => make(context, name, days, read_only),
        Command::List => list(context),
        Command::Revoke { name } => revoke(context, &name),
    }
}

fn make(context: &Context, name: String, days: u32, read_only: bool) -> Result<Exit, Error> {
    let made: TokenView = talk(async {
        let client = context.server().await?;
        Ok(client.post("/tokens", &NewToken { name, days: Some(days), read_only }).await?)
    })?;
    context.print(&made, |_| format!("{}\n", made.token))?;
    context.note(&context.words.say(Key::TokenOnce, &[("name", &made.sign_in.name)]));
    Ok(Exit::Done)
}

fn list(context: &Context) -> Result<Exit, Error> {
    let all: Vec<SignInView> = talk(async {
        let client = context.server().await?;
        Ok(client.get("/sign-ins").await?)
    })?;
    let words = context.words;
    context.print(&all, |screen| {
        if all.is_empty() {
            return screen.text(words.sentence(Key::TokenNone));
        }
        let keys = [
            Key::ColumnId,
            Key::ColumnName,
            Key::ColumnWhat,
            Key::ColumnSince,
            Key::ColumnUsed,
            Key::ColumnUntil,
        ];
        let head = keys.iter().map(|key| Cell::styled(Style::Dim, words.sentence(*key))).collect();
        let rows = all.iter().map(|it| {
            let what = match (it.kind, it.read_only) {
                _ if it.forged => Key::SignInForged,
                (SignInKind::Browser, _) => Key::SignInBrowser,
                (SignInKind::Token, true) => Key::SignInReadOnly,
                (SignInKind::Token, false) => Key::SignInToken,
            };
            let used =
                it.used_at_ms.map_or_else(|| words.sentence(Key::SignInUnused).to_owned(), clock::date);
            let (since, until) = (clock::date(it.made_at_ms), clock::date(it.over_at_ms));
            [it.id.as_str(), &one_line(&it.name), words.sentence(what), &since, &used, &until]
                .map(Cell::new)
                .into()
        });
        screen.columns_around(1, &std::iter::once(head).chain(rows).collect::<Vec<_>>())
    })?;
    Ok(Exit::Done)
}

/// The sign-ins that another process has written into the file. What a server cannot say is said elsewhere.
pub(crate) async fn forged(client: &Client) -> Vec<SignInView> {
    let all: Vec<SignInView> = client.get("/sign-ins").await.unwrap_or_default();
    all.into_iter().filter(|it| it.forged).collect()
}

/// Says of one that Ostler did not make it, and how it is removed.
pub(crate) fn forged_message(it: &SignInView) -> Message {
    Message::new(Key::ForgedSignIn).with("id", &it.id).with("name", &one_line(&it.name))
}

/// Says so above what needs a person; nothing, if there are none.
pub(super) fn notice(words: Words, screen: Screen, forged: &[SignInView]) -> String {
    let mut said = String::new();
    for it in forged {
        screen.add_text(&mut said, 0, Style::Plain, &forged_message(it).say(words));
        said.push('\n');
    }
    said
}

fn revoke(context: &Context, name: &str) -> Result<Exit, Error> {
    let revoked: SignInView = talk(async {
        let client = context.server().await?;
        Ok(client.post(&format!("/sign-ins/{}/revoke", segment(name)), &json!({})).await?)
    })?;
    let name = one_line(&revoked.name);
    context
        .print(&revoked, |screen| screen.text(&context.words.say(Key::TokenRevoked, &[("name", &name)])))?;
    Ok(Exit::Done)
}

/// One part of a path, whatever stands in it.
fn segment(text: &str) -> String {
    encoded(text).replace('/', "%2F")
}
