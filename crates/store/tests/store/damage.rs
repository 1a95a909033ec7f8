//! Broken files: flipped bits and cut ends at many places.
//!
//! Whatever is broken, either it is noticed or nothing is missing; and what is salvaged is a true beginning of what
//! was written.

use std::{
    fs::{self, OpenOptions},
    os::unix::fs::FileExt,
    path::{Path, PathBuf},
};

use ostler_store::{
    Commit, EventRow, NEEDS_REPLAY, OpenError, Reads, SalvageError, Salvaged, Sqlite, Store, StoredReply,
    salvage,
};

use crate::support::{Folder, action, all_events, event, events};

const EVENTS: u64 = 160;

/// The files of a database, as somebody finds them.
struct Sample {
    folder: Folder,
    written: Vec<EventRow>,
}

impl Sample {
    /// Closed as it should be: one file.
    fn closed() -> Sample {
        let (sample, store) = Sample::open();
        store.close().unwrap();
        sample
    }

    /// As a killed process leaves it: with the log and its index.
    fn killed() -> Sample {
        let (original, store) = Sample::open();
        let folder = Folder::new("damage-killed");
        copy(original.folder.path(), folder.path());
        drop(store);
        Sample { folder, written: original.written }
    }

    fn open() -> (Sample, Sqlite) {
        let folder = Folder::new("damage");
        let mut store = Sqlite::open(&folder.database(), 1).unwrap();
        let reply = StoredReply {
            key: "k".into(),
            fingerprint: "f".into(),
            at_ms: 1,
            status: 200,
            body: "{}".into(),
        };
        store
            .commit(&[Commit { reply: Some(reply), actions: vec![action(2, 0)], ..events(1..=100) }])
            .unwrap();
        for seq in 101..=EVENTS {
            store.commit(&[events(seq..=seq)]).unwrap();
        }
        let written = all_events(&store);
        assert_eq!(written.len() as u64, EVENTS);
        (Sample { folder, written }, store)
    }

    /// Breaks a copy, and looks whether that is noticed or harmless. Gives what was salvaged, if it was noticed.
    fn check(&self, what: &str, damage: impl FnOnce(&Path)) -> Option<Salvaged> {
        let folder = Folder::new("damaged");
        copy(self.folder.path(), folder.path());
        damage(folder.path());
        let path = folder.database();
        match Sqlite::open(&path, 2) {
            Ok(store) => {
                let noticed = store.reader().unwrap().check().is_err();
                if !noticed {
                    assert_eq!(all_events(&store), self.written, "{what}: silently something else");
                    return None;
                }
            }
            Err(OpenError::Corrupt { path: named, .. }) => assert!(named.ends_with("journal.db"), "{what}"),
            // The version itself was hit.
            Err(OpenError::Newer { .. }) => return None,
            Err(error) => panic!("{what}: {error}"),
        }
        let found = salvage(&path, 3).unwrap_or_else(|error| panic!("{what}: {error}"));
        let store = Sqlite::open(&path, 4).unwrap_or_else(|error| panic!("{what}: {error}"));
        store.reader().unwrap().check().unwrap();
        let kept = all_events(&store);
        assert_eq!(kept.len() as u64, found.kept, "{what}");
        assert_eq!(kept, self.written[..kept.len()], "{what}");
        assert!(kept.len() == self.written.len() || found.why.is_some(), "{what}: a loss is said");
        assert_eq!(store.meta(NEEDS_REPLAY).unwrap().as_deref(), Some("yes"), "{what}");
        assert_eq!(
            found.aside.parent(),
            Some(folder.path()).map(|path| path.canonicalize().unwrap()).as_deref()
        );
        Some(found)
    }
}

fn copy(from: &Path, to: &Path) {
    for entry in fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        fs::copy(entry.path(), to.join(entry.file_name())).unwrap();
    }
}

fn flip(path: PathBuf, at: u64) {
    let file = OpenOptions::new().read(true).write(true).open(path).unwrap();
    let mut byte = [0];
    file.read_exact_at(&mut byte, at).unwrap();
    file.write_all_at(&[byte[0] ^ 0x41], at).unwrap();
}

fn cut(path: PathBuf, length: u64) {
    OpenOptions::new().write(true).open(path).unwrap().set_len(length).unwrap();
}

/// About `count` places all over a file, and more of them at its beginning.
fn places(path: &Path, count: u64) -> impl Iterator<Item = u64> + use<> {
    let length = fs::metadata(path).unwrap().len();
    let step = (length / count).max(1) | 1;
    (0..40).step_by(3).chain((40..length).step_by(usize::try_from(step).unwrap()))
}

#[test]
fn flipped_bytes_in_the_database() {
    let sample = Sample::closed();
    let found: Vec<Option<Salvaged>> = places(&sample.folder.database(), 110)
        .map(|at| sample.check(&format!("flipped at {at}"), |folder| flip(folder.join("journal.db"), at)))
        .collect();
    let noticed: Vec<&Salvaged> = found.iter().flatten().collect();
    let partly = noticed.iter().filter(|found| (1..EVENTS).contains(&found.kept)).count();
    let whole = noticed.iter().filter(|found| found.kept == EVENTS).count();
    assert!(partly > 0 && whole > 0, "{} noticed, {partly} partly kept, {whole} wholly", noticed.len());
}

#[test]
fn a_cut_database() {
    let sample = Sample::closed();
    let length = fs::metadata(sample.folder.database()).unwrap().len();
    for at in places(&sample.folder.database(), 40) {
        let found = sample.check(&format!("cut at {at}"), |folder| cut(folder.join("journal.db"), at));
        assert!(found.is_some(), "a database cut at {at} of {length} is noticed");
    }
}

#[test]
fn flipped_bytes_in_the_log() {
    let sample = Sample::killed();
    let log = sample.folder.path().join("journal.db-wal");
    for at in places(&log, 60) {
        let found =
            sample.check(&format!("log flipped at {at}"), |folder| flip(folder.join("journal.db-wal"), at));
        assert!(found.is_some(), "a log flipped at {at} is noticed");
    }
}

#[test]
fn flipped_bytes_in_a_log_without_index() {
    // After a copy from elsewhere there is only the log. Its last commit may then be one that a power cut tore.
    let sample = Sample::killed();
    let log = sample.folder.path().join("journal.db-wal");
    let length = fs::metadata(&log).unwrap().len();
    for at in places(&log, 40).filter(|at| *at < length * 3 / 4) {
        let found = sample.check(&format!("log flipped at {at}"), |folder| {
            fs::remove_file(folder.join("journal.db-shm")).unwrap();
            flip(folder.join("journal.db-wal"), at);
        });
        assert!(found.is_some(), "a log flipped at {at} is noticed");
    }
}

#[test]
fn a_cut_or_missing_log() {
    let sample = Sample::killed();
    let log = sample.folder.path().join("journal.db-wal");
    for at in places(&log, 40) {
        let found =
            sample.check(&format!("log cut at {at}"), |folder| cut(folder.join("journal.db-wal"), at));
        assert!(found.is_some(), "a log cut at {at} is noticed");
    }
    let found = sample.check("log gone", |folder| fs::remove_file(folder.join("journal.db-wal")).unwrap());
    assert!(found.is_some());
}

#[test]
fn the_index_of_the_log_may_be_anything() {
    let sample = Sample::killed();
    for at in (0..136).step_by(5) {
        sample.check(&format!("index flipped at {at}"), |folder| flip(folder.join("journal.db-shm"), at));
    }
    let none = sample.check("index gone", |folder| fs::remove_file(folder.join("journal.db-shm")).unwrap());
    assert_eq!(none, None);
}

#[test]
fn a_missing_database_is_not_begun_anew() {
    let sample = Sample::killed();
    let found = sample.check("gone", |folder| fs::remove_file(folder.join("journal.db")).unwrap());
    assert_eq!(found.unwrap().kept, EVENTS, "everything was still in the log");
    let folder = Folder::new("nothing");
    let error = salvage(&folder.database(), 1).unwrap_err();
    assert!(matches!(error, SalvageError::Io { .. }), "{error}");
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
}

#[test]
fn a_changed_letter_is_noticed() {
    let sample = Sample::closed();
    let bytes = fs::read(sample.folder.database()).unwrap();
    let needle = b"what event 57 says";
    let at = bytes.windows(needle.len()).position(|window| window == needle).unwrap() as u64;
    let found = sample.check("a letter", |folder| flip(folder.join("journal.db"), at)).unwrap();
    assert_eq!((found.kept, found.seen), (56, EVENTS));
    assert!(found.why.unwrap().contains("event 57 is not what was written"));
    assert!(!found.actions_lost && !found.replies_lost);
}

#[test]
fn a_salvage_that_was_cut_short_is_finished() {
    let sample = Sample::closed();
    let folder = Folder::new("short");
    copy(sample.folder.path(), folder.path());
    // As a crash leaves it when the damaged one has been set aside and the new one is not yet in place.
    fs::rename(folder.database(), folder.path().join("journal.db.salvaged")).unwrap();
    let error = Sqlite::open(&folder.database(), 1).unwrap_err();
    assert!(matches!(error, OpenError::Corrupt { .. }), "{error}");
    assert_eq!(salvage(&folder.database(), 2).unwrap().kept, EVENTS);
    let mut store = Sqlite::open(&folder.database(), 3).unwrap();
    assert_eq!(all_events(&store), sample.written);
    store.commit(&[Commit { events: vec![event(EVENTS + 1, "{}")], ..Commit::default() }]).unwrap();
}
