//! What an office keeps in files: texts that are too long to be said, or to stand in the journal, and copies of files that
//! go with a worktree. Each is named by what it holds, so that the same is kept once and nothing is ever written over
//! something else.
//!
//! It is on the disk before anything names it. What was kept for something that is refused is removed at once; what a
//! server that died between the two has left, when the next one starts.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs::{self},
    io::{self, Write},
    path::{Path, PathBuf},
    sync::{Arc, Mutex, MutexGuard},
};

use ostler_engine::office::{Handover, Reference};
use ostler_files::{FILE_BYTES_MAX, named, private};
use ostler_store::{Entity, Page, Projection, ReadError, Scope};
use ostler_vault::Masks;
use serde::Deserialize;

use crate::{
    environment::digest,
    home::{Home, private_directory},
    random,
};

/// The longest text that stands in the journal and in lists as it is.
pub(crate) const INLINE_BYTES_MAX: usize = 16 << 10;

/// The longest result, and the longest file of which a copy is kept. It is held in memory until it is kept.
pub(crate) const BYTES_MAX: usize = 64 << 20;

/// So much of a longer one is shown.
const BEGINNING_BYTES_MAX: usize = 4 << 10;

/// How many records are held at once while all are gone through.
const ROWS_AT_ONCE: u32 = 64;

/// So much of a file's own name stands in that of its copy, behind the digest.
const NAME_BYTES_MAX: usize = 128;

/// The texts of a state directory.
#[derive(Debug)]
pub(crate) struct Texts {
    folder: PathBuf,
    known: Mutex<Known>,
}

/// What a server knows of its texts.
#[derive(Debug)]
struct Known {
    /// The names of those that were kept since it began, as long as it is not tidied up.
    fresh: Option<BTreeSet<String>>,
    /// Those of which it is not decided yet whether anything names them.
    open: BTreeMap<String, Claim>,
}

/// Who wants a text to stay.
#[derive(Debug)]
struct Claim {
    /// By how many it is about to be named.
    count: u32,
    /// Whether it was there before, or is named.
    stays: bool,
}

impl Texts {
    pub(crate) fn new(home: &Home) -> Texts {
        let known = Known { fresh: Some(BTreeSet::new()), open: BTreeMap::new() };
        Texts { folder: home.office(), known: Mutex::new(known) }
    }

    /// Keeps a text. It outlives a power cut when this returns. Whether it is named then has to be said: see `settle`.
    pub(crate) fn keep(&self, text: &str) -> io::Result<Reference> {
        self.keep_as(digest(text.as_bytes()), "", text.as_bytes())
    }

    /// Keeps a copy of a file, in the same way, with secrets masked. Its name can still be seen, since programs go by the end of it.
    pub(crate) fn keep_file(&self, file: &Path, masks: &Arc<Masks>) -> io::Result<Reference> {
        let bytes = named::read(file, BYTES_MAX as u64)?;
        let bytes = masks.bytes(&bytes);
        let name = file.file_name().unwrap_or_default().to_string_lossy();
        let behind = name.ceil_char_boundary(name.len().saturating_sub(NAME_BYTES_MAX));
        self.keep_as(digest(&bytes), &format!("-{}", &name[behind..]), &bytes)
    }

    fn keep_as(&self, sha256: String, behind: &str, bytes: &[u8]) -> io::Result<Reference> {
        let name = format!("{sha256}{behind}");
        let path = self.folder.join(&name);
        let draft = format!("{}.draft", random::word());
        {
            let Known { fresh, open } = &mut *self.known();
            if let Some(fresh) = fresh {
                fresh.extend([name.clone(), draft.clone()]);
            }
            // Whoever removes it looks here first.
            open.entry(name).or_insert_with(|| Claim { count: 0, stays: path.exists() }).count += 1;
        }
        let reference = Reference { path: path.display().to_string(), bytes: bytes.len() as u64, sha256 };
        // One that is damaged is written again.
        let is_there = private::read(&path, FILE_BYTES_MAX).is_ok_and(|there| there == bytes);
        let written = if is_there {
            Ok(())
        } else {
            private_directory(&self.folder).and_then(|()| write(&self.folder.join(draft), &path, bytes))
        };
        let kept =
            written.and_then(|()| self.folder.parent().into_iter().chain([&*self.folder]).try_for_each(sync));
        if kept.is_err() {
            self.settle(&reference, false);
        }
        kept.map(|()| reference)
    }

    /// It is decided whether something names a text that was kept. If nothing does, and nobody else is about to, it is
    /// removed, unless it was there before.
    pub(crate) fn settle(&self, reference: &Reference, is_named: bool) {
        let path = Path::new(&reference.path);
        let Some(name) = path.file_name().and_then(|name| name.to_str()) else { return };
        let known = &mut *self.known();
        let Some(claim) = known.open.get_mut(name) else { return };
        claim.count -= 1;
        claim.stays |= is_named;
        if claim.count == 0 {
            let stays = claim.stays;
            known.open.remove(name);
            if !stays {
                // One that cannot be removed now is tried again at the next start.
                fs::remove_file(path).ok();
            }
        }
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
            let known = self.known();
            if known.fresh.as_ref().is_some_and(|fresh| !fresh.contains(name)) {
                fs::remove_file(self.folder.join(name)).ok();
            }
        }
        self.known().fresh = None;
    }

    fn known(&self) -> MutexGuard<'_, Known> {
        self.known.lock().expect("nobody panics while holding it")
    }
}

/// Reads a text back, if it is what was written.
pub(crate) fn read(reference: &Reference) -> io::Result<String> {
    let found = read_bytes(reference)?;
    String::from_utf8(found).map_err(|error| io::Error::new(io::ErrorKind::InvalidData, error))
}

/// All of a result: what stands in a file, or what was said.
pub(crate) fn all_of(result: &Handover) -> io::Result<Vec<u8>> {
    let is_elsewhere = result.cut || result.copy().is_some();
    match result.reference.as_ref().filter(|_| is_elsewhere) {
        Some(reference) => read_bytes(reference),
        None => Ok(result.content.clone().into_bytes()),
    }
}

/// The same of anything that is kept.
pub(crate) fn read_bytes(Reference { path, bytes, sha256 }: &Reference) -> io::Result<Vec<u8>> {
    let found = private::read(path, FILE_BYTES_MAX)?;
    if found.len() as u64 != *bytes || digest(&found) != *sha256 {
        return Err(io::Error::new(io::ErrorKind::InvalidData, "it is not what was written"));
    }
    Ok(found)
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

fn write(draft: &Path, path: &Path, bytes: &[u8]) -> io::Result<()> {
    let mut file = private::create(draft)?;
    let kept = file.write_all(bytes).and_then(|()| file.sync_data()).and_then(|()| fs::rename(draft, path));
    if kept.is_err() {
        // It takes up room.
        fs::remove_file(draft).ok();
    }
    kept
}

/// A name is on the disk when its directory is.
pub(crate) fn sync(folder: &Path) -> io::Result<()> {
    ostler_files::sync_directory(folder)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_goes_with_the_last_who_wanted_it_unless_something_names_it() {
        let place = std::env::temp_dir().join(format!("ostler-kept-{}", random::word()));
        let texts = || Texts::new(&Home::at(&place));
        let (first, second) = (texts(), texts());
        let is_there = |reference: &Reference| Path::new(&reference.path).exists();
        let keep = |texts: &Texts| texts.keep("the same").expect("it is kept");

        let reference = keep(&first);
        keep(&first);
        first.settle(&reference, false);
        assert!(is_there(&reference), "somebody else is about to name it");
        first.settle(&reference, false);
        assert!(!is_there(&reference), "nobody wants it");

        keep(&first);
        keep(&first);
        first.settle(&reference, true);
        first.settle(&reference, false);
        assert!(is_there(&reference), "something names it");
        keep(&second);
        second.settle(&reference, false);
        assert!(is_there(&reference), "it was there before");
        fs::remove_dir_all(place).expect("it is ours");
    }

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
