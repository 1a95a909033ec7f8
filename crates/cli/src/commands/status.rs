//! `ostler` alone: what needs somebody, and what runs.

use ostler_server::api::StatusView;

use crate::{
    card,
    context::{Context, talk},
    error::Error,
    exit::Exit,
    screen::{Screen, Style, add_line},
    sessions,
    words::{Key, Words},
};

pub(crate) fn run(context: &Context) -> Result<Exit, Error> {
    let status: StatusView = talk(async { Ok(context.server().await?.get("/status").await?) })?;
    context.print(&status, |screen| page(context.words, screen, &status))?;
    Ok(Exit::Done)
}

fn page(words: Words, screen: Screen, status: &StatusView) -> String {
    let mut said = match status.needs_you.len() {
        0 => words.sentence(Key::NothingNeedsYou).to_owned(),
        1 => words.sentence(Key::OneNeedsYou).to_owned(),
        n => words.say(Key::ManyNeedYou, &[("n", &n)]),
    };
    said = screen.style(Style::Bold, &said);
    said.push('\n');
    for request in &status.needs_you {
        said.push('\n');
        said.push_str(&card::card(words, screen, request));
    }
    let (idle, busy): (Vec<_>, Vec<_>) = status.sessions.iter().cloned().partition(|session| session.idle);
    let at_work = match busy.len() {
        0 if idle.is_empty() && status.needs_you.is_empty() => words.sentence(Key::NobodyAtWork).to_owned(),
        0 => String::new(),
        1 => words.sentence(Key::OneAtWork).to_owned(),
        n => words.say(Key::ManyAtWork, &[("n", &n)]),
    };
    let here = match (idle.is_empty(), busy.is_empty()) {
        (true, _) => "",
        (false, true) => words.sentence(Key::OnlyIdle),
        (false, false) => words.sentence(Key::AlsoIdle),
    };
    for (head, sessions) in [(at_work.as_str(), &busy), (here, &idle)] {
        if !head.is_empty() {
            said.push('\n');
            add_line(&mut said, 0, head);
            said.push_str(&sessions::list(words, screen, sessions));
        }
    }
    said
}
