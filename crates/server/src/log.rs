//! What the server says of itself: a line of JSON for each thing, in `log.jsonl` of the state directory.
//!
//! It names routes, ids and times, and never what was asked or answered: no query, no body, no value.

use std::{
    env, fmt,
    fs::{self, File, OpenOptions},
    io::{self, Write},
    path::{Path, PathBuf},
    sync::Mutex,
};

use ostler_files::private;
use serde_json::{Value, json};

use crate::{clock::wall_ms, home::Home};

/// The variable that says from which level on.
const LEVEL: &str = "OSTLER_LOG";

/// The longest file. The one before it is kept.
const BYTES_MAX: u64 = 4 << 20;

/// How much something matters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Level {
    /// It could not be done.
    Error,
    /// Somebody may want to look at it.
    Warn,
    /// It was done.
    Info,
    /// It was looked at.
    Debug,
}

/// The log of a state directory.
#[derive(Debug)]
pub(crate) struct Log {
    path: PathBuf,
    level: Level,
    /// Nothing, where it cannot be written: that is no reason not to look after agents.
    file: Mutex<Option<(File, u64)>>,
}

impl Log {
    pub(crate) fn open(home: &Home) -> Log {
        let path = home.root().join("log.jsonl");
        let level = env::var(LEVEL).ok().and_then(|word| Level::read(&word)).unwrap_or(Level::Info);
        let file = Mutex::new(opened(&path).ok());
        Log { path, level, file }
    }

    pub(crate) fn error(&self, what: &'static str, more: Value) {
        self.write(Level::Error, what, more);
    }

    pub(crate) fn info(&self, what: &'static str, more: Value) {
        self.write(Level::Info, what, more);
    }

    /// Writes a line, if it matters enough.
    pub(crate) fn write(&self, level: Level, what: &'static str, more: Value) {
        if level > self.level {
            return;
        }
        let mut line = json!({ "at": wall_ms(), "level": level.to_string(), "what": what });
        if let (Value::Object(line), Value::Object(more)) = (&mut line, more) {
            line.extend(more);
        }
        let line = format!("{line}\n");
        let mut file = self.file.lock().expect("nobody panics while writing");
        if file.as_ref().is_some_and(|(_, bytes)| *bytes + line.len() as u64 > BYTES_MAX) {
            *file = self.turn().ok();
        }
        if let Some((file, bytes)) = &mut *file
            && file.write_all(line.as_bytes()).is_ok()
        {
            *bytes += line.len() as u64;
        }
    }

    /// Begins anew, and keeps what there is once.
    fn turn(&self) -> io::Result<(File, u64)> {
        fs::rename(&self.path, self.path.with_extension("1.jsonl"))?;
        opened(&self.path)
    }
}

fn opened(path: &Path) -> io::Result<(File, u64)> {
    let file = private::open_or_create(path, OpenOptions::new().append(true))?;
    let bytes = file.metadata()?.len();
    Ok((file, bytes))
}

impl Level {
    fn read(word: &str) -> Option<Level> {
        let levels = [Level::Error, Level::Warn, Level::Info, Level::Debug];
        levels.into_iter().find(|level| level.to_string() == word)
    }
}

impl fmt::Display for Level {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Level::Error => "error",
            Level::Warn => "warn",
            Level::Info => "info",
            Level::Debug => "debug",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_has_a_bound_and_every_line_is_whole() {
        let root = crate::test_directory().join(format!("log-{}", std::process::id()));
        fs::create_dir_all(&root).unwrap();
        let log = Log::open(&Home::at(&root));
        let words = "x".repeat(100_000);
        for number in 0..100 {
            log.info("test", json!({ "number": number, "words": words }));
            log.write(Level::Debug, "unheard", json!({}));
        }
        let mut numbers = Vec::new();
        for name in ["log.1.jsonl", "log.jsonl"] {
            let text = fs::read_to_string(root.join(name)).unwrap();
            assert!(text.len() as u64 <= BYTES_MAX, "{name}");
            for line in text.lines() {
                let line: Value = serde_json::from_str(line).unwrap();
                assert_eq!((&line["what"], &line["level"]), (&json!("test"), &json!("info")));
                numbers.extend(line["number"].as_u64());
            }
        }
        assert_eq!(*numbers.last().unwrap(), 99);
        assert!(numbers.windows(2).all(|pair| pair[0] + 1 == pair[1]), "{numbers:?}");
        fs::remove_dir_all(&root).unwrap();
    }
}
