//! One after the other, for whatever concerns the same thing. It knows nothing of what is done in a turn.

use std::{
    collections::HashMap,
    hash::Hash,
    sync::{Arc, Mutex, Weak},
};

use tokio::sync::{Mutex as Turn, OwnedMutexGuard};

/// Who has the turn, by what it is about. A thing that nobody is at takes no room for long.
#[derive(Debug)]
pub(crate) struct Turns<K> {
    by_key: Mutex<HashMap<K, Weak<Turn<()>>>>,
}

impl<K: Eq + Hash> Turns<K> {
    /// Waits until nobody else is at it.
    pub(crate) async fn wait(&self, key: K) -> OwnedMutexGuard<()> {
        self.of(key).lock_owned().await
    }

    /// The same on a thread that may wait.
    pub(crate) fn wait_blocking(&self, key: K) -> OwnedMutexGuard<()> {
        self.of(key).blocking_lock_owned()
    }

    fn of(&self, key: K) -> Arc<Turn<()>> {
        let mut by_key = self.by_key.lock().expect("nobody panics while holding it");
        by_key.retain(|_, turn| turn.strong_count() > 0);
        let known = by_key.get(&key).and_then(Weak::upgrade);
        known.unwrap_or_else(|| {
            let turn = Arc::new(Turn::new(()));
            by_key.insert(key, Arc::downgrade(&turn));
            turn
        })
    }
}

impl<K> Default for Turns<K> {
    fn default() -> Self {
        Turns { by_key: Mutex::default() }
    }
}
