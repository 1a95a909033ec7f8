//! One after the other, for whatever concerns the same thing. It knows nothing of what is done in a turn.

use std::{
    collections::HashMap,
    hash::Hash,
    sync::{Arc, Mutex, Weak},
};

use tokio::sync::{Mutex as Turn, OwnedMutexGuard, OwnedRwLockReadGuard, OwnedRwLockWriteGuard, RwLock};

/// Who has the turn, by what it is about.
#[derive(Debug)]
pub(crate) struct Turns<K> {
    by_key: ByKey<K, Turn<()>>,
}

impl<K: Eq + Hash> Turns<K> {
    /// Waits until nobody else is at it.
    pub(crate) async fn wait(&self, key: K) -> OwnedMutexGuard<()> {
        self.by_key.of(key).lock_owned().await
    }

    /// The same on a thread that may wait.
    pub(crate) fn wait_blocking(&self, key: K) -> OwnedMutexGuard<()> {
        self.by_key.of(key).blocking_lock_owned()
    }
}

/// Many at once, or one alone, by what it is about.
#[derive(Debug)]
pub(crate) struct Places<K> {
    by_key: ByKey<K, RwLock<()>>,
}

impl<K: Eq + Hash> Places<K> {
    /// Waits until nobody is there alone.
    pub(crate) async fn beside(&self, key: K) -> OwnedRwLockReadGuard<()> {
        self.by_key.of(key).read_owned().await
    }

    /// Waits until nobody is there.
    pub(crate) async fn alone(&self, key: K) -> OwnedRwLockWriteGuard<()> {
        self.by_key.of(key).write_owned().await
    }
}

/// A lock for each thing. One that nobody is at takes no room for long.
#[derive(Debug)]
struct ByKey<K, L> {
    locks: Mutex<HashMap<K, Weak<L>>>,
}

impl<K: Eq + Hash, L: Default> ByKey<K, L> {
    fn of(&self, key: K) -> Arc<L> {
        let mut locks = self.locks.lock().expect("nobody panics while holding it");
        locks.retain(|_, lock| lock.strong_count() > 0);
        let known = locks.get(&key).and_then(Weak::upgrade);
        known.unwrap_or_else(|| {
            let lock = Arc::new(L::default());
            locks.insert(key, Arc::downgrade(&lock));
            lock
        })
    }
}

impl<K, L> Default for ByKey<K, L> {
    fn default() -> Self {
        ByKey { locks: Mutex::default() }
    }
}

impl<K> Default for Turns<K> {
    fn default() -> Self {
        Turns { by_key: ByKey::default() }
    }
}

impl<K> Default for Places<K> {
    fn default() -> Self {
        Places { by_key: ByKey::default() }
    }
}
