//! Consent to the commands of the user's own configuration that the server runs itself, outside of any shim.
//!
//! An agent has the user's rights and can write that file. A command in it runs only if a person agreed to exactly that
//! command, or if it was there when the state directory had its first server. The hashes are kept in a private file that
//! is replaced as a whole, and read once: a server that runs does not believe what somebody writes there meanwhile.

use std::{
    collections::BTreeSet,
    fs, io,
    path::PathBuf,
    sync::{Mutex, MutexGuard},
};

use serde::{Deserialize, Serialize};

use crate::{
    config::{Config, RepositoryCommand},
    home::{Home, write_private},
};

/// What stands for the user's own configuration where a directory of a project could. Those are absolute.
pub const CONFIGURATION: &str = "configuration";

/// Which commands of the configuration a person agreed to.
#[derive(Debug)]
pub(crate) struct ConfigConsent {
    path: PathBuf,
    agreed: Mutex<AgreedHashes>,
}

/// The file.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
struct AgreedHashes {
    hashes: BTreeSet<String>,
}

impl ConfigConsent {
    /// Reads what was agreed to. If nothing was ever kept, the configuration as it is now counts as agreed; a file that
    /// cannot be read agrees to nothing.
    pub(crate) fn open(home: &Home) -> ConfigConsent {
        let path = home.root().join("config-consent.json");
        let agreed = match fs::read(&path) {
            Ok(bytes) => serde_json::from_slice(&bytes).unwrap_or_default(),
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                let commands = Config::of_user().map(|config| config.own_commands).unwrap_or_default();
                let agreed =
                    AgreedHashes { hashes: commands.iter().map(RepositoryCommand::fingerprint).collect() };
                // Where it cannot be written, this server goes by it all the same, and the next one tries again.
                write(&path, &agreed).ok();
                agreed
            }
            Err(_) => AgreedHashes::default(),
        };
        ConfigConsent { path, agreed: Mutex::new(agreed) }
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
        let new = AgreedHashes { hashes: commands.iter().map(RepositoryCommand::fingerprint).collect() };
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

fn write(path: &std::path::Path, agreed: &AgreedHashes) -> io::Result<()> {
    let text = serde_json::to_string(agreed).expect("hashes are plain data");
    write_private(path, text.as_bytes())
}
