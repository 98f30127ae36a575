//! Facts about files, as columns: counts, names, delays, and the coverage of well-known crawlers.
//!
//! One pass parses a file and counts its notes, another pass reads its records. A crawler's groups
//! are found by looking up each user-agent line in a table of the crawlers' names, so that the cost
//! grows with the lines and not with the crawlers; crawlers that obey the same groups share one
//! answer (`coverage.rs`).
//!
//! Values that need a parser for Structured Fields, and unusual URLs of sitemaps, are left to the
//! caller as [`Pending`]. Linear in the file, except for the searches of `coverage.rs`. This module
//! does not define Arrow types: the binding does.

use crate::coverage::{coverage, Coverage, SearchBudget};
use crate::crawler_names::{is_star, CrawlerTable, GroupsByName};
use crate::document::{Document, FileCounts};
use crate::groups::Groups;
use crate::notes::Code;
use crate::records::{Record, UNKNOWN};
use crate::settings::{Role, Settings};
use crate::text_lists::{Distinct, TextLists};
use std::sync::Arc;

/// What a column has for a file that is not there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NoFile {
    /// The file is unavailable: crawlers may fetch everything (RFC 9309 §2.3.1.3).
    Unavailable,
    /// The file is unreachable: crawlers may fetch nothing (§2.3.1.4).
    Unreachable,
    /// It is not known what the file says.
    Missing,
}

/// The record names that facts are about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Name {
    UserAgent,
    Allow,
    Disallow,
    Sitemap,
    CrawlDelay,
    Purpose,
    ContentUsage,
    ContentSignal,
    AppDirectives,
    Other,
}

impl Name {
    fn of(name: &[u8]) -> Name {
        const NAMES: [(&[u8], Name); 10] = [
            (b"user-agent", Name::UserAgent),
            (b"allow", Name::Allow),
            (b"disallow", Name::Disallow),
            (b"sitemap", Name::Sitemap),
            (b"crawl-delay", Name::CrawlDelay),
            (b"user-agent-purpose", Name::Purpose),
            (b"content-usage", Name::ContentUsage),
            (b"content-signal", Name::ContentSignal),
            (b"app-directives", Name::AppDirectives),
            (b"app-directive", Name::AppDirectives),
        ];
        let found = NAMES.iter().find(|(known, _)| known.eq_ignore_ascii_case(name));
        found.map_or(Name::Other, |&(_, name)| name)
    }
}

/// How facts are read: the profile, and the crawlers whose coverage is a fact.
#[derive(Clone, Debug)]
pub struct FactsReader {
    settings: Arc<Settings>,
    crawlers: CrawlerTable,
    first_star_group_only: bool,
    // The name of each known key, by its number.
    names: Vec<Name>,
    // The codes of notes in the order of their names.
    codes: Vec<Code>,
}

/// Records that the caller reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum PendingKind {
    /// The sitemaps of a file with an unusual URL.
    Sitemaps,
    /// Content-Usage records of the star groups, in the group structure of its document (AMB-29).
    ContentUsage,
    /// Content-Signal records of the star groups.
    ContentSignal,
    /// App-Directives records of the file.
    Applications,
}

/// Values of records of a file that the caller reads.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pending {
    /// The number of the file.
    pub row: usize,
    /// Which records they are.
    pub kind: PendingKind,
    /// The values, in the order of the file.
    pub values: Vec<Box<[u8]>>,
}

/// Facts about files, one row each, as columns. A file that is not there has zeros, empty lists, and
/// false in `is_file`.
#[derive(Clone, Debug, Default)]
pub struct Facts {
    /// Whether there is a file.
    pub is_file: Vec<bool>,
    /// The received octets.
    pub size: Vec<u32>,
    /// Whether the fetch was cut off, or the file is longer than the limit of the profile.
    pub truncated: Vec<bool>,
    /// The lines that were read.
    pub lines: Vec<u32>,
    /// The records.
    pub records: Vec<u32>,
    /// The groups.
    pub groups: Vec<u32>,
    /// The allow records.
    pub allow_rules: Vec<u32>,
    /// The disallow records.
    pub disallow_rules: Vec<u32>,
    /// The records that are neither rules nor user-agent lines.
    pub other_records: Vec<u32>,
    /// The distinct values of user-agent lines.
    pub user_agents: TextLists,
    /// The sitemaps, except for those that are pending.
    pub sitemaps: TextLists,
    /// The delay of the star groups; NaN if there is none.
    pub crawl_delay: Vec<f64>,
    /// The user-agent values with a delay.
    pub delayed_agents: TextLists,
    /// Their delays in seconds.
    pub delays: Vec<f64>,
    /// The distinct values of purpose lines.
    pub purposes: TextLists,
    /// The App-Directives records.
    pub app_directives: Vec<u32>,
    /// How many codes of notes each row has, as ends in `note_codes` and `note_counts`.
    pub note_ends: Vec<usize>,
    /// Codes of notes, by position in [`Code::ALL`].
    pub note_codes: Vec<u8>,
    /// How many notes have this code.
    pub note_counts: Vec<u32>,
    /// How many crawlers each row names, as ends in `named`.
    pub named_ends: Vec<usize>,
    /// The crawlers that a file names, by number.
    pub named: Vec<u16>,
    /// The coverage of each crawler, row by row: a position in [`Coverage::ALL`], or -1.
    pub coverage: Vec<i8>,
    /// What the caller has to read.
    pub pending: Vec<Pending>,
    /// The searches that were needed.
    pub searches: u64,
    /// The rule sets that were not decided.
    pub undecided: u64,
}

/// The place of an unknown coverage.
pub const UNDECIDED: i8 = -1;

impl FactsReader {
    /// A reader for files in this profile.
    pub fn new(
        settings: Arc<Settings>,
        crawlers: CrawlerTable,
        first_star_group_only: bool,
    ) -> FactsReader {
        let names = settings.keys().iter().map(|key| Name::of(key)).collect();
        let mut codes = Code::ALL.to_vec();
        codes.sort_unstable_by_key(|code| code.slug());
        FactsReader { settings, crawlers, first_star_group_only, names, codes }
    }

    /// The crawlers whose coverage is a fact.
    pub fn crawlers(&self) -> &CrawlerTable {
        &self.crawlers
    }

    #[inline]
    fn name(&self, record: &Record, body: &[u8]) -> Name {
        match record.key {
            UNKNOWN => {
                let name = body.get(record.key_start as usize..record.key_end as usize);
                Name::of(name.unwrap_or_default())
            }
            key => self.names.get(usize::from(key)).copied().unwrap_or(Name::Other),
        }
    }
}

/// Reads files one after another, and reuses its buffers.
#[derive(Debug)]
pub struct FactsBuilder<'a> {
    reader: &'a FactsReader,
    facts: Facts,
    groups: GroupsByName,
}

impl<'a> FactsBuilder<'a> {
    /// A builder without rows.
    pub fn new(reader: &'a FactsReader) -> FactsBuilder<'a> {
        let groups = GroupsByName::new(&reader.crawlers);
        FactsBuilder { reader, facts: Facts::default(), groups }
    }

    /// The rows so far.
    pub fn finish(self) -> Facts {
        self.facts
    }

    /// Adds a row without a file.
    pub fn add_missing(&mut self, reason: NoFile) {
        let coverage = match reason {
            NoFile::Unavailable => Coverage::All as i8,
            NoFile::Unreachable => Coverage::None as i8,
            NoFile::Missing => UNDECIDED,
        };
        let facts = &mut self.facts;
        facts.add_counts(false, 0, false, &FileCounts::default(), &RecordCounts::default());
        facts.add_notes(&FileCounts::default(), &[]);
        facts.crawl_delay.push(f64::NAN);
        facts.end_row();
        facts.named_ends.push(facts.named.len());
        facts.coverage.extend(std::iter::repeat_n(coverage, self.reader.crawlers.len()));
    }

    /// Adds the row of a file.
    pub fn add(&mut self, received: &[u8], complete: bool) {
        let settings = self.reader.settings.clone();
        let (document, counts) = Document::parse_and_count(received, settings, complete);
        let truncated = !complete || counts.notes[Code::Truncated as usize] > 0;
        let mut found = self.read_records(&document);
        found.groups = document.group_count() as u32;
        self.facts.add_counts(true, received.len(), truncated, &counts, &found);
        self.facts.add_notes(&counts, &self.reader.codes);
        if self.reader.first_star_group_only {
            self.groups.star.truncate(1);
        }
        match found.crawl_delays {
            0 => self.facts.crawl_delay.push(f64::NAN),
            _ => self.read_delays(&document),
        }
        if found.content_usage > 0 {
            self.leave(PendingKind::ContentUsage, self.content_usage(&document));
        }
        if found.content_signals > 0 {
            let is_signal =
                |record: &Record| self.reader.name(record, document.body()) == Name::ContentSignal;
            let star = self.groups.star.iter().flat_map(|&group| document.group(group as usize));
            let records = star.filter_map(|number| document.records().get(number));
            let values = values(records.filter(|record| is_signal(record)), document.body());
            self.leave(PendingKind::ContentSignal, values);
        }
        if found.app_directives > 0 {
            self.leave_all(PendingKind::Applications, Name::AppDirectives, &document);
        }
        if found.unusual_sitemaps {
            self.facts.sitemaps.clear_row();
            self.leave_all(PendingKind::Sitemaps, Name::Sitemap, &document);
        }
        self.facts.end_row();
        self.add_coverage(&document);
        self.groups.clear();
    }

    /// Reads every record once.
    fn read_records(&mut self, document: &Document<&[u8]>) -> RecordCounts {
        let (reader, facts, body) = (self.reader, &mut self.facts, document.body());
        let mut counts = RecordCounts::default();
        let (mut agents, mut sitemaps, mut purposes) = Default::default();
        for (number, record) in document.records().iter().enumerate() {
            counts.records += 1;
            match reader.name(record, body) {
                Name::UserAgent if record.role == Role::Start => {
                    let value = record.value(body);
                    counts.user_agents += 1;
                    facts.user_agents.push_distinct(value, &mut agents);
                    let group = document.group_of(number).unwrap_or(0) as u32;
                    self.groups.add_line(&reader.crawlers, value, group, &reader.settings);
                }
                Name::UserAgent => counts.user_agents += 1,
                Name::Allow => counts.allows += 1,
                Name::Disallow => counts.disallows += 1,
                Name::Sitemap => {
                    let value = record.value(body);
                    match sitemap(value) {
                        SitemapUrl::Usual => {
                            facts.sitemaps.push_distinct(value, &mut sitemaps);
                        }
                        SitemapUrl::Unusable => {}
                        SitemapUrl::Unusual => counts.unusual_sitemaps = true,
                    }
                }
                Name::Purpose if record.role == Role::Start => {
                    facts.purposes.push_distinct(record.value(body), &mut purposes);
                }
                Name::CrawlDelay => counts.crawl_delays += 1,
                Name::ContentUsage => counts.content_usage += 1,
                Name::ContentSignal => counts.content_signals += 1,
                Name::AppDirectives => counts.app_directives += 1,
                Name::Purpose | Name::Other => {}
            }
        }
        counts
    }

    /// Reads the delays: the first valid value of each group, the largest of several groups with the
    /// same user-agent value (AMB-118).
    fn read_delays(&mut self, document: &Document<&[u8]>) {
        let (body, mut star_delay) = (document.body(), f64::NAN);
        let mut star_groups = self.groups.star.iter().peekable();
        let mut agents = Distinct::default();
        let first = self.facts.delays.len();
        for group in 0..document.group_count() {
            let is_star = star_groups.next_if(|&&star| star as usize == group).is_some();
            let records = document.records().get(document.group(group)).unwrap_or_default();
            let is_delay = |record: &&Record| self.reader.name(record, body) == Name::CrawlDelay;
            let mut delays = records.iter().filter(is_delay);
            let Some(delay) = delays.find_map(|record| seconds(record.value(body))) else {
                continue;
            };
            if is_star {
                star_delay = star_delay.max(delay);
            }
            let agent = self.reader.settings.user_agent;
            let starts = records.iter().filter(|record| record.key == agent);
            for value in starts.map(|record| record.value(body)) {
                let (at, _) = agents.add(value);
                match self.facts.delays.get_mut(first + at) {
                    Some(known) => *known = known.max(delay),
                    None => {
                        self.facts.delayed_agents.push(value);
                        self.facts.delays.push(delay);
                    }
                }
            }
        }
        self.facts.crawl_delay.push(star_delay);
    }

    /// The values of Content-Usage records in star groups. For its document the record is a rule, so
    /// that a user-agent line after it starts a new group (AMB-29).
    fn content_usage(&self, document: &Document<&[u8]>) -> Vec<Box<[u8]>> {
        let (reader, body) = (self.reader, document.body());
        let (mut groups, mut star_groups, mut in_star) = (Groups::default(), 0, false);
        let (mut group, mut found) = (0, vec![]);
        for record in document.records() {
            let name = reader.name(record, body);
            let role = if name == Name::ContentUsage { Role::Rule } else { record.role };
            groups.add(role, 0);
            if groups.starts.len() != group {
                (group, in_star) = (groups.starts.len(), false);
            }
            if role == Role::Start && record.key == reader.settings.user_agent {
                if !in_star && is_star(record.value(body), &reader.settings) {
                    star_groups += 1;
                    in_star = star_groups == 1 || !reader.first_star_group_only;
                }
            } else if name == Name::ContentUsage && in_star {
                found.push(record.value(body).into());
            }
        }
        found
    }

    fn leave_all(&mut self, kind: PendingKind, name: Name, document: &Document<&[u8]>) {
        let body = document.body();
        let has_name = |record: &&Record| self.reader.name(record, body) == name;
        self.leave(kind, values(document.records().iter().filter(has_name), body));
    }

    /// Leaves values of the row to the caller.
    fn leave(&mut self, kind: PendingKind, values: Vec<Box<[u8]>>) {
        if !values.is_empty() {
            let row = self.facts.is_file.len() - 1;
            self.facts.pending.push(Pending { row, kind, values });
        }
    }

    /// Adds the crawlers that the file names, and the coverage of every crawler.
    fn add_coverage(&mut self, document: &Document<&[u8]>) {
        let (reader, facts) = (self.reader, &mut self.facts);
        let (crawlers, settings) = (&reader.crawlers, &reader.settings);
        let mut budget = SearchBudget::default();
        let mut known: Vec<(&[u32], i8)> = vec![(&[], Coverage::All as i8)];
        let mut coverage_of = |groups: &'_ [u32]| -> i8 {
            coverage(document.patterns(groups), settings, &mut budget)
                .map_or(UNDECIDED, |coverage| coverage as i8)
        };
        let star = match self.groups.star.is_empty() {
            true => Coverage::All as i8,
            false => coverage_of(&self.groups.star),
        };
        known.push((&self.groups.star, star));
        let first = facts.coverage.len();
        facts.coverage.extend(crawlers.ignore_star().iter().map(|&ignores| match ignores {
            true => Coverage::All as i8,
            false => star,
        }));
        for crawler in self.groups.affected(crawlers) {
            let groups = self.groups.of_crawler(crawlers, crawler);
            let answer = match known.iter().find(|(same, _)| *same == groups) {
                Some(&(_, answer)) => answer,
                None => {
                    let answer = coverage_of(groups);
                    known.push((groups, answer));
                    answer
                }
            };
            if let Some(place) = facts.coverage.get_mut(first + usize::from(crawler)) {
                *place = answer;
            }
            if self.groups.names_itself(crawlers, crawler) {
                facts.named.push(crawler);
            }
        }
        facts.named_ends.push(facts.named.len());
        facts.searches += u64::from(budget.searches);
        facts.undecided += known.iter().filter(|(_, answer)| *answer == UNDECIDED).count() as u64;
    }
}

/// The records of a file, by kind.
#[derive(Clone, Copy, Debug, Default)]
struct RecordCounts {
    records: u32,
    groups: u32,
    user_agents: u32,
    allows: u32,
    disallows: u32,
    crawl_delays: u32,
    content_usage: u32,
    content_signals: u32,
    app_directives: u32,
    unusual_sitemaps: bool,
}

impl Facts {
    fn add_counts(
        &mut self,
        is_file: bool,
        size: usize,
        truncated: bool,
        counts: &FileCounts,
        found: &RecordCounts,
    ) {
        self.is_file.push(is_file);
        self.size.push(u32::try_from(size).unwrap_or(u32::MAX));
        self.truncated.push(truncated);
        self.lines.push(counts.lines);
        self.records.push(found.records);
        self.groups.push(found.groups);
        self.allow_rules.push(found.allows);
        self.disallow_rules.push(found.disallows);
        self.other_records.push(found.records - found.user_agents - found.allows - found.disallows);
        self.app_directives.push(found.app_directives);
    }

    /// Adds the rows of `other`.
    pub fn append(&mut self, mut other: Facts) {
        let (first_row, first_note, first_named) =
            (self.is_file.len(), self.note_codes.len(), self.named.len());
        self.is_file.append(&mut other.is_file);
        self.size.append(&mut other.size);
        self.truncated.append(&mut other.truncated);
        self.lines.append(&mut other.lines);
        self.records.append(&mut other.records);
        self.groups.append(&mut other.groups);
        self.allow_rules.append(&mut other.allow_rules);
        self.disallow_rules.append(&mut other.disallow_rules);
        self.other_records.append(&mut other.other_records);
        self.user_agents.append(other.user_agents);
        self.sitemaps.append(other.sitemaps);
        self.crawl_delay.append(&mut other.crawl_delay);
        self.delayed_agents.append(other.delayed_agents);
        self.delays.append(&mut other.delays);
        self.purposes.append(other.purposes);
        self.app_directives.append(&mut other.app_directives);
        self.note_ends.extend(other.note_ends.iter().map(|end| first_note + end));
        self.note_codes.append(&mut other.note_codes);
        self.note_counts.append(&mut other.note_counts);
        self.named_ends.extend(other.named_ends.iter().map(|end| first_named + end));
        self.named.append(&mut other.named);
        self.coverage.append(&mut other.coverage);
        let moved = |one: Pending| Pending { row: first_row + one.row, ..one };
        self.pending.extend(other.pending.into_iter().map(moved));
        self.searches += other.searches;
        self.undecided += other.undecided;
    }

    /// Adds the notes of a row.
    fn add_notes(&mut self, counts: &FileCounts, codes: &[Code]) {
        for &code in codes.iter().filter(|&&code| counts.notes[code as usize] > 0) {
            self.note_codes.push(code as u8);
            self.note_counts.push(counts.notes[code as usize]);
        }
        self.note_ends.push(self.note_codes.len());
    }

    /// Ends the lists of a row; a row without a file names no crawler.
    fn end_row(&mut self) {
        for lists in [
            &mut self.user_agents,
            &mut self.sitemaps,
            &mut self.delayed_agents,
            &mut self.purposes,
        ] {
            lists.end_row();
        }
    }
}

fn values<'a>(records: impl Iterator<Item = &'a Record>, body: &[u8]) -> Vec<Box<[u8]>> {
    records.map(|record| record.value(body).into()).collect()
}

/// The seconds of a Crawl-delay: a decimal number without sign or exponent (AMB-118).
fn seconds(value: &[u8]) -> Option<f64> {
    let digits = value.iter().filter(|octet| octet.is_ascii_digit()).count();
    let is_number = digits > 0 && value.iter().all(|&o| o.is_ascii_digit() || o == b'.');
    let text =
        std::str::from_utf8(value).ok().filter(|_| is_number && digits + 1 >= value.len())?;
    text.parse().ok().filter(|seconds: &f64| seconds.is_finite())
}

/// How the URL of a sitemap is read.
enum SitemapUrl {
    /// Absolute or relative, of visible ASCII characters: used as written.
    Usual,
    /// Not a URL.
    Unusable,
    /// Left to the caller: other characters, or an address in brackets.
    Unusual,
}

/// Classifies the value of a Sitemap record (AMB-117).
fn sitemap(value: &[u8]) -> SitemapUrl {
    if value.is_empty() || value.iter().any(u8::is_ascii_control) {
        return SitemapUrl::Unusable;
    }
    if value.iter().any(|octet| !octet.is_ascii_graphic() || matches!(octet, b'[' | b']')) {
        return SitemapUrl::Unusual;
    }
    let in_scheme = |octet: &u8| octet.is_ascii_alphanumeric() || b"-+.".contains(octet);
    let end = value.iter().position(|octet| !in_scheme(octet)).unwrap_or(value.len());
    let has_scheme = value[0].is_ascii_alphabetic() && value.get(end) == Some(&b':');
    let has_authority = match value[end..] {
        [b':', b'/', b'/', next, ..] => !matches!(next, b'/' | b'?' | b'#'),
        _ => false,
    };
    match has_scheme && !has_authority {
        true => SitemapUrl::Unusable,
        false => SitemapUrl::Usual,
    }
}
