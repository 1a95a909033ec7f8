//! `ostler verify`: replays the journal and compares.

use clap::Args;
use serde_json::json;

use crate::{
    context::{Context, home},
    error::Error,
    exit::Exit,
    words::Key,
};

/// Replay the journal and compare what follows with what is kept.
///
/// It needs no server and disturbs none. A difference is exit code 1.
#[derive(Args)]
pub(crate) struct Arguments {}

pub(crate) fn run(context: &Context) -> Result<Exit, Error> {
    let replayed = ostler_server::verify(&home()?).map_err(Error::Keep)?;
    let differences = &replayed.differences;
    let value = json!({ "events": replayed.events, "things": replayed.things, "differences": differences });
    context.print(&value, |_| {
        let words = context.words;
        if differences.is_empty() {
            return format!("{}\n", words.say(Key::Verified, &[("n", &replayed.events)]));
        }
        format!("{}\n", words.say(Key::NotVerified, &[("message", &differences.join("; "))]))
    })?;
    Ok(if differences.is_empty() { Exit::Done } else { Exit::Failed })
}
