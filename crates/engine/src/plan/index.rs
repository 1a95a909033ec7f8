//! Finds a task by its id: a table of hashes over spans of the text.
//!
//! Ids that differ only in their last number stand side by side in the table, as they do in the file: so the place of the
//! next one is near, also where the table is larger than the cache.

use alloc::vec::Vec;

/// How far a search may go before the table is built anew with another seed.
const PROBES_MAX: usize = 64;

/// How often it is: a file in which that does not help would have to be made for it, and is slow then.
const SEEDS_MAX: u64 = 8;

/// A number that is larger than this is folded in, like what is no number; ten times as much still fits.
const NUMBER_MAX: u32 = 100_000_000;

const FACTOR: u64 = 0x9E37_79B9_7F4A_7C15;

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
        for at in self.probe(hash) {
            let slot = self.slots[at];
            if slot.number == EMPTY {
                return None;
            }
            if slot.hash == hash && name_of(slot.number) == name {
                return Some(slot.number);
            }
        }
        None
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
        let mut probes = 0;
        for at in self.probe(hash) {
            let slot = self.slots[at];
            if slot.number == EMPTY {
                self.slots[at] = Slot { hash, number };
                break;
            }
            if slot.hash == hash && name_of(slot.number) == name {
                return Some(slot.number);
            }
            probes += 1;
        }
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
        if let Some(at) = self.probe(hash).find(|&at| self.slots[at].number == EMPTY) {
            self.slots[at] = Slot { hash, number };
        }
    }

    /// Where something with this hash may stand, in this order: every slot once, in steps that grow, so that a row of
    /// neighbours is soon behind.
    fn probe(&self, hash: u32) -> impl Iterator<Item = usize> + use<> {
        let mask = self.slots.len() - 1;
        (0..=mask).scan(hash as usize & mask, move |at, step| {
            *at = (*at + step) & mask;
            Some(*at)
        })
    }
}

/// The hash of what stands before the last number, and that number added.
fn hash(name: &[u8], seed: u64) -> u32 {
    let mut stem = seed ^ FACTOR;
    // From 1, so that zeros before a number count.
    let mut number = 1;
    for &byte in name {
        let digit = byte.wrapping_sub(b'0');
        if digit < 10 && number < NUMBER_MAX {
            number = number * 10 + u32::from(digit);
        } else {
            stem = fold(stem, u64::from(number) << 8 | u64::from(byte), seed);
            number = 1;
        }
    }
    #[expect(clippy::cast_possible_truncation, reason = "the upper half is folded in")]
    let short = (stem ^ stem >> 32) as u32;
    short.wrapping_add(number)
}

/// Folds a word in by a wide multiplication.
fn fold(state: u64, word: u64, seed: u64) -> u64 {
    let product = u128::from(state ^ word) * u128::from((FACTOR ^ seed) | 1);
    #[expect(clippy::cast_possible_truncation, reason = "both halves are folded into one")]
    let folded = product as u64 ^ (product >> 64) as u64;
    folded
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
    fn neighbours_stand_side_by_side_and_zeros_count() {
        assert_eq!(hash(b"T12.8", 0), hash(b"T12.7", 0).wrapping_add(1));
        let long = "T1.1".replace('1', &"0".repeat(20));
        let names = ["T1.1", "T1.01", "T01.1", "T001.1", "T1.001", "T11", "T0.0", &long, &long[1..]];
        for (at, one) in names.iter().enumerate() {
            for other in &names[..at] {
                assert_ne!(hash(one.as_bytes(), 0), hash(other.as_bytes(), 0), "{one} {other}");
            }
        }
    }

    #[test]
    fn a_table_in_which_all_fall_together_is_built_anew() {
        let hit = |name: &str| hash(name.as_bytes(), 0).trailing_zeros() >= 12;
        let names: Vec<String> =
            (0..).map(|number| format!("T{number}.1")).filter(|name| hit(name)).take(200).collect();
        let name_of = |number: u32| names[number as usize].as_bytes();
        let mut index = Index::new(0);
        for (number, name) in (0..).zip(&names) {
            index.add(name.as_bytes(), number, name_of);
        }
        assert!(index.seed > 0);
        assert!((0..).zip(&names).all(|(number, name)| index.find(name.as_bytes(), name_of) == Some(number)));
    }
}
