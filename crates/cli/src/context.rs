//! What every command knows: the language, the configuration, whether a machine reads, and the way to the server.

use std::{
    env,
    future::Future,
    io::{self, BufWriter, Write},
    path::{Path, PathBuf},
    sync::Arc,
};

use ostler_agents::Agent;
use ostler_server::{
    Home,
    api::InfoView,
    client::Client,
    config::{self, Config, ConfigError},
    start,
};
use serde::Serialize;
use serde_json::ser::{Formatter, Serializer};

use crate::{
    console,
    error::{Error, Message},
    screen::{Cell, Screen, add_line, is_obeyed, one_line, widths},
    table::{Overflow, Table},
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
        let config = Config::load(root.as_deref(), &[]).map_err(Arc::new);
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
        let client = start::ensure(&home()?).await.map_err(Error::Start)?;
        self.note_other_configuration(&client).await;
        Ok(client)
    }

    /// Says whose configuration the server reads, where that is not the one of whoever asks.
    async fn note_other_configuration(&self, client: &Client) {
        if self.json {
            return;
        }
        // The command itself says what is wrong with a server that does not answer.
        let Ok(info) = client.look::<InfoView>("/info").await else { return };
        let (Some(theirs), Some(yours)) = (info.configuration, config::user_file()) else { return };
        let (theirs, there) = (one_line(&theirs), Path::new(&theirs).exists());
        if Path::new(&theirs) != yours && (there || yours.exists()) {
            let values: &[(&str, &dyn std::fmt::Display)] =
                &[("theirs", &theirs), ("yours", &yours.display())];
            self.note(&self.words.say(Key::OtherConfiguration, values));
        }
    }

    /// A word about what goes on, for people only.
    pub(crate) fn note(&self, text: &str) {
        if !self.json {
            // Progress that nobody can read is not worth an error.
            console::say(&note_lines(text)).ok();
        }
    }

    /// The same, below a line in which somebody may be typing.
    pub(crate) fn note_below(&self, text: &str) {
        if !self.json {
            console::leave().ok();
        }
        self.note(text);
    }

    /// Prints what was asked for: as JSON for machines, else as people like it.
    pub(crate) fn print(
        &self,
        value: &impl Serialize,
        people: impl FnOnce(Screen) -> String,
    ) -> Result<(), Error> {
        self.write(value, |screen, out| out.write_all(people(screen).as_bytes()))
    }

    /// The same for rows of which there may be more than should be held: each is made when its turn comes, once for the
    /// widths of the columns and once to be printed.
    pub(crate) fn print_rows<R: Iterator<Item = Vec<Cell>>>(
        &self,
        value: &impl Serialize,
        head: &str,
        rows: impl Fn() -> R,
    ) -> Result<(), Error> {
        self.write(value, |screen, out| {
            out.write_all(head.as_bytes())?;
            let table = Table::new(screen, widths(rows(), &[]), Overflow::Cut);
            rows().try_for_each(|row| out.write_all(table.row(&row).as_bytes()))
        })
    }

    fn write(
        &self,
        value: &impl Serialize,
        people: impl FnOnce(Screen, &mut dyn Write) -> io::Result<()>,
    ) -> Result<(), Error> {
        let mut out = BufWriter::new(io::stdout().lock());
        let written =
            if self.json { write_json(&mut out, value) } else { people(Screen::stdout(), &mut out) };
        written.and_then(|()| out.flush()).map_err(Error::Output)
    }
}

/// A note in lines that fit on the terminal where it is read. Lines that go on begin below the first word.
pub(crate) fn note_lines(text: &str) -> String {
    let screen = Screen::stderr();
    let mut said = String::new();
    for (index, line) in format!("ostler: {text}").lines().enumerate() {
        let (text, indent) = (line.trim_start(), line.len() - line.trim_start().len());
        let indent = if index == 0 { 0 } else { indent };
        for (part, text) in screen.wrapped(indent.max(2), text).iter().enumerate() {
            add_line(&mut said, if part == 0 { indent } else { indent.max(2) }, text);
        }
    }
    said
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

/// Writes what JSON allows in a text as it is, and a terminal would obey, as an escape.
struct Tame;

impl Formatter for Tame {
    fn write_string_fragment<W: ?Sized + Write>(&mut self, out: &mut W, fragment: &str) -> io::Result<()> {
        let mut rest = fragment;
        while let Some(at) = rest.find(is_obeyed) {
            let letter = rest[at..].chars().next().unwrap_or_default();
            // A letter of the basic plane: all of these are.
            write!(out, "{}\\u{:04x}", &rest[..at], u32::from(letter))?;
            rest = &rest[at + letter.len_utf8()..];
        }
        out.write_all(rest.as_bytes())
    }
}

/// One JSON document on a line.
pub(crate) fn json(value: &impl Serialize) -> String {
    let mut text = Vec::new();
    write_json(&mut text, value).expect("what is printed is plain data");
    String::from_utf8(text).expect("JSON is UTF-8")
}

fn write_json(out: &mut impl Write, value: &impl Serialize) -> io::Result<()> {
    value.serialize(&mut Serializer::with_formatter(&mut *out, Tame))?;
    out.write_all(b"\n")
}
