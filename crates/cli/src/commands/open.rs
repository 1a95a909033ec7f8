//! `ostler open`: a link that signs a browser in, opened where there is one, or drawn for a phone.

use std::env;

use clap::Args;
use ostler_server::{
    api::{LinkView, NewLink},
    client::{Client, encoded},
};
use qrcodegen::{QrCode, QrCodeEcc};
use serde_json::json;

use crate::{
    context::{Context, talk},
    error::{Error, Message},
    exit::Exit,
    id::{self, Id},
    program,
    words::{Key, Words},
};

/// Light around a code, in modules: less, and cameras do not find it.
const QUIET: i32 = 2;

/// Open the page in a browser.
///
/// Prints a link that signs one browser in, once and within ten minutes, and opens it where there is a display.
#[derive(Args)]
pub(crate) struct Arguments {
    /// What to show: the id of a request, session or run, 'last', or a path of the page such as /runs.
    #[arg(value_name = "ID|PATH")]
    place: Option<String>,
    /// Draw the link for the camera of a phone.
    #[arg(long)]
    qr: bool,
    /// Only print the link.
    #[arg(long)]
    print: bool,
}

pub(crate) fn run(context: &Context, arguments: &Arguments) -> Result<Exit, Error> {
    let link: LinkView = talk(async {
        let client = context.server().await?;
        let path = match &arguments.place {
            None => None,
            Some(place) => Some(path(&client, place).await?),
        };
        Ok(client.post("/links", &NewLink { path }).await?)
    })?;
    let words = context.words;
    // A phone cannot reach what is only on this machine.
    let url = if arguments.qr { link.away.as_ref().unwrap_or(&link.url) } else { &link.url };
    let wants_browser = !(arguments.print || arguments.qr || context.json);
    let opener = opener().filter(|_| wants_browser);
    let value = json!({ "url": link.url, "away": link.away, "over_at_ms": link.over_at_ms });
    let code = if arguments.qr { Some(code(url)?) } else { None };
    context.print(&value, |screen| {
        let drawn = code.as_ref().map(|code| draw(code, screen.colours())).unwrap_or_default();
        format!("{drawn}{url}\n")
    })?;
    if arguments.qr && link.away.is_none() {
        context.note(words.sentence(Key::OpenOnlyHere));
    }
    context.note(words.sentence(Key::OpenOnce));
    if let Some(opener) = opener {
        open(context, words, &opener, url);
    }
    Ok(Exit::Done)
}

/// A browser that does not start is no failure: the link is there to be opened by hand.
fn open(context: &Context, words: Words, opener: &str, url: &str) {
    if let Err(error) = program::open(opener, url) {
        context.note(&words.say(Key::OpenNot, &[("program", &opener), ("source", &error)]));
    }
}

/// The program that opens a link, where somebody can see what it opens.
fn opener() -> Option<String> {
    let set = |name: &str| env::var(name).ok().filter(|value| !value.is_empty());
    let has_display = set("DISPLAY").or_else(|| set("WAYLAND_DISPLAY")).is_some();
    set("BROWSER").or_else(|| has_display.then(|| "xdg-open".to_owned()))
}

/// A place on the page.
async fn path(client: &Client, place: &str) -> Result<String, Error> {
    if place.starts_with('/') {
        let (path, query) = place.split_once('?').map_or((place, None), |(path, query)| (path, Some(query)));
        let query = query.map(|query| format!("?{query}")).unwrap_or_default();
        return Ok(format!("{}{query}", encoded(path)));
    }
    Ok(match id::read(client, place).await? {
        Id::Session(id) => format!("/sessions/{id}"),
        Id::Run(id) => format!("/runs/{id}"),
        Id::Request(id) => format!("/requests/{id}"),
    })
}

fn code(url: &str) -> Result<QrCode, Error> {
    QrCode::encode_text(url, QrCodeEcc::Low)
        .map_err(|_| Error::Usage { message: Message::new(Key::OpenTooLong), command: "open" })
}

/// Two modules in each character. With colours it is dark on light, whatever those of the terminal are; without, what is
/// light is drawn, since most terminals are dark.
fn draw(code: &QrCode, colours: bool) -> String {
    let edge = code.size() + QUIET;
    let is_drawn = |x: i32, y: i32| code.get_module(x, y) == colours && y < edge;
    let (begin, end) = if colours { ("\x1b[30;107m", "\x1b[0m\n") } else { ("", "\n") };
    let mut drawn = String::new();
    for y in (-QUIET..edge).step_by(2) {
        drawn += begin;
        drawn.extend((-QUIET..edge).map(|x| match (is_drawn(x, y), is_drawn(x, y + 1)) {
            (true, true) => '█',
            (true, false) => '▀',
            (false, true) => '▄',
            (false, false) => ' ',
        }));
        drawn += end;
    }
    drawn
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_code_is_drawn_with_light_around_it() {
        let code = code("http://127.0.0.1:7378/sign-in#0123456789abcdef0123456789abcdef").expect("it fits");
        let drawn = draw(&code, true);
        let lines: Vec<&str> = drawn.lines().collect();
        let width = |line: &&str| line.chars().filter(|it| " █▀▄".contains(*it)).count();
        assert!(lines.iter().all(|line| width(line) == width(&lines[0])), "{drawn}");
        assert!(lines.len() > 15 && lines.len() < 30, "{}", lines.len());
        assert!(!lines[0].contains(['█', '▀', '▄']) && lines[1].contains("█▀▀▀▀▀█"), "{drawn}");
        let plain = draw(&code, false);
        assert!(
            !plain.contains('\x1b') && plain.lines().next().is_some_and(|line| !line.contains(' ')),
            "{plain}"
        );
    }
}
