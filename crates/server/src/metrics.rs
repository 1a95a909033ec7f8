//! What the server counts of itself, without locks: whoever is counted does not wait for who reads.

use std::sync::atomic::{AtomicU64, Ordering};

/// How many there are at the moment.
#[derive(Debug, Default)]
pub(crate) struct Present(AtomicU64);

/// Somebody who is counted, for as long as this lives.
#[derive(Debug)]
pub(crate) struct Counted<'a>(&'a Present);

impl Present {
    pub(crate) fn begin(&self) -> Counted<'_> {
        self.0.fetch_add(1, Ordering::Relaxed);
        Counted(self)
    }

    #[cfg(test)]
    pub(crate) fn count(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }
}

impl Drop for Counted<'_> {
    fn drop(&mut self) {
        self.0.0.fetch_sub(1, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_is_gone_is_not_counted() {
        let present = Present::default();
        let one = present.begin();
        drop(present.begin());
        assert_eq!(present.count(), 1);
        drop(one);
        assert_eq!(present.count(), 0);
    }
}
