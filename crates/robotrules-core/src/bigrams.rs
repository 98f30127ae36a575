//! Bigrams, pairs of neighbouring octets: their slots in a table, and their frequency in a rule set.
//!
//! Most bigrams of a path are in no wildcard pattern, so that one table lookup excludes a pattern.
//! Constant time per octet. This module does not use patterns.

/// The slot of a bigram in a table of `SIZE`, a power of two. In a large table bigrams of letters,
/// digits and delimiters rarely collide.
#[inline(always)]
pub fn place<const SIZE: usize>(first: u8, second: u8) -> usize {
    (usize::from(first) << (SIZE.ilog2() - 7) ^ usize::from(second)) % SIZE
}

/// The slots of the bigrams of `octets`.
#[inline(always)]
pub fn places<const SIZE: usize>(octets: &[u8]) -> impl Iterator<Item = usize> + '_ {
    octets.windows(2).map(|pair| place::<SIZE>(pair[0], pair[1]))
}

/// The frequency of each bigram in `octets`. The rules of a site estimate the frequencies in its URLs.
pub fn counted<const SIZE: usize>(octets: &[u8]) -> Box<[u32; SIZE]> {
    let mut counts = Box::new([0; SIZE]);
    places::<SIZE>(octets).for_each(|place| counts[place] += 1);
    counts
}
