//! Prefilter for few patterns and very many paths: which are worth trying, as a set of at most 64 bits.
//!
//! For each of a few places in a path there is a table: of an octet, the patterns that may have it
//! there. What is in all of them is tried, the pattern that would decide first of all first, so the
//! first that matches decides. Making the tables costs what some ten paths cost; a batch makes them
//! and throws them away.
//!
//! It knows patterns by their rank: of those that match, the greatest decides.

use crate::bigrams;
use crate::pattern::{Arena, Pattern};
use crate::ruleset::Rank;
use crate::scan::{required, Scan, Tried};
use crate::url_path::Path;

/// As many patterns as there are bits.
pub const MOST: usize = 64;
const PAIRS: usize = 1024;

/// For each octet but for its highest bit, a set of patterns. In a normal form that is set in digits of
/// escapes only.
type Table = [u64; 128];

/// The patterns of a rule set, and tables that say which to try.
#[derive(Debug)]
pub struct Shortlist {
    ranked: Vec<Tried>,
    // By the octets behind the first, and by the last ones.
    starts: [Table; 4],
    ends: [Table; 2],
    // The patterns that a pair of octets is needed for.
    pairs: Box<[u64; PAIRS]>,
    // Those that are no plain prefixes, those that are found by a pair, those that need a query.
    wild: u64,
    searched: u64,
    queries: u64,
}

/// The shortlists of a rule set, the one whose patterns decide first of all first.
pub fn lists(arena: &Arena, scan: &Scan) -> Vec<Shortlist> {
    let mut ranked: Vec<Tried> = scan.tried().copied().collect();
    ranked.sort_unstable_by_key(|tried| std::cmp::Reverse(tried.rank));
    let usual = bigrams::counted(&arena.octets);
    ranked.chunks(MOST).map(|some| Shortlist::new(arena, some, &usual)).collect()
}

/// The greatest rank of a pattern of these lists that matches; zero where none does.
#[inline(never)]
pub fn winner(lists: &[Shortlist], arena: &Arena, path: Path<'_>) -> Rank {
    let mut ranks = lists.iter().map(|list| list.winner(arena, path));
    ranks.find(|&rank| rank != 0).unwrap_or(0)
}

/// Whether a pattern is more than a prefix.
fn is_wild(arena: &Arena, tried: &Tried) -> bool {
    arena.literal(&tried.pattern) != Some(false)
}

/// A table of patterns by the octet they have somewhere; of those that have none there, by any.
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

/// The octet at a place of a word, if the mask says that it counts.
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

    /// The greatest rank of a pattern that matches; zero where none does.
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

    /// The patterns whose pair the path has.
    #[inline]
    fn found(&self, path: Path<'_>) -> u64 {
        bigrams::places::<PAIRS>(path.octets()).fold(0, |all, place| all | self.pairs[place])
    }
}

/// Of the pairs that a pattern needs behind its first wildcard, the one that is least usual.
fn rarest(arena: &Arena, pattern: &Pattern, usual: &[u32; PAIRS]) -> Option<usize> {
    let runs = arena.pieces_of(pattern).iter().take(8).map(|piece| piece.run.of(&arena.octets));
    runs.flat_map(bigrams::places::<PAIRS>).min_by_key(|&place| usual[place])
}
