//! Origins by number: an interner for joins of URLs with the states of their origins.
//!
//! An open-addressing hash table of numbers over one text. It costs the octets of an origin and about
//! 20 more. A lookup hashes the origin once, by folded multiplication with random keys, because origins
//! are untrusted input: whoever does not know the keys cannot choose origins that collide.

use std::collections::hash_map::RandomState;
use std::hash::BuildHasher;

/// Random keys, and the hash function.
#[derive(Debug)]
struct Keys([u64; 3]);

impl Default for Keys {
    fn default() -> Keys {
        let random = RandomState::new();
        Keys([0_u8, 1, 2].map(|number| random.hash_one(number) | 1))
    }
}

/// Both halves of the product, combined: every bit of the factors changes every bit of the result.
#[inline]
fn fold(a: u64, b: u64) -> u64 {
    let product = u128::from(a) * u128::from(b);
    product as u64 ^ (product >> 64) as u64
}

impl Keys {
    #[inline]
    fn hash(&self, origin: &[u8]) -> usize {
        let [first, second, third] = self.0;
        let word = |octets: &[u8; 8]| u64::from_le_bytes(*octets);
        let mut hash = fold(origin.len() as u64 ^ first, third);
        let (blocks, _) = origin.as_chunks::<16>();
        for block in blocks {
            let (words, _) = block.as_chunks::<8>();
            let [low, high] = words else { continue };
            hash = fold(word(low) ^ first ^ hash, word(high) ^ second);
        }
        // The last 16 octets, which may overlap the blocks; fewer are padded with zeros.
        let mut end = [0; 16];
        let rest = &origin[origin.len().saturating_sub(16)..];
        match <&[u8; 16]>::try_from(rest) {
            Ok(whole) => end = *whole,
            Err(_) => end[..rest.len()].copy_from_slice(rest),
        }
        let (words, _) = end.as_chunks::<8>();
        let [low, high] = words else { return 0 };
        fold(word(low) ^ second ^ hash, word(high) ^ third) as usize
    }
}

/// A slot of the table that is free.
const FREE: u32 = u32::MAX;
/// The numbers of origins are below this; the greatest numbers are free for other meanings.
pub const MAX_ORIGINS: usize = u32::MAX as usize - 16;

/// Origins, numbered from 0 in the order in which they were added.
#[derive(Debug, Default)]
pub struct OriginIndex {
    text: Vec<u8>,
    // The end of each origin in the text.
    ends: Vec<u64>,
    // A power of two of slots, at most three quarters of them in use; empty at first.
    slots: Vec<u32>,
    keys: Keys,
}

impl OriginIndex {
    /// The number of origins.
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Whether there are no origins.
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// The octets that the index occupies.
    pub fn memory(&self) -> usize {
        self.text.capacity() + 8 * self.ends.capacity() + 4 * self.slots.capacity()
    }

    /// An origin by its number.
    pub fn origin(&self, number: u32) -> Option<&[u8]> {
        let number = number as usize;
        let end = *self.ends.get(number)? as usize;
        let start = number.checked_sub(1).map_or(0, |before| self.ends[before] as usize);
        self.text.get(start..end)
    }

    /// The number of an origin in normal form.
    #[inline]
    pub fn find(&self, origin: &[u8]) -> Option<u32> {
        match self.slots.is_empty() {
            true => None,
            false => Some(self.slots[self.slot(origin)]).filter(|&number| number != FREE),
        }
    }

    /// The number of an origin in normal form, which is added if it is new. `None` if the index is
    /// full.
    pub fn add(&mut self, origin: &[u8]) -> Option<u32> {
        if self.slots.len() * 3 <= self.len() * 4 {
            self.grow();
        }
        let slot = self.slot(origin);
        if self.slots[slot] == FREE {
            if self.len() >= MAX_ORIGINS {
                return None;
            }
            self.slots[slot] = self.len() as u32;
            self.text.extend(origin);
            self.ends.push(self.text.len() as u64);
        }
        Some(self.slots[slot])
    }

    /// The slot of an origin, or the free slot where it belongs. There is always a free slot.
    #[inline]
    fn slot(&self, origin: &[u8]) -> usize {
        let mask = self.slots.len() - 1;
        let mut slot = self.keys.hash(origin) & mask;
        while self.slots[slot] != FREE && self.origin(self.slots[slot]) != Some(origin) {
            slot = (slot + 1) & mask;
        }
        slot
    }

    fn grow(&mut self) {
        let size = (self.slots.len() * 2).max(64);
        self.slots = vec![FREE; size];
        for number in 0..self.len() as u32 {
            let hash = self.origin(number).map_or(0, |origin| self.keys.hash(origin));
            let mut slot = hash & (size - 1);
            while self.slots[slot] != FREE {
                slot = (slot + 1) & (size - 1);
            }
            self.slots[slot] = number;
        }
    }
}
