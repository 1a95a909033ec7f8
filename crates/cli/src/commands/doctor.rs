//! `ostler doctor`: looks at everything that Ostler needs, and says what to do about what is wrong.

mod bundle;
mod checks;

use std::path::PathBuf;

use clap::Args;
use serde_json::{Value, json};

use self::checks::Check;
use crate::{
    context::{Context, talk},
    error::Error,
    exit::Exit,
    screen::{Cell, Style},
    words::Key,
};

/// Look at everything that Ostler needs.
///
/// Each line is ok, warn or bad, with what to do. Something bad is exit code 1. It changes nothing and starts no server.
#[derive(Args)]
pub(crate) struct Arguments {
    /// Also write a file for somebody who helps: plain text, without secrets and without what agents or people said.
    #[arg(long, value_name = "FILE", num_args = 0..=1, default_missing_value = "ostler-bundle.txt")]
    bundle: Option<PathBuf>,
}

/// How something is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Grade {
    Ok,
    Warn,
    Bad,
}

pub(crate) fn run(context: &Context, arguments: &Arguments) -> Result<Exit, Error> {
    let checks = talk(checks::all(context))?;
    let words = context.words;
    // What a machine reads is never translated.
    let english = crate::words::Words::new(crate::words::Language::En);
    let value: Vec<Value> = checks
        .iter()
        .map(|check| json!({ "grade": check.grade.word(), "check": check.name, "says": check.message.say(english) }))
        .collect();
    context.print(&value, |screen| {
        let row = |check: &Check| {
            let (key, style) = match check.grade {
                Grade::Ok => (Key::Ok, Style::Good),
                Grade::Warn => (Key::Warn, Style::Attention),
                Grade::Bad => (Key::Bad, Style::Bad),
            };
            vec![Cell::styled(style, words.sentence(key)), Cell::new(&check.message.say(words))]
        };
        screen.fields(&checks.iter().map(row).collect::<Vec<_>>())
    })?;
    if let Some(path) = &arguments.bundle {
        bundle::write(path, &checks)?;
        context.note(&words.say(Key::Bundled, &[("path", &path.display())]));
    }
    let is_bad = checks.iter().any(|check| check.grade == Grade::Bad);
    Ok(if is_bad { Exit::Failed } else { Exit::Done })
}

impl Grade {
    fn word(self) -> &'static str {
        match self {
            Grade::Ok => "ok",
            Grade::Warn => "warn",
            Grade::Bad => "bad",
        }
    }
}
