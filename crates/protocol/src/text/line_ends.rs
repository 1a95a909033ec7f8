//! Finds the ends of lines, 64 bytes at a step.
//!
//! A general byte search starts anew at every hit, which costs most where lines are short; here a hit is one bit of a
//! mask that is already there.

use wide::u8x16;

const BLOCK: usize = 64;

/// The positions of the newlines and carriage returns in some bytes.
#[derive(Debug, Clone)]
pub struct LineEnds<'a> {
    blocks: &'a [[u8; BLOCK]],
    /// What is left behind the last whole block.
    tail: &'a [u8],
    /// Where the block behind the current one begins.
    next_block: usize,
    /// What was found in the current block and not handed out, the first in the lowest bit.
    mask: u64,
}

impl<'a> LineEnds<'a> {
    /// Those from a position on.
    pub fn new(bytes: &'a [u8], from: usize) -> Self {
        let (blocks, tail) = bytes[from..].as_chunks();
        LineEnds { blocks, tail, next_block: from, mask: 0 }
    }
}

impl Iterator for LineEnds<'_> {
    type Item = usize;

    #[inline]
    fn next(&mut self) -> Option<usize> {
        while self.mask == 0 {
            self.mask = match self.blocks {
                [block, behind @ ..] => {
                    self.blocks = behind;
                    ends_in(block)
                }
                [] if self.tail.is_empty() => return None,
                [] => ends_in_last(core::mem::take(&mut self.tail)),
            };
            self.next_block += BLOCK;
        }
        let bit = self.mask.trailing_zeros() as usize;
        self.mask &= self.mask - 1;
        Some(self.next_block - BLOCK + bit)
    }
}

#[inline]
fn ends_in(block: &[u8; BLOCK]) -> u64 {
    let (quarters, _) = block.as_chunks::<16>();
    let quarter = |number: usize| {
        let bytes = u8x16::new(quarters[number]);
        let ends = bytes.simd_eq(u8x16::splat(b'\n')) | bytes.simd_eq(u8x16::splat(b'\r'));
        u64::from(ends.to_bitmask()) << (16 * number)
    };
    quarter(0) | quarter(1) | quarter(2) | quarter(3)
}

fn ends_in_last(rest: &[u8]) -> u64 {
    let mut block = [0; BLOCK];
    block[..rest.len()].copy_from_slice(rest);
    ends_in(&block)
}

#[cfg(test)]
mod tests {
    use alloc::vec::Vec;

    use super::*;

    #[test]
    fn finds_what_a_plain_search_finds() {
        let mut bytes = Vec::new();
        for number in 0_usize..500 {
            let found: Vec<_> = LineEnds::new(&bytes, number.min(3)).collect();
            let all = memchr::memchr2_iter(b'\n', b'\r', &bytes);
            let expected: Vec<_> = all.filter(|at| *at >= number.min(3)).collect();
            assert_eq!(found, expected);
            bytes.push(match number % 11 {
                0 | 1 => b'\n',
                2 if number.is_multiple_of(7) => b'\r',
                _ => b'x',
            });
        }
    }
}
