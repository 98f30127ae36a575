//! Many patterns, one path: which match, and which has most octets (RFC 9309 §2.2.2).
//!
//! Allow and disallow are its special case: at equal octets allow stands first. It does not know
//! groups or records; a rule is the number of its pattern in the order given.
//!
//! Patterns are kept in the order of precedence, so the first that matches decides. A small set is
//! scanned, eight octets a comparison; a large one builds an [`Index`] once it is worth it.

use crate::index::Index;
use crate::notes::Code;
use crate::octets;
use crate::pattern::{Arena, Pattern};
use crate::records::{faults, Listener, Record};
use crate::settings::Settings;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, OnceLock};

/// What a rule says.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kind {
    /// Wins at equal octets (AMB-40).
    Allow,
    /// Loses at equal octets.
    Disallow,
}

/// What decided.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Decision {
    /// The rule of this number.
    Rule(u32),
    /// No rule matches: allowed.
    NoMatch,
    /// The path is `/robots.txt`: allowed (AMB-45).
    Implicit,
}

/// A pattern in its place.
#[derive(Clone, Copy, Debug)]
pub struct Entry {
    /// The number of the rule.
    pub rule: u32,
    /// Whether it allows; an empty rule always does.
    pub allows: bool,
    kind: Kind,
    /// The pattern.
    pub pattern: Pattern,
    // Octet pairs the path must have: a hash of 64 bits, all zero where nothing is known.
    pairs: u64,
}

/// Compiled rules. Immutable but for an index that is built when it pays.
#[derive(Debug)]
pub struct RuleSet {
    settings: Arc<Settings>,
    arena: Arena,
    entries: Vec<Entry>,
    // For each entry the first eight octets of a path under a mask.
    heads: Vec<(u64, u64)>,
    checks: AtomicU32,
    index: OnceLock<Index>,
}

/// A set of at most this many patterns is scanned. Measured: at 48 a scan costs what an index does.
const SCANNED: usize = 48;
/// After this many checks an index has paid for itself: building one costs some 60 scans.
const PATIENCE: u32 = 64;

impl RuleSet {
    /// Compiles patterns as written in a file. A pattern that cannot match keeps its number.
    pub fn new<'a>(
        patterns: impl Iterator<Item = (&'a [u8], Kind)>,
        settings: Arc<Settings>,
    ) -> RuleSet {
        let mut arena = Arena::default();
        let mut entries = Vec::with_capacity(patterns.size_hint().0);
        for (rule, (value, kind)) in patterns.enumerate() {
            let rule = rule as u32;
            let mut add = |value: &[u8], kind| {
                let pattern = arena.add(value, &settings);
                let allows = kind == Kind::Allow || pattern.octets == 0;
                let pairs = required_pairs(&arena, &pattern);
                entries.push(Entry { rule, allows, kind, pattern, pairs });
            };
            match value.first() {
                None if settings.switches.empty_rules_match => add(value, kind),
                Some(b'/' | b'*') if faults(value).usable_pattern(&settings) => {
                    add(value, kind);
                    if let Some(directory) = index_page(value, kind, &settings) {
                        add(&directory, kind);
                    }
                }
                // Empty (AMB-42), not starting with "/" or "*" (AMB-03), or not usable (AMB-05).
                _ => {}
            }
        }
        // Most octets first, allow before disallow, then the order of the file.
        let precedence =
            |entry: &Entry| (std::cmp::Reverse(entry.pattern.octets), entry.kind, entry.rule);
        entries.sort_unstable_by_key(precedence);
        let heads = entries.iter().map(|entry| head(entry.pattern.first.of(&arena.octets))).collect();
        let (checks, index) = (AtomicU32::new(0), OnceLock::new());
        RuleSet { settings, arena, entries, heads, checks, index }
    }

    /// The path of `url` as the patterns are compared with it.
    pub fn path<'a>(&self, url: &'a [u8], scratch: &'a mut Vec<u8>) -> &'a [u8] {
        octets::path(url, &self.settings, scratch)
    }

    /// What decides about `url`. `scratch` is room for its path; keep it between calls.
    #[inline]
    pub fn decide(&self, url: &[u8], scratch: &mut Vec<u8>) -> Decision {
        match self.decide_entry(url, scratch) {
            Ok(entry) => Decision::Rule(entry.rule),
            Err(decision) => decision,
        }
    }

    /// Whether `url` is allowed.
    #[inline]
    pub fn allows(&self, url: &[u8], scratch: &mut Vec<u8>) -> bool {
        self.decide_entry(url, scratch).map_or(true, |entry| entry.allows)
    }

    #[inline]
    fn decide_entry(&self, url: &[u8], scratch: &mut Vec<u8>) -> Result<&Entry, Decision> {
        let path = octets::path(url, &self.settings, scratch);
        if path == b"/robots.txt" && !self.settings.switches.match_robots_txt {
            return Err(Decision::Implicit);
        }
        self.winner(path).and_then(|rank| self.entries.get(rank)).ok_or(Decision::NoMatch)
    }

    /// The rules that match with the most octets: those that tie, in order of precedence.
    pub fn best(&self, url: &[u8]) -> Vec<u32> {
        let mut scratch = vec![];
        let path = octets::path(url, &self.settings, &mut scratch);
        let Some(rank) = self.winner(path) else { return vec![] };
        let most = self.entries[rank].pattern.octets;
        let tied = self.entries[rank..].iter().take_while(|entry| entry.pattern.octets == most);
        let tied = tied.filter(|entry| self.arena.matches(&entry.pattern, path));
        tied.map(|entry| entry.rule).collect()
    }

    /// The path of `url`, and every match in order of precedence: rule and octets.
    pub fn matches(&self, url: &[u8]) -> (Vec<u8>, Vec<(u32, u32)>) {
        let mut scratch = vec![];
        let path = octets::path(url, &self.settings, &mut scratch).to_vec();
        let matching = self.entries.iter().filter(|entry| self.arena.matches(&entry.pattern, &path));
        let found = matching.map(|entry| (entry.rule, entry.pattern.octets)).collect();
        (path, found)
    }

    /// The number of patterns that can match.
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Whether no pattern can match.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// Says that `urls` more checks will come, so that an index may be built before them.
    pub fn expect(&self, urls: usize) {
        if self.entries.len() > SCANNED && urls as u64 >= u64::from(PATIENCE) {
            self.index.get_or_init(|| Index::new(&self.arena, &self.entries));
        }
    }

    #[inline]
    fn winner(&self, path: &[u8]) -> Option<usize> {
        if self.entries.len() <= SCANNED {
            return self.scan(path);
        }
        if let Some(index) = self.index.get() {
            return index.winner(&self.arena, &self.entries, path);
        }
        if self.checks.fetch_add(1, Ordering::Relaxed) >= PATIENCE {
            self.expect(PATIENCE as usize);
        }
        self.scan(path)
    }

    fn scan(&self, path: &[u8]) -> Option<usize> {
        let (start, _) = head(path);
        let mut pairs = None;
        self.heads.iter().zip(&self.entries).position(|(&(octets, mask), entry)| {
            if start & mask != octets {
                return false;
            }
            if entry.pairs != 0 {
                let have = *pairs.get_or_insert_with(|| pairs_of(path));
                if entry.pairs & !have != 0 {
                    return false;
                }
            }
            self.arena.matches(&entry.pattern, path)
        })
    }
}

/// The first eight octets, and the mask of those there are. A normal form never holds a zero.
#[inline]
fn head(octets: &[u8]) -> (u64, u64) {
    if let Some(first) = octets.first_chunk::<8>() {
        return (u64::from_le_bytes(*first), u64::MAX);
    }
    let mut bytes = [0; 8];
    for (to, from) in bytes.iter_mut().zip(octets) {
        *to = *from;
    }
    (u64::from_le_bytes(bytes), (1 << (8 * octets.len())) - 1)
}

#[inline]
fn pair(first: u8, second: u8) -> u64 {
    let both = u32::from(first) << 8 | u32::from(second);
    1 << (both.wrapping_mul(0x9E37_79B1) >> 26)
}

#[inline]
fn pairs_of(octets: &[u8]) -> u64 {
    octets.windows(2).fold(0, |all, two| all | pair(two[0], two[1]))
}

/// Octet pairs every path has that a wildcard pattern matches. A path that lacks one is ruled out
/// without a search.
fn required_pairs(arena: &Arena, pattern: &Pattern) -> u64 {
    let from = pattern.pieces_start as usize;
    let pieces = &arena.pieces[from..from + pattern.pieces as usize];
    // A long pattern needs nearly all pairs; a few pieces say enough.
    pieces.iter().take(8).fold(0, |all, piece| all | pairs_of(piece.run.of(&arena.octets)))
}

/// `Allow: /d/index.html` means `/d/` too (AMB-47): the directory, tied to the end of the path.
fn index_page(value: &[u8], kind: Kind, settings: &Settings) -> Option<Vec<u8>> {
    if !settings.switches.index_page || kind != Kind::Allow {
        return None;
    }
    let slash = value.iter().rposition(|&octet| octet == b'/')?;
    let directory = value[slash..].starts_with(b"/index.htm").then(|| &value[..=slash])?;
    Some([directory, b"$"].concat())
}

/// Tells a listener what is odd about the pattern of a rule.
pub fn notes(record: &Record, body: &[u8], settings: &Settings, listener: &mut impl Listener) {
    let value = record.value(body);
    let found = faults(value);
    let (start, end) = (record.value_start as usize, record.value_end as usize);
    let mut note = |code| listener.note(code, record.line, start, end);
    if found.control && !settings.switches.keep_controls {
        return note(Code::ControlCharacter);
    }
    if found.not_utf8 {
        note(Code::InvalidUtf8);
    }
    if found.space {
        note(Code::SpaceInPattern);
    }
    if !matches!(value.first(), None | Some(b'/' | b'*')) {
        note(Code::PatternStart);
    }
}
