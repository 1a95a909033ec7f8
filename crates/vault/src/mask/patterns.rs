//! All words to be found, in one pass: the automaton of Aho and Corasick.
//!
//! It is made by hand because a stream must know how deep it stands in a word, which says how much to hold back.

use std::collections::VecDeque;

use zeroize::Zeroize;

/// Where a walk begins, and where it stands when nothing fits.
pub(super) const ROOT: u32 = 0;

/// The words.
pub(super) struct Patterns {
    nodes: Vec<Node>,
    /// The children of the root, which is where most bytes are looked up.
    first: [u32; 256],
}

/// The beginning of at least one word.
#[derive(Clone, Copy, Default)]
struct Node {
    /// Its last byte.
    byte: u8,
    /// The first of those that are one byte longer, or the root.
    child: u32,
    /// The next one with the same parent, or the root.
    sibling: u32,
    /// The longest other beginning that this one ends with.
    fallback: u32,
    /// How long it is.
    depth: u32,
    /// The longest whole word that it ends with, or 0.
    found: u32,
    /// The longest of those that are hexadecimal digits, or 0.
    found_digits: u32,
    /// Whether it is the beginning of such a one.
    begins_digits: bool,
}

impl Default for Patterns {
    fn default() -> Patterns {
        Patterns { nodes: vec![Node::default()], first: [ROOT; 256] }
    }
}

impl Patterns {
    /// Adds a word. All are added before [`Patterns::connect`].
    pub(super) fn add(&mut self, word: &[u8], is_digits: bool) {
        let mut at = ROOT;
        for &byte in word {
            at = self.child(at, byte).unwrap_or_else(|| self.grow(at, byte));
            self.nodes[place(at)].begins_digits |= is_digits;
        }
        let depth = self.nodes[place(at)].depth;
        self.nodes[place(at)].found = depth;
        if is_digits {
            self.nodes[place(at)].found_digits = depth;
        }
    }

    /// Finds out where to go on from each beginning when the next byte does not fit.
    pub(super) fn connect(&mut self) {
        let mut queue: VecDeque<u32> = self.first.iter().copied().filter(|&child| child != ROOT).collect();
        while let Some(at) = queue.pop_front() {
            let Node { fallback, mut child, .. } = self.nodes[place(at)];
            if self.nodes[place(at)].found == 0 {
                self.nodes[place(at)].found = self.nodes[place(fallback)].found;
            }
            if self.nodes[place(at)].found_digits == 0 {
                self.nodes[place(at)].found_digits = self.nodes[place(fallback)].found_digits;
            }
            while child != ROOT {
                self.nodes[place(child)].fallback = self.next(fallback, self.nodes[place(child)].byte);
                queue.push_back(child);
                child = self.nodes[place(child)].sibling;
            }
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.nodes.len() == 1
    }

    /// Where to stand after one more byte.
    pub(super) fn next(&self, mut at: u32, byte: u8) -> u32 {
        loop {
            match self.child(at, byte) {
                Some(child) => return child,
                None if at == ROOT => return ROOT,
                None => at = self.nodes[place(at)].fallback,
            }
        }
    }

    /// The same among the words that are hexadecimal digits alone.
    pub(super) fn next_digit(&self, at: u32, byte: u8) -> u32 {
        let mut at = self.next(at, byte);
        while at != ROOT && !self.nodes[place(at)].begins_digits {
            at = self.nodes[place(at)].fallback;
        }
        at
    }

    /// How much of a word stands there.
    pub(super) fn depth(&self, at: u32) -> u32 {
        self.nodes[place(at)].depth
    }

    /// The length of the longest word that ends there, or 0.
    pub(super) fn found(&self, at: u32) -> u32 {
        self.nodes[place(at)].found
    }

    /// The same for words that are hexadecimal digits.
    pub(super) fn found_digits(&self, at: u32) -> u32 {
        self.nodes[place(at)].found_digits
    }

    fn child(&self, at: u32, byte: u8) -> Option<u32> {
        if at == ROOT {
            return Some(self.first[usize::from(byte)]).filter(|&child| child != ROOT);
        }
        let mut child = self.nodes[place(at)].child;
        while child != ROOT {
            let node = &self.nodes[place(child)];
            if node.byte == byte {
                return Some(child);
            }
            child = node.sibling;
        }
        None
    }

    fn grow(&mut self, parent: u32, byte: u8) -> u32 {
        let new = u32::try_from(self.nodes.len()).expect("words are shorter than their limit");
        let depth = self.nodes[place(parent)].depth + 1;
        let sibling = if parent == ROOT { ROOT } else { self.nodes[place(parent)].child };
        self.nodes.push(Node { byte, sibling, depth, ..Node::default() });
        if parent == ROOT {
            self.first[usize::from(byte)] = new;
        } else {
            self.nodes[place(parent)].child = new;
        }
        new
    }
}

/// The words are secrets.
impl Drop for Patterns {
    fn drop(&mut self) {
        for node in &mut self.nodes {
            node.byte.zeroize();
        }
    }
}

fn place(node: u32) -> usize {
    usize::try_from(node).expect("a number of a node fits")
}
