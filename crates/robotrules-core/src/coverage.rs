//! Coverage: whether rules allow all URLs, some of them, or none.
//!
//! The answer is exact. Most rule sets need one pass over their patterns: there is no disallow rule,
//! or one that matches everything and no allow rule. For most others a sample path made of a pattern
//! shows that a URL is allowed, and another that a URL is disallowed. Only the rest needs a search
//! (`languages.rs`), within a limit on states; beyond it the answer is unknown.
//!
//! `/robots.txt` itself is left out, because a crawler may always fetch it (AMB-45): also in profiles
//! that match it like any other path. One pass over the patterns, some matching, and at most the
//! states of a [`SearchBudget`]. This module does not select
//! groups: `facts.rs` does. `pure_coverage.py` is the readable version.

use crate::languages::{Entry, Languages, SearchLimits};
use crate::normalize::Comparison;
use crate::product_search::DecisionList;
use crate::records::faults;
use crate::ruleset::{self, Decision, Kind, RuleSet};
use crate::settings::Settings;
use crate::uncompiled;
use crate::url_path;

/// The part of all URLs that rules allow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Coverage {
    /// Every URL is allowed.
    All,
    /// Some URLs are allowed and some are disallowed.
    Some,
    /// Every URL is disallowed, except for `/robots.txt`.
    None,
}

impl Coverage {
    /// Every value; the position of a value is `coverage as usize`.
    pub const ALL: [Coverage; 3] = [Coverage::All, Coverage::Some, Coverage::None];

    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Coverage::All => "all",
            Coverage::Some => "some",
            Coverage::None => "none",
        }
    }
}

/// The maximum number of states of one search. Real files need some hundreds.
pub const MAX_STATES: i64 = 10_000;
/// The maximum number of states of all searches for one file.
const MAX_FILE_STATES: i64 = 30_000;
/// Compiling this many patterns for more samples and a search counts as a state.
const PATTERNS_PER_STATE: i64 = 4;
/// How many patterns of a kind are made into sample paths.
const MAX_SAMPLED: usize = 256;

/// The states that the searches for one file may use.
#[derive(Clone, Copy, Debug)]
pub struct SearchBudget {
    /// The states that are left.
    pub states: i64,
    /// The searches so far.
    pub searches: u32,
}

impl Default for SearchBudget {
    fn default() -> SearchBudget {
        SearchBudget { states: MAX_FILE_STATES, searches: 0 }
    }
}

/// A pattern as written, and whether it allows.
type Written<'a> = (&'a [u8], Kind);

/// The coverage of rules, given their patterns as written; `None` if `budget` does not suffice.
pub fn coverage<'a>(
    patterns: impl Iterator<Item = Written<'a>> + Clone,
    settings: &Settings,
    budget: &mut SearchBudget,
) -> Option<Coverage> {
    let (allows, disallows) = summarize(patterns.clone(), settings);
    match (disallows.count, disallows.widest, allows.widest) {
        (0, _, _) => return Some(Coverage::All),
        (_, Some(_), _) if allows.count == 0 => return Some(Coverage::None),
        // Of rules that match everything the longest decides, and allow wins a tie (AMB-40).
        (_, Some(disallow), Some(allow)) if allows.matches_all_only() && allow < disallow => {
            return Some(Coverage::None);
        }
        (_, Some(disallow), Some(allow)) if disallows.matches_all_only() && allow >= disallow => {
            return Some(Coverage::All);
        }
        _ => {}
    }
    Evidence::default().decide(patterns, settings, [allows.longest, disallows.longest], budget)
}

/// The usable patterns of one kind.
#[derive(Clone, Copy, Default)]
struct Patterns<'a> {
    count: usize,
    /// How many of them match everything.
    matching_all: usize,
    /// The longest of those, in octets; their normal form is as written.
    widest: Option<usize>,
    /// The longest of all, as written; of equals the first.
    longest: &'a [u8],
}

impl Patterns<'_> {
    fn matches_all_only(&self) -> bool {
        self.count == self.matching_all
    }
}

/// The allow patterns and the disallow patterns that can match.
#[inline]
fn summarize<'a>(
    patterns: impl Iterator<Item = Written<'a>>,
    settings: &Settings,
) -> (Patterns<'a>, Patterns<'a>) {
    let (mut allows, mut disallows) = (Patterns::default(), Patterns::default());
    for (value, kind) in patterns.filter(|(value, _)| is_usable(value, settings)) {
        let found = if kind == Kind::Allow { &mut allows } else { &mut disallows };
        found.count += 1;
        if value.len() > found.longest.len() {
            found.longest = value;
        }
        if matches_everything(value) {
            found.matching_all += 1;
            found.widest = found.widest.max(Some(value.len()));
        }
    }
    (allows, disallows)
}

/// Whether a pattern can match (AMB-03, AMB-05). Empty patterns never disallow (AMB-42).
#[inline]
fn is_usable(value: &[u8], settings: &Settings) -> bool {
    matches!(value.first(), Some(b'/' | b'*')) && faults(value).usable_pattern(settings)
}

/// Whether a pattern matches every path: a path starts with a slash.
#[inline]
fn matches_everything(value: &[u8]) -> bool {
    let body = match value {
        [body @ .., b'$'] if !body.ends_with(b"*") => return false,
        [body @ .., b'$'] => body,
        body => body,
    };
    let mut slashes = 0;
    body.iter().all(|&octet| {
        slashes += usize::from(octet == b'/');
        octet == b'*' || octet == b'/'
    }) && slashes <= 1
}

/// The URLs that are known so far: whether one is allowed, and whether one is disallowed.
#[derive(Default)]
struct Evidence {
    allowed: bool,
    disallowed: bool,
    // A sample URL, and a buffer for its path.
    url: Vec<u8>,
    scratch: Vec<u8>,
}

/// The origin of the sample URLs. Without it `//a` would be an authority.
const ORIGIN: &[u8] = b"https://a";
/// A path that few patterns match.
const UNUSUAL_PATH: &[u8] = b"/0-_.~0";

impl Evidence {
    fn decide<'a>(
        mut self,
        patterns: impl Iterator<Item = Written<'a>> + Clone,
        settings: &Settings,
        longest: [&[u8]; 2],
        budget: &mut SearchBudget,
    ) -> Option<Coverage> {
        let as_written = settings.switches.compare_as_written();
        let mut compiled = None;
        for sample in [b"/", UNUSUAL_PATH, longest[1], longest[0]] {
            self.set_url(sample, b"");
            match as_written {
                true => self.look_uncompiled(patterns.clone(), settings),
                false => {
                    let new = || RuleSet::new(patterns.clone(), settings);
                    self.look(compiled.get_or_insert_with(new), settings);
                }
            }
            if self.allowed && self.disallowed {
                return Some(Coverage::Some);
            }
        }
        // The crawlers of a file may have a hundred rule sets with the same thousands of patterns.
        budget.states -= patterns.clone().count() as i64 / PATTERNS_PER_STATE;
        if budget.states < 1 {
            return None;
        }
        let rules = compiled.unwrap_or_else(|| RuleSet::new(patterns.clone(), settings));
        self.look_at_samples(&rules, patterns.clone(), settings);
        if self.allowed && self.disallowed {
            return Some(Coverage::Some);
        }
        let languages = PathLanguages::new(patterns.collect(), settings);
        if !self.disallowed && !languages.search(Kind::Disallow, budget)? {
            return Some(Coverage::All);
        }
        match self.allowed || languages.search(Kind::Allow, budget)? {
            true => Some(Coverage::Some),
            false => Some(Coverage::None),
        }
    }

    /// Sets the sample URL to one that a pattern matches: `star` in the place of each wildcard, and
    /// at the end of a pattern without `$`.
    fn set_url(&mut self, pattern: &[u8], star: &[u8]) {
        let (body, anchored) =
            pattern.strip_suffix(b"$").map_or((pattern, false), |body| (body, true));
        self.url.clear();
        self.url.extend_from_slice(ORIGIN);
        if body.first() == Some(&b'*') && body.get(1) != Some(&b'/') {
            self.url.push(b'/');
        }
        for &octet in body {
            match octet {
                b'*' if self.url.len() > ORIGIN.len() => self.url.extend_from_slice(star),
                b'*' => {}
                _ => self.url.push(octet),
            }
        }
        if !anchored {
            self.url.extend_from_slice(star);
        }
    }

    fn look_uncompiled<'a>(
        &mut self,
        patterns: impl Iterator<Item = Written<'a>>,
        settings: &Settings,
    ) {
        let path = url_path::path(&self.url, Comparison::Units, &mut self.scratch);
        if !ruleset::is_robots_txt(path) {
            let winner = uncompiled::winner(patterns, path, settings);
            let disallows = matches!(ruleset::decision(winner), Decision::Disallow(_));
            self.allowed |= !disallows;
            self.disallowed |= disallows;
        }
    }

    fn look(&mut self, rules: &RuleSet, settings: &Settings) {
        let comparison = Comparison::from_settings(settings);
        let path = url_path::path(&self.url, comparison, &mut self.scratch);
        if !ruleset::is_robots_txt(path) {
            let allows = rules.allows(&self.url, &mut Vec::new());
            self.allowed |= allows;
            self.disallowed |= !allows;
        }
    }

    /// Matches two samples of each pattern, up to a limit.
    fn look_at_samples<'a>(
        &mut self,
        rules: &RuleSet,
        patterns: impl Iterator<Item = Written<'a>> + Clone,
        settings: &Settings,
    ) {
        for kind in [Kind::Disallow, Kind::Allow] {
            let is_sampled =
                |&(value, own): &Written<'_>| own == kind && is_usable(value, settings);
            for (value, _) in patterns.clone().filter(is_sampled).take(MAX_SAMPLED) {
                if (kind == Kind::Allow && self.allowed)
                    || (kind == Kind::Disallow && self.disallowed)
                {
                    break;
                }
                for star in [b"".as_slice(), b"a"] {
                    self.set_url(value, star);
                    self.look(rules, settings);
                }
            }
        }
    }
}

/// The patterns as regular languages, with one for `/robots.txt`.
struct PathLanguages {
    languages: Languages,
    robots_txt: Option<u32>,
}

const ROBOTS_TXT: &[u8] = b"/robots.txt$";

impl PathLanguages {
    fn new(mut patterns: Vec<Written<'_>>, settings: &Settings) -> PathLanguages {
        // A rule for this path alone changes no answer, because the path is left out.
        patterns.push((ROBOTS_TXT, Kind::Disallow));
        let languages = Languages::new(&patterns, settings);
        let is_robots_txt = |entry: &Entry| entry.form == ROBOTS_TXT;
        let robots_txt = languages.entries().iter().position(is_robots_txt).map(|at| at as u32);
        PathLanguages { languages, robots_txt }
    }

    /// Whether a URL other than `/robots.txt` has this verdict; `None` if the budget does not
    /// suffice.
    fn search(&self, verdict: Kind, budget: &mut SearchBudget) -> Option<bool> {
        let max_states = MAX_STATES.min(budget.states);
        budget.searches += 1;
        if max_states < 1 {
            return None;
        }
        let limits = SearchLimits { max_states, shorter_than: u32::MAX, shortest: false };
        let found = self.languages.find_witness(self.decision_lists(verdict), limits)?;
        budget.states -= found.states;
        found.decided.then_some(found.path.is_some())
    }

    /// One list accepts the paths with the verdict; another rejects `/robots.txt`.
    fn decision_lists(&self, verdict: Kind) -> Vec<DecisionList> {
        let allow = verdict == Kind::Allow;
        let entries = self.languages.entries().iter().enumerate();
        let clauses = entries.map(|(at, entry)| {
            let allows = !matches!(entry.decision, Decision::Disallow(_));
            (at as u32) << 1 | u32::from(allows == allow)
        });
        let robots_txt = self.robots_txt.map(|at| (vec![at << 1], true));
        [(clauses.collect(), allow)].into_iter().chain(robots_txt).collect()
    }
}
