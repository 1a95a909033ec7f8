//! The private file of a session: the values that its agent was given. The server writes it; the shim, a preload for
//! Node and a script for bash read it. Nothing here logs or shows what is in it.
//!
//! Its form is that of an environment in `/proc`: `NAME=value`, each ended by a zero byte, because no value can hold one.

use std::{io, path::Path};

use ostler_files::{FILE_BYTES_MAX, private};
use ostler_vault::Secret;
use zeroize::Zeroizing;

/// Stands before the values that are no secrets, as a pair of its own: programs that know nothing of it see a variable.
const SHOWN: &str = "OSTLER_SHOWN";

/// Words of the signals themselves: a log in which they were masked could not be read again.
const SIGNAL_WORDS: &[&str] = &[
    "api_key",
    "business",
    "category",
    "choice",
    "clarification",
    "confirmation",
    "default",
    "description",
    "details",
    "env_variable",
    "false",
    "fatal",
    "file",
    "json",
    "markdown",
    "message",
    "name",
    "options",
    "package",
    "permission",
    "question",
    "recoverable",
    "recovery",
    "required",
    "service",
    "text",
    "true",
    "type",
];

/// The bytes of such a file: secrets, and values that anybody may see, such as those that the agent named itself.
pub fn encode<'a>(
    secrets: impl IntoIterator<Item = (&'a str, &'a str)>,
    shown: impl IntoIterator<Item = (&'a str, &'a str)>,
) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut shown = shown.into_iter().peekable();
    let mark = shown.peek().map(|_| (SHOWN, ""));
    for (name, value) in secrets.into_iter().chain(mark).chain(shown) {
        for part in [name, "=", value, "\0"] {
            bytes.extend_from_slice(part.as_bytes());
        }
    }
    bytes
}

/// The names and values of a file; none, if there is no file.
pub fn read(path: &Path) -> io::Result<Vec<(String, String)>> {
    let mut pairs = read_all(path)?;
    pairs.retain(|(name, _)| name != SHOWN);
    Ok(pairs)
}

/// Only those that count as secret.
pub fn read_secrets(path: &Path) -> io::Result<Vec<(String, String)>> {
    let pairs = read_all(path)?.into_iter();
    Ok(pairs.take_while(|(name, _)| name != SHOWN).collect())
}

/// Those that are masked: the secrets, except words of the signals themselves.
pub fn read_masked(path: &Path) -> io::Result<Vec<Secret>> {
    let secrets = read_secrets(path)?.into_iter().map(|(_, value)| Secret::new(value));
    Ok(secrets.filter(|secret| !is_signal_word(secret.expose())).collect())
}

/// Whether this is a word of the signals themselves, which is never masked.
pub fn is_signal_word(text: &str) -> bool {
    SIGNAL_WORDS.contains(&text)
}

fn read_all(path: &Path) -> io::Result<Vec<(String, String)>> {
    match private::read(path, FILE_BYTES_MAX) {
        Ok(bytes) => Ok(decode(&Zeroizing::new(bytes))),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Vec::new()),
        Err(error) => Err(error),
    }
}

/// What is no pair is passed over: a value that cannot be read must not keep an agent from starting.
fn decode(bytes: &[u8]) -> Vec<(String, String)> {
    let pairs = bytes.split(|byte| *byte == 0).filter_map(|pair| str::from_utf8(pair).ok()?.split_once('='));
    let pairs = pairs.filter(|(name, _)| !name.is_empty());
    pairs.map(|(name, value)| (name.to_owned(), value.to_owned())).collect()
}

#[cfg(test)]
mod tests {
    use super::{decode, encode};

    #[test]
    fn what_is_written_is_read() {
        let pairs = [("KEY", "sk_1"), ("EMPTY", ""), ("LINES", "a\nb='\"$(x)"), ("EQUAL", "a=b=")];
        let read = decode(&encode(pairs, []));
        let read: Vec<(&str, &str)> =
            read.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
        assert_eq!(read, pairs);
        assert_eq!(decode(b""), []);
        assert_eq!(decode(b"no pair\0=x\0\xff=y\0A=b"), [("A".to_owned(), "b".to_owned())]);
    }
}
