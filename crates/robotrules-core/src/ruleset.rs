//! Many patterns, one path: which match, and which has most octets (RFC 9309 §2.2.2).
//!
//! Allow and disallow are its special case: at equal octets allow stands first. It does not know
//! groups or records; a rule is the number of its pattern in the order given.
//!
//! A small set is scanned, eight octets of each pattern in one comparison; a large one builds an
//! [`Index`] once it is worth it. A crawler that asks once or twice pays for neither.

use crate::index::Index;
use crate::notes::Code;
use crate::octets;
use crate::pattern::{Arena, Pattern};
use crate::records::{faults, Listener, Record};
use crate::settings::Settings;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::OnceLock;

/// What a rule says.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kind {
    /// Wins at equal octets (AMB-40).
    Allow,
    /// Loses at equal octets.
    Disallow,
}

/// What decided. Only [`Decision::Disallow`] disallows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Decision {
    /// An allow rule, by number.
    Allow(u32),
    /// A disallow rule, by number.
    Disallow(u32),
    /// An empty rule, by number, whatever it says (AMB-42).
    Empty(u32),
    /// No rule matches.
    NoMatch,
    /// The path is `/robots.txt` (AMB-45).
    Implicit,
}

/// A pattern in its place.
#[derive(Clone, Copy, Debug)]
pub struct Entry {
    /// The number of the rule.
    pub rule: u32,
    kind: Kind,
    /// The pattern.
    pub pattern: Pattern,
    // Octet pairs the path must have: a hash of 64 bits, all zero where nothing is known.
    pairs: u64,
}

/// The precedence of an entry: of two that match, the one with the greater rank decides. Most
/// octets, then allow before disallow, then the order of the file; zero is no entry.
pub type Rank = u64;

impl Entry {
    fn rank(&self, position: usize) -> Rank {
        let allow = Rank::from(self.kind == Kind::Allow);
        // The lower half is never zero: there are fewer entries than octets in a file.
        Rank::from(self.pattern.octets) << 33 | allow << 32 | Rank::from(!(position as u32))
    }
}

/// The position of the entry with this rank.
pub fn position(rank: Rank) -> usize {
    !(rank as u32) as usize
}

/// Compiled rules. Immutable but for an index that is built when it pays.
#[derive(Debug)]
pub struct RuleSet {
    // For each entry the first eight octets of a path under a mask.
    heads: Vec<(u64, u64)>,
    entries: Vec<Entry>,
    arena: Arena,
    url_as_given: bool,
    match_robots_txt: bool,
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
        settings: &Settings,
    ) -> RuleSet {
        let mut rules = RuleSet {
            heads: vec![],
            entries: vec![],
            arena: Arena::default(),
            url_as_given: settings.switches.url_as_given,
            match_robots_txt: settings.switches.match_robots_txt,
            checks: AtomicU32::new(0),
            index: OnceLock::new(),
        };
        let (least, _) = patterns.size_hint();
        rules.heads.reserve_exact(least);
        rules.entries.reserve_exact(least);
        rules.arena.octets.reserve(least * 16);
        for (rule, (value, kind)) in patterns.enumerate() {
            match value.first() {
                Some(b'/') if octets::is_plain(value) && !settings.switches.index_page => {
                    let pattern = rules.arena.add_plain(value);
                    rules.heads.push(head(value));
                    rules.entries.push(Entry { rule: rule as u32, kind, pattern, pairs: 0 });
                }
                None if settings.switches.empty_rules_match => {
                    rules.add(value, kind, rule, settings)
                }
                Some(b'/' | b'*') if faults(value).usable_pattern(settings) => {
                    rules.add(value, kind, rule, settings);
                    if let Some(directory) = index_page(value, kind, settings) {
                        rules.add(&directory, kind, rule, settings);
                    }
                }
                // Empty (AMB-42), not starting with "/" or "*" (AMB-03), or not usable (AMB-05).
                _ => {}
            }
        }
        rules
    }

    fn add(&mut self, value: &[u8], kind: Kind, rule: usize, settings: &Settings) {
        let pattern = self.arena.add(value, settings);
        let pairs = required_pairs(&self.arena, &pattern);
        self.heads.push(head(pattern.first.of(&self.arena.octets)));
        self.entries.push(Entry { rule: rule as u32, kind, pattern, pairs });
    }

    /// What decides about `url`. `scratch` is room for its path; keep it between calls.
    #[inline]
    pub fn decide(&self, url: &[u8], scratch: &mut Vec<u8>) -> Decision {
        let path = octets::path(url, self.url_as_given, scratch);
        if path == b"/robots.txt" && !self.match_robots_txt {
            return Decision::Implicit;
        }
        match self.entries.get(position(self.winner(path))) {
            Some(entry) if entry.pattern.octets == 0 => Decision::Empty(entry.rule),
            Some(entry) if entry.kind == Kind::Allow => Decision::Allow(entry.rule),
            Some(entry) => Decision::Disallow(entry.rule),
            None => Decision::NoMatch,
        }
    }

    /// Whether `url` is allowed.
    #[inline]
    pub fn allows(&self, url: &[u8], scratch: &mut Vec<u8>) -> bool {
        !matches!(self.decide(url, scratch), Decision::Disallow(_))
    }

    /// The rules that match with the most octets: those that tie, in order of precedence.
    pub fn best(&self, url: &[u8]) -> Vec<u32> {
        let (_, mut found) = self.matches(url);
        let most = found.first().map_or(0, |&(_, octets)| octets);
        found.retain(|&(_, octets)| octets == most);
        found.into_iter().map(|(rule, _)| rule).collect()
    }

    /// The path of `url`, and every match in order of precedence: rule and octets.
    pub fn matches(&self, url: &[u8]) -> (Vec<u8>, Vec<(u32, u32)>) {
        let mut scratch = vec![];
        let path = octets::path(url, self.url_as_given, &mut scratch);
        let entries = self.entries.iter().enumerate();
        let matching = entries.filter(|(_, entry)| self.arena.matches(&entry.pattern, path));
        let mut found: Vec<_> = matching.map(|(at, entry)| (entry.rank(at), entry)).collect();
        found.sort_unstable_by_key(|&(rank, _)| std::cmp::Reverse(rank));
        let found = found.iter().map(|(_, entry)| (entry.rule, entry.pattern.octets)).collect();
        (path.to_vec(), found)
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
            self.index.get_or_init(|| {
                let ranked = self.entries.iter().enumerate();
                Index::new(&self.arena, ranked.map(|(at, entry)| (entry.rank(at), entry.pattern)))
            });
        }
    }

    #[inline]
    fn winner(&self, path: &[u8]) -> Rank {
        if self.entries.len() <= SCANNED {
            return self.scan(path);
        }
        if let Some(index) = self.index.get() {
            return index.winner(path, &self.arena, |rank| {
                let entry = self.entries.get(position(rank));
                entry.is_some_and(|entry| self.arena.matches(&entry.pattern, path))
            });
        }
        if self.checks.fetch_add(1, Ordering::Relaxed) >= PATIENCE {
            self.expect(PATIENCE as usize);
        }
        self.scan(path)
    }

    fn scan(&self, path: &[u8]) -> Rank {
        let (start, _) = head(path);
        let (mut best, mut pairs) = (0, None);
        for (at, &(octets, mask)) in self.heads.iter().enumerate() {
            if start & mask != octets {
                continue;
            }
            let Some(entry) = self.entries.get(at) else { continue };
            let rank = entry.rank(at);
            if rank <= best {
                continue;
            }
            if entry.pairs != 0 {
                let have = *pairs.get_or_insert_with(|| pairs_of(path));
                if entry.pairs & !have != 0 {
                    continue;
                }
            }
            if self.arena.matches(&entry.pattern, path) {
                best = rank;
            }
        }
        best
    }
}

/// The first eight octets, and the mask of those there are. A pattern never holds a zero.
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
    if let Some(code) = found.control_code(settings) {
        note(code);
        if code == Code::ControlCharacter {
            return;
        }
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
    if record.key == settings.allow && index_page(value, Kind::Allow, settings).is_some() {
        note(Code::IndexPage);
    }
}
