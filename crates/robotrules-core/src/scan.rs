//! Linear scan over a small rule set: a SIMD filter selects candidates, which are then matched.
//!
//! The filter compares four octets of four patterns at once; for wildcard patterns also the last
//! four octets and the required bigrams. All filters run before the first match, so that the only
//! unpredictable branch is the number of candidates.
//!
//! Linear in the patterns, no allocation. This module does not decide: it returns the greatest rank
//! of the patterns that match.

use crate::pattern::{Arena, Pattern};
use crate::ruleset::Rank;
use crate::simd::{first_word, last_word};
use crate::url_path::Path;
use std::collections::HashMap;
use wide::u32x4;

/// The patterns of a rule set, plain prefixes and wildcard patterns separately.
#[derive(Debug, Default)]
pub struct Scan {
    plain_filters: Vec<MaskedWords>,
    plain: Vec<RankedPattern>,
    wild_filters: Vec<WildcardFilter>,
    wild: Vec<RankedPattern>,
    // How many patterns require bigrams.
    with_bigrams: u32,
    // Patterns equal to one of `wild`, by its number, and of lower rank: they never decide.
    duplicates: Vec<(RankedPattern, u32)>,
}

/// Sets with fewer wildcard patterns are not deduplicated.
const MIN_DEDUPLICATED: usize = 1024;

/// A pattern, and the words that its prefix is compared by.
#[derive(Clone, Copy, Debug)]
pub struct RankedPattern {
    /// Its rank.
    pub rank: Rank,
    // The first and the last eight octets of the prefix.
    first: u64,
    last: u64,
    /// The pattern.
    pub pattern: Pattern,
}

/// A word and a mask for each of four patterns. A lane without a pattern has an empty mask and a
/// word that no masked word equals.
#[derive(Clone, Copy, Debug)]
struct MaskedWords {
    words: [u32; 4],
    mask: [u32; 4],
}

/// The filter of four wildcard patterns: start and end of a path, and required bits of `bigram_bits`.
#[derive(Clone, Copy, Debug)]
struct WildcardFilter {
    starts: MaskedWords,
    ends: MaskedWords,
    low: [u32; 4],
    high: [u32; 4],
}

// The bit of `bigram_bits` that marks a query.
const QUERY_BIT: u64 = 1 << 63;

impl MaskedWords {
    const NONE: MaskedWords = MaskedWords { words: [1; 4], mask: [0; 4] };

    /// The patterns whose masked word equals `word`.
    #[inline(always)]
    fn matching_lanes(&self, word: u32) -> u32x4 {
        (u32x4::new(self.mask) & u32x4::splat(word)).simd_eq(u32x4::new(self.words))
    }
}

impl WildcardFilter {
    const NONE: WildcardFilter = WildcardFilter {
        starts: MaskedWords::NONE,
        ends: MaskedWords::NONE,
        low: [0; 4],
        high: [0; 4],
    };

    /// The patterns that can match a path with this start, this end and these bigrams.
    #[inline(always)]
    fn may_match(&self, start: u32, end: u32, present: u64) -> u32x4 {
        let low = u32x4::new(self.low) & u32x4::splat(!present as u32);
        let high = u32x4::new(self.high) & u32x4::splat((!present >> 32) as u32);
        let has_bigrams = (low | high).simd_eq(u32x4::splat(0));
        self.starts.matching_lanes(start) & self.ends.matching_lanes(end) & has_bigrams
    }
}

/// The block and the lane for the pattern after `count` patterns, in blocks of four.
fn next_lane<T>(blocks: &mut Vec<T>, count: usize, none: T) -> Option<(&mut T, usize)> {
    if count.is_multiple_of(4) {
        blocks.push(none);
    }
    blocks.last_mut().map(|block| (block, count % 4))
}

/// The four octets after the first, which is `/` in every path.
#[inline(always)]
fn start_bits(first: u64) -> u32 {
    (first >> 8) as u32
}

/// The last four octets.
#[inline(always)]
fn end_bits(last: u64) -> u32 {
    (last >> 32) as u32
}

impl Scan {
    /// Reserves memory for `count` patterns.
    pub fn reserve(&mut self, count: usize) {
        self.plain.reserve_exact(count);
        self.plain_filters.reserve_exact(count.div_ceil(4));
    }

    /// Adds a pattern.
    #[inline]
    pub fn add(&mut self, arena: &Arena, pattern: Pattern, rank: Rank) {
        let octets = pattern.prefix.of(&arena.octets);
        let (first, mask) = masked_start(octets);
        let candidate = RankedPattern { rank, first, last: last_word(octets), pattern };
        let starts = (start_bits(first), start_bits(mask));
        if arena.literal(&pattern) == Some(false) {
            if let Some((words, at)) =
                next_lane(&mut self.plain_filters, self.plain.len(), MaskedWords::NONE)
            {
                (words.words[at], words.mask[at]) = starts;
            }
            self.plain.push(candidate);
            return;
        }
        let ((last, last_mask), query) = requirements(arena, &pattern);
        let query = if query { QUERY_BIT } else { 0 };
        let required =
            query | if last_mask == 0 { required_bigram_bits(arena, &pattern) } else { 0 };
        self.with_bigrams += u32::from(required & !QUERY_BIT != 0);
        if let Some((block, at)) =
            next_lane(&mut self.wild_filters, self.wild.len(), WildcardFilter::NONE)
        {
            (block.starts.words[at], block.starts.mask[at]) = starts;
            (block.ends.words[at], block.ends.mask[at]) = (end_bits(last), end_bits(last_mask));
            (block.low[at], block.high[at]) = (required as u32, (required >> 32) as u32);
        }
        self.wild.push(candidate);
    }

    /// The number of patterns.
    pub fn len(&self) -> usize {
        self.plain.len() + self.wild.len() + self.duplicates.len()
    }

    /// Every pattern that can decide.
    pub fn candidates(&self) -> impl Iterator<Item = &RankedPattern> + '_ {
        self.plain.iter().chain(&self.wild)
    }

    /// Every pattern that can decide, with its rank.
    pub fn deciding(&self) -> impl Iterator<Item = (Rank, Pattern)> + '_ {
        self.candidates().map(|candidate| (candidate.rank, candidate.pattern))
    }

    /// Every pattern with its rank.
    pub fn patterns(&self) -> impl Iterator<Item = (Rank, Pattern)> + '_ {
        self.deciding()
            .chain(self.duplicates.iter().map(|(candidate, _)| (candidate.rank, candidate.pattern)))
    }

    /// The ranks of all patterns that match, in no order.
    pub fn matching(&self, arena: &Arena, path: Path<'_>) -> Vec<Rank> {
        let matches = |candidate: &RankedPattern| arena.matches(&candidate.pattern, path);
        let wild: Vec<bool> = self.wild.iter().map(matches).collect();
        let plain = self.plain.iter().filter(|candidate| matches(candidate));
        let found = self.wild.iter().zip(&wild).filter(|(_, matches)| **matches);
        let same = |(_, number): &&(RankedPattern, u32)| wild.get(*number as usize) == Some(&true);
        let duplicates = self.duplicates.iter().filter(same).map(|(candidate, _)| candidate);
        plain
            .chain(found.map(|(candidate, _)| candidate))
            .chain(duplicates)
            .map(|matched| matched.rank)
            .collect()
    }

    /// Removes wildcard patterns that equal a pattern of higher precedence from the scan: they never
    /// decide, and a file may present tens of thousands of them.
    pub fn deduplicate(&mut self, arena: &Arena) {
        if self.wild.len() < MIN_DEDUPLICATED {
            return;
        }
        let mut numbers: HashMap<Vec<u8>, u32> = HashMap::new();
        let mut wild = std::mem::take(&mut self.wild);
        wild.sort_unstable_by_key(|candidate| std::cmp::Reverse(candidate.rank));
        (self.wild_filters, self.with_bigrams) = (vec![], 0);
        for candidate in wild {
            let number = self.wild.len() as u32;
            let known = *numbers.entry(match_key(arena, &candidate.pattern)).or_insert(number);
            match known == number {
                true => self.add(arena, candidate.pattern, candidate.rank),
                false => self.duplicates.push((candidate, known)),
            }
        }
    }

    /// The greatest rank of a pattern that matches; zero if none matches.
    #[inline(always)]
    pub fn winner(&self, arena: &Arena, path: Path<'_>) -> Rank {
        let mut best = 0;
        let (start, end) = (start_bits(path.first), end_bits(path.last));
        each_candidate(
            &self.plain_filters,
            &self.plain,
            |filter| filter.matching_lanes(start),
            |plain| {
                if plain.rank > best && plain.starts_with_prefix(arena, path) {
                    best = plain.rank;
                }
            },
        );
        if self.wild.is_empty() {
            return best;
        }
        // With few such patterns a search costs less than the bigrams of the path.
        let bigram_bits = if self.with_bigrams > 2 { path_bigram_bits(path) } else { !QUERY_BIT };
        let present = bigram_bits | if path.has_query() { QUERY_BIT } else { 0 };
        each_candidate(
            &self.wild_filters,
            &self.wild,
            |filter| filter.may_match(start, end, present),
            |wild| {
                if wild.rank > best
                    && wild.starts_with_prefix(arena, path)
                    && arena.matches_after_prefix(&wild.pattern, path)
                {
                    best = wild.rank;
                }
            },
        );
        best
    }
}

/// Calls `take` with the patterns that `may_match` selects, sixteen blocks of four at a time.
#[inline(always)]
fn each_candidate<T>(
    blocks: &[T],
    list: &[RankedPattern],
    may_match: impl Fn(&T) -> u32x4,
    mut take: impl FnMut(&RankedPattern),
) {
    for (number, sixteen) in blocks.chunks(16).enumerate() {
        let (mut picked, mut shift) = (0_u64, 0);
        for block in sixteen {
            picked |= u64::from(may_match(block).to_bitmask()) << shift;
            shift += 4;
        }
        while picked != 0 {
            if let Some(candidate) = list.get(64 * number + picked.trailing_zeros() as usize) {
                take(candidate);
            }
            picked &= picked - 1;
        }
    }
}

impl RankedPattern {
    /// Whether a path starts with the prefix of the pattern.
    #[inline(always)]
    pub fn starts_with_prefix(&self, arena: &Arena, path: Path<'_>) -> bool {
        let length = self.pattern.prefix.length as usize;
        if length <= 8 {
            // A short path is padded with zeros, and a pattern may end with a zero.
            let rest = (path.first ^ self.first) << (8 * (8 - length as u32)).min(63);
            return length == 0 || rest == 0 && path.text.len() - path.start >= length;
        }
        let ending = path.octets().get(..length).and_then(|octets| octets.last_chunk());
        path.first == self.first
            && ending.is_some_and(|ending| u64::from_le_bytes(*ending) == self.last)
            && (length <= 16 || path.octets().starts_with(self.pattern.prefix.of(&arena.octets)))
    }
}

/// A key for deduplication: patterns with equal keys match the same paths. Some unusual spellings of
/// equal patterns present different keys.
fn match_key(arena: &Arena, pattern: &Pattern) -> Vec<u8> {
    let mut match_key = vec![u8::from(pattern.anchored)];
    let spans = arena.pieces_of(pattern).iter().flat_map(|piece| [piece.in_path, piece.in_query]);
    for span in std::iter::once(pattern.prefix).chain(spans) {
        match_key.extend(span.length.to_le_bytes());
        match_key.extend(span.of(&arena.octets));
    }
    match_key
}

/// The requirements of a pattern on a path: its last octets and their mask, and whether it has a
/// query.
pub fn requirements(arena: &Arena, pattern: &Pattern) -> ((u64, u64), bool) {
    let pieces = arena.pieces_of(pattern);
    let last = pieces.last().map_or((pattern.prefix, pattern.prefix), |l| (l.in_path, l.in_query));
    let end = match pattern.anchored && last.0 == last.1 {
        true => masked_end(last.0.of(&arena.octets)),
        false => (0, 0),
    };
    // A `?` after a wildcard is the delimiter, or data in a query: both require a query.
    let mut spelled = pieces.iter().take(8).map(|piece| piece.in_path.of(&arena.octets));
    (end, spelled.any(|octets| octets.contains(&b'?')))
}

/// The bits of the bigrams that a pattern requires.
fn required_bigram_bits(arena: &Arena, pattern: &Pattern) -> u64 {
    let runs = arena.pieces_of(pattern).iter().take(8);
    runs.fold(0, |all, piece| all | bigram_bits(piece.run.of(&arena.octets)))
}

/// The bigrams of `octets`, each hashed to one of 63 bits: its second octet, combined with the lowest
/// bits of the first.
#[inline]
fn bigram_bits(octets: &[u8]) -> u64 {
    let Some((&first, rest)) = octets.split_first() else { return 0 };
    let (mut all, mut before) = (0, first);
    for &octet in rest {
        all |= 1 << ((octet ^ before << 3) & 63);
        before = octet;
    }
    all & !QUERY_BIT
}

/// The bits of the bigrams of a path, eight at a time; may include bits of other bigrams.
#[inline]
fn path_bigram_bits(path: Path<'_>) -> u64 {
    let octets = path.octets();
    let mut all = word_bigram_bits(path.first, path.first >> 8);
    let mut at = 7;
    // The last word overlaps the one before it, which does not change the result.
    while at + 1 < octets.len() {
        let before = first_word(&octets[at.min(octets.len() - 9)..]);
        let after = first_word(&octets[at.min(octets.len() - 9) + 1..]);
        all |= word_bigram_bits(before, after);
        at += 8;
    }
    all & !QUERY_BIT
}

/// The bits of the bigrams of eight octets and their successors.
#[inline(always)]
fn word_bigram_bits(before: u64, after: u64) -> u64 {
    const LOW: u64 = 0x0707_0707_0707_0707;
    let hashes = (after ^ (before & LOW) << 3).to_le_bytes();
    hashes.iter().fold(0, |all, hash| all | 1 << (hash & 63))
}

/// The first eight octets and their mask. A pattern never holds a zero.
fn masked_start(octets: &[u8]) -> (u64, u64) {
    let missing = 8_u32.saturating_sub(octets.len() as u32);
    (first_word(octets), u64::MAX.checked_shr(8 * missing).unwrap_or(0))
}

/// The last eight octets and their mask.
fn masked_end(octets: &[u8]) -> (u64, u64) {
    let missing = 8_u32.saturating_sub(octets.len() as u32);
    (last_word(octets), u64::MAX.checked_shl(8 * missing).unwrap_or(0))
}
