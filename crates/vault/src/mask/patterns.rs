//! All words to be found, in one pass: the automaton of Aho and Corasick.
//!
//! It is made by hand because a stream must know how deep it stands in a word, which says how much to hold back.

use std::collections::VecDeque;

use zeroize::Zeroize;

/// Where a walk begins, and where it stands when nothing fits.
pub(super) const ROOT: u32 = 0;

/// Which of the words are meant.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum WordKind {
    /// The forms of a secret as they are.
    Form,
    /// Those that are hexadecimal digits, which tools print with separators.
    Digits,
    /// The forms without what layout may put between their characters.
    Skeleton,
}

/// How many kinds there are.
const WORD_KINDS: usize = 3;

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
    /// The longest whole word of each kind that it ends with, or 0.
    found: [u32; WORD_KINDS],
    /// The longest word of each kind that it is the beginning of, or 0.
    reach: [u32; WORD_KINDS],
}

impl Default for Patterns {
    fn default() -> Patterns {
        Patterns { nodes: vec![Node::default()], first: [ROOT; 256] }
    }
}

impl Patterns {
    /// Adds a word. All are added before [`Patterns::connect`].
    pub(super) fn add(&mut self, word: &[u8], kind: WordKind) {
        let length = u32::try_from(word.len()).expect("words are shorter than their limit");
        let mut at = ROOT;
        for &byte in word {
            at = self.child(at, byte).unwrap_or_else(|| self.grow(at, byte));
            let reach = &mut self.nodes[place(at)].reach[kind.place()];
            *reach = length.max(*reach);
        }
        let depth = self.nodes[place(at)].depth;
        self.nodes[place(at)].found[kind.place()] = depth;
    }

    /// Finds out where to go on from each beginning when the next byte does not fit.
    pub(super) fn connect(&mut self) {
        let mut queue: VecDeque<u32> = self.first.iter().copied().filter(|&child| child != ROOT).collect();
        while let Some(at) = queue.pop_front() {
            let Node { fallback, mut child, .. } = self.nodes[place(at)];
            let shorter = self.nodes[place(fallback)].found;
            for (found, shorter) in self.nodes[place(at)].found.iter_mut().zip(shorter) {
                *found = (*found).max(shorter);
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

    /// The longest beginning there of a word that is wanted: of this kind, and at least so long.
    pub(super) fn wanted(&self, mut at: u32, kind: WordKind, length_min: u32) -> u32 {
        while at != ROOT && self.nodes[place(at)].reach[kind.place()] < length_min {
            at = self.nodes[place(at)].fallback;
        }
        at
    }

    /// How much of a word stands there.
    pub(super) fn depth(&self, at: u32) -> u32 {
        self.nodes[place(at)].depth
    }

    /// The length of the longest word of a kind that ends there, or 0.
    pub(super) fn found(&self, at: u32, kind: WordKind) -> u32 {
        self.nodes[place(at)].found[kind.place()]
    }

    /// The last byte of what stands there.
    pub(super) fn last_byte(&self, at: u32) -> u8 {
        self.nodes[place(at)].byte
    }

    /// The longest other beginning that this one ends with.
    pub(super) fn fallback(&self, at: u32) -> u32 {
        self.nodes[place(at)].fallback
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

impl WordKind {
    fn place(self) -> usize {
        match self {
            WordKind::Form => 0,
            WordKind::Digits => 1,
            WordKind::Skeleton => 2,
        }
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
