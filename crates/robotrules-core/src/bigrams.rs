//! Bigrams, pairs of neighbouring octets: their slots in a table, and their frequency in a rule set.
//!
//! Most bigrams of a path are in no wildcard pattern, so that one table lookup excludes a pattern.
//! Constant time per octet. This module does not use patterns.

/// The slot of a bigram in a table of `SIZE`, a power of two. In a large table bigrams of letters,
/// digits and delimiters rarely collide.
#[inline(always)]
pub fn slot<const SIZE: usize>(first: u8, second: u8) -> usize {
    (usize::from(first) << (SIZE.ilog2() - 7) ^ usize::from(second)) % SIZE
}

/// The slots of the bigrams of `octets`.
#[inline(always)]
pub fn slots<const SIZE: usize>(octets: &[u8]) -> impl Iterator<Item = usize> + '_ {
    octets.windows(2).map(|bigram| slot::<SIZE>(bigram[0], bigram[1]))
}

/// The frequency of each bigram in `octets`. The rules of a site estimate the frequencies in its URLs.
pub fn count<const SIZE: usize>(octets: &[u8]) -> Box<[u32; SIZE]> {
    let mut counts = Box::new([0; SIZE]);
    slots::<SIZE>(octets).for_each(|slot| counts[slot] += 1);
    counts
}
