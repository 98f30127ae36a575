//! A prefilter for few patterns and many paths: the candidate patterns of a path as a bit set.
//!
//! For each of six positions in a path a table maps an octet to the set of patterns that can have it
//! there. The intersection of these sets, and of the set for the bigrams of the path, are the
//! candidates. They are matched in order of precedence, so that the first match decides.
//!
//! Building the tables costs about as much as ten paths, and takes 15 KB per 64 patterns; a batch
//! builds and drops them. This module does not decide: it returns the greatest rank that matches.

use crate::bigrams;
use crate::pattern::{Arena, Pattern};
use crate::ruleset::Rank;
use crate::scan::{required, Scan, Tried};
use crate::url_path::Path;

/// The number of patterns of a prefilter: one bit each.
pub const MOST: usize = 64;
const PAIRS: usize = 1024;

/// A set of patterns for each octet, without its highest bit, which in a normal form is set only in
/// the digits of escapes.
type Table = [u64; 128];

/// Up to 64 patterns of a rule set, and the tables that select candidates.
#[derive(Debug)]
pub struct Shortlist {
    ranked: Vec<Tried>,
    // By the second to fifth octet, and by the last two.
    starts: [Table; 4],
    ends: [Table; 2],
    // The patterns by the slot of the bigram that they require.
    pairs: Box<[u64; PAIRS]>,
    // Patterns that are not plain prefixes, that require a bigram, that require a query.
    wild: u64,
    searched: u64,
    queries: u64,
}

/// The prefilters of a rule set, in order of precedence.
pub fn lists(arena: &Arena, scan: &Scan) -> Vec<Shortlist> {
    let mut ranked: Vec<Tried> = scan.tried().copied().collect();
    ranked.sort_unstable_by_key(|tried| std::cmp::Reverse(tried.rank));
    let usual = bigrams::counted(&arena.octets);
    ranked.chunks(MOST).map(|some| Shortlist::new(arena, some, &usual)).collect()
}

/// The greatest rank of a pattern of these prefilters that matches; zero if none matches.
#[inline(never)]
pub fn winner(lists: &[Shortlist], arena: &Arena, path: Path<'_>) -> Rank {
    let mut ranks = lists.iter().map(|list| list.winner(arena, path));
    ranks.find(|&rank| rank != 0).unwrap_or(0)
}

/// Whether a pattern is not a plain prefix.
fn is_wild(arena: &Arena, tried: &Tried) -> bool {
    arena.literal(&tried.pattern) != Some(false)
}

/// A table of patterns by their octet at a position. Patterns without one are in every set.
fn table(patterns: &[Tried], octet: impl Fn(&Tried) -> Option<u8>) -> Table {
    let (mut table, mut any) = ([0; 128], 0);
    for (number, tried) in patterns.iter().enumerate() {
        match octet(tried) {
            Some(octet) => table[usize::from(octet) % 128] |= 1 << number,
            None => any |= 1 << number,
        }
    }
    table.map(|set| set | any)
}

/// The octet at a position of a word, if it is in the mask.
fn octet((word, mask): (u64, u64), place: usize) -> Option<u8> {
    (mask >> (8 * place) & 0xFF != 0).then_some((word >> (8 * place)) as u8)
}

impl Shortlist {
    fn new(arena: &Arena, ranked: &[Tried], usual: &[u32; PAIRS]) -> Shortlist {
        let start =
            |tried: &Tried, place| tried.pattern.first.of(&arena.octets).get(place).copied();
        let end = |tried: &Tried, place: usize| octet(required(arena, &tried.pattern).0, 7 - place);
        let mut list = Shortlist {
            ranked: ranked.to_vec(),
            starts: [1, 2, 3, 4].map(|place| table(ranked, |tried| start(tried, place))),
            ends: [0, 1].map(|place| table(ranked, |tried| end(tried, place))),
            pairs: Box::new([0; PAIRS]),
            wild: 0,
            searched: 0,
            queries: 0,
        };
        for (number, tried) in ranked.iter().enumerate().filter(|(_, tried)| is_wild(arena, tried))
        {
            let bit = 1 << number;
            list.wild |= bit;
            list.queries |= if required(arena, &tried.pattern).1 { bit } else { 0 };
            if let Some(rarest) = rarest(arena, &tried.pattern, usual) {
                list.searched |= bit;
                list.pairs[rarest] |= bit;
            }
        }
        list
    }

    /// The greatest rank of a pattern that matches; zero if none matches.
    #[inline(always)]
    pub fn winner(&self, arena: &Arena, path: Path<'_>) -> Rank {
        let at = |word: u64, place: usize| (word >> (8 * place)) as usize % 128;
        let mut left = self.starts[0][at(path.first, 1)]
            & self.starts[1][at(path.first, 2)]
            & self.starts[2][at(path.first, 3)]
            & self.starts[3][at(path.first, 4)];
        if left & self.wild != 0 {
            left &= self.ends[0][at(path.last, 7)] & self.ends[1][at(path.last, 6)];
            left &= if path.has_query() { u64::MAX } else { !self.queries };
            if left & self.searched != 0 {
                left &= !self.searched | self.found(path);
            }
        }
        while left != 0 {
            let number = left.trailing_zeros() as usize;
            if let Some(tried) = self.ranked.get(number) {
                if tried.begins(arena, path)
                    && (self.wild >> number & 1 == 0
                        || arena.matches_behind_first(&tried.pattern, path))
                {
                    return tried.rank;
                }
            }
            left &= left - 1;
        }
        0
    }

    /// The patterns whose bigram is in the path.
    #[inline]
    fn found(&self, path: Path<'_>) -> u64 {
        bigrams::places::<PAIRS>(path.octets()).fold(0, |all, place| all | self.pairs[place])
    }
}

/// The slot of the rarest bigram that a pattern requires after its first wildcard.
fn rarest(arena: &Arena, pattern: &Pattern, usual: &[u32; PAIRS]) -> Option<usize> {
    let runs = arena.pieces_of(pattern).iter().take(8).map(|piece| piece.run.of(&arena.octets));
    runs.flat_map(bigrams::places::<PAIRS>).min_by_key(|&place| usual[place])
}
