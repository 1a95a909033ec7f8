//! The vault of the state directory, opened when it is first needed and with what the user's configuration says.
//!
//! Everything here may take a while: a key is made from a passphrase, a command is run. It is called on threads that
//! may wait. No value goes from here into an event, a log or an answer.

use std::{
    fmt,
    sync::{Arc, Mutex},
};

use ostler_files::{FILE_BYTES_MAX, private};
use ostler_vault::{
    Key, Mended, OpenError, ReadError, Reference, ReferenceError, Secret, Vault, WriteError, mend,
};

use crate::{
    api::VaultState,
    config::{Config, ConfigError, VaultKey},
    consent::ConfigConsent,
    home::{Home, write_private},
};

/// What names the command that opens the vault.
const VAULT_KEY: &str = "vault.key";

/// The vault, once it is open.
pub(crate) struct Secrets {
    home: Home,
    consent: Arc<ConfigConsent>,
    open: Mutex<Option<Arc<Vault>>>,
}

/// Why the vault cannot be used.
#[derive(Debug)]
pub enum SecretsError {
    /// The configuration has a mistake.
    Config(ConfigError),
    /// It wants a passphrase, and nobody has given it yet.
    Locked,
    /// No passphrase is wanted: the configuration names another way.
    NotLocked,
    /// The command that prints the passphrase is new, and nobody has agreed to it.
    Unagreed,
    /// The command that prints the passphrase does not.
    Command(ReferenceError),
    /// It cannot be opened.
    Open(OpenError),
    /// It cannot be read.
    Read(ReadError),
    /// It cannot be written.
    Write(WriteError),
}

impl Secrets {
    pub(crate) fn new(home: &Home, consent: Arc<ConfigConsent>) -> Secrets {
        Secrets { home: home.clone(), consent, open: Mutex::default() }
    }

    /// The vault, which is made if there is none yet.
    pub(crate) fn vault(&self) -> Result<Arc<Vault>, SecretsError> {
        let mut open = self.open.lock().expect("nobody panics while opening a vault");
        if let Some(vault) = &*open {
            check_changes(&self.home, vault)?;
            return Ok(Arc::clone(vault));
        }
        ostler_vault::guard();
        let key = key(&self.home, &self.consent, || Err(SecretsError::Locked))?;
        let vault = open_known(&self.home, &key).map(Arc::new)?;
        *open = Some(Arc::clone(&vault));
        Ok(vault)
    }

    /// Notes how often the vault was changed, after something may have changed it.
    pub(crate) fn note_changes(&self) -> Result<(), SecretsError> {
        let open = self.open.lock().expect("nobody panics while opening a vault");
        open.as_ref().map_or(Ok(()), |vault| check_changes(&self.home, vault))
    }

    /// The vault, if there is one already: whoever only looks does not make it.
    pub(crate) fn existing(&self) -> Result<Option<Arc<Vault>>, SecretsError> {
        if vault_exists(&self.home) { self.vault().map(Some) } else { Ok(None) }
    }

    /// Whether it can be used, or what a person has to do first. Where the configuration has a mistake, whatever uses it says so.
    pub(crate) fn state(&self) -> VaultState {
        let is_open = self.open.lock().expect("nobody panics while opening a vault").is_some();
        let wants = Config::of_user().is_ok_and(|config| config.vault == VaultKey::Passphrase);
        match (is_open || !wants, vault_exists(&self.home)) {
            (true, _) => VaultState::Ready,
            (false, true) => VaultState::Locked,
            (false, false) => VaultState::Unmade,
        }
    }

    /// Opens it with a passphrase that a person gave.
    pub(crate) fn unlock(&self, passphrase: Secret) -> Result<(), SecretsError> {
        let config = Config::of_user().map_err(SecretsError::Config)?;
        if config.vault != VaultKey::Passphrase {
            return Err(SecretsError::NotLocked);
        }
        ostler_vault::guard();
        let key = Key::Passphrase(passphrase);
        let vault = open_known(&self.home, &key)?;
        *self.open.lock().expect("nobody panics while opening a vault") = Some(Arc::new(vault));
        Ok(())
    }
}

/// Opens the vault of a state directory as the user's configuration says, asking for a passphrase where it must.
pub fn open_vault(
    home: &Home,
    ask: impl FnOnce() -> Result<Secret, SecretsError>,
) -> Result<Vault, SecretsError> {
    open_known(home, &key(home, &ConfigConsent::without_server(home), ask)?)
}

/// Whether there is a vault, or was one.
pub fn vault_exists(home: &Home) -> bool {
    Vault::exists(&home.vault()) || known_changes(home) > 0
}

/// Opens a vault, unless it was removed or brought back from earlier as a whole.
fn open_known(home: &Home, key: &Key) -> Result<Vault, SecretsError> {
    if !Vault::exists(&home.vault()) && known_changes(home) > 0 {
        return Err(SecretsError::Open(OpenError::Missing { path: home.vault() }));
    }
    let vault = Vault::open(&home.vault(), key).map_err(SecretsError::Open)?;
    check_changes(home, &vault)?;
    Ok(vault)
}

/// The largest number of changes that was seen; none, if nothing says so.
fn known_changes(home: &Home) -> u64 {
    let text = private::read_text(home.vault_changes(), FILE_BYTES_MAX).ok();
    text.and_then(|text| text.trim().parse().ok()).unwrap_or(0)
}

/// Refuses a vault with fewer changes than were seen, and notes a larger number.
fn check_changes(home: &Home, vault: &Vault) -> Result<(), SecretsError> {
    let (found, known) = (vault.changes().map_err(SecretsError::Open)?, known_changes(home));
    if found < known {
        let path = home.vault();
        return Err(SecretsError::Open(OpenError::Older { path, found, expected: Some(known) }));
    }
    if found > known {
        let path = home.vault_changes();
        let written = write_private(&path, found.to_string().as_bytes());
        written.map_err(|source| SecretsError::Open(OpenError::Io { path, source }))?;
    }
    Ok(())
}

/// Keeps what can still be opened of a damaged vault; the file as it was is set aside.
pub fn mend_vault(
    home: &Home,
    ask: impl FnOnce() -> Result<Secret, SecretsError>,
) -> Result<Mended, SecretsError> {
    let key = key(home, &ConfigConsent::without_server(home), ask)?;
    mend(&home.vault(), &key, known_changes(home)).map_err(SecretsError::Open)
}

/// What the vault is opened with. A command runs only if a person agreed to it, whoever opens the vault: below the command
/// line of a person it would be a person.
fn key(
    home: &Home,
    consent: &ConfigConsent,
    ask: impl FnOnce() -> Result<Secret, SecretsError>,
) -> Result<Key, SecretsError> {
    let config = Config::of_user().map_err(SecretsError::Config)?;
    if consent.waiting(&config).iter().any(|command| command.key == VAULT_KEY) {
        return Err(SecretsError::Unagreed);
    }
    Ok(match config.vault {
        VaultKey::File(path) => Key::File(path.unwrap_or_else(|| home.vault().join("key"))),
        VaultKey::Passphrase => Key::Passphrase(ask()?),
        VaultKey::Command(command) => {
            Key::Passphrase(Reference::Cmd(command).resolve().map_err(SecretsError::Command)?)
        }
    })
}

impl SecretsError {
    /// What a person can do about it, in a sentence.
    pub fn advice(&self) -> &'static str {
        match self {
            SecretsError::Config(_) => "Mend the file; nothing was changed.",
            SecretsError::Locked => "Give its passphrase: ostler secret unlock",
            SecretsError::NotLocked => "Nothing has to be unlocked.",
            SecretsError::Unagreed => "Look at the command and decide: ostler trust --config",
            SecretsError::Command(_) => "See that the command in [vault] prints the passphrase.",
            SecretsError::Open(error)
            | SecretsError::Read(ReadError::Open(error))
            | SecretsError::Write(WriteError::Open(error)) => error.advice(),
            SecretsError::Read(ReadError::Reference { .. }) => {
                "See what it refers to, or set it anew: ostler secret set NAME"
            }
            SecretsError::Write(_) => "Nothing was kept.",
        }
    }
}

/// There is nothing of it that could be shown.
impl fmt::Debug for Secrets {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secrets")
    }
}

impl fmt::Display for SecretsError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            SecretsError::Config(source) => write!(f, "{source}"),
            SecretsError::Locked => write!(f, "the vault is locked"),
            SecretsError::NotLocked => write!(f, "the vault wants no passphrase from you"),
            SecretsError::Unagreed => {
                write!(
                    f,
                    "the command that opens the vault is new or has changed, and nobody has agreed to it"
                )
            }
            SecretsError::Command(source) => write!(f, "cannot get the vault's passphrase: {source}"),
            SecretsError::Open(source) => write!(f, "{source}"),
            SecretsError::Read(source) => write!(f, "{source}"),
            SecretsError::Write(source) => write!(f, "{source}"),
        }
    }
}

impl std::error::Error for SecretsError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            SecretsError::Config(source) => Some(source),
            SecretsError::Command(source) => Some(source),
            SecretsError::Open(source) => Some(source),
            SecretsError::Read(source) => Some(source),
            SecretsError::Write(source) => Some(source),
            SecretsError::Locked | SecretsError::NotLocked | SecretsError::Unagreed => None,
        }
    }
}

impl From<ReadError> for SecretsError {
    fn from(source: ReadError) -> SecretsError {
        SecretsError::Read(source)
    }
}

impl From<WriteError> for SecretsError {
    fn from(source: WriteError) -> SecretsError {
        SecretsError::Write(source)
    }
}
