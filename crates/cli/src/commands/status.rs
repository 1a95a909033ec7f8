//! `ostler` alone: what has ended since the person last looked, what needs them, and what runs.

use std::io::{self, IsTerminal};

use ostler_server::{
    api::{LookedView, NewLook, OutcomeKind, SessionView, StatusView, TrustedView},
    client::Client,
};
use serde::Serialize;

use super::{token, trust};
use crate::{
    card, clock,
    context::{Context, talk},
    error::Error,
    exit::Exit,
    outcome,
    screen::{Screen, Style, one_line},
    sessions,
    words::{Key, Words},
};

/// So many sessions that have ended are shown; the others are counted.
const ENDED_MAX: usize = 10;

#[derive(Serialize)]
struct Overview {
    looked: LookedView,
    #[serde(flatten)]
    status: StatusView,
}

pub(crate) fn run(context: &Context) -> Result<Exit, Error> {
    talk(async {
        let client = context.server().await?;
        let looked: LookedView = client.get("/looked").await?;
        let status: StatusView = client.get("/status").await?;
        let waiting = trust::waiting(&client).await;
        let forged = token::forged(&client).await;
        let seq = looked.seq;
        let overview = Overview { looked, status };
        context.print(&overview, |screen| {
            token::notice(context.words, screen, &forged) + &page(context.words, screen, &overview, &waiting)
        })?;
        // What went into a file or to a program no person has seen.
        if !context.json && io::stdout().is_terminal() {
            let look = NewLook { seq: Some(seq), session: None };
            client.post::<LookedView>("/looked", &look).await?;
        }
        Ok(Exit::Done)
    })
}

/// Somebody has watched the end of a session on a terminal. Where that cannot be kept, it is shown once more.
pub(crate) async fn saw_end(client: &Client, session: &str) {
    let look = NewLook { seq: None, session: Some(session.to_owned()) };
    client.post::<LookedView>("/looked", &look).await.ok();
}

fn page(words: Words, screen: Screen, overview: &Overview, waiting: &[TrustedView]) -> String {
    let mut said = trust::notice(words, screen, waiting);
    said.push_str(&ended(words, screen, &overview.looked));
    let status = &overview.status;
    let (interrupted, running): (Vec<_>, Vec<_>) =
        status.sessions.iter().cloned().partition(|session| session.status == "interrupted");
    let heading = match status.needs_you.len() + interrupted.len() {
        // The notice has just said that something does.
        0 if !waiting.is_empty() => String::new(),
        0 => words.sentence(Key::NothingNeedsYou).to_owned(),
        1 => words.sentence(Key::OneNeedsYou).to_owned(),
        n => words.say(Key::ManyNeedYou, &[("n", &n)]),
    };
    if !heading.is_empty() {
        screen.add_text(&mut said, 0, Style::Bold, &heading);
    }
    for request in &status.needs_you {
        said.push('\n');
        said.push_str(&card::card(words, screen, request));
    }
    said.push_str(&lost(words, screen, &interrupted));
    let (idle, busy): (Vec<_>, Vec<_>) = running.into_iter().partition(|session| session.idle);
    let needs_nobody = status.needs_you.is_empty() && interrupted.is_empty();
    let at_work = match busy.len() {
        0 if idle.is_empty() && needs_nobody => words.sentence(Key::NobodyAtWork).to_owned(),
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
            screen.add_text(&mut said, 0, Style::Plain, head);
            said.push_str(&sessions::list(words, screen, sessions).concat());
        }
    }
    said
}

/// What has ended since the person last looked: failures first, then what waits to be merged, then the rest.
fn ended(words: Words, screen: Screen, looked: &LookedView) -> String {
    if looked.ended.is_empty() && looked.loops.is_empty() {
        return String::new();
    }
    let heading = match looked.last_looked_at_ms {
        Some(at_ms) => words.say(Key::SinceLastLook, &[("time", &clock::since(words, at_ms))]),
        None => words.sentence(Key::EndedSoFar).to_owned(),
    };
    let mut said = String::new();
    screen.add_text(&mut said, 0, Style::Bold, &heading);
    for ends in &looked.loops {
        let key = if ends.failed > 0 { Key::LoopEndsFailedSaid } else { Key::LoopEndsSaid };
        let project = one_line(&ends.project);
        let values: &[(&str, &dyn std::fmt::Display)] =
            &[("project", &project), ("done", &ends.done), ("failed", &ends.failed)];
        let values: &[(&str, &dyn std::fmt::Display)] =
            &[("id", &ends.session), ("said", &words.say(key, values))];
        screen.add_text(&mut said, 0, Style::Plain, &words.say(Key::LoopEnds, values));
    }
    let mut sessions: Vec<&SessionView> = looked.ended.iter().collect();
    sessions.sort_by_key(|session| urgency(session));
    let shown: Vec<SessionView> = sessions.into_iter().take(ENDED_MAX).cloned().collect();
    for (row, session) in sessions::list(words, screen, &shown).iter().zip(&shown) {
        said.push_str(row);
        for line in outcome::next_steps(words, session) {
            screen.add_text(&mut said, 5, Style::Dim, &line);
        }
    }
    let more = looked.more + (looked.ended.len() - shown.len()) as u64;
    if more > 0 {
        screen.add_text(&mut said, 0, Style::Plain, &words.say(Key::MoreEnded, &[("n", &more)]));
    }
    said.push('\n');
    said
}

fn urgency(session: &SessionView) -> u8 {
    let has_failed = session.outcome.as_ref().is_some_and(|it| it.outcome == OutcomeKind::Failed);
    match (has_failed, session.worktree.is_some()) {
        (true, _) => 0,
        (false, true) => 1,
        (false, false) => 2,
    }
}

/// Sessions that go on only when a person wants them to.
fn lost(words: Words, screen: Screen, interrupted: &[SessionView]) -> String {
    if interrupted.is_empty() {
        return String::new();
    }
    let mut said = "\n".to_owned();
    for (row, session) in sessions::list(words, screen, interrupted).iter().zip(interrupted) {
        said.push_str(row);
        screen.add_text(&mut said, 5, Style::Dim, &outcome::how_to_resume(words, session));
    }
    if interrupted.len() > 1 {
        screen.add_text(&mut said, 0, Style::Plain, words.sentence(Key::ResumeAll));
    }
    said
}
