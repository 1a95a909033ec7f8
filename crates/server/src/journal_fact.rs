//! Facts that the journal's database holds beside a private file, so that neither of the two counts alone.
//!
//! An agent has the user's rights and can add a line to any file of the state directory. What such a file allows (who may
//! come in, which commands run) is allowed only if the database says the same. Facts are written by the journal's thread,
//! which is the only writer of the database.

use std::{fmt, io, sync::Arc};

use ostler_store::{Reads, Sqlite, Store};

use crate::{consent, home::Home, journal::Journal, sign_in};

/// The fact of one file: what the database says now, and how it is changed.
pub(crate) struct JournalFact {
    /// What the database said when the server started.
    pub(crate) stored: Option<String>,
    write: Arc<dyn Fn(String) -> io::Result<()> + Send + Sync>,
}

impl JournalFact {
    /// The fact of a name. Where the database cannot be read it is empty, which allows nothing.
    pub(crate) fn of(reader: &dyn Reads, journal: &Journal, name: &'static str) -> JournalFact {
        let journal = journal.clone();
        let write = Arc::new(move |value| journal.write_fact(name, value).map_err(io::Error::other));
        JournalFact { stored: reader.meta(name).unwrap_or(Some(String::new())), write }
    }

    /// One that is only read, by a process that is no server.
    pub(crate) fn read_only(stored: Option<String>) -> JournalFact {
        let write = Arc::new(|_| Err(io::Error::other("only a server writes facts")));
        JournalFact { stored, write }
    }

    /// One that is kept nowhere.
    #[cfg(test)]
    pub(crate) fn in_memory(stored: Option<String>) -> JournalFact {
        JournalFact { stored, write: Arc::new(|_| Ok(())) }
    }

    /// Writes it, on a thread that may wait.
    pub(crate) fn write(&self, value: String) -> io::Result<()> {
        (self.write)(value)
    }
}

impl fmt::Debug for JournalFact {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("JournalFact").field("stored", &self.stored).finish_non_exhaustive()
    }
}

/// Writes the facts of a state directory that was made before there were any, as its files say. This happens once: from
/// then on a file that says more than the database does is not believed.
pub(crate) fn adopt(home: &Home, store: &mut Sqlite, is_new: bool) {
    consent::agree_at_first(home, is_new);
    let facts: [(&str, &dyn Fn() -> String); 2] = [
        // A new directory has let nobody in, whatever file is there.
        (sign_in::FACT, &|| if is_new { sign_in::nobody() } else { sign_in::of_file(&home.sign_ins()) }),
        (consent::FACT, &|| consent::of_file(home)),
    ];
    for (name, of_file) in facts {
        if matches!(store.meta(name), Ok(None)) {
            // On a full disk nobody comes in until the next start.
            store.set_meta(name, &of_file()).ok();
        }
    }
}

/// Writes that nothing is allowed, where a damaged journal has lost its facts: the files alone prove nothing.
pub(crate) fn allow_nothing(store: &mut Sqlite) {
    for name in [sign_in::FACT, consent::FACT] {
        if !matches!(store.meta(name), Ok(Some(_))) {
            store.set_meta(name, "{}").ok();
        }
    }
}
