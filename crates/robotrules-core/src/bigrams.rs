//! Bigrams, pairs of neighbouring octets: the slot of each in a table, and how usual it is in a rule set.
//!
//! Most pairs of a path are in no pattern that is searched for, so one look at a table tells that a
//! pattern need not be tried. It knows octets, not patterns.

/// Where a pair stands in a table of `SIZE`, a power of two. In a large one pairs of letters, digits
/// and delimiters have mostly a place each.
#[inline(always)]
pub fn place<const SIZE: usize>(first: u8, second: u8) -> usize {
    (usize::from(first) << (SIZE.ilog2() - 7) ^ usize::from(second)) % SIZE
}

/// Where the pairs of `octets` stand.
#[inline(always)]
pub fn places<const SIZE: usize>(octets: &[u8]) -> impl Iterator<Item = usize> + '_ {
    octets.windows(2).map(|pair| place::<SIZE>(pair[0], pair[1]))
}

/// How often each pair is in `octets`. What all rules of a site are made of, its URLs are made of too.
pub fn counted<const SIZE: usize>(octets: &[u8]) -> Box<[u32; SIZE]> {
    let mut counts = Box::new([0; SIZE]);
    places::<SIZE>(octets).for_each(|place| counts[place] += 1);
    counts
}
