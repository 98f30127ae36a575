//! Many patterns, one path, tried in turn: few of them are looked at twice.
//!
//! Of four patterns at once four octets are compared; of those with wildcards four at the end of
//! the path too, and which pairs of octets they need. All are asked before any is tried, so that
//! what the processor has to guess is only how many are left.
//!
//! It knows patterns by their rank: of those that match, the greatest decides.

use crate::pattern::{Arena, Pattern};
use crate::ruleset::Rank;
use crate::simd::{first_word, last_word};
use crate::url_path::Path;
use std::collections::HashMap;
use wide::u32x4;

/// The patterns of a rule set, plain prefixes apart from the others.
#[derive(Debug, Default)]
pub struct Scan {
    plain_needs: Vec<Column>,
    plain: Vec<Tried>,
    wild_needs: Vec<Needs>,
    wild: Vec<Tried>,
    // How many patterns have to be searched for.
    searched: u32,
    // Patterns that match what one of `wild` does, by its number, and can never decide.
    repeated: Vec<(Tried, u32)>,
}

/// Among fewer wildcard patterns than this, repetitions are not looked for.
const MANY: usize = 1024;

/// A pattern that is left to be tried.
#[derive(Clone, Copy, Debug)]
pub struct Tried {
    /// Its rank.
    pub rank: Rank,
    // The first and the last eight octets of what the path must start with.
    first: u64,
    last: u64,
    /// The pattern.
    pub pattern: Pattern,
}

/// A number for each of four patterns, and which of its bits count. Where there is no pattern
/// none count, and the number is one that is never found.
#[derive(Clone, Copy, Debug)]
struct Column {
    number: [u32; 4],
    mask: [u32; 4],
}

/// What four patterns with wildcards need: how a path starts and ends, and bits of `pairs`.
#[derive(Clone, Copy, Debug)]
struct Needs {
    starts: Column,
    ends: Column,
    low: [u32; 4],
    high: [u32; 4],
}

// In the bits of `pairs`, one says that there is a query.
const QUERY: u64 = 1 << 63;

impl Column {
    const NONE: Column = Column { number: [1; 4], mask: [0; 4] };

    /// Which of the four are in `word`.
    #[inline(always)]
    fn found_in(&self, word: u32) -> u32x4 {
        (u32x4::new(self.mask) & u32x4::splat(word)).simd_eq(u32x4::new(self.number))
    }
}

impl Needs {
    const NONE: Needs =
        Needs { starts: Column::NONE, ends: Column::NONE, low: [0; 4], high: [0; 4] };

    /// Which of the four may match a path that starts and ends so, and has these pairs.
    #[inline(always)]
    fn met_by(&self, start: u32, end: u32, have: u64) -> u32x4 {
        let low = u32x4::new(self.low) & u32x4::splat(!have as u32);
        let high = u32x4::new(self.high) & u32x4::splat((!have >> 32) as u32);
        let pairs = (low | high).simd_eq(u32x4::splat(0));
        self.starts.found_in(start) & self.ends.found_in(end) & pairs
    }
}

/// The place for the next of `count` in blocks of four.
fn room<T>(blocks: &mut Vec<T>, count: usize, none: T) -> Option<(&mut T, usize)> {
    if count.is_multiple_of(4) {
        blocks.push(none);
    }
    blocks.last_mut().map(|block| (block, count % 4))
}

/// The four octets after the first, which is `/` in every path.
#[inline(always)]
fn start(first: u64) -> u32 {
    (first >> 8) as u32
}

/// The last four octets.
#[inline(always)]
fn end(last: u64) -> u32 {
    (last >> 32) as u32
}

impl Scan {
    /// Makes room for patterns.
    pub fn reserve(&mut self, count: usize) {
        self.plain.reserve_exact(count);
        self.plain_needs.reserve_exact(count.div_ceil(4));
    }

    /// Adds a pattern.
    #[inline]
    pub fn add(&mut self, arena: &Arena, pattern: Pattern, rank: Rank) {
        let octets = pattern.first.of(&arena.octets);
        let (first, mask) = start_of(octets);
        let tried = Tried { rank, first, last: last_word(octets), pattern };
        let starts = (start(first), start(mask));
        if arena.literal(&pattern) == Some(false) {
            if let Some((column, at)) = room(&mut self.plain_needs, self.plain.len(), Column::NONE)
            {
                (column.number[at], column.mask[at]) = starts;
            }
            self.plain.push(tried);
            return;
        }
        let ((last, last_mask), query) = required(arena, &pattern);
        let query = if query { QUERY } else { 0 };
        let needs = query | if last_mask == 0 { needed_pairs(arena, &pattern) } else { 0 };
        self.searched += u32::from(needs & !QUERY != 0);
        if let Some((block, at)) = room(&mut self.wild_needs, self.wild.len(), Needs::NONE) {
            (block.starts.number[at], block.starts.mask[at]) = starts;
            (block.ends.number[at], block.ends.mask[at]) = (end(last), end(last_mask));
            (block.low[at], block.high[at]) = (needs as u32, (needs >> 32) as u32);
        }
        self.wild.push(tried);
    }

    /// How many patterns there are.
    pub fn len(&self) -> usize {
        self.plain.len() + self.wild.len() + self.repeated.len()
    }

    /// Every pattern that can decide.
    pub fn tried(&self) -> impl Iterator<Item = &Tried> + '_ {
        self.plain.iter().chain(&self.wild)
    }

    /// Every pattern that can decide, with its rank.
    pub fn deciding(&self) -> impl Iterator<Item = (Rank, Pattern)> + '_ {
        self.tried().map(|tried| (tried.rank, tried.pattern))
    }

    /// Every pattern with its rank.
    pub fn patterns(&self) -> impl Iterator<Item = (Rank, Pattern)> + '_ {
        self.deciding().chain(self.repeated.iter().map(|(tried, _)| (tried.rank, tried.pattern)))
    }

    /// The ranks of all patterns that match, in no order.
    pub fn matching(&self, arena: &Arena, path: Path<'_>) -> Vec<Rank> {
        let matches = |tried: &Tried| arena.matches(&tried.pattern, path);
        let wild: Vec<bool> = self.wild.iter().map(matches).collect();
        let plain = self.plain.iter().filter(|tried| matches(tried));
        let found = self.wild.iter().zip(&wild).filter(|(_, matches)| **matches);
        let same = |(_, number): &&(Tried, u32)| wild.get(*number as usize) == Some(&true);
        let repeated = self.repeated.iter().filter(same).map(|(tried, _)| tried);
        plain.chain(found.map(|(tried, _)| tried)).chain(repeated).map(|t| t.rank).collect()
    }

    /// Sets wildcard patterns aside that match what another does and come after it in precedence:
    /// a file may have tens of thousands of them, and none can ever decide.
    pub fn set_repetitions_aside(&mut self, arena: &Arena) {
        if self.wild.len() < MANY {
            return;
        }
        let mut numbers: HashMap<Vec<u8>, u32> = HashMap::new();
        let mut wild = std::mem::take(&mut self.wild);
        wild.sort_unstable_by_key(|tried| std::cmp::Reverse(tried.rank));
        (self.wild_needs, self.searched) = (vec![], 0);
        for tried in wild {
            let number = self.wild.len() as u32;
            let known = *numbers.entry(language(arena, &tried.pattern)).or_insert(number);
            match known == number {
                true => self.add(arena, tried.pattern, tried.rank),
                false => self.repeated.push((tried, known)),
            }
        }
    }

    /// The greatest rank of a pattern that matches; zero where none does.
    #[inline(always)]
    pub fn winner(&self, arena: &Arena, path: Path<'_>) -> Rank {
        let mut best = 0;
        let (start, end) = (start(path.first), end(path.last));
        each(
            &self.plain_needs,
            &self.plain,
            |needs| needs.found_in(start),
            |plain| {
                if plain.rank > best && plain.begins(arena, path) {
                    best = plain.rank;
                }
            },
        );
        if self.wild.is_empty() {
            return best;
        }
        // With few to search for, a search costs less than a look at all pairs.
        let pairs = if self.searched > 2 { path_pairs(path) } else { !QUERY };
        let have = pairs | if path.has_query() { QUERY } else { 0 };
        each(
            &self.wild_needs,
            &self.wild,
            |needs| needs.met_by(start, end, have),
            |wild| {
                if wild.rank > best
                    && wild.begins(arena, path)
                    && arena.matches_behind_first(&wild.pattern, path)
                {
                    best = wild.rank;
                }
            },
        );
        best
    }
}

/// Gives `take` the patterns that `may_match` picks. Sixteen blocks of four are asked first.
#[inline(always)]
fn each<T>(
    blocks: &[T],
    list: &[Tried],
    may_match: impl Fn(&T) -> u32x4,
    mut take: impl FnMut(&Tried),
) {
    for (number, sixteen) in blocks.chunks(16).enumerate() {
        let (mut picked, mut shift) = (0_u64, 0);
        for block in sixteen {
            picked |= u64::from(may_match(block).to_bitmask()) << shift;
            shift += 4;
        }
        while picked != 0 {
            if let Some(tried) = list.get(64 * number + picked.trailing_zeros() as usize) {
                take(tried);
            }
            picked &= picked - 1;
        }
    }
}

impl Tried {
    /// Whether a path begins as the pattern does.
    #[inline(always)]
    pub fn begins(&self, arena: &Arena, path: Path<'_>) -> bool {
        let length = self.pattern.first.length as usize;
        if length <= 8 {
            // A short path is filled up with zeros, and a pattern may end with one.
            let rest = (path.first ^ self.first) << (8 * (8 - length as u32)).min(63);
            return length == 0 || rest == 0 && path.text.len() - path.start >= length;
        }
        let ending = path.octets().get(..length).and_then(|octets| octets.last_chunk());
        path.first == self.first
            && ending.is_some_and(|ending| u64::from_le_bytes(*ending) == self.last)
            && (length <= 16 || path.octets().starts_with(self.pattern.first.of(&arena.octets)))
    }
}

/// What a pattern matches: equal for patterns that match the same, but for some that are written in
/// ways nobody would.
fn language(arena: &Arena, pattern: &Pattern) -> Vec<u8> {
    let mut language = vec![u8::from(pattern.anchored)];
    let spans = arena.pieces_of(pattern).iter().flat_map(|piece| [piece.in_path, piece.in_query]);
    for span in std::iter::once(pattern.first).chain(spans) {
        language.extend(span.length.to_le_bytes());
        language.extend(span.of(&arena.octets));
    }
    language
}

/// What a path needs to match a pattern: its last octets under a mask, a query.
pub fn required(arena: &Arena, pattern: &Pattern) -> ((u64, u64), bool) {
    let pieces = arena.pieces_of(pattern);
    let last = pieces.last().map_or((pattern.first, pattern.first), |l| (l.in_path, l.in_query));
    let end = match pattern.anchored && last.0 == last.1 {
        true => end_of(last.0.of(&arena.octets)),
        false => (0, 0),
    };
    // A `?` behind a wildcard is the delimiter, or data in a query: there is a query either way.
    let mut spelled = pieces.iter().take(8).map(|piece| piece.in_path.of(&arena.octets));
    (end, spelled.any(|octets| octets.contains(&b'?')))
}

/// The pairs of octets that a path needs, where its end does not say enough.
fn needed_pairs(arena: &Arena, pattern: &Pattern) -> u64 {
    let runs = arena.pieces_of(pattern).iter().take(8);
    runs.fold(0, |all, piece| all | pairs(piece.run.of(&arena.octets)))
}

/// The pairs of neighbouring octets, each hashed to one of 63 bits: its second octet, stirred by
/// the lowest bits of its first.
#[inline]
fn pairs(octets: &[u8]) -> u64 {
    let Some((&first, rest)) = octets.split_first() else { return 0 };
    let (mut all, mut before) = (0, first);
    for &octet in rest {
        all |= 1 << ((octet ^ before << 3) & 63);
        before = octet;
    }
    all & !QUERY
}

/// The pairs of a path, and perhaps some it does not have: eight at a time.
#[inline]
fn path_pairs(path: Path<'_>) -> u64 {
    let octets = path.octets();
    let mut all = word_pairs(path.first, path.first >> 8);
    let mut at = 7;
    // The last word holds pairs of the one before it too, which does no harm.
    while at + 1 < octets.len() {
        let before = first_word(&octets[at.min(octets.len() - 9)..]);
        let after = first_word(&octets[at.min(octets.len() - 9) + 1..]);
        all |= word_pairs(before, after);
        at += 8;
    }
    all & !QUERY
}

/// The pairs that eight octets and those after them make.
#[inline(always)]
fn word_pairs(before: u64, after: u64) -> u64 {
    const LOW: u64 = 0x0707_0707_0707_0707;
    let hashes = (after ^ (before & LOW) << 3).to_le_bytes();
    hashes.iter().fold(0, |all, hash| all | 1 << (hash & 63))
}

/// The first eight octets, and the mask of those there are. A pattern never holds a zero.
fn start_of(octets: &[u8]) -> (u64, u64) {
    let missing = 8_u32.saturating_sub(octets.len() as u32);
    (first_word(octets), u64::MAX.checked_shr(8 * missing).unwrap_or(0))
}

/// The last eight octets, and the mask of those there are.
fn end_of(octets: &[u8]) -> (u64, u64) {
    let missing = 8_u32.saturating_sub(octets.len() as u32);
    (last_word(octets), u64::MAX.checked_shl(8 * missing).unwrap_or(0))
}
