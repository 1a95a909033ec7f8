//! What every command knows: the language, the configuration, whether a machine reads, and the way to the server.

use std::{
    env,
    future::Future,
    io::{self, Write},
    path::PathBuf,
    sync::Arc,
};

use ostler_agents::Agent;
use ostler_server::{
    Home,
    client::Client,
    config::{self, Config, ConfigError},
    start,
};
use serde::Serialize;

use crate::{
    error::{Error, Message},
    moving,
    screen::{Screen, is_obeyed},
    words::{Key, Language, Words},
};

/// What every command knows.
#[derive(Debug)]
pub(crate) struct Context {
    /// Whether a machine reads what is printed.
    pub(crate) json: bool,
    /// The language that was asked for.
    pub(crate) asked: Option<Language>,
    /// How to say things.
    pub(crate) words: Words,
    config: Result<Config, Arc<ConfigError>>,
}

impl Context {
    pub(crate) fn new(json: bool, asked: Option<Language>) -> Context {
        let root = env::current_dir().ok().and_then(|directory| config::project_root(&directory));
        let config = Config::load(root.as_deref()).map_err(Arc::new);
        let configured = config.as_ref().ok().and_then(|config| config.language.clone());
        let words = Words::new(Language::choose(asked, configured.as_deref()));
        Context { json, asked, words, config }
    }

    /// In which language errors are written: those for machines are never translated.
    pub(crate) fn error_words(&self) -> Words {
        if self.json { Words::new(Language::En) } else { self.words }
    }

    /// The configuration, for commands that cannot do without.
    pub(crate) fn config(&self) -> Result<&Config, Error> {
        self.config.as_ref().map_err(|error| Error::Config(Arc::clone(error)))
    }

    /// What is known of an agent; nothing for a plain command.
    pub(crate) fn agent(&self, name: &str) -> Option<&Agent> {
        self.config.as_ref().ok()?.agents.get(name)
    }

    /// A way to the server, which is started if none runs.
    pub(crate) async fn server(&self) -> Result<Client, Error> {
        if let Err(error) = &self.config {
            self.note(&self.words.say(Key::ConfigIgnored, &[("message", error)]));
        }
        start::ensure(&home()?).await.map_err(Error::Start)
    }

    /// A word about what goes on, for people only.
    pub(crate) fn note(&self, text: &str) {
        if !self.json {
            // Progress that nobody can read is not worth an error.
            moving::say(&format!("ostler: {text}\n")).ok();
        }
    }

    /// The same, below a line in which somebody may be typing.
    pub(crate) fn note_below(&self, text: &str) {
        if !self.json {
            moving::say("\n").ok();
        }
        self.note(text);
    }

    /// Prints what was asked for: as JSON for machines, else as people like it.
    pub(crate) fn print(
        &self,
        value: &impl Serialize,
        people: impl FnOnce(Screen) -> String,
    ) -> Result<(), Error> {
        let text = if self.json { json(value) } else { people(Screen::stdout()) };
        let mut stdout = io::stdout().lock();
        stdout.write_all(text.as_bytes()).and_then(|()| stdout.flush()).map_err(Error::Output)
    }
}

/// The state directory.
pub(crate) fn home() -> Result<Home, Error> {
    Home::find().map_err(Error::Home)
}

/// Where the command was given.
pub(crate) fn directory() -> Result<PathBuf, Error> {
    env::current_dir().map_err(|source| Error::Usage {
        message: Message::new(Key::NoDirectory).with("source", &source),
        command: "run",
    })
}

/// Runs what talks to the server, in this thread.
pub(crate) fn talk<T>(future: impl Future<Output = Result<T, Error>>) -> Result<T, Error> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    runtime.map_err(Error::Output)?.block_on(future)
}

/// A letter of the basic plane as JSON writes it.
fn escaped(letter: char) -> String {
    format!("\\u{:04x}", u32::from(letter))
}

/// One JSON document on a line.
pub(crate) fn json(value: &impl Serialize) -> String {
    let text = serde_json::to_string(value).expect("what is printed is plain data");
    let mut said = String::with_capacity(text.len() + 1);
    for letter in text.chars() {
        // JSON allows these in a string as they are, and a terminal would obey them.
        if is_obeyed(letter) {
            said.push_str(&escaped(letter));
        } else {
            said.push(letter);
        }
    }
    said.push('\n');
    said
}
