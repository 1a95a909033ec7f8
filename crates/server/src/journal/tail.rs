//! The end of the journal, kept in memory for those who follow it: what was just committed is read by all of them, and
//! the store by those alone who are far behind.

use std::{
    collections::VecDeque,
    sync::{Arc, OnceLock, RwLock},
};

use hyper::body::Bytes;
use ostler_store::EventRow;

/// The most events that are kept.
const ROWS_MAX: usize = 1024;

/// The most bytes of them.
const BYTES_MAX: usize = 4 << 20;

/// An event of late.
#[derive(Debug)]
pub(crate) struct Happened {
    pub(crate) row: EventRow,
    /// As it is sent, made by the first who sends it.
    piece: OnceLock<Bytes>,
}

impl Happened {
    pub(crate) fn new(row: EventRow) -> Happened {
        Happened { row, piece: OnceLock::new() }
    }

    /// As it is sent. Every follower has to make it in the same way.
    pub(crate) fn piece(&self, make: impl FnOnce(&EventRow) -> Bytes) -> Bytes {
        self.piece.get_or_init(|| make(&self.row)).clone()
    }

    fn bytes(&self) -> usize {
        // Once as it is kept, once as it is sent.
        2 * self.row.body.len() + 512
    }
}

/// The last events.
#[derive(Debug)]
pub(crate) struct Tail {
    recent: RwLock<Recent>,
}

#[derive(Debug)]
struct Recent {
    rows: VecDeque<Arc<Happened>>,
    bytes: usize,
    /// The last event of all.
    last: u64,
}

impl Tail {
    /// Nothing yet, behind the last event that there is.
    pub(super) fn behind(last: u64) -> Tail {
        Tail { recent: RwLock::new(Recent { rows: VecDeque::new(), bytes: 0, last }) }
    }

    /// Adds what was committed.
    pub(super) fn extend(&self, rows: impl Iterator<Item = EventRow>) {
        let mut recent = self.recent.write().expect("nobody panics while reading");
        for row in rows {
            let happened = Arc::new(Happened::new(row));
            recent.last = happened.row.seq;
            recent.bytes += happened.bytes();
            recent.rows.push_back(happened);
        }
        while recent.rows.len() > ROWS_MAX || recent.bytes > BYTES_MAX {
            let Some(gone) = recent.rows.pop_front() else { break };
            recent.bytes -= gone.bytes();
        }
    }

    /// The events behind one, at most so many; nothing if the first of them is not kept any more.
    pub(crate) fn after(&self, seq: u64, limit: usize) -> Option<Vec<Arc<Happened>>> {
        let recent = self.recent.read().expect("nobody panics while writing");
        let first = recent.rows.front().map_or(recent.last + 1, |it| it.row.seq);
        let skip = usize::try_from((seq + 1).checked_sub(first)?).ok()?;
        Some(recent.rows.iter().skip(skip).take(limit).cloned().collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(seq: u64, length: usize) -> EventRow {
        let (kind, body) = ("session.heard".to_owned(), "x".repeat(length));
        EventRow { seq, version: 1, at_ms: seq, kind, project: None, run: None, session: None, body }
    }

    fn numbers(tail: &Tail, after: u64, limit: usize) -> Option<Vec<u64>> {
        Some(tail.after(after, limit)?.iter().map(|it| it.row.seq).collect())
    }

    #[test]
    fn what_is_kept_follows_and_what_is_not_is_said() {
        let tail = Tail::behind(10);
        assert_eq!(numbers(&tail, 10, 9), Some(vec![]));
        assert_eq!(numbers(&tail, 9, 9), None, "it was there before");
        tail.extend((11..=14).map(|seq| row(seq, 10)));
        assert_eq!(numbers(&tail, 10, 9), Some(vec![11, 12, 13, 14]));
        assert_eq!(numbers(&tail, 12, 1), Some(vec![13]));
        assert_eq!(numbers(&tail, 14, 9), Some(vec![]));
        assert_eq!(numbers(&tail, 9, 9), None);
    }

    #[test]
    fn it_has_a_bound() {
        let tail = Tail::behind(0);
        tail.extend((1..=5000).map(|seq| row(seq, 1)));
        assert_eq!(tail.after(5000 - ROWS_MAX as u64, 5000).map(|rows| rows.len()), Some(ROWS_MAX));
        assert_eq!(numbers(&tail, 5000 - ROWS_MAX as u64 - 1, 1), None);
        tail.extend([row(5001, BYTES_MAX)].into_iter());
        assert_eq!(numbers(&tail, 5001, 9), Some(vec![]));
        assert_eq!(numbers(&tail, 5000, 9), None, "one that is too long is read from the store");
    }
}
