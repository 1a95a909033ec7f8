//! How a session is, in a word and a shape. Colour only repeats what they say.

use ostler_server::api::{SessionView, WaitView};

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
    of_word(if session.idle { "idle" } else { &session.status }, unverified)
}

/// What a word of the interface stands for; nothing if a later server uses one that is not known here.
pub(crate) fn of_word(word: &str, unverified: bool) -> Option<Status> {
    let (shape, key, style) = match word {
        "starting" => ("○", Key::StatusStarting, Style::Dim),
        "active" => ("●", Key::StatusActive, Style::Good),
        "idle" => ("○", Key::StatusIdle, Style::Dim),
        "checking" => ("◐", Key::StatusChecking, Style::Good),
        "waiting_input" | "waiting_dependency" | "waiting_permission" => {
            ("◆", Key::StatusWaiting, Style::Attention)
        }
        "waiting_review" => ("◆", Key::StatusReview, Style::Attention),
        "waiting_agent" => ("◇", Key::StatusWaitingAgent, Style::Dim),
        "installing" => ("◐", Key::StatusInstalling, Style::Good),
        "parked" => ("◷", Key::StatusParked, Style::Attention),
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
    if let Some(wait) = &session.wait
        && let Some(said) = waits(words, wait)
    {
        return said;
    }
    match of(session) {
        Some(status) => (format!("{} {}", status.shape, words.sentence(status.key)), status.style),
        None => (session.status.clone(), Style::Plain),
    }
}

/// What a session waits for by itself, and until when.
fn waits(words: Words, wait: &WaitView) -> Option<(String, Style)> {
    let time = wait.until_ms.map(clock::local);
    let (shape, said) = match (wait.kind.as_str(), time) {
        ("retry", Some(time)) => {
            let retry = wait.retry.unwrap_or_default();
            ("◔", words.say(Key::RetriesAt, &[("time", &time), ("n", &retry)]))
        }
        ("limit", Some(time)) if wait.reset_at_ms.is_some() => {
            ("◷", words.say(Key::ParkedUntil, &[("time", &time)]))
        }
        ("limit", Some(time)) => ("◷", words.say(Key::ParkedUnknown, &[("time", &time)])),
        ("cli_retry", Some(time)) => ("◔", words.say(Key::CliRetriesAt, &[("time", &time)])),
        ("cli_retry", None) => ("◔", words.sentence(Key::CliRetries).to_owned()),
        _ => return None,
    };
    Some((format!("{shape} {said}"), Style::Attention))
}
