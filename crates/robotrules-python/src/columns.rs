//! Columns of URLs, decided by one rule set: `allows_column()` and `decide_column()` of a matcher.
//!
//! The interpreter lock (GIL) is released; threads share the rows in equal parts. This module does not
//! match: `RuleSet::allows_rows` and `decide_rows` of the core do.

use crate::arrow::{dictionary, import_texts, thread_count, Column, Texts, Validity};
use crate::matcher::Matcher;
use pyo3::prelude::*;
use robotrules_core::{Decision, Row, RuleSet};

/// A thread gets at least this many rows: starting one costs about as much as a thousand URLs.
const ROWS_PER_THREAD: usize = 16 * 1024;

/// The numbers of reasons, as `robotstxt.verdict.Reason` defines them, with one more for bulk.
pub mod reason {
    pub const ALLOW_RULE: i8 = 0;
    pub const DISALLOW_RULE: i8 = 1;
    pub const NO_MATCH: i8 = 2;
    pub const NO_RULES: i8 = 3;
    pub const NO_GROUP: i8 = 4;
    pub const IMPLICIT: i8 = 5;
    pub const EMPTY_RULE: i8 = 6;
    pub const NO_ORIGIN: i8 = 10;
    pub const MISSING: i8 = 11;
}

/// The reasons by number, each with whether it allows.
#[derive(Clone)]
pub struct Labels(Vec<(String, Option<bool>)>);

impl Labels {
    pub fn new(labels: Vec<(String, Option<bool>)>) -> Labels {
        Labels(labels)
    }

    /// Whether a reason allows; `None` if that is not known.
    #[inline]
    pub fn allowed(&self, reason: i8) -> Option<bool> {
        self.0.get(usize::try_from(reason).ok()?).and_then(|(_, allowed)| *allowed)
    }

    /// Whether there is such a reason.
    pub fn has(&self, reason: i8) -> bool {
        usize::try_from(reason).is_ok_and(|reason| reason < self.0.len())
    }

    /// The column `reason`.
    pub fn column(&self, reasons: Vec<i8>, valid: impl Into<Validity>) -> Column {
        let names = dictionary(self.0.iter().map(|(name, _)| name.as_str()));
        Column::small_dictionary(reasons, valid, names)
    }
}

/// The reason for a decision, and the number of the rule that made it.
#[inline]
pub fn reason_and_rule(decision: Decision, no_match: i8) -> (i8, Option<u32>) {
    match decision {
        Decision::Allow(rule) => (reason::ALLOW_RULE, Some(rule)),
        Decision::Disallow(rule) => (reason::DISALLOW_RULE, Some(rule)),
        Decision::Empty(rule) => (reason::EMPTY_RULE, Some(rule)),
        Decision::Implicit => (reason::IMPLICIT, None),
        Decision::NoMatch => (no_match, None),
    }
}

/// Whether each URL of a column is allowed.
pub fn allows(
    py: Python<'_>,
    matcher: &Matcher,
    urls: &Bound<'_, PyAny>,
    threads: usize,
) -> PyResult<Column> {
    let column = import_texts(urls)?;
    let texts = column.texts()?;
    let rules = matcher.compiled(py);
    Ok(py.detach(|| {
        let allowed = answer_rows::<bool>(rules, &texts, threads);
        Column::bools(&allowed, valid_rows(&texts))
    }))
}

/// The decision on each URL of a column, as a struct of `allowed`, `reason` and `line`. `lines` are the
/// lines of the rules; `no_match` is the reason where no rule matches.
pub fn decide(
    py: Python<'_>,
    matcher: &Matcher,
    urls: &Bound<'_, PyAny>,
    threads: usize,
    labels: &Labels,
    no_match: i8,
    lines: &[u32],
) -> PyResult<Column> {
    let column = import_texts(urls)?;
    let texts = column.texts()?;
    let rules = matcher.compiled(py);
    Ok(py.detach(|| {
        let decisions = answer_rows::<Decision>(rules, &texts, threads);
        let valid = valid_rows(&texts);
        let (mut allowed, mut reasons) = (Vec::new(), Vec::new());
        let (mut decided_by, mut has_line) = (Vec::new(), Vec::new());
        for (row, &decision) in decisions.iter().enumerate() {
            let (reason, rule) = reason_and_rule(decision, no_match);
            let is_valid = valid.as_ref().is_none_or(|valid| valid[row]);
            allowed.push(!matches!(decision, Decision::Disallow(_)));
            reasons.push(reason);
            let line = rule.and_then(|rule| lines.get(rule as usize)).filter(|_| is_valid);
            decided_by.push(line.copied().unwrap_or(0));
            has_line.push(line.is_some());
        }
        let length = decisions.len();
        let fields = vec![
            Column::bools(&allowed, valid.clone()).named("allowed"),
            labels.column(reasons, valid.clone()).named("reason"),
            Column::uint32(decided_by, Some(has_line)).named("line"),
        ];
        Column::structs(fields, length, valid)
    }))
}

/// Which rows are not null; `None` if all are.
pub fn valid_rows(texts: &[Texts<'_>]) -> Option<Vec<bool>> {
    if !texts.iter().any(Texts::has_nulls) {
        return None;
    }
    let valid = |texts: &Texts<'_>| (0..texts.length).map(|row| texts.is_valid(row)).collect();
    Some(texts.iter().flat_map(|texts| -> Vec<bool> { valid(texts) }).collect())
}

/// Cuts slots into parts of equal size, and calls `work` for each on a thread of its own, with the number
/// of its first slot.
pub fn in_parts<T: Send>(slots: &mut [T], threads: usize, work: impl Fn(usize, &mut [T]) + Sync) {
    if threads <= 1 || slots.len() < 2 {
        return work(0, slots);
    }
    let size = slots.len().div_ceil(threads);
    std::thread::scope(|scope| {
        let work = &work;
        for (number, part) in slots.chunks_mut(size).enumerate() {
            scope.spawn(move || work(number * size, part));
        }
    });
}

/// The answer on a URL.
trait RowAnswer: Copy + Send + Sync {
    /// The answer for a row that is null, which is not used.
    const NULL: Self;

    /// Calls `take` with the answer for each row.
    fn each<'a>(rules: &RuleSet, rows: impl Iterator<Item = Row<'a>>, take: impl FnMut(Self));
}

impl RowAnswer for bool {
    const NULL: bool = true;

    fn each<'a>(rules: &RuleSet, rows: impl Iterator<Item = Row<'a>>, take: impl FnMut(bool)) {
        rules.allows_rows(rows, take);
    }
}

impl RowAnswer for Decision {
    const NULL: Decision = Decision::NoMatch;

    fn each<'a>(rules: &RuleSet, rows: impl Iterator<Item = Row<'a>>, take: impl FnMut(Decision)) {
        rules.decide_rows(rows, take);
    }
}

/// The answer for each row of a column, computed on several threads.
fn answer_rows<A: RowAnswer>(rules: &RuleSet, texts: &[Texts<'_>], threads: usize) -> Vec<A> {
    let mut answers = Vec::new();
    for texts in texts {
        match texts.as_dictionary() {
            // The values of a dictionary are decided once.
            Some((values, index)) => {
                let decided = answer_rows::<A>(rules, std::slice::from_ref(values), threads);
                let rows = 0..texts.length;
                answers.extend(rows.map(|row| decided.get(index(row)).copied().unwrap_or(A::NULL)));
            }
            None => {
                let first = answers.len();
                answers.resize(first + texts.length, A::NULL);
                let threads = thread_count(threads, texts.length, ROWS_PER_THREAD);
                in_parts(&mut answers[first..], threads, |from, part| {
                    let rows = (from..from + part.len()).map(|row| texts.row(row));
                    let mut places = part.iter_mut();
                    A::each(rules, rows, |answer| {
                        if let Some(place) = places.next() {
                            *place = answer;
                        }
                    });
                });
            }
        }
    }
    answers
}
