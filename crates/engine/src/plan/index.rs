//! Finds a task by its id: a table of hashes over spans of the text.

use alloc::vec::Vec;

/// How far a search may go before the table is built anew with another seed.
const PROBES_MAX: usize = 64;

/// How often it is: a file in which that does not help would have to be made for it, and is slow then.
const SEEDS_MAX: u64 = 8;

/// An id's hash, and the number of what has it.
#[derive(Debug, Clone, Copy)]
struct Slot {
    hash: u32,
    /// [`EMPTY`] in a free slot.
    number: u32,
}

const EMPTY: u32 = u32::MAX;

/// Numbers by name. Names are not kept: whoever asks says what the name of a number is.
#[derive(Debug, Clone)]
pub(super) struct Index {
    slots: Vec<Slot>,
    count: usize,
    seed: u64,
}

impl Index {
    /// An index with room for so many.
    pub(super) fn new(count: usize) -> Index {
        let size = (count * 2).next_power_of_two().max(64);
        Index { slots: alloc::vec![Slot { hash: 0, number: EMPTY }; size], count: 0, seed: 0 }
    }

    /// The number of a name.
    pub(super) fn find<'a>(&self, name: &[u8], name_of: impl Fn(u32) -> &'a [u8]) -> Option<u32> {
        let hash = hash(name, self.seed);
        let mut at = self.slot(hash);
        loop {
            let slot = self.slots[at];
            if slot.number == EMPTY {
                return None;
            }
            if slot.hash == hash && name_of(slot.number) == name {
                return Some(slot.number);
            }
            at = (at + 1) & (self.slots.len() - 1);
        }
    }

    /// Adds a name, unless it is there: then the number that it has.
    pub(super) fn add<'a>(
        &mut self,
        name: &'a [u8],
        number: u32,
        name_of: impl Fn(u32) -> &'a [u8],
    ) -> Option<u32> {
        if self.count * 2 >= self.slots.len() {
            let size = self.slots.len() * 4;
            self.rebuild(size, self.seed, &name_of);
        }
        let hash = hash(name, self.seed);
        let mut at = self.slot(hash);
        let mut probes = 0;
        while self.slots[at].number != EMPTY {
            let slot = self.slots[at];
            if slot.hash == hash && name_of(slot.number) == name {
                return Some(slot.number);
            }
            at = (at + 1) & (self.slots.len() - 1);
            probes += 1;
        }
        self.slots[at] = Slot { hash, number };
        self.count += 1;
        if probes > PROBES_MAX && self.seed < SEEDS_MAX {
            let name_of = |it: u32| if it == number { name } else { name_of(it) };
            self.rebuild(self.slots.len(), self.seed + 1, &name_of);
        }
        None
    }

    fn rebuild<'a>(&mut self, size: usize, seed: u64, name_of: &impl Fn(u32) -> &'a [u8]) {
        let old = core::mem::replace(&mut self.slots, alloc::vec![Slot { hash: 0, number: EMPTY }; size]);
        self.seed = seed;
        for slot in old.into_iter().filter(|slot| slot.number != EMPTY) {
            self.put(hash(name_of(slot.number), seed), slot.number);
        }
    }

    /// Puts it into the first free slot.
    fn put(&mut self, hash: u32, number: u32) {
        let mut at = self.slot(hash);
        while self.slots[at].number != EMPTY {
            at = (at + 1) & (self.slots.len() - 1);
        }
        self.slots[at] = Slot { hash, number };
    }

    fn slot(&self, hash: u32) -> usize {
        hash as usize & (self.slots.len() - 1)
    }
}

/// Eight bytes at a step, each folded in by a wide multiplication.
fn hash(name: &[u8], seed: u64) -> u32 {
    const FACTOR: u64 = 0x9E37_79B9_7F4A_7C15;
    let fold = |left: u64, right: u64| {
        let product = u128::from(left ^ FACTOR) * u128::from(right | 1);
        #[expect(clippy::cast_possible_truncation, reason = "both halves are folded into one")]
        let folded = product as u64 ^ (product >> 64) as u64;
        folded
    };
    let mut state = fold(seed ^ 0x2545_F491_4F6C_DD1D, name.len() as u64 ^ FACTOR);
    let mut chunks = name.chunks_exact(8);
    for chunk in &mut chunks {
        let word = chunk.try_into().map_or(0, u64::from_le_bytes);
        state = fold(state ^ word, FACTOR ^ seed);
    }
    let rest = chunks.remainder().iter().fold(0, |word, &byte| word << 8 | u64::from(byte));
    state = fold(state ^ rest, FACTOR ^ seed);
    #[expect(clippy::cast_possible_truncation, reason = "the upper half is folded in")]
    let short = (state ^ state >> 32) as u32;
    short
}

#[cfg(test)]
mod tests {
    use std::{format, string::String};

    use super::*;

    #[test]
    fn finds_what_was_added_and_nothing_else() {
        let names: Vec<String> =
            (0..5000).map(|number| format!("T{}.{}", number / 50, number % 50)).collect();
        let name_of = |number: u32| names[number as usize].as_bytes();
        let mut index = Index::new(0);
        for (number, name) in (0..).zip(&names) {
            assert_eq!(index.add(name.as_bytes(), number, name_of), None);
            assert_eq!(index.add(name.as_bytes(), 9999, name_of), Some(number));
        }
        for (number, name) in (0..).zip(&names) {
            assert_eq!(index.find(name.as_bytes(), name_of), Some(number));
        }
        assert_eq!(index.find(b"T100.1", name_of), None);
    }

    #[test]
    fn a_table_in_which_all_fall_together_is_built_anew() {
        let hit = |name: &str| hash(name.as_bytes(), 0).trailing_zeros() >= 12;
        let names: Vec<String> =
            (0..).map(|number| format!("T{number}")).filter(|name| hit(name)).take(200).collect();
        let name_of = |number: u32| names[number as usize].as_bytes();
        let mut index = Index::new(0);
        for (number, name) in (0..).zip(&names) {
            index.add(name.as_bytes(), number, name_of);
        }
        assert!(index.seed > 0);
        assert!((0..).zip(&names).all(|(number, name)| index.find(name.as_bytes(), name_of) == Some(number)));
    }
}
