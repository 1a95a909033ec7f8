//! Whether what an agent asks also stands in what it was told: then it may not be the agent that asks.
//!
//! What tools and sub-agents showed it is compared where its stream is read. Prompt, messages and checks are known
//! only here.

use ostler_protocol::{
    Format, Parser, Settings,
    mark::{Mark, MarkSource, Saying},
};
use serde_json::json;

use crate::{
    heard::{self, Heard},
    request::Ask,
    session::{LaunchCause, Session},
};

/// What is looked for in other texts; nothing, if it is not an agent's own words that a person reads.
pub fn saying(ask: &Ask) -> Option<Saying> {
    match ask {
        Ask::Question(question) => Some(Saying::new([question.question.as_str()])),
        Ask::AskUser(ask) => Some(Saying::new([ask.question.as_str()])),
        Ask::Dependency(dependency) => Some(Saying::new([dependency.description.as_str()])),
        Ask::Error(_) | Ask::Fault { .. } => Some(Saying::new([])),
        Ask::Permission(_)
        | Ask::Stall { .. }
        | Ask::Steered { .. }
        | Ask::TimeOver { .. }
        | Ask::CostOver { .. }
        | Ask::TokensOver { .. }
        | Ask::Review(_) => None,
    }
}

/// Where the same stands, if it does. The check is the run's; `is_new` says that the session did not ask it before.
pub(crate) fn of(session: &Session, check: Option<&str>, ask: &Ask, is_new: bool) -> Option<Mark> {
    let saying = saying(ask)?;
    let stands_in = |text: &str| saying.stands_in(text) || holds(text, ask);
    // What a person said on starting it again stands beside Ostler's own words, which repeat earlier questions.
    let resumed = session.launches.iter().filter(|launch| is_new && launch.cause == LaunchCause::Resume);
    let mut prompts = resumed.map(|launch| &launch.prompt).chain([&session.order.prompt]);
    if prompts.any(|prompt| stands_in(prompt)) {
        return Some(Mark::new(MarkSource::Prompt));
    }
    if session.messages.iter().any(|message| stands_in(&message.text)) {
        return Some(Mark::new(MarkSource::Message));
    }
    let checked = session.attempts.iter().any(|attempt| attempt.code.is_some() && stands_in(&attempt.output));
    checked.then(|| Mark::by_tool(MarkSource::Check, None, check))
}

/// Whether a message stands in the text that asks the same. So even a short question is found, if it stands there as a
/// whole.
fn holds(text: &str, ask: &Ask) -> bool {
    let mut parser = Parser::new(Format::Text, Settings::default());
    parser.push(text.as_bytes());
    parser.finish();
    parser.any(|item| matches!(heard::read(&json!(item)), Heard::Asks { ask: it, .. } if it == *ask))
}
