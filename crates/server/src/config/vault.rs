//! `[vault]`: what the vault is opened with. Only the user's own file can say so: it may name a command.

use std::path::PathBuf;

use serde::Deserialize;
use toml::Spanned;

use super::{ConfigError, Source};

/// What the vault is opened with.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum VaultKey {
    /// A key in a file: this one, or `key` in the vault itself.
    File(Option<PathBuf>),
    /// A passphrase that a person gives to each server.
    Passphrase,
    /// A passphrase that a command prints, such as that of a keyring.
    Command(String),
}

/// The table as it stands in the file.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct VaultTable {
    key: Option<Spanned<String>>,
    key_file: Option<Spanned<String>>,
}

impl VaultTable {
    pub(super) fn read(self, source: &Source) -> Result<VaultKey, ConfigError> {
        let file = |file: Spanned<String>| {
            let path = PathBuf::from(file.get_ref());
            if path.is_absolute() {
                return Ok(path);
            }
            Err(source.wrong(file.span(), format!("`{}` is not an absolute path", file.get_ref()), None))
        };
        let key_file = self.key_file.map(file).transpose()?;
        let Some(key) = self.key else { return Ok(VaultKey::File(key_file)) };
        match (key.get_ref().as_str(), key_file) {
            ("file", key_file) => Ok(VaultKey::File(key_file)),
            ("passphrase", None) => Ok(VaultKey::Passphrase),
            (text, None) if text.strip_prefix("cmd:").is_some_and(|command| !command.trim().is_empty()) => {
                Ok(VaultKey::Command(text["cmd:".len()..].to_owned()))
            }
            (text, None) => {
                let message = format!("unknown key `{text}`, expected `file`, `passphrase` or `cmd:COMMAND`");
                Err(source.wrong(key.span(), message, None))
            }
            (text, Some(_)) => {
                let message = format!("`{text}` has no use for a key_file");
                Err(source.wrong(key.span(), message, None))
            }
        }
    }
}
