//! How a session is, in a word and a shape. Colour only repeats what they say.

use ostler_server::api::SessionView;

use crate::{
    clock,
    screen::Style,
    words::{Key, Words},
};

/// The word, the shape and the colour of a state.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Status {
    pub(crate) shape: &'static str,
    pub(crate) key: Key,
    pub(crate) style: Style,
}

/// How this session is.
pub(crate) fn of(session: &SessionView) -> Option<Status> {
    let unverified = session.outcome.as_ref().is_some_and(|outcome| !outcome.verified);
    of_word(&session.status, unverified)
}

/// What a word of the interface stands for; nothing if a later server uses one that is not known here.
pub(crate) fn of_word(word: &str, unverified: bool) -> Option<Status> {
    let (shape, key, style) = match word {
        "starting" => ("○", Key::StatusStarting, Style::Dim),
        "active" => ("●", Key::StatusActive, Style::Good),
        "checking" => ("◐", Key::StatusChecking, Style::Good),
        "waiting_input" | "waiting_dependency" | "waiting_permission" => {
            ("◆", Key::StatusWaiting, Style::Attention)
        }
        "paused" => ("‖", Key::StatusPaused, Style::Attention),
        "interrupted" => ("⚡", Key::StatusInterrupted, Style::Bad),
        "ending" => ("◌", Key::StatusEnding, Style::Dim),
        "completed" if unverified => ("✓", Key::StatusDoneUnverified, Style::Good),
        "completed" => ("✓", Key::StatusDone, Style::Good),
        "failed" => ("✗", Key::StatusFailed, Style::Bad),
        "cancelled" => ("✗", Key::StatusCancelled, Style::Dim),
        _ => return None,
    };
    Some(Status { shape, key, style })
}

/// Shape and word together.
pub(crate) fn said(words: Words, session: &SessionView) -> (String, Style) {
    if let Some(wait) = session.wait.as_ref().filter(|wait| wait.kind == "retry") {
        let retry = wait.retry.unwrap_or_default();
        let time = clock::local(wait.until_ms);
        return (
            format!("◔ {}", words.say(Key::RetriesAt, &[("time", &time), ("n", &retry)])),
            Style::Attention,
        );
    }
    match of(session) {
        Some(status) => (format!("{} {}", status.shape, words.sentence(status.key)), status.style),
        None => (session.status.clone(), Style::Plain),
    }
}
