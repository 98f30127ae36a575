//! `RuleTable`: rule sets by the number of a state, for a join of URLs with the states of their origins.
//!
//! A batch of rows is decided in blocks: a block's rows are ordered by state, so that a rule set is used for
//! many URLs while it is in the cache of the processor, and its URLs are still there too. This module does
//! not choose rule sets: the caller sets those that `missing()` lists.

use crate::arrow::{import_numbers, import_texts, thread_count};
use crate::arrow::{pack_bits, Column, NativeColumn, Texts, Validity};
use crate::columns::{in_parts, reason, reason_and_rule, Labels};
use crate::matcher::Matcher;
use crate::origins::{MISSING, NO_ORIGIN, NULL};
use pyo3::exceptions::{PyKeyError, PyTypeError, PyValueError};
use pyo3::prelude::*;
use robotrules_core::{Decision, RuleSet};
use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// A thread gets at least this many rows.
const ROWS_PER_THREAD: usize = 16 * 1024;
/// The rows of a block: their URLs fit into the cache of a core.
const BLOCK: usize = 16 * 1024;
/// With fewer rows than this for each state, all rows of a thread are one block.
const ROWS_PER_STATE: usize = 64;
/// From this many rows of one state on, a batch pays for its tables (`prefilter.rs`).
const MIN_BATCH: usize = 64;
/// No text of a rule.
const NO_TEXT: i32 = -1;

/// What is known about a state.
enum Rules {
    Matcher(Py<Matcher>),
    /// The reason for all URLs.
    Constant(i8),
}

struct Slot {
    rules: Rules,
    size: usize,
    /// The number of the last call that used it.
    used: u64,
}

#[derive(Default)]
struct Slots {
    by_state: Vec<Option<Box<Slot>>>,
    size: usize,
    calls: u64,
}

/// Rule sets by state: see `_native.pyi`.
#[pyclass(frozen, module = "robotrules._engine._native")]
pub struct RuleTable {
    labels: Labels,
    slots: Mutex<Slots>,
}

/// The answer for a row.
#[derive(Clone, Copy)]
struct Answer {
    /// Negative for a null.
    reason: i8,
    has_line: bool,
    line: u32,
    /// The position of the rule's text among those of its thread.
    text: i32,
}

const NULL_ANSWER: Answer = Answer { reason: -1, has_line: false, line: 0, text: NO_TEXT };

#[pymethods]
impl RuleTable {
    #[new]
    fn new(labels: Vec<(String, Option<bool>)>) -> PyResult<RuleTable> {
        let labels = Labels::new(labels);
        match labels.has(reason::MISSING) {
            true => Ok(RuleTable { labels, slots: Mutex::default() }),
            false => Err(PyValueError::new_err("labels are those of all reasons, and 'missing'")),
        }
    }

    fn missing(&self, py: Python<'_>, states: &Bound<'_, PyAny>) -> PyResult<Vec<u32>> {
        let states = import_numbers::<u32>(states, NULL)?;
        Ok(py.detach(|| self.lock().missing(&states)))
    }

    fn set(&self, state: u32, rules: &Bound<'_, PyAny>, size: usize) -> PyResult<()> {
        if state >= NULL {
            return Err(PyValueError::new_err(format!("{state} is not the number of a state")));
        }
        let rules = match rules.cast::<Matcher>() {
            Ok(matcher) if matcher.get().source().is_none() => {
                let message = "rules without a file have no lines: pass those of a RobotsTxt";
                return Err(PyTypeError::new_err(message));
            }
            Ok(matcher) => {
                matcher.get().compiled(matcher.py());
                Rules::Matcher(matcher.clone().unbind())
            }
            Err(_) => {
                let reason = rules.extract::<i8>().ok().filter(|&reason| self.labels.has(reason));
                let message = "rules are a RuleSet or the number of a reason";
                Rules::Constant(reason.ok_or_else(|| PyTypeError::new_err(message))?)
            }
        };
        let mut slots = self.lock();
        let at = state as usize;
        if slots.by_state.len() <= at {
            slots.by_state.resize_with(at + 1, || None);
        }
        let used = slots.calls;
        let old = slots.by_state[at].replace(Box::new(Slot { rules, size, used }));
        slots.size = slots.size + size - old.as_ref().map_or(0, |old| old.size);
        drop(slots); // before the old rules, which may call Python
        drop(old);
        Ok(())
    }

    fn evict(&self, max_bytes: usize) -> usize {
        let dropped = self.lock().evict(max_bytes);
        dropped.len()
    }

    #[getter]
    fn size(&self) -> usize {
        self.lock().size
    }

    fn decide(
        &self,
        urls: &Bound<'_, PyAny>,
        states: &Bound<'_, PyAny>,
        threads: usize,
    ) -> PyResult<NativeColumn> {
        let py = urls.py();
        let (column, states) = (import_texts(urls)?, import_numbers::<u32>(states, NULL)?);
        let texts = column.texts()?;
        if states.len() != column.length {
            return Err(PyValueError::new_err("the columns of URLs and states differ in length"));
        }
        let (numbers, owned) = self.collect(py, &states)?;
        let batch: Vec<_> = owned.iter().map(|rules| BatchRules::new(py, rules)).collect();
        Ok(py
            .detach(|| {
                let mut answers = vec![NULL_ANSWER; states.len()];
                let (mut names, mut first) = (RuleTexts::default(), 0);
                for texts in &texts {
                    let range = first..first + texts.length;
                    let join = Join {
                        texts,
                        states: &states[range.clone()],
                        numbers: &numbers,
                        batch: &batch,
                    };
                    join.run(&mut answers[range.clone()], threads, &mut names);
                    first = range.end;
                }
                make_columns(
                    &answers,
                    &self.labels,
                    names,
                    thread_count(threads, answers.len(), ROWS_PER_THREAD),
                )
            })
            .into())
    }
}

impl RuleTable {
    fn lock(&self) -> MutexGuard<'_, Slots> {
        self.slots.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The rules of all states of a batch, and their numbers by state.
    fn collect(&self, py: Python<'_>, states: &[u32]) -> PyResult<(Vec<u32>, Vec<Rules>)> {
        let mut slots = self.lock();
        slots.calls += 1;
        let calls = slots.calls;
        let (mut numbers, mut rules) = (vec![NULL; slots.by_state.len()], vec![]);
        for &state in states.iter().filter(|&&state| state < NULL) {
            let at = state as usize;
            if numbers.get(at).is_some_and(|&number| number != NULL) {
                continue;
            }
            let Some(Some(slot)) = slots.by_state.get_mut(at) else {
                let message = format!("there are no rules for state {state}: see missing()");
                return Err(PyKeyError::new_err(message));
            };
            slot.used = calls;
            numbers[at] = rules.len() as u32;
            rules.push(match &slot.rules {
                Rules::Matcher(matcher) => Rules::Matcher(matcher.clone_ref(py)),
                Rules::Constant(reason) => Rules::Constant(*reason),
            });
        }
        Ok((numbers, rules))
    }
}

impl Slots {
    /// The states without rules; those with rules are marked as used.
    fn missing(&mut self, states: &[u32]) -> Vec<u32> {
        self.calls += 1;
        let (calls, mut missing) = (self.calls, vec![]);
        let mut seen = std::collections::HashSet::new();
        for &state in states.iter().filter(|&&state| state < NULL) {
            match self.by_state.get_mut(state as usize) {
                Some(Some(slot)) => slot.used = calls,
                _ if seen.insert(state) => missing.push(state),
                _ => {}
            }
        }
        missing
    }

    /// Removes the rules that were not used for the longest time, until the rest fits.
    fn evict(&mut self, max_bytes: usize) -> Vec<Slot> {
        if self.size <= max_bytes {
            return vec![];
        }
        let slots = self.by_state.iter().enumerate();
        let mut by_age: Vec<_> =
            slots.filter_map(|(at, slot)| Some((slot.as_ref()?.used, at))).collect();
        by_age.sort_unstable();
        let mut dropped = vec![];
        for (_, at) in by_age {
            if self.size <= max_bytes {
                break;
            }
            if let Some(slot) = self.by_state[at].take() {
                self.size -= slot.size;
                dropped.push(*slot);
            }
        }
        dropped
    }
}

/// The rules of a state, for one batch.
enum BatchRules<'a> {
    Set { rules: &'a RuleSet, matcher: &'a Matcher, no_match: i8 },
    Constant(i8),
}

impl<'a> BatchRules<'a> {
    fn new(py: Python<'_>, rules: &'a Rules) -> BatchRules<'a> {
        match rules {
            Rules::Constant(reason) => BatchRules::Constant(*reason),
            Rules::Matcher(matcher) => {
                let matcher = matcher.get();
                let rules = matcher.compiled(py);
                let no_groups = matcher.source().is_none_or(|(_, groups)| groups.is_empty());
                let no_match = match (rules.is_empty(), no_groups) {
                    (false, _) => reason::NO_MATCH,
                    (true, false) => reason::NO_RULES,
                    (true, true) => reason::NO_GROUP,
                };
                BatchRules::Set { rules, matcher, no_match }
            }
        }
    }
}

/// The texts of rules, each once.
#[derive(Default)]
struct RuleTexts {
    text: Vec<u8>,
    ends: Vec<usize>,
    numbers: HashMap<Vec<u8>, i32>,
}

impl RuleTexts {
    fn add(&mut self, text: Vec<u8>) -> i32 {
        let next = self.ends.len() as i32;
        *self.numbers.entry(text).or_insert_with_key(|text| {
            self.text.extend(text);
            self.ends.push(self.text.len());
            next
        })
    }

    fn get(&self, number: usize) -> &[u8] {
        let start = number.checked_sub(1).map_or(0, |before| self.ends[before]);
        &self.text[start..self.ends[number]]
    }
}

/// What a thread keeps between blocks.
struct Worker {
    names: RuleTexts,
    // The positions of the texts of rules, by the number of a state and that of a rule.
    known: HashMap<(u32, u32), i32>,
    counts: Vec<u32>,
    order: Vec<u32>,
}

/// A chunk of URLs with their states.
struct Join<'a> {
    texts: &'a Texts<'a>,
    states: &'a [u32],
    /// The number of the rules of a state.
    numbers: &'a [u32],
    batch: &'a [BatchRules<'a>],
}

impl Join<'_> {
    fn run(&self, answers: &mut [Answer], threads: usize, names: &mut RuleTexts) {
        let threads = thread_count(threads, answers.len(), ROWS_PER_THREAD);
        let size = answers.len().div_ceil(threads).max(1);
        let found: Mutex<Vec<(usize, RuleTexts)>> = Mutex::default();
        in_parts(answers, threads, |first, part| {
            // With few rows for each state, loading its rules costs more than loading URLs.
            let size = match part.len() < ROWS_PER_STATE * self.batch.len() {
                true => part.len().max(1),
                false => BLOCK,
            };
            let mut worker = Worker {
                names: RuleTexts::default(),
                known: HashMap::new(),
                counts: vec![0; self.batch.len()],
                order: vec![0; size],
            };
            for (number, block) in part.chunks_mut(size).enumerate() {
                self.decide_block(first + number * size, block, &mut worker);
            }
            found.lock().unwrap_or_else(PoisonError::into_inner).push((first, worker.names));
        });
        let mut found = found.into_inner().unwrap_or_else(PoisonError::into_inner);
        found.sort_unstable_by_key(|(first, _)| *first);
        for (first, texts) in found {
            let map: Vec<i32> =
                (0..texts.ends.len()).map(|number| names.add(texts.get(number).to_vec())).collect();
            let end = answers.len().min(first + size);
            for answer in answers[first..end].iter_mut().filter(|answer| answer.text != NO_TEXT) {
                answer.text = map[answer.text as usize];
            }
        }
    }

    /// Decides the rows of a block, ordered by state.
    fn decide_block(&self, first: usize, answers: &mut [Answer], worker: &mut Worker) {
        let states = &self.states[first..first + answers.len()];
        self.texts.load(first..first + answers.len());
        let number = |state: u32| self.numbers.get(state as usize).copied().unwrap_or(NULL);
        // A null has no state.
        let state_of = |row: usize| match self.texts.is_valid(first + row) {
            true => states[row],
            false => NULL,
        };
        let mut used = vec![];
        for (row, answer) in answers.iter_mut().enumerate() {
            match state_of(row) {
                NO_ORIGIN => *answer = constant(reason::NO_ORIGIN),
                MISSING => *answer = constant(reason::MISSING),
                NULL => {}
                state => {
                    let number = number(state);
                    if worker.counts[number as usize] == 0 {
                        used.push(number);
                    }
                    worker.counts[number as usize] += 1;
                }
            }
        }
        // Counting sort: where the rows of each state start, then each row at its place.
        let mut start = 0;
        for &number in &used {
            let count = std::mem::replace(&mut worker.counts[number as usize], start);
            start += count;
        }
        for row in (0..states.len()).filter(|&row| state_of(row) < NULL) {
            let place = &mut worker.counts[number(states[row]) as usize];
            worker.order[*place as usize] = row as u32;
            *place += 1;
        }
        let order = std::mem::take(&mut worker.order);
        let mut start = 0;
        for &number in &used {
            let end = worker.counts[number as usize] as usize;
            worker.counts[number as usize] = 0;
            self.decide_group(number, first, &order[start..end], answers, worker);
            start = end;
        }
        worker.order = order;
    }

    /// Decides rows of one state.
    fn decide_group(
        &self,
        number: u32,
        first: usize,
        rows: &[u32],
        answers: &mut [Answer],
        worker: &mut Worker,
    ) {
        let (rules, matcher, no_match) = match self.batch[number as usize] {
            BatchRules::Set { rules, matcher, no_match } => (rules, matcher, no_match),
            BatchRules::Constant(reason) => {
                for &row in rows {
                    answers[row as usize] = constant(reason);
                }
                return;
            }
        };
        // One rule often decides most URLs of a site.
        let mut last = (None, (0, NO_TEXT));
        let mut take = |row: u32, decision: Decision| {
            let (reason, rule) = reason_and_rule(decision, no_match);
            if rule != last.0 {
                let found = rule.map(|rule| worker.rule(number, matcher, rule));
                last = (rule, found.unwrap_or((0, NO_TEXT)));
            }
            let (line, text) = last.1;
            answers[row as usize] = Answer { reason, has_line: rule.is_some(), line, text };
        };
        let mut places = rows.iter();
        let take = |decision| {
            if let Some(&row) = places.next() {
                take(row, decision);
            }
        };
        let urls = rows.iter().map(|&row| self.texts.row(first + row as usize));
        match rows.len() < MIN_BATCH {
            true => rules.decide_few_rows(urls, take),
            false => rules.decide_rows(urls, take),
        }
    }
}

impl Worker {
    /// Line and text of a rule.
    fn rule(&mut self, number: u32, matcher: &Matcher, rule: u32) -> (u32, i32) {
        let Some((document, record)) = matcher.record(rule) else { return (0, NO_TEXT) };
        let text = *self.known.entry((number, rule)).or_insert_with(|| {
            let allows = record.key == document.settings().allow;
            let key = if allows { "Allow" } else { "Disallow" };
            let value = readable(record.value(document.body()));
            self.names.add(format!("{key}: {value}").trim_end().as_bytes().to_vec())
        });
        (record.line, text)
    }
}

/// Octets as text, as `octets.to_text()` of the package: those that are not UTF-8 are written `\\xff`.
pub fn readable(octets: &[u8]) -> String {
    let mut text = String::with_capacity(octets.len());
    for chunk in octets.utf8_chunks() {
        text.push_str(chunk.valid());
        for octet in chunk.invalid() {
            text.push_str(&format!("\\x{octet:02x}"));
        }
    }
    text
}

fn constant(reason: i8) -> Answer {
    Answer { reason, ..NULL_ANSWER }
}

/// The columns `allowed`, `reason`, `line` and `rule` as a struct.
fn make_columns(answers: &[Answer], labels: &Labels, names: RuleTexts, threads: usize) -> Column {
    // By reason, which is negative for a null: whether it allows, and whether that is known.
    let mut allowed = [(false, false); 256];
    for reason in 0..=i8::MAX {
        let known = labels.allowed(reason);
        allowed[usize::from(reason as u8)] = (known == Some(true), known.is_some());
    }
    let allowed = |answer: &Answer| allowed[usize::from(answer.reason as u8)];
    let output = Output { answers, threads };
    let valid = output.validity(|answer| answer.reason >= 0);
    let by_rule = output.validity(|answer| answer.has_line);
    let known = output.validity(|answer| allowed(answer).1);
    let is_allowed = output.bits(|answer| allowed(answer).0);
    let texts = Column::strings(names.text, &names.ends, Validity::default());
    let fields = vec![
        Column::bits(is_allowed, answers.len(), known).named("allowed"),
        labels.column(output.values(|answer| answer.reason.max(0)), valid.clone()).named("reason"),
        Column::uint32(output.values(|answer| answer.line), by_rule.clone()).named("line"),
        Column::dictionary(output.values(|answer| answer.text.max(0)), by_rule, texts)
            .named("rule"),
    ];
    Column::structs(fields, answers.len(), valid)
}

/// The answers of a batch, which become columns on several threads.
struct Output<'a> {
    answers: &'a [Answer],
    threads: usize,
}

impl Output<'_> {
    /// A value for each answer.
    fn values<T: Clone + Default + Send>(&self, value: impl Fn(&Answer) -> T + Sync) -> Vec<T> {
        let mut values = vec![T::default(); self.answers.len()];
        in_parts(&mut values, self.threads, |first, part| {
            for (place, answer) in part.iter_mut().zip(&self.answers[first..]) {
                *place = value(answer);
            }
        });
        values
    }

    /// A bit for each answer.
    fn bits(&self, bit: impl Fn(&Answer) -> bool + Sync) -> Vec<u8> {
        let mut bits = vec![0; self.answers.len().div_ceil(8)];
        in_parts(&mut bits, self.threads, |first, part| {
            let end = self.answers.len().min((first + part.len()) * 8);
            part.copy_from_slice(&pack_bits(&self.answers[first * 8..end], &bit));
        });
        bits
    }

    fn validity(&self, is_valid: impl Fn(&Answer) -> bool + Sync) -> Validity {
        Validity::from_bits(self.bits(is_valid), self.answers.len())
    }
}
