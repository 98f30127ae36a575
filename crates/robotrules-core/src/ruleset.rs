//! The most specific match: many patterns, one path, specificity in octets (RFC 9309 §2.2.2).
//!
//! At equal specificity allow precedes disallow. A rule is the number of its pattern in the order
//! given; this module does not use groups or records, except for notes.
//!
//! A small set is scanned (`Scan`), four patterns per comparison. A large set builds an [`Index`]
//! after enough checks to pay for it. A long batch of URLs is one text (`batch`) and builds a
//! `prefilter` for its duration.

use crate::batch::{Batch, Lines, Row, Rows};
use crate::index::Index;
use crate::normalize::Comparison;
use crate::notes::Code;
use crate::pattern::{Arena, Pattern};
use crate::prefilter;
use crate::records::{faults, NoteSink, Record};
use crate::scan::Scan;
use crate::settings::Settings;
use crate::url_path::{self, Path};
use memchr::memchr_iter;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::OnceLock;

/// Whether a rule allows or disallows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kind {
    /// Precedes disallow at equal specificity (AMB-40).
    Allow,
    /// Follows allow at equal specificity.
    Disallow,
}

/// A decision, with the deciding rule. Only [`Decision::Disallow`] disallows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Decision {
    /// An allow rule, by number.
    Allow(u32),
    /// A disallow rule, by number.
    Disallow(u32),
    /// An empty allow or disallow rule, by number (AMB-42).
    Empty(u32),
    /// No rule matches.
    NoMatch,
    /// The path is `/robots.txt` (AMB-45).
    Implicit,
}

/// The precedence of a pattern: of all that match, the one with the greatest rank decides. From high
/// to low bits: specificity in octets, allow before disallow, order in the file. Zero: no pattern.
pub type Rank = u64;

/// The rank of a pattern with a specificity of `octets`.
pub fn rank(octets: u32, kind: Kind, rule: u32) -> Rank {
    let allow = Rank::from(kind == Kind::Allow);
    // The lower half is never zero: a file has fewer rules than octets.
    Rank::from(octets) << 33 | allow << 32 | Rank::from(!rule)
}

/// Specificity in octets and rule number of a rank.
pub fn octets_and_rule(rank: Rank) -> (u32, u32) {
    ((rank >> 33) as u32, !(rank as u32))
}

/// Whether the rank allows: no pattern, an allow rule, or an empty rule (AMB-42).
fn allows(rank: Rank) -> bool {
    rank >> 32 & 1 == 1 || rank >> 33 == 0
}

/// The decision of the rule with this rank.
pub fn decision(rank: Rank) -> Decision {
    match octets_and_rule(rank) {
        _ if rank == 0 => Decision::NoMatch,
        (0, rule) => Decision::Empty(rule),
        (_, rule) if rank >> 32 & 1 == 1 => Decision::Allow(rule),
        (_, rule) => Decision::Disallow(rule),
    }
}

/// Whether the path is `/robots.txt`.
pub fn is_robots_txt(path: Path<'_>) -> bool {
    path.octets() == b"/robots.txt"
}

/// How paths are compared, and whether `/robots.txt` is decided by rules.
#[derive(Clone, Copy, Debug)]
pub struct Paths {
    /// The form in which paths and patterns are compared.
    pub comparison: Comparison,
    /// Whether `/robots.txt` is always allowed, independent of the rules (AMB-45).
    pub robots_txt_is_implicit: bool,
}

/// Compiled rules. Immutable, except for the index, which is built when it pays off.
#[derive(Debug, Default)]
pub struct RuleSet {
    scan: Scan,
    arena: Arena,
    comparison: Comparison,
    match_robots_txt: bool,
    checks: AtomicU32,
    index: OnceLock<Box<Index>>,
}

/// Sets of at most this many patterns are scanned. Measured: above it an index costs less.
const MAX_SCANNED: usize = 64;
/// A batch builds prefilters for at most this many patterns, and an index for more.
const MAX_PREFILTERED: usize = 256;
/// After this many checks an index is built: building one costs about 60 scans.
const CHECKS_BEFORE_INDEX: u32 = 64;

impl RuleSet {
    /// Compiles patterns as written in a file. A pattern that cannot match keeps its number.
    pub fn new<'a>(
        patterns: impl Iterator<Item = (&'a [u8], Kind)>,
        settings: &Settings,
    ) -> RuleSet {
        let mut rules = RuleSet {
            scan: Scan::default(),
            arena: Arena::default(),
            comparison: Comparison::from_settings(settings),
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
                    rules.insert(pattern, kind, rule);
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
        rules.scan.deduplicate(&rules.arena);
        rules
    }

    fn add(&mut self, value: &[u8], kind: Kind, rule: usize, settings: &Settings) {
        let pattern = self.arena.add(value, settings);
        self.insert(pattern, kind, rule);
    }

    fn insert(&mut self, pattern: Pattern, kind: Kind, rule: usize) {
        self.scan.add(&self.arena, pattern, rank(pattern.octets, kind, rule as u32));
    }

    /// Decides `url`. `scratch` is a buffer for its path; reuse it between calls.
    #[inline]
    pub fn decide(&self, url: &[u8], scratch: &mut Vec<u8>) -> Decision {
        let path = url_path::path(url, self.comparison, scratch);
        if self.is_implicit(path) {
            return Decision::Implicit;
        }
        decision(self.winner(path))
    }

    /// Whether the path is `/robots.txt` and always allowed (AMB-45).
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
        let path = url_path::path(url, self.comparison, scratch);
        // No pattern, an allow rule, an empty rule; or `/robots.txt`.
        allows(self.winner(path)) || self.is_implicit(path)
    }

    /// Whether each of many URLs is allowed, one URL per line: one line more than newlines.
    pub fn allows_lines(&self, lines: &[u8], answers: &mut Vec<bool>) {
        if self.is_empty() {
            let count = memchr_iter(b'\n', lines).count() + 1;
            answers.extend(std::iter::repeat_n(true, count));
            return;
        }
        let take = |rank, path: Path<'_>| answers.push(allows(rank) || self.is_implicit(path));
        self.each_rank(Lines(lines), take);
    }

    /// Calls `take` for each URL of a column with whether it is allowed.
    pub fn allows_rows<'a>(&self, rows: impl Iterator<Item = Row<'a>>, mut take: impl FnMut(bool)) {
        if self.is_empty() {
            return rows.for_each(|_| take(true));
        }
        self.each_rank(Rows(rows), |rank, path| take(allows(rank) || self.is_implicit(path)));
    }

    /// Decides many URLs, one URL per line.
    pub fn decide_lines(&self, lines: &[u8], answers: &mut Vec<Decision>) {
        self.each_rank(Lines(lines), |rank, path| answers.push(self.decision(rank, path)));
    }

    /// Calls `take` with the decision on each URL of a column.
    pub fn decide_rows<'a>(
        &self,
        rows: impl Iterator<Item = Row<'a>>,
        mut take: impl FnMut(Decision),
    ) {
        self.each_rank(Rows(rows), |rank, path| take(self.decision(rank, path)));
    }

    /// Does the same for a few URLs, which do not pay for a prefilter.
    pub fn decide_few_rows<'a>(
        &self,
        rows: impl Iterator<Item = Row<'a>>,
        mut take: impl FnMut(Decision),
    ) {
        let comparison = self.comparison;
        Rows(rows).each_path(comparison, |path| take(self.decision(self.winner(path), path)));
    }

    #[inline(always)]
    fn decision(&self, rank: Rank, path: Path<'_>) -> Decision {
        match self.is_implicit(path) {
            true => Decision::Implicit,
            false => decision(rank),
        }
    }

    /// Calls `take` with the deciding rank and the path of each URL.
    #[inline(always)]
    fn each_rank(&self, urls: impl Batch, mut take: impl FnMut(Rank, Path<'_>)) {
        let comparison = self.comparison;
        let prefilters = match self.len() <= MAX_PREFILTERED {
            true => prefilter::build(&self.arena, &self.scan),
            false => vec![],
        };
        match prefilters.as_slice() {
            [] => {
                self.expect_checks(usize::MAX);
                urls.each_path(comparison, |path| take(self.winner_by_index(path), path));
            }
            [prefilter] => {
                urls.each_path(comparison, |path| take(prefilter.winner(&self.arena, path), path))
            }
            prefilters => urls.each_path(comparison, |path| {
                take(prefilter::winner(prefilters, &self.arena, path), path);
            }),
        }
    }

    /// The rules that tie for the greatest specificity, in order of precedence.
    pub fn tied_rules(&self, url: &[u8]) -> Vec<u32> {
        let (_, mut found) = self.matches(url);
        let most = found.first().map_or(0, |&(_, octets)| octets);
        found.retain(|&(_, octets)| octets == most);
        found.into_iter().map(|(rule, _)| rule).collect()
    }

    /// The path of `url`, and every match in order of precedence: rule and specificity in octets.
    pub fn matches(&self, url: &[u8]) -> (Vec<u8>, Vec<(u32, u32)>) {
        let mut scratch = vec![];
        let path = url_path::path(url, self.comparison, &mut scratch);
        let mut found = self.scan.matching(&self.arena, path);
        found.sort_unstable_by_key(|&rank| std::cmp::Reverse(rank));
        let found = found.into_iter().map(octets_and_rule).map(|(octets, rule)| (rule, octets));
        (self.comparison.to_readable(path.octets()), found.collect())
    }

    /// The arena, the patterns by rank, greatest first, and how paths are compared.
    pub fn into_patterns(self) -> (Arena, Vec<(Rank, Pattern)>, Paths) {
        let mut ranked: Vec<_> = self.scan.patterns().collect();
        ranked.sort_unstable_by_key(|&(rank, _)| std::cmp::Reverse(rank));
        let (comparison, robots_txt_is_implicit) = (self.comparison, !self.match_robots_txt);
        (self.arena, ranked, Paths { comparison, robots_txt_is_implicit })
    }

    /// The number of patterns that can match.
    pub fn len(&self) -> usize {
        self.scan.len()
    }

    /// Whether no pattern can match.
    pub fn is_empty(&self) -> bool {
        self.scan.len() == 0
    }

    /// Announces `urls` checks, so that an index can be built before them.
    pub fn expect_checks(&self, urls: usize) {
        if self.scan.len() > MAX_SCANNED && urls as u64 >= u64::from(CHECKS_BEFORE_INDEX) {
            self.index.get_or_init(|| Box::new(Index::new(&self.arena, self.scan.deciding())));
        }
    }

    #[inline(always)]
    fn winner(&self, path: Path<'_>) -> Rank {
        match self.scan.len() <= MAX_SCANNED {
            true => self.scan.winner(&self.arena, path),
            false => self.winner_by_index(path),
        }
    }

    #[inline(never)]
    fn winner_by_index(&self, path: Path<'_>) -> Rank {
        if let Some(index) = self.index.get() {
            return index.winner(&self.arena, path);
        }
        if self.checks.fetch_add(1, Ordering::Relaxed) >= CHECKS_BEFORE_INDEX {
            self.expect_checks(CHECKS_BEFORE_INDEX as usize);
        }
        self.scan.winner(&self.arena, path)
    }
}

/// `Allow: /d/index.html` also allows `/d/` (AMB-47): returns the pattern of the directory.
pub fn index_page(value: &[u8], kind: Kind, settings: &Settings) -> Option<Vec<u8>> {
    if !settings.switches.index_page || kind != Kind::Allow {
        return None;
    }
    let slash = value.iter().rposition(|&octet| octet == b'/')?;
    let directory = value[slash..].starts_with(b"/index.htm").then(|| &value[..=slash])?;
    Some([directory, b"$"].concat())
}

/// Reports the notes on the pattern of a rule.
pub fn report_notes(record: &Record, body: &[u8], settings: &Settings, sink: &mut impl NoteSink) {
    let value = record.value(body);
    let found = faults(value);
    let (start, end) = (record.value_start as usize, record.value_end as usize);
    let mut note = |code| sink.note(code, record.line, start, end);
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
