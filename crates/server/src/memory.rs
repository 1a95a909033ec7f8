//! The indexes of memory in use. Each is read at the first search of its directory, and dropped when nobody has searched
//! for a while, or when others need the room.

use std::{
    collections::HashMap,
    fmt, io,
    path::{Path, PathBuf},
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use ostler_files::beneath::HeldDirectory;
use ostler_memory::{IndexError, MemoryIndex};
use tokio::time::{Instant, sleep};

/// The most text of all indexes together; the one in use may go beyond it.
const TEXT_BYTES_MAX: u64 = 192 << 20;

/// The most indexes.
const INDEXES_MAX: usize = 8;

/// An index that nobody has searched for so long is dropped.
const IDLE_AFTER: Duration = Duration::from_mins(10);

/// How often indexes are looked through for those.
const SWEEP: Duration = Duration::from_mins(1);

/// All indexes.
#[derive(Debug, Default)]
pub(crate) struct MemoryIndexes {
    held: Mutex<Shelf>,
}

#[derive(Debug, Default)]
struct Shelf {
    indexes: HashMap<PathBuf, ShelvedIndex>,
    /// Whether a task is there that drops what is idle.
    is_swept: bool,
}

#[derive(Debug, Clone)]
struct ShelvedIndex {
    /// Locked by whoever searches; two searches of one directory follow each other.
    index: Arc<Mutex<Option<MemoryIndex>>>,
    text_bytes: Arc<AtomicU64>,
    used: Instant,
}

/// The reason why a directory cannot be searched.
#[derive(Debug)]
pub(crate) enum MemoryError {
    /// It cannot be opened: a link is in its place, or rights are missing.
    Unopened { path: PathBuf, source: io::Error },
    /// It cannot be read.
    Unread(IndexError),
}

impl fmt::Display for MemoryError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            MemoryError::Unopened { path, source } => {
                write!(f, "cannot search '{}': {source}", path.display())
            }
            MemoryError::Unread(error) => error.fmt(f),
        }
    }
}

impl MemoryIndexes {
    /// Does something with the index of a directory beneath a root, with every change until now in it; nothing, if there is
    /// no such directory. Blocks.
    pub(crate) fn search<T>(
        &self,
        root: &Path,
        inside: &Path,
        now_ms: u64,
        work: impl FnOnce(&MemoryIndex) -> T,
    ) -> Result<Option<T>, MemoryError> {
        let path = root.join(inside);
        let opened = HeldDirectory::open(root).and_then(|root| root.descend(inside));
        let directory = match opened {
            Ok(directory) => directory,
            Err(error) if is_missing(&error) => return Ok(None),
            Err(source) => return Err(MemoryError::Unopened { path, source }),
        };
        let shelved = self.shelved(&path);
        let mut slot = shelved.index.lock().unwrap_or_else(PoisonError::into_inner);
        let is_same = |index: &MemoryIndex| directory.stat_self().is_ok_and(|stat| index.is_of(&stat));
        // It is put back when it is whole; what panics on the way leaves none.
        let index = match slot.take().filter(is_same) {
            Some(mut index) => index.refresh(now_ms).map(|()| index),
            None => MemoryIndex::read(directory, now_ms),
        };
        let index = slot.insert(index.map_err(MemoryError::Unread)?);
        shelved.text_bytes.store(index.text_bytes(), Ordering::Relaxed);
        let done = work(index);
        drop(slot);
        self.make_room(&path);
        Ok(Some(done))
    }

    /// Drops what is idle from now on, until nothing is left.
    pub(crate) fn sweep_later(self: &Arc<Self>) {
        if std::mem::replace(&mut self.shelf().is_swept, true) {
            return;
        }
        let indexes = Arc::clone(self);
        tokio::spawn(async move {
            while !indexes.sweep() {
                sleep(SWEEP).await;
            }
        });
    }

    /// Drops what is idle. Whether nothing is left.
    fn sweep(&self) -> bool {
        let mut held = self.shelf();
        held.indexes.retain(|_, shelved| shelved.used.elapsed() < IDLE_AFTER);
        held.is_swept = !held.indexes.is_empty();
        !held.is_swept
    }

    fn shelved(&self, path: &Path) -> ShelvedIndex {
        let mut held = self.shelf();
        let shelved = held.indexes.entry(path.to_owned()).or_insert_with(|| ShelvedIndex {
            index: Arc::default(),
            text_bytes: Arc::default(),
            used: Instant::now(),
        });
        shelved.used = Instant::now();
        shelved.clone()
    }

    /// Drops those that were used longest ago, but never this one.
    fn make_room(&self, path: &Path) {
        let mut held = self.shelf();
        loop {
            let bytes: u64 = held.indexes.values().map(|it| it.text_bytes.load(Ordering::Relaxed)).sum();
            if bytes <= TEXT_BYTES_MAX && held.indexes.len() <= INDEXES_MAX {
                return;
            }
            let others = held.indexes.iter().filter(|(it, _)| it.as_path() != path);
            let Some(oldest) = others.min_by_key(|(_, it)| it.used).map(|(path, _)| path.clone()) else {
                return;
            };
            held.indexes.remove(&oldest);
        }
    }

    fn shelf(&self) -> std::sync::MutexGuard<'_, Shelf> {
        self.held.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn is_missing(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory)
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn the_indexes_used_longest_ago_make_room() {
        let root = std::env::temp_dir().join(format!("ostler-shelf-{}", std::process::id()));
        for number in 0..INDEXES_MAX + 3 {
            fs::create_dir_all(root.join(number.to_string())).expect("a directory");
        }
        let indexes = MemoryIndexes::default();
        let search =
            |number: usize| indexes.search(&root, Path::new(&number.to_string()), 0, MemoryIndex::len);
        for number in 0..INDEXES_MAX + 3 {
            assert!(matches!(search(number), Ok(Some(0))));
        }
        let shelf = indexes.shelf().indexes.keys().cloned().collect::<Vec<_>>();
        assert_eq!(shelf.len(), INDEXES_MAX);
        assert!(!shelf.contains(&root.join("0")) && shelf.contains(&root.join("10")), "{shelf:?}");
        assert!(matches!(indexes.search(&root, Path::new("none"), 0, MemoryIndex::len), Ok(None)));
        fs::remove_dir_all(&root).expect("it was made here");
    }
}
