//! An index over a large rule set: a prefix trie for literals, an n-gram index for wildcard patterns.
//!
//! Patterns without a wildcard are in a `PrefixTrie`: one descent per path, for any number of
//! rules. Every other pattern has an entry in a hash table by one n-gram, up to four octets that each
//! of its matches contains: the n-grams of a path select the few candidates to match. The rarest
//! n-gram of a pattern within the rule set is chosen, so that a piece that all patterns share does
//! not select them all.
//!
//! Building costs about 60 scans of the rule set. A lookup is linear in the path plus the candidates.
//! This module does not decide: it returns the greatest rank of the patterns that match.

use crate::bigrams;
use crate::pattern::{Arena, Pattern};
use crate::prefix_trie::{PrefixTrie, TrieBuilder};
use crate::ruleset::Rank;
use crate::simd::first_word;
use crate::url_path::Path;
use std::collections::HashMap;

/// Matching up to this many patterns costs less than looking up n-grams.
const FEW_PATTERNS: usize = 4;

/// The index of a rule set.
#[derive(Debug)]
pub struct Index {
    trie: PrefixTrie,
    ngrams: NGramIndex,
    // Wildcard patterns, greatest rank first; the other lists hold positions in this one.
    wild: Vec<(Rank, Pattern)>,
    // Those without an n-gram, such as `/*`: always matched, greatest rank first.
    always: Vec<u32>,
}

impl Index {
    /// Builds the index of ranked patterns.
    pub fn new(arena: &Arena, ranked: impl Iterator<Item = (Rank, Pattern)>) -> Index {
        let mut trie = TrieBuilder::default();
        let mut wild = vec![];
        for (rank, pattern) in ranked {
            match arena.literal(&pattern) {
                Some(anchored) => trie.insert(arena, pattern.prefix, rank, anchored),
                None => wild.push((rank, pattern)),
            }
        }
        let trie = trie.build(arena);
        wild.sort_unstable_by_key(|&(rank, _)| std::cmp::Reverse(rank));
        let (ngrams, always) = NGramIndex::new(arena, &wild);
        Index { trie, ngrams, wild, always }
    }

    /// The greatest rank of a pattern that matches `path`; zero if none matches.
    #[inline]
    pub fn winner(&self, arena: &Arena, path: Path<'_>) -> Rank {
        let mut best = self.trie.winner(arena, path.octets());
        let mut try_each = |numbers: &[u32]| {
            for (rank, pattern) in numbers.iter().filter_map(|&at| self.wild.get(at as usize)) {
                if *rank <= best {
                    return;
                }
                if arena.matches(pattern, path) {
                    best = *rank;
                    return;
                }
            }
        };
        try_each(&self.always);
        if !self.ngrams.numbers.is_empty() {
            self.ngrams.visit(path.octets(), &mut try_each);
        }
        best
    }
}

/// An n-gram: up to four octets, the first lowest, and above them their number.
type NGram = u64;

/// The n-gram of the lowest `length` octets.
#[inline(always)]
fn ngram(octets: u64, length: u32) -> NGram {
    NGram::from(length) << 32 | octets & !(u64::MAX << (8 * length))
}

fn length(ngram: NGram) -> u32 {
    (ngram >> 32) as u32
}

#[inline(always)]
fn hash(ngram: NGram) -> u64 {
    ngram.wrapping_mul(0x9E37_79B9_7F4A_7C15)
}

/// A hash table from n-grams to patterns.
#[derive(Debug)]
struct NGramIndex {
    // Open addressing: n-gram, start and end in `numbers`. The size is a power of two and at least
    // twice the number of n-grams.
    slots: Vec<(NGram, u32, u32)>,
    numbers: Vec<u32>,
    // The lengths of the n-grams that start with a bigram, one bit per length. Most bigrams of a
    // path start no n-gram and cost only this lookup.
    starts: Box<[u8; BIGRAM_SLOTS]>,
}

const BIGRAM_SLOTS: usize = 1 << 12;

/// The slot of the bigram that an n-gram starts with; zero is the second octet of a unigram.
fn start(ngram: NGram) -> usize {
    let [first, second, ..] = ngram.to_le_bytes();
    bigrams::slot::<BIGRAM_SLOTS>(first, second)
}

impl NGramIndex {
    /// `wild` is in order of precedence, and so are the lists built from it.
    fn new(arena: &Arena, wild: &[(Rank, Pattern)]) -> (NGramIndex, Vec<u32>) {
        let mut ngram_counts: HashMap<NGram, u32> = HashMap::new();
        for (_, pattern) in wild {
            each_ngram(arena, pattern, |ngram| *ngram_counts.entry(ngram).or_default() += 1);
        }
        let bigram_counts = bigrams::count::<BIGRAM_SLOTS>(&arena.octets);
        let mut always = vec![];
        let mut found: Vec<(NGram, u32)> = vec![];
        for (number, (_, pattern)) in wild.iter().enumerate() {
            let number = number as u32;
            let mut rarest: Option<(u32, u32, NGram)> = None;
            each_ngram(arena, pattern, |ngram| {
                let shared = ngram_counts.get(&ngram).copied().unwrap_or(0);
                let candidate = (shared, bigram_counts[start(ngram)], ngram);
                rarest = Some(rarest.map_or(candidate, |known| known.min(candidate)));
            });
            match rarest {
                Some((_, _, ngram)) if wild.len() > FEW_PATTERNS => found.push((ngram, number)),
                _ => always.push(number),
            }
        }
        found.sort_by_key(|&(ngram, _)| ngram); // stable
        let size = (found.len() * 2).next_power_of_two().max(64);
        let mut ngrams = NGramIndex {
            slots: vec![(0, 0, 0); size],
            numbers: vec![],
            starts: Box::new([0; BIGRAM_SLOTS]),
        };
        for list in found.chunk_by(|a, b| a.0 == b.0) {
            let start = ngrams.numbers.len() as u32;
            ngrams.numbers.extend(list.iter().map(|&(_, number)| number));
            if let Some(&(ngram, _)) = list.first() {
                let slot = ngrams.slot(ngram);
                ngrams.slots[slot] = (ngram, start, ngrams.numbers.len() as u32);
                ngrams.mark_starts(ngram);
            }
        }
        (ngrams, always)
    }

    /// The slot of `ngram`, or the free slot for it.
    #[inline]
    fn slot(&self, ngram: NGram) -> usize {
        let mask = self.slots.len() - 1;
        let mut at = (hash(ngram) >> 40) as usize & mask;
        while self.slots[at].0 != ngram && self.slots[at].0 != 0 {
            at = (at + 1) & mask;
        }
        at
    }

    /// Marks the bigrams that an n-gram may start with.
    fn mark_starts(&mut self, ngram: NGram) {
        let length = length(ngram);
        // A unigram starts a bigram with any second octet.
        for second in 0..if length == 1 { 256 } else { 1 } {
            self.starts[start(ngram) ^ second] |= 1 << length;
        }
    }

    /// Calls `try_each` with the patterns of every n-gram of `path`, once per n-gram.
    fn visit(&self, path: &[u8], try_each: &mut impl FnMut(&[u32])) {
        // N-grams repeat in hostile paths: keep the hits, the first sixteen on the stack.
        let mut hits = [(0, 0); 16];
        let mut count = 0;
        let mut more: Vec<(u32, u32)> = vec![];
        let mut look = |octets: &[u8], mut lengths: u8| {
            let first = first_word(octets);
            while lengths != 0 {
                let length = lengths.trailing_zeros();
                lengths &= lengths - 1;
                if length as usize > octets.len() {
                    return;
                }
                let (found, start, end) = self.slots[self.slot(ngram(first, length))];
                if found == 0 || hits[..count].contains(&(start, end)) {
                    continue;
                }
                match hits.get_mut(count) {
                    Some(hit) => {
                        *hit = (start, end);
                        count += 1;
                    }
                    None => more.push((start, end)),
                }
            }
        };
        for (at, slot) in bigrams::slots::<BIGRAM_SLOTS>(path).enumerate() {
            let lengths = self.starts[slot];
            if lengths != 0 {
                look(&path[at..], lengths);
            }
        }
        if let Some(last) = path.last_chunk::<1>() {
            look(last, self.starts[bigrams::slot::<BIGRAM_SLOTS>(last[0], 0)]);
        }
        more.sort_unstable();
        more.dedup();
        for &(start, end) in hits[..count].iter().chain(&more) {
            try_each(&self.numbers[start as usize..end as usize]);
        }
    }
}

/// The n-grams that every match of a pattern contains: of its prefix and the runs of its pieces.
fn each_ngram(arena: &Arena, pattern: &Pattern, mut take: impl FnMut(NGram)) {
    let pieces = arena.pieces_of(pattern);
    let runs = pieces.iter().take(64).map(|piece| piece.run);
    for run in std::iter::once(pattern.prefix).chain(runs) {
        let octets = run.of(&arena.octets);
        // Every path starts with "/", so that it does not select anything.
        if octets.is_empty() || octets == b"/" {
            continue;
        }
        let windows = octets.windows(octets.len().min(4));
        windows.for_each(|octets| take(ngram(first_word(octets), octets.len() as u32)));
    }
}
