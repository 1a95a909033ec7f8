//! Remembers when the person last looked, in a private file beside the journal.
//!
//! It is state of the person and not of any session: nothing is decided by it, so no event records it, and a lost file
//! only shows something twice. [`LastLook::move_to`] is for a list that was shown as a whole, [`LastLook::saw`] for one
//! session whose end somebody watched.

use std::{
    collections::BTreeMap,
    io,
    path::PathBuf,
    sync::{Mutex, MutexGuard},
};

use ostler_engine::{SessionId, session::Session};
use ostler_files::{FILE_BYTES_MAX, private};
use serde::{Deserialize, Serialize};

use crate::home::write_private;

/// The form in which the file is written.
const VERSION: u32 = 1;

/// The most sessions that are remembered one by one; the oldest give way.
const SESSIONS_MAX: usize = 1_000;

/// When the person last looked.
#[derive(Debug)]
pub(crate) struct LastLook {
    path: PathBuf,
    look: Mutex<Look>,
}

/// Up to where the person has seen everything, and what of the rest.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Look {
    v: u32,
    /// The last event that was shown.
    pub(crate) seq: u64,
    /// When that event happened, in UTC milliseconds; 0 before the first.
    pub(crate) at_ms: u64,
    /// Sessions whose end was shown since, with the time of that end.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    sessions: BTreeMap<SessionId, u64>,
}

impl LastLook {
    /// Reads the file. Without one, everything before `now` counts as seen; with one that cannot be read, nothing does.
    pub(crate) fn open(path: PathBuf, now: Look) -> LastLook {
        let read = match private::read(&path, FILE_BYTES_MAX) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Some(now),
            read => read.ok().and_then(|bytes| serde_json::from_slice::<Look>(&bytes).ok()),
        };
        let look = read.filter(|it| it.v == VERSION).unwrap_or_default();
        let looked = LastLook { path, look: Mutex::new(look) };
        if !looked.path.exists() {
            // From here on, even if the next server starts before anybody looks. Where it cannot be written, that one
            // shows less, and nothing else is wrong.
            looked.write(&looked.get()).ok();
        }
        looked
    }

    /// As it is now.
    pub(crate) fn get(&self) -> Look {
        self.lock().clone()
    }

    /// Everything up to `to` was shown. Whoever comes later with less changes nothing.
    pub(crate) fn move_to(&self, to: &Look) -> io::Result<()> {
        self.change(|look| {
            if to.seq > look.seq {
                let later = look.sessions.iter().filter(|(_, at_ms)| **at_ms >= to.at_ms);
                let sessions = later.map(|(id, at_ms)| (*id, *at_ms)).collect();
                *look = Look { sessions, ..*to };
            }
        })
    }

    /// The end of a session was shown.
    pub(crate) fn saw(&self, session: SessionId, ended_at_ms: u64) -> io::Result<()> {
        self.change(|look| {
            look.sessions.insert(session, ended_at_ms);
            while look.sessions.len() > SESSIONS_MAX {
                look.sessions.pop_first();
            }
        })
    }

    /// What cannot be written down does not count.
    fn change(&self, change: impl FnOnce(&mut Look)) -> io::Result<()> {
        let mut look = self.lock();
        let mut changed = look.clone();
        change(&mut changed);
        if changed != *look {
            changed.v = VERSION;
            self.write(&changed)?;
            *look = changed;
        }
        Ok(())
    }

    fn write(&self, look: &Look) -> io::Result<()> {
        write_private(&self.path, &serde_json::to_vec(look).expect("plain data"))
    }

    fn lock(&self) -> MutexGuard<'_, Look> {
        self.look.lock().expect("nobody panics while holding it")
    }
}

impl Look {
    /// At this event.
    pub(crate) fn at(seq: u64, at_ms: u64) -> Look {
        Look { v: VERSION, seq, at_ms, sessions: BTreeMap::new() }
    }

    /// Whether a session has ended since, and nobody has seen it. `changed_seq` is the last event that changed it.
    pub(crate) fn is_news(&self, session: &Session, changed_seq: u64) -> bool {
        let Some(ended_at_ms) = session.ended_at_ms else { return false };
        changed_seq > self.seq
            && ended_at_ms >= self.at_ms
            && self.sessions.get(&session.id) != Some(&ended_at_ms)
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use crate::test_directory;

    fn path(name: &str) -> PathBuf {
        let path = test_directory().join(format!("looked-{name}-{}.json", std::process::id()));
        fs::remove_file(&path).ok();
        path
    }

    #[test]
    fn it_moves_forward_only_and_outlives_the_server() {
        let path = path("forward");
        let looked = LastLook::open(path.clone(), Look::at(3, 30));
        assert_eq!(looked.get(), Look::at(3, 30), "what was there before counts as seen");
        looked.saw(SessionId(1), 40).expect("written");
        looked.saw(SessionId(2), 90).expect("written");
        looked.move_to(&Look::at(9, 80)).expect("written");
        looked.move_to(&Look::at(5, 50)).expect("nothing to write");
        let again = LastLook::open(path, Look::at(100, 1000)).get();
        assert_eq!((again.seq, again.at_ms), (9, 80));
        assert_eq!(again.sessions, BTreeMap::from([(SessionId(2), 90)]), "what is past need not be kept");
    }

    #[test]
    fn what_cannot_be_read_hides_nothing() {
        let path = path("damaged");
        write_private(&path, b"{").expect("a file");
        assert_eq!(LastLook::open(path, Look::at(3, 30)).get(), Look::default());
    }

    #[test]
    fn it_has_a_bound() {
        let looked = LastLook::open(path("bound"), Look::at(0, 0));
        let sessions = (1..=SESSIONS_MAX as u64).map(|id| (SessionId(id), 1)).collect();
        *looked.lock() = Look { sessions, ..Look::at(0, 0) };
        looked.saw(SessionId(5_000), 1).expect("written");
        assert_eq!(looked.get().sessions.len(), SESSIONS_MAX);
        assert!(looked.get().sessions.contains_key(&SessionId(5_000)));
    }
}
