//! Many patterns, one path: which match, and which has most octets (RFC 9309 §2.2.2).
//!
//! Allow and disallow are its special case: at equal octets allow stands first. It does not know
//! groups or records; a rule is the number of its pattern in the order given.
//!
//! A small set is scanned, eight octets of each pattern in one comparison; a large one builds an
//! [`Index`] once it is worth it. A crawler that asks once or twice pays for neither.

use crate::index::Index;
use crate::notes::Code;
use crate::octets::{self, Path};
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
    filter: Filter,
}

/// What rules a pattern with wildcards out before anything is searched for.
#[derive(Clone, Copy, Debug, Default)]
struct Filter {
    // The last octets of a path under a mask, where the pattern is tied to its end.
    tail: u64,
    tail_mask: u64,
    needs_query: bool,
    // Pairs of octets that the path must have, hashed to bits; none where the tail says enough.
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
    // How many patterns have to be searched for.
    wild: u32,
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
            wild: 0,
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
                    rules.entries.push(Entry {
                        rule: rule as u32,
                        kind,
                        pattern,
                        filter: Filter::default(),
                    });
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
        let filter = Filter::of(&self.arena, &pattern);
        self.wild += u32::from(filter.pairs != 0);
        self.heads.push(head(pattern.first.of(&self.arena.octets)));
        self.entries.push(Entry { rule: rule as u32, kind, pattern, filter });
    }

    /// What decides about `url`. `scratch` is room for its path; keep it between calls.
    #[inline]
    pub fn decide(&self, url: &[u8], scratch: &mut Vec<u8>) -> Decision {
        let path = octets::path(url, self.url_as_given, scratch);
        if path.octets == b"/robots.txt" && !self.match_robots_txt {
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
        self.entries.is_empty() || !matches!(self.decide(url, scratch), Decision::Disallow(_))
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
        let path = octets::path(url, self.url_as_given, &mut scratch).octets;
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
    fn winner(&self, path: Path<'_>) -> Rank {
        if self.entries.len() <= SCANNED {
            return self.scan(path);
        }
        if let Some(index) = self.index.get() {
            return index.winner(path.octets, &self.arena, |rank| {
                let entry = self.entries.get(position(rank));
                entry.is_some_and(|entry| self.arena.matches(&entry.pattern, path.octets))
            });
        }
        if self.checks.fetch_add(1, Ordering::Relaxed) >= PATIENCE {
            self.expect(PATIENCE as usize);
        }
        self.scan(path)
    }

    fn scan(&self, path: Path<'_>) -> Rank {
        let (start, _) = head(path.octets);
        let mut best = 0;
        // With few wildcards a search costs less than a look at all pairs.
        let mut have = (self.wild <= 2).then_some(u64::MAX);
        for (at, &(octets, mask)) in self.heads.iter().enumerate() {
            if start & mask != octets {
                continue;
            }
            let Some(entry) = self.entries.get(at) else { continue };
            let rank = entry.rank(at);
            if rank > best
                && (entry.pattern.pieces == 0 || entry.filter.lets_pass(path, &mut have))
                && self.arena.matches_behind_head(&entry.pattern, path.octets)
            {
                best = rank;
            }
        }
        best
    }
}

impl Filter {
    fn of(arena: &Arena, pattern: &Pattern) -> Filter {
        let from = pattern.pieces_start as usize;
        let pieces = &arena.pieces[from..from + pattern.pieces as usize];
        let Some(last) = pieces.last() else { return Filter::default() };
        // A `?` behind a wildcard is the delimiter, or data in a query: there is a query either way.
        let spelled = pieces.iter().map(|piece| piece.in_path.of(&arena.octets));
        let needs_query = spelled.take(8).any(|octets| octets.contains(&b'?'));
        let (tail, tail_mask) = match pattern.anchored && last.in_path == last.in_query {
            true => tail(last.in_path.of(&arena.octets)),
            false => (0, 0),
        };
        let runs = pieces.iter().take(8).map(|piece| pairs(piece.run.of(&arena.octets)));
        let pairs = if tail_mask == 0 { runs.fold(0, |all, pairs| all | pairs) } else { 0 };
        Filter { tail, tail_mask, needs_query, pairs }
    }

    #[inline]
    fn lets_pass(&self, path: Path<'_>, have: &mut Option<u64>) -> bool {
        if self.needs_query && !path.has_query {
            return false;
        }
        if self.tail_mask != 0 && tail(path.octets).0 & self.tail_mask != self.tail {
            return false;
        }
        // Looked at once a path, and only where several patterns are worth it.
        self.pairs == 0 || self.pairs & !*have.get_or_insert_with(|| pairs(path.octets)) == 0
    }
}

/// The pairs of neighbouring octets, each hashed to one of 64 bits: its second octet, stirred by
/// the lowest bits of its first.
#[inline]
fn pairs(octets: &[u8]) -> u64 {
    let Some((&first, rest)) = octets.split_first() else { return 0 };
    let (mut all, mut before) = (0, first);
    for &octet in rest {
        all |= 1 << ((octet ^ before << 3) & 63);
        before = octet;
    }
    all
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

/// The last eight octets, and the mask of those there are.
#[inline]
fn tail(octets: &[u8]) -> (u64, u64) {
    if let Some(last) = octets.last_chunk::<8>() {
        return (u64::from_le_bytes(*last), u64::MAX);
    }
    let (all, mask) = head(octets);
    let free = 64 - 8 * octets.len() as u32;
    (all.checked_shl(free).unwrap_or(0), mask.checked_shl(free).unwrap_or(0))
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
