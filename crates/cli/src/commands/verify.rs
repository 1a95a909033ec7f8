//! `ostler verify`: replays the journal and compares, and looks at the files beside it. `--mend` keeps what can be read
//! of a damaged one.

use clap::Args;
use ostler_server::Mended;
use serde_json::json;

use crate::{
    context::{Context, home},
    error::Error,
    exit::Exit,
    words::{Key, Words},
};

/// Replay the journal and compare what follows with what is kept; look at logs, spools and the vault.
///
/// It needs no server and disturbs none. A difference or damage is exit code 1.
#[derive(Args)]
pub(crate) struct Arguments {
    /// Keep what can be read of a damaged journal, and set the damaged one aside. No server may run.
    #[arg(long)]
    mend: bool,
}

pub(crate) fn run(context: &Context, arguments: &Arguments) -> Result<Exit, Error> {
    if arguments.mend
        && let Some(mended) = ostler_server::mend(&home()?).map_err(Error::Keep)?
    {
        return say_mended(context, &mended);
    }
    let replayed = ostler_server::verify(&home()?).map_err(Error::Keep)?;
    let (differences, files) = (&replayed.differences, ostler_server::verify_files(&home()?));
    let value = json!({
        "events": replayed.events, "things": replayed.things, "differences": differences, "files": files,
    });
    let words = context.words;
    context.print(&value, |_| {
        let mut said = if differences.is_empty() {
            words.say(Key::Verified, &[("n", &replayed.events)]) + "\n"
        } else {
            words.say(Key::NotVerified, &[("message", &differences.join("; "))]) + "\n"
        };
        for file in &files {
            said += &(words.say(Key::FileDamaged, &[("message", file)]) + "\n");
        }
        said
    })?;
    Ok(if differences.is_empty() && files.is_empty() { Exit::Done } else { Exit::Failed })
}

fn say_mended(context: &Context, mended: &Mended) -> Result<Exit, Error> {
    let Mended { salvaged, ended, ids_from } = mended;
    let ended: Vec<String> = ended.iter().map(|path| path.display().to_string()).collect();
    let value = json!({
        "kept": salvaged.kept,
        "seen": salvaged.seen,
        "why": salvaged.why,
        "actions_lost": salvaged.actions_lost,
        "replies_lost": salvaged.replies_lost,
        "aside": salvaged.aside.display().to_string(),
        "ended": ended,
        "ids_from": ids_from,
    });
    context.print(&value, |_| sentences(context.words, mended, &ended).join("\n") + "\n")?;
    let is_whole = ids_from.is_none() && !salvaged.actions_lost;
    Ok(if is_whole { Exit::Done } else { Exit::Failed })
}

fn sentences(words: Words, mended: &Mended, ended: &[String]) -> Vec<String> {
    let Mended { salvaged, ids_from, .. } = mended;
    let aside = salvaged.aside.display();
    let mut said = vec![words.say(Key::JournalMended, &[("kept", &salvaged.kept), ("aside", &aside)])];
    if let Some(ids_from) = ids_from {
        let why = salvaged.why.as_deref().unwrap_or_default();
        said.push(words.say(Key::JournalLost, &[("kept", &salvaged.kept), ("why", &why)]));
        said.push(words.say(Key::JournalIds, &[("n", ids_from)]));
    }
    if salvaged.actions_lost {
        said.push(words.sentence(Key::JournalActionsLost).to_owned());
    }
    said.extend(ended.iter().map(|path| words.say(Key::JournalEnded, &[("path", path)])));
    said
}
