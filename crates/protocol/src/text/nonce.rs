//! Watches for the session's nonce where it must not stand: printed outside a tag it is no secret any more.

use alloc::vec::Vec;

use memchr::memmem;

use crate::name::Nonce;

/// The nonce and whether it still counts.
#[derive(Debug)]
pub(crate) struct Watch {
    nonce: Nonce,
    finder: memmem::Finder<'static>,
    burnt: bool,
    /// The last bytes of the chunk before, too few to hold the nonce.
    tail: Vec<u8>,
    /// Where the nonce stands in the chunk at hand, latest first.
    hits: Vec<u64>,
}

impl Watch {
    pub(crate) fn new(nonce: Nonce) -> Watch {
        let finder = memmem::Finder::new(nonce.as_str().as_bytes()).into_owned();
        Watch { nonce, finder, burnt: false, tail: Vec::new(), hits: Vec::new() }
    }

    /// Whether this is the nonce of the session and nobody else can know it.
    pub(crate) fn vouches_for(&self, nonce: &str) -> bool {
        !self.burnt && nonce == self.nonce.as_str()
    }

    /// Looks through a chunk that begins at `offset`.
    pub(crate) fn scan(&mut self, chunk: &[u8], offset: u64) {
        if self.burnt {
            return;
        }
        let length = self.nonce.as_str().len();
        let seam = self.tail.len();
        self.tail.extend_from_slice(&chunk[..chunk.len().min(length - 1)]);
        let across = self.finder.find(&self.tail).map(|at| offset - (seam - at) as u64);
        let within = self.finder.find_iter(chunk).map(|at| offset + at as u64);
        self.hits.extend(across.into_iter().chain(within));
        self.hits.sort_unstable_by(|a, b| b.cmp(a));
        if chunk.len() >= length {
            self.tail.clear();
            self.tail.extend_from_slice(&chunk[chunk.len() + 1 - length..]);
        } else {
            let excess = self.tail.len().saturating_sub(length - 1);
            self.tail.drain(..excess);
        }
    }

    /// Whether the nonce stands in a line that has not ended.
    pub(crate) fn has_hit(&self) -> bool {
        !self.hits.is_empty()
    }

    /// Ends a line at `end` in which the nonce may stand so many times. Says whether it has just become worthless.
    pub(crate) fn end_line(&mut self, end: u64, excused: usize) -> bool {
        let waiting = self.hits.len();
        while self.hits.pop_if(|hit| *hit < end).is_some() {}
        let seen = waiting - self.hits.len() > excused;
        if seen {
            self.burnt = true;
            self.hits.clear();
        }
        seen
    }

    /// Ends the chunk: all that is left stands in the line that has not ended, and more than one is too many.
    pub(crate) fn end_chunk(&mut self) {
        self.hits.truncate(2);
    }

    /// Ends the text: what comes next does not go on with it.
    pub(crate) fn end_text(&mut self) {
        self.tail.clear();
    }

    /// Bytes held between chunks.
    pub(crate) fn buffered_bytes(&self) -> usize {
        self.tail.len() + self.hits.len() * size_of::<u64>()
    }
}
