//! The vault: secrets by whom they belong to and by name, in one sealed file.
//!
//! Several processes may use it at once. Each call reads the file anew, and a change is made under a lock; nothing
//! but the key stays in memory.

use std::{
    fmt,
    path::{Path, PathBuf},
};

use zeroize::Zeroizing;

pub use crate::file::Kind;
use crate::{
    cipher::Cipher,
    error::{OpenError, ReadError, WriteError},
    file::{self, Content, Head, Record},
    key::{self, Found, Key},
    name::{Name, Scope},
    place,
    reference::Reference,
    secret::{Secret, VALUE_BYTES_MAX},
};

/// The secrets.
const FILE: &str = "secrets";

/// How new they are.
const MARK: &str = "newest";

/// An open vault.
pub struct Vault {
    directory: PathBuf,
    cipher: Cipher,
}

/// What is to be kept.
pub enum Value {
    /// The value itself.
    Stored(Secret),
    /// Where to look it up.
    Reference(Reference),
}

impl Value {
    /// Sees whether it can be kept under this name.
    pub fn check(&self, name: &Name) -> Result<(), WriteError> {
        let text = self.text();
        if text.is_empty() {
            Err(WriteError::Empty { name: name.clone() })
        } else if text.len() > VALUE_BYTES_MAX {
            Err(WriteError::TooLong { name: name.clone() })
        } else if text.contains('\0') {
            Err(WriteError::Zero { name: name.clone() })
        } else {
            Ok(())
        }
    }

    /// What is sealed.
    fn text(&self) -> Zeroizing<String> {
        match self {
            Value::Stored(secret) => Zeroizing::new(secret.expose().to_owned()),
            Value::Reference(reference) => Zeroizing::new(reference.to_string()),
        }
    }

    fn kind(&self) -> Kind {
        match self {
            Value::Stored(_) => Kind::Stored,
            Value::Reference(Reference::Env(_)) => Kind::Env,
            Value::Reference(Reference::File(_)) => Kind::File,
            Value::Reference(Reference::Cmd(_)) => Kind::Cmd,
        }
    }
}

/// The number of a change; that of a secret is the change that made it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Version(pub u64);

/// What can be said of a secret to everybody.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Listed {
    /// To whom it belongs.
    pub scope: Scope,
    /// Its name.
    pub name: Name,
    /// What it is.
    pub kind: Kind,
    /// The change that made it.
    pub version: Version,
    /// Whether it may be given again without asking.
    pub reuse: bool,
    /// Whether it may be shown: it does not count as secret and is not masked.
    pub plain: bool,
    /// When it was kept, in milliseconds since 1970, UTC.
    pub at_ms: u64,
}

/// The terms under which a value is kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct KeepTerms {
    /// Whether it may be given again without asking.
    pub reuse: bool,
    /// Whether it may be shown: it does not count as secret and is not masked.
    pub plain: bool,
    /// The time, in milliseconds since 1970, UTC.
    pub at_ms: u64,
}

/// What came of mending a vault.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mended {
    /// How many secrets are kept.
    pub kept: usize,
    /// Those that could not be opened any more, by scope and name where these can be read.
    pub lost: Vec<String>,
    /// Where the file as it was is kept.
    pub aside: PathBuf,
}

impl Vault {
    /// Whether there is a vault in a directory, or what is left of one.
    pub fn exists(directory: &Path) -> bool {
        [FILE, MARK].iter().any(|name| directory.join(name).symlink_metadata().is_ok())
    }

    /// How often the vault was changed. The number never becomes smaller.
    pub fn changes(&self) -> Result<u64, OpenError> {
        Ok(self.read()?.head.changes)
    }

    /// Opens the vault in a directory, or makes one. With a passphrase this takes a while, on purpose.
    pub fn open(directory: &Path, key: &Key) -> Result<Vault, OpenError> {
        place::prepare(directory)?;
        let path = directory.join(FILE);
        let (cipher, head) = if let Some(head) = file::head(&path)? {
            (key::cipher(key, &head.key, &path)?, head)
        } else {
            let _lock = place::lock(directory)?;
            // Somebody else may have been faster.
            if let Some(head) = file::head(&path)? {
                (key::cipher(key, &head.key, &path)?, head)
            } else if directory.join(MARK).symlink_metadata().is_ok() {
                // The mark is written after the file, so the file was removed.
                return Err(OpenError::Missing { path });
            } else {
                make(directory, key, 0)?
            }
        };
        if !head.fits(&cipher) {
            return Err(OpenError::WrongKey { path });
        }
        let vault = Vault { directory: directory.to_path_buf(), cipher };
        vault.read()?;
        Ok(vault)
    }

    /// Keeps a secret under a name, in place of what stood there.
    pub fn put(
        &self,
        scope: &Scope,
        name: &Name,
        value: &Value,
        terms: KeepTerms,
    ) -> Result<Version, WriteError> {
        value.check(name)?;
        let (kind, text) = (value.kind(), value.text());
        self.change(|vault, content, version| {
            content.records.retain(|record| !is(record, scope, name));
            let scope = scope.as_str().to_owned();
            let name = name.as_str().to_owned();
            let KeepTerms { reuse, plain, at_ms } = terms;
            let record = Record { scope, name, version, kind, reuse, plain, at_ms, sealed: String::new() };
            content.records.push(vault.seal(&content.head, record, text.as_bytes()));
            true
        })
        .map(|(version, _)| version)
        .map_err(WriteError::Open)
    }

    /// Gives a secret, looked up where it refers to something else; nothing, if there is none.
    pub fn get(&self, scope: &Scope, name: &Name) -> Result<Option<Secret>, ReadError> {
        Ok(self.get_marked(scope, name)?.map(|(secret, _)| secret))
    }

    /// Gives a secret like [`Vault::get`], and whether it is plain and may be shown.
    pub fn get_marked(&self, scope: &Scope, name: &Name) -> Result<Option<(Secret, bool)>, ReadError> {
        let content = self.read()?;
        let Some(record) = content.records.iter().find(|record| is(record, scope, name)) else {
            return Ok(None);
        };
        let text = self.text(&content.head, record)?;
        if record.kind == Kind::Stored {
            return Ok(Some((text, record.plain)));
        }
        let reference = Reference::parse(text.expose()).map_err(|_| self.damaged())?;
        let looked_up =
            reference.resolve().map_err(|source| ReadError::Reference { name: name.clone(), source })?;
        Ok(Some((looked_up, record.plain)))
    }

    /// Gives every value that the vault keeps itself and that counts as secret. References are not looked up.
    pub fn stored(&self) -> Result<Vec<(Name, Secret)>, ReadError> {
        let content = self.read()?;
        let counts = |record: &&Record| record.kind == Kind::Stored && !record.plain;
        let mut stored = Vec::new();
        for record in content.records.iter().filter(counts) {
            let name = Name::new(&record.name).map_err(|_| self.damaged())?;
            stored.push((name, self.text(&content.head, record)?));
        }
        Ok(stored)
    }

    /// Says where a secret is looked up; nothing, if there is none or the vault keeps it itself.
    pub fn reference(&self, scope: &Scope, name: &Name) -> Result<Option<Reference>, ReadError> {
        let content = self.read()?;
        let found = content.records.iter().find(|record| is(record, scope, name));
        let Some(record) = found.filter(|record| record.kind != Kind::Stored) else { return Ok(None) };
        let text = self.text(&content.head, record)?;
        let reference = Reference::parse(text.expose()).map_err(|_| self.damaged())?;
        Ok(Some(reference))
    }

    /// Names and dates of what there is: of one scope, or of all.
    pub fn list(&self, scope: Option<&Scope>) -> Result<Vec<Listed>, ReadError> {
        let content = self.read()?;
        let mut listed = Vec::new();
        for record in content.records {
            let owner = Scope::new(&record.scope).map_err(|_| self.damaged())?;
            let name = Name::new(&record.name).map_err(|_| self.damaged())?;
            if scope.is_none_or(|scope| *scope == owner) {
                let Record { version, kind, reuse, plain, at_ms, .. } = record;
                let version = Version(version);
                listed.push(Listed { scope: owner, name, kind, version, reuse, plain, at_ms });
            }
        }
        listed.sort_by(|a, b| (&a.scope, &a.name).cmp(&(&b.scope, &b.name)));
        Ok(listed)
    }

    /// Removes a secret, and says whether there was one.
    pub fn remove(&self, scope: &Scope, name: &Name) -> Result<bool, WriteError> {
        let mut removed = false;
        self.change(|_, content, _| {
            let before = content.records.len();
            content.records.retain(|record| !is(record, scope, name));
            removed = content.records.len() < before;
            removed
        })?;
        Ok(removed)
    }

    /// Changes the vault under its lock, if there is something to change: the number of the change, and whether.
    fn change(
        &self,
        change: impl FnOnce(&Vault, &mut Content, u64) -> bool,
    ) -> Result<(Version, bool), OpenError> {
        let _lock = place::lock(&self.directory)?;
        let mut content = self.read()?;
        content.head.changes += 1;
        let version = content.head.changes;
        let changed = change(self, &mut content, version);
        if changed {
            self.write(&content)?;
        }
        Ok((Version(version), changed))
    }

    fn read(&self) -> Result<Content, OpenError> {
        file::read(&self.directory.join(FILE), &self.directory.join(MARK), &self.cipher)
    }

    fn write(&self, content: &Content) -> Result<(), OpenError> {
        file::write(&self.directory.join(FILE), &self.directory.join(MARK), content, &self.cipher)
    }

    fn seal(&self, head: &Head, record: Record, text: &[u8]) -> Record {
        let sealed = self.cipher.seal(text, &record.what(head));
        Record { sealed, ..record }
    }

    fn text(&self, head: &Head, record: &Record) -> Result<Secret, OpenError> {
        let bytes = self.cipher.open(&record.sealed, &record.what(head)).ok_or_else(|| self.damaged())?;
        str::from_utf8(&bytes).map(|text| Secret::new(text.to_owned())).map_err(|_| self.damaged())
    }

    fn damaged(&self) -> OpenError {
        OpenError::Damaged { path: self.directory.join(FILE) }
    }
}

/// Makes a vault in a directory whose lock is held.
fn make(directory: &Path, key: &Key, changes: u64) -> Result<(Cipher, Head), OpenError> {
    if let Key::File(path) = key {
        key::make_file(path)?;
    }
    let path = directory.join(FILE);
    let found = Found::new(key);
    let cipher = key::cipher(key, &found, &path)?;
    let mut head = Head::new(found, &cipher);
    head.changes = changes;
    let content = Content { head: head.clone(), records: Vec::new() };
    file::write(&path, &directory.join(MARK), &content, &cipher)?;
    Ok((cipher, head))
}

/// Keeps every secret of a damaged vault that can still be opened; the file as it was is set aside. A vault that was
/// brought back from a backup is taken as it is, and one whose file is gone begins anew, empty. Its changes are counted on
/// from the largest number that is known: in the file, beside it, or `known` from elsewhere.
pub fn mend(directory: &Path, key: &Key, known: u64) -> Result<Mended, OpenError> {
    place::prepare(directory)?;
    let _lock = place::lock(directory)?;
    let (path, mark) = (directory.join(FILE), directory.join(MARK));
    let damaged = || OpenError::Damaged { path: path.clone() };
    let known = known.max(file::marked_changes(&mark)?);
    let Some(head) = file::head(&path)? else {
        let aside = aside(&path, b"")?;
        make(directory, key, known.saturating_add(1))?;
        return Ok(Mended { kept: 0, lost: vec!["?".to_owned()], aside });
    };
    let cipher = key::cipher(key, &head.key, &path)?;
    let text = place::read(&path)?.ok_or_else(damaged)?;
    let (mut content, lost) = file::salvage(&path, &text, &cipher)?;
    let aside = aside(&path, &text)?;
    let version_max = content.records.iter().map(|record| record.version).max().unwrap_or(0);
    content.head.changes = content.head.changes.max(known).max(version_max).saturating_add(1);
    file::write(&path, &mark, &content, &cipher)?;
    Ok(Mended { kept: content.records.len(), lost, aside })
}

/// Keeps a copy under a name that is free.
fn aside(path: &Path, text: &[u8]) -> Result<PathBuf, OpenError> {
    for number in 1_u32.. {
        let aside = path.with_added_extension(format!("damaged-{number}"));
        if place::make(&aside, text)? {
            return Ok(aside);
        }
    }
    unreachable!("a directory does not hold four thousand million files");
}

fn is(record: &Record, scope: &Scope, name: &Name) -> bool {
    record.scope == scope.as_str() && record.name == name.as_str()
}

impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.0)
    }
}
