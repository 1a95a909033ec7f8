//! `ostler doctor --bundle`: what somebody else needs to understand a problem, in one file of plain text that can be
//! read before it is passed on. It holds no value that is known to be secret, and nothing that agents or people said.

use std::{
    collections::VecDeque,
    env,
    fmt::Write as _,
    fs,
    io::{self, Read, Seek, SeekFrom, Write},
    os::unix::fs::MetadataExt,
    path::{Path, PathBuf},
    sync::Arc,
};

use ostler_files::{FILE_BYTES_MAX, kernel, named, private};
use ostler_server::{Home, SecretsError, config, open_vault};
use ostler_vault::{Masks, Secret, Vault};
use serde_json::Value;

use super::Check;
use crate::{
    context::home,
    error::Error,
    words::{Language, Words},
};

/// How much of the server's log is taken: its end.
const LOG_MAX: u64 = 256 * 1024;

/// How many events are named: the last ones.
const EVENTS_MAX: usize = 500;

/// How many files of the state directory are named.
const FILES_MAX: usize = 2000;

/// Parts of a name under which people keep what nobody else should know.
const SECRET_NAMES: [&str; 7] = ["KEY", "TOKEN", "SECRET", "PASSWORD", "PASSPHRASE", "CREDENTIAL", "AUTH"];

/// What decides how programs behave, and is shown with its value.
const SHOWN: [&str; 8] =
    ["LANG", "LC_ALL", "LANGUAGE", "TERM", "SHELL", "OSTLER_HOME", "XDG_STATE_HOME", "XDG_CONFIG_HOME"];

/// Writes it to a file that is not there yet, for its owner alone.
pub(super) fn write(path: &Path, checks: &[Check]) -> Result<(), Error> {
    ostler_vault::guard();
    let text = text(checks)?;
    let failed = |source| Error::File { path: path.to_path_buf(), source };
    let mut file = private::create(path).map_err(failed)?;
    file.write_all(text.as_bytes()).and_then(|()| file.sync_all()).map_err(failed)
}

fn text(checks: &[Check]) -> Result<String, Error> {
    let home = home()?;
    let files = configuration_files();
    let mut secrets = of_environment();
    secrets.extend(files.iter().filter_map(|(_, text)| text.parse().ok()).flat_map(|table| of_table(&table)));
    secrets.extend(of_sessions(&home));
    let vault = of_vault(&home).map(|found| secrets.extend(found));

    let mut text = String::from("Ostler, for somebody who helps. Read it before you pass it on.\n");
    part(&mut text, "What is hidden", &hidden(&vault));
    part(&mut text, "Version", &version());
    part(&mut text, "Checks", &said(checks));
    for (path, content) in &files {
        part(&mut text, &format!("Configuration {}", path.display()), content);
    }
    part(&mut text, "Environment", &environment());
    part(&mut text, "State directory", &listing(home.root()));
    part(&mut text, "Journal, without what was said", &journal(&home));
    part(&mut text, "server.log, its end", &log(&home.log()));
    let masked = Arc::new(Masks::new(&secrets)).text(&text);
    Ok(without_home(&masked))
}

fn part(text: &mut String, title: &str, content: &str) {
    write!(text, "\n== {title}\n{}\n", content.trim_end()).expect("a text takes everything");
}

fn hidden(vault: &Result<(), SecretsError>) -> String {
    let known = "Values of sessions, of the vault, and of what is called a key, a token or a password in the \
                 environment or the configuration stand here as asterisks, encoded or not.";
    match vault {
        Ok(()) => known.to_owned(),
        Err(error) => {
            format!("{known}\nThe vault could not be opened, so that what is in it may stand here: {error}")
        }
    }
}

fn version() -> String {
    let kernel = kernel::read_text("/proc/sys/kernel/osrelease").unwrap_or_default();
    let (version, system, machine) = (env!("CARGO_PKG_VERSION"), env::consts::OS, env::consts::ARCH);
    format!("ostler {version}\n{system} {} {machine}", kernel.trim())
}

fn said(checks: &[Check]) -> String {
    let english = Words::new(Language::En);
    let line =
        |check: &Check| format!("{:5}{}: {}", check.grade.word(), check.name, check.message.say(english));
    checks.iter().map(line).collect::<Vec<_>>().join("\n")
}

/// The user's file and the project's, as they stand.
fn configuration_files() -> Vec<(PathBuf, String)> {
    let root = env::current_dir().ok().and_then(|directory| config::project_root(&directory));
    let paths = config::user_file().into_iter().chain(root.map(|root| root.join("ostler.toml")));
    paths.filter_map(|path| Some((path.clone(), named::read_text(path, FILE_BYTES_MAX).ok()?))).collect()
}

/// The names of everything, and the values of a few that are no secrets.
fn environment() -> String {
    let shown = |name: String, value: &str| {
        if SHOWN.contains(&name.as_str()) { format!("{name}={value}") } else { name }
    };
    let named = env::vars_os();
    let mut lines: Vec<String> = named
        .map(|(name, value)| shown(name.to_string_lossy().into_owned(), &value.to_string_lossy()))
        .collect();
    lines.sort();
    lines.join("\n")
}

/// Mode, size and name of what is in a directory, and below.
fn listing(root: &Path) -> String {
    let mut lines = Vec::new();
    let mut directories = VecDeque::from([root.to_path_buf()]);
    while let Some(directory) = directories.pop_front() {
        let Ok(entries) = fs::read_dir(&directory) else {
            lines.push(format!("cannot be read: {}", directory.display()));
            continue;
        };
        for path in entries.flatten().map(|entry| entry.path()) {
            let Ok(found) = path.symlink_metadata() else { continue };
            let name = path.strip_prefix(root).unwrap_or(&path).display().to_string();
            lines.push(format!("{:06o} {:>12} {name}", found.mode(), found.len()));
            // Those who work in a worktree fill it with what is theirs.
            if found.is_dir() && name != "worktrees" {
                directories.push_back(path);
            }
            if lines.len() >= FILES_MAX {
                lines.push("and more".to_owned());
                return lines.join("\n");
            }
        }
    }
    lines.join("\n")
}

/// The kinds of the last events.
fn journal(home: &Home) -> String {
    let mut last = Last { lines: VecDeque::new(), begun: Vec::new() };
    if let Err(error) = ostler_server::export(home, &mut last) {
        return format!("cannot be read: {error}");
    }
    last.lines.into_iter().collect::<Vec<_>>().join("\n")
}

/// Takes lines of JSON, and keeps of the last ones what says nothing of their contents.
struct Last {
    lines: VecDeque<String>,
    begun: Vec<u8>,
}

impl Write for Last {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        for byte in bytes {
            if *byte != b'\n' {
                self.begun.push(*byte);
                continue;
            }
            let event: Value = serde_json::from_slice(&self.begun).unwrap_or_default();
            self.begun.clear();
            let word = |name: &str| event.get(name).map(|it| it.to_string().replace('"', ""));
            let words = ["seq", "at_ms", "project", "run", "session", "kind"].map(word);
            self.lines.push_back(words.into_iter().flatten().collect::<Vec<_>>().join(" "));
            if self.lines.len() > EVENTS_MAX {
                self.lines.pop_front();
            }
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

fn log(path: &Path) -> String {
    let end = || {
        let mut file = private::open(path)?;
        let length = file.metadata()?.len();
        file.seek(SeekFrom::Start(length.saturating_sub(LOG_MAX)))?;
        let mut bytes = Vec::new();
        file.take(LOG_MAX).read_to_end(&mut bytes)?;
        io::Result::Ok(String::from_utf8_lossy(&bytes).into_owned())
    };
    end().unwrap_or_else(|error| format!("cannot be read: {error}"))
}

fn is_secret(name: &str) -> bool {
    let name = name.to_ascii_uppercase();
    SECRET_NAMES.iter().any(|part| name.contains(part))
}

fn of_environment() -> Vec<Secret> {
    let named = env::vars_os()
        .filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)));
    named.filter(|(name, _)| is_secret(name)).map(|(_, value)| Secret::new(value)).collect()
}

/// The texts that stand in a configuration under the name of a secret. Whoever knows where notices are sent can send
/// some, too.
fn of_table(table: &toml::Table) -> Vec<Secret> {
    let is_hidden = |name: &str| is_secret(name) || name == "url";
    let of_value = |(name, value): (&String, &toml::Value)| match value {
        toml::Value::Table(table) => of_table(table),
        toml::Value::Array(items) => {
            items.iter().filter_map(toml::Value::as_table).flat_map(of_table).collect()
        }
        toml::Value::String(text) if is_hidden(name) => vec![Secret::new(text.clone())],
        _ => Vec::new(),
    };
    table.iter().flat_map(of_value).collect()
}

/// What sessions were given.
fn of_sessions(home: &Home) -> Vec<Secret> {
    let sessions = fs::read_dir(home.sessions()).into_iter().flatten().flatten();
    let values =
        sessions.filter_map(|session| ostler_shim::values::read_secrets(&session.path().join("values")).ok());
    values.flatten().map(|(_, value)| Secret::new(value)).collect()
}

/// What is in the vault, as far as it can be had: what a reference leads to is hidden as well.
fn of_vault(home: &Home) -> Result<Vec<Secret>, SecretsError> {
    if !Vault::exists(&home.vault()) {
        return Ok(Vec::new());
    }
    let vault = open_vault(home, || Err(SecretsError::Locked))?;
    let listed = vault.list(None).map_err(SecretsError::Read)?;
    let secrets = listed.iter().filter(|it| !it.plain);
    Ok(secrets.filter_map(|it| vault.get(&it.scope, &it.name).ok()?).collect())
}

/// Who somebody is need not be known to whoever helps.
fn without_home(text: &str) -> String {
    match env::var("HOME") {
        Ok(home) if home.len() > 1 => text.replace(&home, "~"),
        _ => text.to_owned(),
    }
}
