//! The environments of sessions, each in a file of its own, named by what it contains. They may hold keys, so they
//! stay out of the journal, and only their owner can read them.

use std::{
    collections::BTreeMap,
    env, fmt,
    fs::{self},
    io::{self, Write},
    path::PathBuf,
};

use ostler_files::{FILE_BYTES_MAX, private};
use sha2::{Digest, Sha256};

use crate::{
    home::{Home, private_directory},
    random,
};

/// The beginning of the names that are Ostler's own.
pub(crate) const OWN: &str = "OSTLER_";

/// What speaks of one process, and would lie about another: where it was started, and as which service.
const OF_A_PROCESS: [&str; 9] = [
    "PWD",
    "OLDPWD",
    "_",
    "INVOCATION_ID",
    "JOURNAL_STREAM",
    "LISTEN_FDNAMES",
    "LISTEN_FDS",
    "LISTEN_PID",
    "NOTIFY_SOCKET",
];

/// Why an environment could not be kept or found.
#[derive(Debug)]
pub(crate) struct EnvironmentError {
    path: PathBuf,
    source: io::Error,
}

/// Keeps an environment and gives its name.
pub(crate) fn keep(home: &Home, variables: &BTreeMap<String, String>) -> Result<String, EnvironmentError> {
    let text = serde_json::to_vec(variables).expect("names and values are text");
    let name = digest(&text);
    let folder = home.environments();
    let path = folder.join(&name);
    let failed = |source| EnvironmentError { path: path.clone(), source };
    // One that is damaged is written again.
    if private::read(&path, FILE_BYTES_MAX).is_ok_and(|there| there == text) {
        return Ok(name);
    }
    private_directory(&folder).map_err(failed)?;
    let draft = folder.join(format!("{}.draft", random::word()));
    let mut file = private::create(&draft).map_err(failed)?;
    let kept = file.write_all(&text).and_then(|()| file.sync_data()).and_then(|()| fs::rename(&draft, &path));
    if kept.is_err() {
        // It may hold keys, and it takes up room.
        fs::remove_file(&draft).ok();
    }
    kept.map(|()| name).map_err(failed)
}

/// Reads it back.
pub(crate) fn read(home: &Home, name: &str) -> Result<BTreeMap<String, String>, EnvironmentError> {
    let path = home.environments().join(name);
    let text = private::read(&path, FILE_BYTES_MAX)
        .map_err(|source| EnvironmentError { path: path.clone(), source })?;
    if digest(&text) != name {
        let source = io::Error::new(io::ErrorKind::InvalidData, "it is not what was written");
        return Err(EnvironmentError { path, source });
    }
    serde_json::from_slice(&text).map_err(|source| EnvironmentError { path, source: source.into() })
}

/// The environment that the server was started in, for whoever asks from a browser and has none. Without what is
/// Ostler's own: it speaks of the server, and an agent is told its own.
pub(crate) fn of_server() -> BTreeMap<String, String> {
    env::vars_os()
        .filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)))
        .filter(|(name, _)| !name.starts_with(OWN) && !OF_A_PROCESS.contains(&name.as_str()))
        .collect()
}

/// Stands for some bytes.
pub(crate) fn digest(text: &[u8]) -> String {
    random::hexadecimal(&Sha256::digest(text))
}

impl fmt::Display for EnvironmentError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "cannot use the environment in '{}': {}", self.path.display(), self.source)
    }
}

impl std::error::Error for EnvironmentError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        Some(&self.source)
    }
}
