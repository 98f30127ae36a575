//! Many patterns, one path: which match, and which has most octets (RFC 9309 §2.2.2).
//!
//! Allow and disallow are its special case: at equal octets allow stands first. It does not know
//! groups or records; a rule is the number of its pattern in the order given.
//!
//! A small set is scanned ([`Scan`]), four patterns in one comparison; a large one builds an
//! [`Index`] once it is worth it. A crawler that asks once or twice pays for neither. A long batch
//! of URLs is one text ([`batch`]), and makes a [`prefilter`] of the patterns for itself.

use crate::batch;
use crate::index::Index;
use crate::normalize::Compared;
use crate::notes::Code;
use crate::pattern::{Arena, Pattern};
use crate::prefilter;
use crate::records::{faults, Listener, Record};
use crate::scan::Scan;
use crate::settings::Settings;
use crate::url_path::{self, Path};
use memchr::memchr_iter;
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

/// The precedence of a pattern, and all there is to say of its rule: of two that match, the one
/// with the greater rank decides. Most octets, then allow before disallow, then the order of the
/// file; zero is no pattern.
pub type Rank = u64;

/// The rank of a pattern of so many octets.
pub fn rank(octets: u32, kind: Kind, rule: u32) -> Rank {
    let allow = Rank::from(kind == Kind::Allow);
    // The lower half is never zero: there are fewer rules than octets in a file.
    Rank::from(octets) << 33 | allow << 32 | Rank::from(!rule)
}

/// Octets and rule of a pattern of that rank.
pub fn octets_and_rule(rank: Rank) -> (u32, u32) {
    ((rank >> 33) as u32, !(rank as u32))
}

/// Whether the rule is no disallow rule; a rule without octets allows (AMB-42).
fn allows(rank: Rank) -> bool {
    rank >> 32 & 1 == 1 || rank >> 33 == 0
}

/// What a pattern of that rank decides.
pub fn decision(rank: Rank) -> Decision {
    match octets_and_rule(rank) {
        _ if rank == 0 => Decision::NoMatch,
        (0, rule) => Decision::Empty(rule),
        (_, rule) if rank >> 32 & 1 == 1 => Decision::Allow(rule),
        (_, rule) => Decision::Disallow(rule),
    }
}

/// Whether this is the path of the file that the rules are from.
pub fn is_robots_txt(path: Path<'_>) -> bool {
    path.octets() == b"/robots.txt"
}

/// Which paths there are, and which of them no rule is asked about.
#[derive(Clone, Copy, Debug)]
pub struct Paths {
    /// What paths and patterns are compared by.
    pub compared: Compared,
    /// `/robots.txt` is allowed whatever the rules say (AMB-45).
    pub robots_txt_is_apart: bool,
}

/// Compiled rules. Immutable but for an index that is built when it pays.
#[derive(Debug, Default)]
pub struct RuleSet {
    scan: Scan,
    arena: Arena,
    compared: Compared,
    match_robots_txt: bool,
    checks: AtomicU32,
    index: OnceLock<Box<Index>>,
}

/// A set of at most this many patterns is scanned. Measured: from here on an index costs less.
const SCANNED: usize = 64;
/// A batch makes shortlists of at most this many, and has an index built for more.
const LISTED: usize = 256;
/// After this many checks an index has paid for itself: building one costs some 60 scans.
const PATIENCE: u32 = 64;

impl RuleSet {
    /// Compiles patterns as written in a file. A pattern that cannot match keeps its number.
    pub fn new<'a>(
        patterns: impl Iterator<Item = (&'a [u8], Kind)>,
        settings: &Settings,
    ) -> RuleSet {
        let mut rules = RuleSet {
            scan: Scan::default(),
            arena: Arena::default(),
            compared: Compared::by(settings),
            match_robots_txt: settings.switches.match_robots_txt,
            checks: AtomicU32::new(0),
            index: OnceLock::new(),
        };
        let (least, _) = patterns.size_hint();
        rules.scan.reserve(least);
        rules.arena.octets.reserve(least * 16);
        for (rule, (value, kind)) in patterns.enumerate() {
            match value.first() {
                Some(b'/') if url_path::is_plain(value) && !settings.switches.index_page => {
                    let pattern = rules.arena.add_plain(value);
                    rules.place(pattern, kind, rule);
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
        rules.scan.set_repetitions_aside(&rules.arena);
        rules
    }

    fn add(&mut self, value: &[u8], kind: Kind, rule: usize, settings: &Settings) {
        let pattern = self.arena.add(value, settings);
        self.place(pattern, kind, rule);
    }

    fn place(&mut self, pattern: Pattern, kind: Kind, rule: usize) {
        self.scan.add(&self.arena, pattern, rank(pattern.octets, kind, rule as u32));
    }

    /// What decides about `url`. `scratch` is room for its path; keep it between calls.
    #[inline]
    pub fn decide(&self, url: &[u8], scratch: &mut Vec<u8>) -> Decision {
        let path = url_path::path(url, self.compared, scratch);
        if self.is_implicit(path) {
            return Decision::Implicit;
        }
        decision(self.winner(path))
    }

    /// Whether the path is `/robots.txt`, which is allowed whatever the rules say (AMB-45).
    #[inline]
    fn is_implicit(&self, path: Path<'_>) -> bool {
        !self.match_robots_txt && is_robots_txt(path)
    }

    /// Whether `url` is allowed.
    #[inline]
    pub fn allows(&self, url: &[u8], scratch: &mut Vec<u8>) -> bool {
        if self.is_empty() {
            return true;
        }
        let path = url_path::path(url, self.compared, scratch);
        // No pattern, an allow rule, an empty one; and what no rule is asked about.
        allows(self.winner(path)) || self.is_implicit(path)
    }

    /// The same for many URLs, one a line: there is one line more than there are newlines.
    pub fn allows_lines(&self, lines: &[u8], answers: &mut Vec<bool>) {
        if self.is_empty() {
            let count = memchr_iter(b'\n', lines).count() + 1;
            answers.extend(std::iter::repeat_n(true, count));
            return;
        }
        self.each_rank(lines, |rank, path| answers.push(allows(rank) || self.is_implicit(path)));
    }

    /// What decides about many URLs, one a line.
    pub fn decide_lines(&self, lines: &[u8], answers: &mut Vec<Decision>) {
        self.each_rank(lines, |rank, path| {
            answers.push(match self.is_implicit(path) {
                true => Decision::Implicit,
                false => decision(rank),
            });
        });
    }

    /// Gives `take` the rank of what decides about each line, and its path.
    #[inline(always)]
    fn each_rank(&self, lines: &[u8], mut take: impl FnMut(Rank, Path<'_>)) {
        let compared = self.compared;
        let lists = match self.len() <= LISTED {
            true => prefilter::lists(&self.arena, &self.scan),
            false => vec![],
        };
        match lists.as_slice() {
            [] => {
                self.expect(usize::MAX);
                batch::each_path(lines, compared, |path| take(self.indexed(path), path));
            }
            [list] => {
                batch::each_path(lines, compared, |path| take(list.winner(&self.arena, path), path))
            }
            lists => batch::each_path(lines, compared, |path| {
                take(prefilter::winner(lists, &self.arena, path), path);
            }),
        }
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
        let path = url_path::path(url, self.compared, &mut scratch);
        let mut found = self.scan.matching(&self.arena, path);
        found.sort_unstable_by_key(|&rank| std::cmp::Reverse(rank));
        let found = found.into_iter().map(octets_and_rule).map(|(octets, rule)| (rule, octets));
        (self.compared.shown(path.octets()), found.collect())
    }

    /// The patterns by rank, the one that decides first of all first, where their octets stand, and
    /// which paths they are asked about.
    pub fn into_patterns(self) -> (Arena, Vec<(Rank, Pattern)>, Paths) {
        let mut ranked: Vec<_> = self.scan.patterns().collect();
        ranked.sort_unstable_by_key(|&(rank, _)| std::cmp::Reverse(rank));
        let (compared, robots_txt_is_apart) = (self.compared, !self.match_robots_txt);
        (self.arena, ranked, Paths { compared, robots_txt_is_apart })
    }

    /// The number of patterns that can match.
    pub fn len(&self) -> usize {
        self.scan.len()
    }

    /// Whether no pattern can match.
    pub fn is_empty(&self) -> bool {
        self.scan.len() == 0
    }

    /// Says that `urls` more checks will come, so that an index may be built before them.
    pub fn expect(&self, urls: usize) {
        if self.scan.len() > SCANNED && urls as u64 >= u64::from(PATIENCE) {
            self.index.get_or_init(|| Box::new(Index::new(&self.arena, self.scan.deciding())));
        }
    }

    #[inline(always)]
    fn winner(&self, path: Path<'_>) -> Rank {
        match self.scan.len() <= SCANNED {
            true => self.scan.winner(&self.arena, path),
            false => self.indexed(path),
        }
    }

    #[inline(never)]
    fn indexed(&self, path: Path<'_>) -> Rank {
        if let Some(index) = self.index.get() {
            return index.winner(&self.arena, path);
        }
        if self.checks.fetch_add(1, Ordering::Relaxed) >= PATIENCE {
            self.expect(PATIENCE as usize);
        }
        self.scan.winner(&self.arena, path)
    }
}

/// `Allow: /d/index.html` means `/d/` too (AMB-47): the directory, tied to the end of the path.
pub fn index_page(value: &[u8], kind: Kind, settings: &Settings) -> Option<Vec<u8>> {
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
