//! Consent to the commands of the user's own configuration that the server runs itself, outside of any shim.
//!
//! An agent has the user's rights and can write that file. A command in it runs only if a person agreed to exactly that
//! command, or if it was there when the state directory was new. The hashes are kept in a private file that is replaced as
//! a whole, and in the journal's database: only what both say counts. Both are read once: a server that runs does not
//! believe what another process writes there meanwhile.

use std::{
    collections::BTreeSet,
    io,
    path::{Path, PathBuf},
    sync::{Mutex, MutexGuard},
};

use ostler_files::{FILE_BYTES_MAX, private};
use serde::{Deserialize, Serialize};

use crate::{
    config::{Config, RepositoryCommand},
    home::{Home, write_private},
    journal_fact::JournalFact,
    keep::{self, KeepError},
};

/// The name in the database.
pub(crate) const FACT: &str = "config_consent";

/// What stands for the user's own configuration where a directory of a project could. Those are absolute.
pub const CONFIGURATION: &str = "configuration";

/// Which commands of the configuration a person agreed to.
#[derive(Debug)]
pub(crate) struct ConfigConsent {
    path: PathBuf,
    fact: JournalFact,
    agreed: Mutex<AgreedHashes>,
}

/// The file.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
struct AgreedHashes {
    hashes: BTreeSet<String>,
}

/// Agrees to the configuration as it is now, if the state directory is new and its first server begins.
pub(crate) fn agree_at_first(home: &Home, is_new: bool) {
    let path = path(home);
    if is_new && !matches!(path.try_exists(), Ok(true)) {
        // Where it cannot be written, nothing is agreed to, and a person is asked.
        write(&path, &AgreedHashes::of_present()).ok();
    }
}

impl ConfigConsent {
    /// Reads what was agreed to. A file that is missing or cannot be read agrees to nothing: whoever removes it gains
    /// nothing by that. Where no server was ever, the configuration counts as it is.
    pub(crate) fn open(home: &Home, fact: JournalFact) -> ConfigConsent {
        let path = path(home);
        let is_new = matches!(home.database().try_exists(), Ok(false));
        let recorded: Option<AgreedHashes> =
            fact.stored.as_deref().map(|text| serde_json::from_str(text).unwrap_or_default());
        let mut agreed = match private::read(&path, FILE_BYTES_MAX) {
            Ok(bytes) => serde_json::from_slice(&bytes).unwrap_or_default(),
            Err(error) if error.kind() == io::ErrorKind::NotFound && is_new => AgreedHashes::of_present(),
            Err(_) => AgreedHashes::default(),
        };
        // A journal without the fact is older than it: the next server writes it down.
        if let Some(recorded) = recorded {
            agreed.hashes.retain(|hash| recorded.hashes.contains(hash));
        }
        ConfigConsent { path, fact, agreed: Mutex::new(agreed) }
    }

    /// The same where no server has to run. Without a journal that can be read the file alone proves nothing.
    pub(crate) fn without_server(home: &Home) -> ConfigConsent {
        let stored = match keep::fact(home, FACT) {
            Ok(stored) => stored,
            Err(KeepError::Nothing { .. }) => None,
            Err(_) => Some(String::new()),
        };
        ConfigConsent::open(home, JournalFact::read_only(stored))
    }

    /// Whether a person agreed to a command.
    pub(crate) fn allows(&self, command: &RepositoryCommand) -> bool {
        self.state().hashes.contains(&command.fingerprint())
    }

    /// The commands of a configuration that wait for a person.
    pub(crate) fn waiting(&self, config: &Config) -> Vec<RepositoryCommand> {
        config.own_commands.iter().filter(|command| !self.allows(command)).cloned().collect()
    }

    /// A person agrees to all commands of a configuration, or with none of them to nothing any more.
    pub(crate) fn agree(&self, commands: &[RepositoryCommand]) -> io::Result<()> {
        let mut agreed = self.state();
        let new = AgreedHashes::of(commands);
        self.fact.write(new.text())?;
        write(&self.path, &new)?;
        *agreed = new;
        Ok(())
    }

    /// Tells one state of it from another.
    pub(crate) fn hashes(&self) -> BTreeSet<String> {
        self.state().hashes.clone()
    }

    fn state(&self) -> MutexGuard<'_, AgreedHashes> {
        self.agreed.lock().expect("nobody panics while holding it")
    }
}

impl AgreedHashes {
    /// All commands that the configuration has now.
    fn of_present() -> AgreedHashes {
        AgreedHashes::of(&Config::of_user().map(|config| config.own_commands).unwrap_or_default())
    }

    fn text(&self) -> String {
        serde_json::to_string(self).expect("hashes are plain data")
    }

    fn of(commands: &[RepositoryCommand]) -> AgreedHashes {
        AgreedHashes { hashes: commands.iter().map(RepositoryCommand::fingerprint).collect() }
    }
}

/// The fact of a file that was written before the database knew of it.
pub(crate) fn of_file(home: &Home) -> String {
    let bytes = private::read(path(home), FILE_BYTES_MAX).unwrap_or_default();
    serde_json::from_slice::<AgreedHashes>(&bytes).unwrap_or_default().text()
}

fn path(home: &Home) -> PathBuf {
    home.root().join("config-consent.json")
}

fn write(path: &Path, agreed: &AgreedHashes) -> io::Result<()> {
    write_private(path, agreed.text().as_bytes())
}
