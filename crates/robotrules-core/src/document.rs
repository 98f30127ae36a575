//! A parsed robots.txt: bytes to lines to records to groups in one pass.
//!
//! Parsing is linear in the file. It does not collect notes: [`Document::notes`] runs the same code
//! over the body again, with a [`NoteSink`] that collects them. This module does not match rules.

use crate::groups::{self, AgentIndex, Groups};
use crate::lines::{self, Ending, Line, Lines};
use crate::normalize::Comparison;
use crate::notes::{Code, Note};
use crate::records::{self, DiscardNotes, NoteSink, Record};
use crate::ruleset::{self, Decision, Kind, RuleSet};
use crate::settings::{Role, Settings};
use crate::uncompiled;
use crate::url_path;
use std::sync::Arc;

/// A parsed file. Immutable. It owns the body and needs 28 octets per record.
#[derive(Clone, Debug)]
pub struct Document<B> {
    settings: Arc<Settings>,
    received: Result<B, Box<[u8]>>,
    first: usize,
    encoding: Option<Code>,
    complete: bool,
    records: Vec<Record>,
    groups: Vec<u32>,
    agents: AgentIndex,
}

/// Parses every line, passes each record to `take` and each note to `sink`. Returns why the lines
/// ended, and how many there are.
#[inline]
fn each_record<L: NoteSink>(
    body: &[u8],
    mut lines: Lines<'_>,
    settings: &Settings,
    sink: &mut L,
    mut take: impl FnMut(&mut L, Record),
) -> (Ending, u32) {
    let mut count = 0;
    for line in lines.by_ref() {
        count = line.number;
        if let Some(record) = records::record(body, line, settings, sink) {
            take(sink, record);
        }
    }
    (lines.ending, count)
}

impl<B: AsRef<[u8]>> Document<B> {
    /// Parses a file. It never fails: every byte string is a robots.txt (RFC 9309 §2.3.1.5).
    ///
    /// `complete` is false if the file was truncated before; an unterminated last line is then not
    /// used (AMB-12).
    pub fn parse(received: B, settings: Arc<Settings>, complete: bool) -> Document<B> {
        let mut ignored = DiscardNotes;
        Document::parse_with(received, settings, complete, &mut ignored, |_, _, _, _| {}).0
    }

    /// Parses a file and counts its lines and its notes, in one pass.
    pub fn parse_and_count(
        received: B,
        settings: Arc<Settings>,
        complete: bool,
    ) -> (Document<B>, FileCounts) {
        let mut counts = FileCounts::default();
        let mut between = None;
        let (document, ending, lines) = Document::parse_with(
            received,
            settings,
            complete,
            &mut counts,
            |record, groups, (body, settings), counts| {
                report_record(record, groups, &mut between, (body, settings), counts);
            },
        );
        document.report_start(&mut counts);
        document.report_ending(ending, &mut counts);
        counts.lines = lines;
        (document, counts)
    }

    /// Parses a file; `report` gets each record before it is added to the groups.
    #[inline(always)]
    fn parse_with<L: NoteSink>(
        received: B,
        settings: Arc<Settings>,
        complete: bool,
        sink: &mut L,
        mut report: impl FnMut(&Record, &Groups, (&[u8], &Settings), &mut L),
    ) -> (Document<B>, Ending, u32) {
        let prepared = lines::prepare(received.as_ref(), &settings);
        let complete = complete && !prepared.cut;
        let body = prepared.octets.as_deref().unwrap_or(received.as_ref());
        let (mut records, mut groups) = (Vec::new(), Groups::default());
        // Most lines are records of about 30 octets; the vector grows if there are more.
        records.reserve(body.len() / 32);
        let lines = Lines::new(body, prepared.first, settings.max_bytes, complete);
        let (ending, count) = each_record(body, lines, &settings, sink, |sink, record| {
            report(&record, &groups, (body, &settings), sink);
            groups.add(record.role, records.len() as u32);
            records.push(record);
        });
        if records.capacity() > records.len() * 2 {
            records.shrink_to_fit();
        }
        let document = Document {
            settings,
            received: prepared.octets.map_or(Ok(received), |octets| Err(octets.into())),
            first: prepared.first,
            encoding: prepared.encoding,
            complete,
            records,
            groups: groups.starts,
            agents: AgentIndex::default(),
        };
        (document, ending, count)
    }

    /// The octets that were parsed; every span points into them.
    pub fn body(&self) -> &[u8] {
        match &self.received {
            Ok(whole) => whole.as_ref(),
            Err(made) => made,
        }
    }

    /// The argument of [`Document::parse`], if it was parsed unchanged.
    pub fn received(&self) -> Option<&B> {
        self.received.as_ref().ok()
    }

    /// Whether a last line without a terminator is used.
    pub fn is_complete(&self) -> bool {
        self.complete
    }

    /// The settings of the profile it was parsed with.
    pub fn settings(&self) -> &Arc<Settings> {
        &self.settings
    }

    /// Every record, in order.
    pub fn records(&self) -> &[Record] {
        &self.records
    }

    /// The number of groups.
    pub fn group_count(&self) -> usize {
        self.groups.len()
    }

    /// The records of a group, as a range of record numbers; empty for an unknown group.
    pub fn group(&self, number: usize) -> std::ops::Range<usize> {
        let end = self.groups.get(number + 1).map_or(self.records.len(), |&start| start as usize);
        self.groups.get(number).map_or(0..0, |&start| start as usize..end)
    }

    /// The number of the group of a record; `None` before the first user-agent line.
    pub fn group_of(&self, record: usize) -> Option<usize> {
        self.groups.partition_point(|&start| start as usize <= record).checked_sub(1)
    }

    /// The canonical name of a record's key, in lower case.
    pub fn key(&self, record: &Record) -> Vec<u8> {
        let written = record.key_start as usize..record.key_end as usize;
        match self.settings.keys().get(usize::from(record.key)) {
            Some(canonical) => canonical.clone(),
            None => self.body().get(written).unwrap_or_default().to_ascii_lowercase(),
        }
    }

    /// Every line that was read, and the start of its comment, if any.
    pub fn lines(&self) -> impl Iterator<Item = (Line, Option<usize>)> + '_ {
        self.read_lines().map(|line| (line, (line.comment < line.end).then_some(line.comment)))
    }

    fn read_lines(&self) -> Lines<'_> {
        Lines::new(self.body(), self.first, self.settings.max_bytes, self.complete)
    }

    /// The groups in which a `key` line names `token`: user-agent lines as in §2.2.1, where `*`
    /// selects the star groups; any other START record by its whole value (AMB-98).
    pub fn select(&self, key: u16, token: &[u8]) -> Vec<u32> {
        if key == self.settings.user_agent {
            let lines = || self.agent_lines();
            let found = self.agents.find(token, self.groups.len(), lines, &self.settings);
            if let Some(chosen) = found {
                return chosen;
            }
        }
        let (mut chosen, body) = (Vec::new(), self.body());
        for number in 0..self.groups.len() {
            let names = |record: &Record| {
                record.role == Role::Start
                    && record.key == key
                    && match key == self.settings.user_agent {
                        true => groups::names(record, body, token, &self.settings),
                        false => groups::has_value(record, body, token, &self.settings),
                    }
            };
            // START records precede the first rule of their group.
            let starts = self.records[self.group(number)].iter();
            if starts.take_while(|record| record.role != Role::Rule).any(names) {
                chosen.push(number as u32);
            }
        }
        chosen
    }

    /// The user-agent values in order, each with the number of its group.
    fn agent_lines(&self) -> Vec<(u32, &[u8])> {
        let (body, agent) = (self.body(), self.settings.user_agent);
        let mut lines = Vec::new();
        for number in 0..self.groups.len() {
            let starts = self.records[self.group(number)].iter();
            let agents = starts.filter(|record| record.role == Role::Start && record.key == agent);
            lines.extend(agents.map(|record| (number as u32, record.value(body))));
        }
        lines
    }

    /// The groups for the crawler `token` (§2.2.1): those that name it, and true; or the star
    /// groups, and false. The token `*` does not name a crawler.
    pub fn choose(&self, token: &[u8]) -> (Vec<u32>, bool) {
        let agent = self.settings.user_agent;
        let named = if token == b"*" { vec![] } else { self.select(agent, token) };
        match named.is_empty() {
            true => (self.select(agent, b"*"), false),
            false => (named, true),
        }
    }

    /// The allow and disallow records of the given groups, merged in order (§2.2.1).
    pub fn rules(&self, groups: &[u32]) -> Vec<u32> {
        let (allow, disallow) = (self.settings.allow, self.settings.disallow);
        let mut rules = Vec::new();
        for &group in groups {
            let range = self.group(group as usize);
            rules.reserve(range.len());
            let numbered = range.clone().zip(&self.records[range]);
            let is_rule = |record: &Record| record.key == allow || record.key == disallow;
            rules.extend(numbered.filter(|(_, r)| is_rule(r)).map(|(number, _)| number as u32));
        }
        rules
    }

    /// Decides `url` by the rules of the given groups without compiling them; the result is that of
    /// [`RuleSet::decide`]. `None` for a profile that needs compiled patterns.
    pub fn decide_once(&self, groups: &[u32], url: &[u8]) -> Option<Decision> {
        if !self.settings.switches.compare_as_written() {
            return None;
        }
        let mut scratch = Vec::new();
        let path = url_path::path(url, Comparison::Units, &mut scratch);
        if ruleset::is_robots_txt(path) {
            return Some(Decision::Implicit);
        }
        let winner = uncompiled::winner(self.patterns(groups), path, &self.settings);
        Some(ruleset::decision(winner))
    }

    /// The number of rules of the given groups that can match, without compiling them; the result
    /// is that of [`RuleSet::len`].
    pub fn count_usable(&self, groups: &[u32]) -> Option<usize> {
        let as_written = self.settings.switches.compare_as_written();
        as_written.then(|| uncompiled::count_usable(self.patterns(groups), &self.settings))
    }

    /// The patterns of the rules of the given groups, in the order of [`Document::rules`].
    pub(crate) fn patterns<'a>(
        &'a self,
        groups: &'a [u32],
    ) -> impl Iterator<Item = (&'a [u8], Kind)> + Clone {
        let (body, allow, disallow) = (self.body(), self.settings.allow, self.settings.disallow);
        let records = groups.iter().flat_map(|&group| &self.records[self.group(group as usize)]);
        records.filter_map(move |record| match record.key {
            key if key == disallow => Some((record.value(body), Kind::Disallow)),
            key if key == allow => Some((record.value(body), Kind::Allow)),
            _ => None,
        })
    }

    /// Compiles the rules of the given groups; rule numbers are positions in [`Document::rules`].
    pub fn compile(&self, groups: &[u32]) -> RuleSet {
        let (rules, body, allow) = (self.rules(groups), self.body(), self.settings.allow);
        let patterns = rules.iter().map(|&number| {
            let record = &self.records[number as usize];
            let kind = if record.key == allow { Kind::Allow } else { Kind::Disallow };
            (record.value(body), kind)
        });
        RuleSet::new(patterns, &self.settings)
    }

    /// The notes on the file, by position.
    pub fn notes(&self) -> Vec<Note> {
        let mut notes = NoteCollector(vec![]);
        self.report_start(&mut notes);
        let (mut groups, mut between) = (Groups::default(), None);
        let (body, settings) = (self.body(), &*self.settings);
        let (ending, _) =
            each_record(body, self.read_lines(), settings, &mut notes, |notes, record| {
                report_record(&record, &groups, &mut between, (body, settings), notes);
                groups.add(record.role, 0);
            });
        self.report_ending(ending, &mut notes);
        notes.0.sort_by_key(|note| note.start);
        notes.0
    }

    /// Reports the notes on the start of the file: its encoding, and whether it is HTML.
    fn report_start(&self, notes: &mut impl NoteSink) {
        if let Some(code) = self.encoding {
            notes.note(code, 0, 0, self.first);
        }
        if let Some(at) = looks_like_html(&self.body()[self.first..]) {
            notes.note(Code::LooksLikeHtml, 0, self.first + at, self.first + at + 1);
        }
    }

    /// Reports the notes on the end of the file: lines that were not read.
    fn report_ending(&self, ending: Ending, notes: &mut impl NoteSink) {
        let length = self.body().len();
        match ending {
            Ending::Whole => {}
            Ending::Cut(start, line) if length < self.settings.max_bytes + lines::SLACK => {
                notes.note(Code::CutLine, line, start, length);
            }
            Ending::Limit(start) | Ending::Cut(start, _) => {
                notes.note(Code::Truncated, 0, start, length);
            }
        }
    }
}

/// Reports the notes on a record, before it is added to `groups`. `between` is the first record of
/// another kind after the last user-agent line: line and span.
#[inline]
fn report_record(
    record: &Record,
    groups: &Groups,
    between: &mut Option<(u32, usize, usize)>,
    (body, settings): (&[u8], &Settings),
    notes: &mut impl NoteSink,
) {
    match record.role {
        Role::Start => {
            if let Some((line, start, end)) = between.take() {
                notes.note(Code::RecordBetweenAgents, line, start, end);
            }
            if record.key == settings.user_agent {
                groups::report_notes(record, body, settings, notes);
            }
        }
        Role::Rule => {
            if groups.starts.is_empty() {
                let (start, end) = (record.key_start as usize, record.value_end as usize);
                notes.note(Code::RuleOutsideGroup, record.line, start, end);
            }
            if record.key == settings.allow || record.key == settings.disallow {
                ruleset::report_notes(record, body, settings, notes);
            }
        }
        Role::Other if groups.is_open_for_agents() => {
            let span = (record.key_start as usize, record.value_end as usize);
            *between = between.or(Some((record.line, span.0, span.1)));
        }
        Role::Other => {}
    }
    if record.role != Role::Other {
        *between = None;
    }
}

/// How many lines a file has, and how many notes of each code.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FileCounts {
    /// The lines that were read.
    pub lines: u32,
    /// The notes, by the position of their code in [`Code::ALL`].
    pub notes: [u32; Code::ALL.len()],
}

impl NoteSink for FileCounts {
    fn note(&mut self, code: Code, _: u32, _: usize, _: usize) {
        self.notes[code as usize] += 1;
    }
}

struct NoteCollector(Vec<Note>);

impl NoteSink for NoteCollector {
    fn note(&mut self, code: Code, line: u32, start: usize, end: usize) {
        self.0.push(Note { code, line, start: start as u32, end: end as u32 });
    }
}

/// The position of the first octet that is not whitespace, if it is `<` (AMB-19).
fn looks_like_html(body: &[u8]) -> Option<usize> {
    let at = body.iter().position(|octet| !octet.is_ascii_whitespace())?;
    (body[at] == b'<').then_some(at)
}
