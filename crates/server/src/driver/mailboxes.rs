//! Where keepers take their work from: one mailbox for each, which is closed when its keeper has nothing more to do.

use std::{collections::HashMap, hash::Hash, sync::Mutex};

use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};

/// The mailboxes of those who are at work. Without a bound: what is in them is in the outbox table, and an action is
/// small.
#[derive(Debug)]
pub(super) struct Mailboxes<K, T> {
    open: Mutex<HashMap<K, UnboundedSender<T>>>,
}

impl<K, T> Default for Mailboxes<K, T> {
    fn default() -> Self {
        Mailboxes { open: Mutex::default() }
    }
}

impl<K: Eq + Hash, T> Mailboxes<K, T> {
    /// Sees to it that there is somebody.
    pub(super) fn open(&self, key: K, start: impl FnOnce(UnboundedReceiver<T>)) {
        self.with(key, start, |_| ());
    }

    /// Brings something to who is there, or to somebody new. Whoever leaves looks once more, and that is never between
    /// these two: what came behind their look would lie there until the next start of the server.
    pub(super) fn send(&self, key: K, item: T, start: impl FnOnce(UnboundedReceiver<T>)) {
        // The receiver is gone only with the server.
        self.with(key, start, |mailbox| drop(mailbox.send(item)));
    }

    fn with(&self, key: K, start: impl FnOnce(UnboundedReceiver<T>), act: impl FnOnce(&UnboundedSender<T>)) {
        let mut open = self.open.lock().expect("nobody panics while holding it");
        // The mailbox of a keeper that has failed is closed; another takes over.
        if let Some(mailbox) = open.get(&key).filter(|mailbox| !mailbox.is_closed()) {
            return act(mailbox);
        }
        let (mailbox, items) = unbounded_channel();
        start(items);
        act(&mailbox);
        open.insert(key, mailbox);
    }

    /// Takes somebody off the list, unless something came for them meanwhile.
    pub(super) fn leave(&self, key: &K, items: &UnboundedReceiver<T>) -> bool {
        let mut open = self.open.lock().expect("nobody panics while holding it");
        let is_idle = items.is_empty();
        if is_idle {
            open.remove(key);
        }
        is_idle
    }
}

#[cfg(test)]
mod tests {
    use std::sync::{
        Arc,
        atomic::{AtomicU32, Ordering},
    };

    use super::*;

    const ITEMS: u32 = 50_000;

    /// Somebody who leaves whenever there is nothing to do.
    async fn keep(boxes: Arc<Mailboxes<u8, u32>>, mut items: UnboundedReceiver<u32>, seen: Arc<AtomicU32>) {
        loop {
            if boxes.leave(&1, &items) {
                return;
            }
            if items.recv().await.is_none() {
                return;
            }
            seen.fetch_add(1, Ordering::Relaxed);
        }
    }

    #[tokio::test(flavor = "multi_thread", worker_threads = 4)]
    async fn nothing_is_lost_that_comes_while_somebody_leaves() {
        let (boxes, seen) = (Arc::new(Mailboxes::default()), Arc::new(AtomicU32::new(0)));
        for item in 0..ITEMS {
            let (again, count) = (Arc::clone(&boxes), Arc::clone(&seen));
            boxes.send(1, item, move |items| drop(tokio::spawn(keep(again, items, count))));
            if item % 3 == 0 {
                tokio::task::yield_now().await;
            }
        }
        // Whoever is there leaves when everything is done: nobody is there, and everything was seen.
        while !boxes.open.lock().expect("nobody panics").is_empty() {
            tokio::task::yield_now().await;
        }
        assert_eq!(seen.load(Ordering::Relaxed), ITEMS);
    }
}
