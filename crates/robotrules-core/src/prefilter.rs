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
use crate::scan::{requirements, RankedPattern, Scan};
use crate::url_path::Path;

/// The number of patterns of a prefilter: one bit each.
pub const MAX_PATTERNS: usize = 64;
const BIGRAM_SLOTS: usize = 1024;

/// A set of patterns for each octet, without its highest bit, which in a normal form is set only in
/// the digits of escapes.
type Table = [u64; 128];

/// Up to 64 patterns of a rule set, and the tables that select candidates.
#[derive(Debug)]
pub struct Prefilter {
    candidates: Vec<RankedPattern>,
    // By the second to fifth octet, and by the last two.
    starts: [Table; 4],
    ends: [Table; 2],
    // The patterns by the slot of the bigram that they require.
    by_bigram: Box<[u64; BIGRAM_SLOTS]>,
    // Patterns that are not plain prefixes, that require a bigram, that require a query.
    wild: u64,
    require_bigram: u64,
    require_query: u64,
}

/// The prefilters of a rule set, in order of precedence.
pub fn build(arena: &Arena, scan: &Scan) -> Vec<Prefilter> {
    let mut candidates: Vec<RankedPattern> = scan.candidates().copied().collect();
    candidates.sort_unstable_by_key(|candidate| std::cmp::Reverse(candidate.rank));
    let bigram_counts = bigrams::count(&arena.octets);
    candidates
        .chunks(MAX_PATTERNS)
        .map(|chunk| Prefilter::new(arena, chunk, &bigram_counts))
        .collect()
}

/// The greatest rank of a pattern of these prefilters that matches; zero if none matches.
#[inline(never)]
pub fn winner(prefilters: &[Prefilter], arena: &Arena, path: Path<'_>) -> Rank {
    let mut ranks = prefilters.iter().map(|prefilter| prefilter.winner(arena, path));
    ranks.find(|&rank| rank != 0).unwrap_or(0)
}

/// Whether a pattern is not a plain prefix.
fn has_wildcard(arena: &Arena, candidate: &RankedPattern) -> bool {
    arena.literal(&candidate.pattern) != Some(false)
}

/// A table of patterns by their octet at a position. Patterns without one are in every set.
fn table(patterns: &[RankedPattern], octet: impl Fn(&RankedPattern) -> Option<u8>) -> Table {
    let (mut table, mut any) = ([0; 128], 0);
    for (number, candidate) in patterns.iter().enumerate() {
        match octet(candidate) {
            Some(octet) => table[usize::from(octet) % 128] |= 1 << number,
            None => any |= 1 << number,
        }
    }
    table.map(|set| set | any)
}

/// The octet at a position of a word, if it is in the mask.
fn octet_at((word, mask): (u64, u64), position: usize) -> Option<u8> {
    (mask >> (8 * position) & 0xFF != 0).then_some((word >> (8 * position)) as u8)
}

impl Prefilter {
    fn new(
        arena: &Arena,
        candidates: &[RankedPattern],
        bigram_counts: &[u32; BIGRAM_SLOTS],
    ) -> Prefilter {
        let start = |candidate: &RankedPattern, position| {
            candidate.pattern.prefix.of(&arena.octets).get(position).copied()
        };
        let end = |candidate: &RankedPattern, position: usize| {
            octet_at(requirements(arena, &candidate.pattern).0, 7 - position)
        };
        let mut prefilter = Prefilter {
            candidates: candidates.to_vec(),
            starts: [1, 2, 3, 4]
                .map(|position| table(candidates, |candidate| start(candidate, position))),
            ends: [0, 1].map(|position| table(candidates, |candidate| end(candidate, position))),
            by_bigram: Box::new([0; BIGRAM_SLOTS]),
            wild: 0,
            require_bigram: 0,
            require_query: 0,
        };
        for (number, candidate) in
            candidates.iter().enumerate().filter(|(_, candidate)| has_wildcard(arena, candidate))
        {
            let bit = 1 << number;
            prefilter.wild |= bit;
            prefilter.require_query |=
                if requirements(arena, &candidate.pattern).1 { bit } else { 0 };
            if let Some(rarest) = rarest_bigram(arena, &candidate.pattern, bigram_counts) {
                prefilter.require_bigram |= bit;
                prefilter.by_bigram[rarest] |= bit;
            }
        }
        prefilter
    }

    /// The greatest rank of a pattern that matches; zero if none matches.
    #[inline(always)]
    pub fn winner(&self, arena: &Arena, path: Path<'_>) -> Rank {
        let at = |word: u64, position: usize| (word >> (8 * position)) as usize % 128;
        let mut left = self.starts[0][at(path.first, 1)]
            & self.starts[1][at(path.first, 2)]
            & self.starts[2][at(path.first, 3)]
            & self.starts[3][at(path.first, 4)];
        if left & self.wild != 0 {
            left &= self.ends[0][at(path.last, 7)] & self.ends[1][at(path.last, 6)];
            left &= if path.has_query() { u64::MAX } else { !self.require_query };
            if left & self.require_bigram != 0 {
                left &= !self.require_bigram | self.with_bigrams_of(path);
            }
        }
        while left != 0 {
            let number = left.trailing_zeros() as usize;
            if let Some(candidate) = self.candidates.get(number) {
                if candidate.starts_with_prefix(arena, path)
                    && (self.wild >> number & 1 == 0
                        || arena.matches_after_prefix(&candidate.pattern, path))
                {
                    return candidate.rank;
                }
            }
            left &= left - 1;
        }
        0
    }

    /// The patterns whose bigram is in the path.
    #[inline]
    fn with_bigrams_of(&self, path: Path<'_>) -> u64 {
        bigrams::slots::<BIGRAM_SLOTS>(path.octets())
            .fold(0, |patterns, slot| patterns | self.by_bigram[slot])
    }
}

/// The slot of the rarest bigram that a pattern requires after its first wildcard.
fn rarest_bigram(
    arena: &Arena,
    pattern: &Pattern,
    bigram_counts: &[u32; BIGRAM_SLOTS],
) -> Option<usize> {
    let runs = arena.pieces_of(pattern).iter().take(8).map(|piece| piece.run.of(&arena.octets));
    runs.flat_map(bigrams::slots::<BIGRAM_SLOTS>).min_by_key(|&slot| bigram_counts[slot])
}
