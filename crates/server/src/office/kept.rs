//! Texts of an office that are too long to be said, or to stand in the journal: each in a file that is named by what it
//! holds, so that the same text is kept once and none is ever written over another.
//!
//! A text is on the disk before anything names it. What nothing names is removed when a server starts: one has died
//! between the two, or what was to be brought was refused.

use std::{
    collections::BTreeSet,
    fs::{self, File, OpenOptions},
    io::{self, Write},
    os::unix::fs::OpenOptionsExt,
    path::{Path, PathBuf},
    sync::Mutex,
};

use ostler_engine::office::Reference;
use ostler_store::{Entity, Page, Projection, ReadError, Scope};
use serde::Deserialize;

use crate::{
    environment::digest,
    home::{Home, private_directory},
    random,
};

/// The longest text that stands in the journal and in lists as it is.
pub(crate) const INLINE_BYTES_MAX: usize = 16 << 10;

/// So much of a longer one is shown.
const BEGINNING_BYTES_MAX: usize = 4 << 10;

/// How many records are held at once while all are gone through.
const ROWS_AT_ONCE: u32 = 64;

/// The texts of a state directory.
#[derive(Debug)]
pub(crate) struct Texts {
    folder: PathBuf,
    /// The names of those that were kept since this server began, as long as it is not tidied up.
    fresh: Mutex<Option<BTreeSet<String>>>,
}

impl Texts {
    pub(crate) fn new(home: &Home) -> Texts {
        Texts { folder: home.office(), fresh: Mutex::new(Some(BTreeSet::new())) }
    }

    /// Keeps a text. It outlives a power cut when this returns.
    pub(crate) fn keep(&self, text: &str) -> io::Result<Reference> {
        let sha256 = digest(text.as_bytes());
        let draft = format!("{}.draft", random::word());
        if let Some(fresh) = &mut *self.fresh.lock().expect("nobody panics while holding it") {
            fresh.extend([sha256.clone(), draft.clone()]);
        }
        let path = self.folder.join(&sha256);
        // One that is damaged is written again.
        if !fs::read(&path).is_ok_and(|there| there == text.as_bytes()) {
            private_directory(&self.folder)?;
            write(&self.folder.join(draft), &path, text)?;
        }
        self.folder.parent().into_iter().chain([self.folder.as_path()]).try_for_each(sync)?;
        Ok(Reference { path: path.display().to_string(), bytes: text.len() as u64, sha256 })
    }

    /// Removes what no record names. They are asked for after it was looked what is there: what is named since then was
    /// kept since this server began.
    pub(crate) fn tidy(&self, named: impl FnOnce() -> Result<BTreeSet<String>, ReadError>) {
        let entries = fs::read_dir(&self.folder).into_iter().flatten().flatten();
        let there: Vec<String> = entries.filter_map(|entry| entry.file_name().into_string().ok()).collect();
        let named = if there.is_empty() { Ok(BTreeSet::new()) } else { named() };
        // What cannot be read is asked for again by the next server.
        let Ok(named) = named else { return };
        for name in there.iter().filter(|name| !named.contains(*name)) {
            let fresh = self.fresh.lock().expect("nobody panics while holding it");
            if fresh.as_ref().is_some_and(|fresh| !fresh.contains(name)) {
                fs::remove_file(self.folder.join(name)).ok();
            }
        }
        *self.fresh.lock().expect("nobody panics while holding it") = None;
    }
}

/// Reads a text back, if it is what was written.
pub(crate) fn read(Reference { path, bytes, sha256 }: &Reference) -> io::Result<String> {
    let found = fs::read(path)?;
    if found.len() as u64 != *bytes || digest(&found) != *sha256 {
        return Err(io::Error::new(io::ErrorKind::InvalidData, "it is not what was written"));
    }
    String::from_utf8(found).map_err(|error| io::Error::new(io::ErrorKind::InvalidData, error))
}

/// As much of a text as is shown of a long one.
pub(crate) fn beginning(text: &str) -> &str {
    &text[..text.floor_char_boundary(BEGINNING_BYTES_MAX)]
}

/// Goes through everything that names a text: calls and results.
pub(crate) fn references(
    mut page: impl FnMut(&Page) -> Result<Vec<Projection>, ReadError>,
    mut visit: impl FnMut(Reference),
) -> Result<(), ReadError> {
    #[derive(Deserialize)]
    struct Naming {
        #[serde(default)]
        reference: Option<Reference>,
    }
    for entity in [Entity::Invocation, Entity::Result] {
        let mut next =
            Page { entity, scope: Scope::default(), live: None, before: None, limit: ROWS_AT_ONCE };
        loop {
            let rows = page(&next)?;
            let Some(last) = rows.last() else { break };
            next.before = Some(last.id);
            for row in &rows {
                // What it names would else be taken for something that nothing names.
                let naming: Naming = serde_json::from_str(&row.body).map_err(|error| ReadError::Corrupt {
                    place: format!("{entity:?} {}", row.id),
                    what: error.to_string(),
                })?;
                naming.reference.into_iter().for_each(&mut visit);
            }
        }
    }
    Ok(())
}

fn write(draft: &Path, path: &Path, text: &str) -> io::Result<()> {
    let mut file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(draft)?;
    let kept = file
        .write_all(text.as_bytes())
        .and_then(|()| file.sync_data())
        .and_then(|()| fs::rename(draft, path));
    if kept.is_err() {
        // It takes up room.
        fs::remove_file(draft).ok();
    }
    kept
}

/// A name is on the disk when its directory is.
fn sync(folder: &Path) -> io::Result<()> {
    File::open(folder)?.sync_all()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_record_that_cannot_be_read_stops_who_goes_through_all() {
        let row = |body: &str| Projection {
            entity: Entity::Result,
            id: 1,
            project: None,
            run: None,
            session: None,
            live: false,
            seq: 1,
            body: body.to_owned(),
        };
        let named = |body: &str| {
            let mut names = Vec::new();
            let page = |page: &Page| {
                let is_first = page.before.is_none() && page.entity == Entity::Result;
                Ok(if is_first { vec![row(body)] } else { Vec::new() })
            };
            references(page, |reference| names.push(reference.path)).map(|()| names)
        };
        assert_eq!(named("{}").expect("it names nothing"), [] as [&str; 0]);
        let body = r#"{"reference": {"path": "/a", "bytes": 1, "sha256": "0"}}"#;
        assert_eq!(named(body).expect("it names one"), ["/a"]);
        let error = named(r#"{"reference": {"path": 7}}"#).expect_err("it may name one");
        assert!(matches!(error, ReadError::Corrupt { .. }), "{error}");
    }
}
