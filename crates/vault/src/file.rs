//! The form of a vault's file: a head, a line of JSON for each secret, and a seal over all of it.
//!
//! Names, versions and dates stand open; values are sealed one by one, each bound to its line. The seal at the end
//! keeps lines from being left out, and [`Mark`] keeps the whole file from being replaced by an older one.

use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::{
    cipher::{Cipher, random},
    error::OpenError,
    hex,
    key::Found,
    place,
};

/// The form that this code writes.
const FORM: u32 = 1;

/// What stands in a vault's file.
pub(crate) struct Content {
    pub(crate) head: Head,
    pub(crate) records: Vec<Record>,
}

/// The first line.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Head {
    ostler_vault: u32,
    /// A word that tells this vault from others under the same key.
    pub(crate) id: String,
    pub(crate) key: Found,
    /// Shows whether a key is the right one, before anything is said to be damaged.
    check: String,
    /// How often the vault was changed.
    pub(crate) changes: u64,
}

/// What every form of a head has.
#[derive(Deserialize)]
struct Form {
    ostler_vault: u32,
}

/// A secret.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Record {
    pub(crate) scope: String,
    pub(crate) name: String,
    /// The change that made it; never the same twice.
    pub(crate) version: u64,
    pub(crate) kind: Kind,
    pub(crate) reuse: bool,
    /// Whether it may be shown. Absent before this was known, and where it is a secret.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(crate) plain: bool,
    pub(crate) at_ms: u64,
    pub(crate) sealed: String,
}

/// What a secret is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// A value that the vault keeps.
    Stored,
    /// A variable of the server's environment.
    Env,
    /// A file.
    File,
    /// What a command prints.
    Cmd,
}

/// The last line.
#[derive(Serialize, Deserialize)]
struct Seal {
    seal: String,
}

/// The newest state of the vault, in a file beside it.
#[derive(Serialize, Deserialize)]
struct Mark {
    changes: u64,
    seal: String,
}

impl Head {
    /// Of a new vault, together with the cipher that the key gives.
    pub(crate) fn new(key: Found, cipher: &Cipher) -> Head {
        let id = hex::digits(&random::<8>());
        let check = cipher.seal(b"", &words(&["key", &id]));
        Head { ostler_vault: FORM, id, key, check, changes: 0 }
    }

    /// Whether this is the key that the vault is sealed with.
    pub(crate) fn fits(&self, cipher: &Cipher) -> bool {
        cipher.open(&self.check, &words(&["key", &self.id])).is_some()
    }
}

impl Record {
    /// What its seal is bound to: everything that stands open.
    pub(crate) fn what(&self, head: &Head) -> Vec<u8> {
        let Record { scope, name, version, kind, reuse, plain, at_ms, sealed: _ } = self;
        let [version, kind, reuse, at_ms] =
            [version.to_string(), format!("{kind:?}"), reuse.to_string(), at_ms.to_string()];
        let mut bound = vec!["secret", &head.id, scope, name, &version, &kind, &reuse, &at_ms];
        // Only a plain value adds a word, so that records from before still open.
        if *plain {
            bound.push("plain");
        }
        words(&bound)
    }
}

/// Reads the head alone; nothing, if there is no vault.
pub(crate) fn head(path: &Path) -> Result<Option<Head>, OpenError> {
    place::read(path)?.map(|text| head_of(path, &text)).transpose()
}

/// Reads all of it, and sees that it is whole and the newest.
pub(crate) fn read(path: &Path, mark: &Path, cipher: &Cipher) -> Result<Content, OpenError> {
    let damaged = || OpenError::Damaged { path: path.to_path_buf() };
    // The mark is written last, so it is read first: then a writer in between cannot make the file look old.
    let mark = place::read(mark)?;
    let text = place::read(path)?.ok_or_else(|| OpenError::Missing { path: path.to_path_buf() })?;
    let head = head_of(path, &text)?;
    if !head.fits(cipher) {
        return Err(OpenError::WrongKey { path: path.to_path_buf() });
    }
    let text = str::from_utf8(&text).ok().and_then(|text| text.strip_suffix('\n')).ok_or_else(damaged)?;
    let (lines, last) = text.rsplit_once('\n').ok_or_else(damaged)?;
    let Seal { seal } = serde_json::from_str(last).map_err(|_| damaged())?;
    cipher.open(&seal, &words(&["file", lines])).ok_or_else(damaged)?;
    let records = lines.split('\n').skip(1).map(serde_json::from_str).collect::<Result<_, _>>();
    let records = records.map_err(|_| damaged())?;
    newest(path, mark.as_deref().map(Vec::as_slice), &head, cipher)?;
    Ok(Content { head, records })
}

/// Reads the lines that are still whole, in a file that may be damaged, and says which others were lost.
pub(crate) fn salvage(
    path: &Path,
    text: &[u8],
    cipher: &Cipher,
) -> Result<(Content, Vec<String>), OpenError> {
    let head = head_of(path, text)?;
    if !head.fits(cipher) {
        return Err(OpenError::WrongKey { path: path.to_path_buf() });
    }
    let (mut records, mut lost) = (Vec::new(), Vec::new());
    for line in text.split(|&byte| byte == b'\n').skip(1).filter(|line| !line.is_empty()) {
        match serde_json::from_slice::<Record>(line) {
            Ok(record) if cipher.open(&record.sealed, &record.what(&head)).is_some() => records.push(record),
            Ok(record) => lost.push(format!("{} {}", record.scope, record.name)),
            Err(_) if serde_json::from_slice::<Seal>(line).is_ok() => {}
            Err(_) => lost.push("?".to_owned()),
        }
    }
    // An old line that was put beside the new one opens as well: the last change of each name counts.
    records.sort_by_key(|record: &Record| record.version);
    let mut newest: Vec<Record> = Vec::with_capacity(records.len());
    for record in records {
        newest.retain(|it| (&it.scope, &it.name) != (&record.scope, &record.name));
        newest.push(record);
    }
    Ok((Content { head, records: newest }, lost))
}

/// The number in a mark, whether or not its seal is that of this vault. Only good for going on behind it.
pub(crate) fn marked_changes(mark: &Path) -> Result<u64, OpenError> {
    let text = place::read(mark)?;
    let mark = text.and_then(|text| serde_json::from_slice::<Mark>(&text).ok());
    Ok(mark.map_or(0, |mark| mark.changes))
}

fn head_of(path: &Path, text: &[u8]) -> Result<Head, OpenError> {
    let line = text.split(|&byte| byte == b'\n').next().unwrap_or_default();
    let head: Form =
        serde_json::from_slice(line).map_err(|_| OpenError::Damaged { path: path.to_path_buf() })?;
    if head.ostler_vault != FORM {
        return Err(OpenError::Newer { path: path.to_path_buf(), version: head.ostler_vault });
    }
    serde_json::from_slice(line).map_err(|_| OpenError::Damaged { path: path.to_path_buf() })
}

/// Writes all of it anew, then the mark. A crash in between leaves a mark that is older, which is no harm.
pub(crate) fn write(path: &Path, mark: &Path, content: &Content, cipher: &Cipher) -> Result<(), OpenError> {
    let Content { head, records } = content;
    let mut lines = serde_json::to_string(head).expect("a head is plain data");
    for record in records {
        lines.push('\n');
        lines.push_str(&serde_json::to_string(record).expect("a record is plain data"));
    }
    let seal = Seal { seal: cipher.seal(b"", &words(&["file", &lines])) };
    let last = serde_json::to_string(&seal).expect("a seal is plain data");
    place::replace(path, format!("{lines}\n{last}\n").as_bytes())?;
    let seal = cipher.seal(b"", &words(&["mark", &head.id, &head.changes.to_string()]));
    let text = serde_json::to_string(&Mark { changes: head.changes, seal }).expect("a mark is plain data");
    place::replace(mark, text.as_bytes())
}

/// Refuses a file that is older than the last one that was written.
fn newest(path: &Path, mark: Option<&[u8]>, head: &Head, cipher: &Cipher) -> Result<(), OpenError> {
    let older = |expected| OpenError::Older { path: path.to_path_buf(), found: head.changes, expected };
    let Some(text) = mark else {
        // A crash right after a vault was made has left none.
        return if head.changes == 0 { Ok(()) } else { Err(older(None)) };
    };
    let mark: Mark = serde_json::from_slice(text).map_err(|_| older(None))?;
    let what = words(&["mark", &head.id, &mark.changes.to_string()]);
    cipher.open(&mark.seal, &what).ok_or_else(|| older(None))?;
    if head.changes < mark.changes { Err(older(Some(mark.changes))) } else { Ok(()) }
}

/// Joins words so that no two lists give the same bytes.
fn words(words: &[&str]) -> Vec<u8> {
    let mut joined = b"ostler vault 1".to_vec();
    for word in words {
        joined.extend((word.len() as u64).to_le_bytes());
        joined.extend(word.as_bytes());
    }
    joined
}
