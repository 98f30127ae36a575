//! `Matcher`: compiled rules, and a cache of the verdicts that its Python subclass makes.
//!
//! One URL is decided in place; a batch crosses the binding in chunks and releases the interpreter
//! lock (GIL). This module does not make verdicts: it calls the hook `_make_verdict()`, which is
//! described in `_native.pyi`, under "Hooks".

use crate::arrow::NativeColumn;
use crate::columns::{self, Labels};
use crate::{Document, Parsed, Settings};
use pyo3::exceptions::PyTypeError;
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyList, PyString};
use robotrules_core as core;
use std::borrow::Cow;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};

/// A batch of at most this many URLs is decided with the GIL held: about ten microseconds.
const SHORT_BATCH: usize = 128;
/// A URL with more octets is decided with the GIL released if there are many rules: in the worst case
/// every rule is searched in the whole URL.
const LONG_URL: usize = 1024;
/// This many octets times rules take some hundred microseconds in the worst case.
const MAX_GIL_WORK: usize = 1 << 22;
/// The URLs of a batch that cross the binding at once: enough to amortize the cost, and few enough to
/// bound memory.
const CHUNK: usize = 1024;

type Matches<'py> = (Bound<'py, PyBytes>, Vec<(u32, u32)>);

#[pyclass(frozen, subclass, module = "robotrules._engine._native")]
pub struct Matcher {
    // Compiled at the second URL: the first is decided without.
    rules: OnceLock<core::RuleSet>,
    // The document and the groups of the rules, if they were not compiled by the constructor.
    source: Option<(Py<Document>, Vec<u32>)>,
    is_used: AtomicBool,
    // The records of the rules, by number; found at the first verdict that a column needs.
    records: OnceLock<Vec<u32>>,
    // The verdicts of the subclass, by `slot`; each is made once.
    verdicts: Mutex<Vec<Option<Py<PyAny>>>>,
}

#[pymethods]
impl Matcher {
    #[new]
    fn new(source: &Bound<'_, PyAny>, selection: &Bound<'_, PyAny>) -> PyResult<Matcher> {
        let (rules, source_groups) = match source.cast::<Document>() {
            Ok(document) => {
                let groups = selection.extract::<Vec<u32>>()?;
                (OnceLock::new(), Some((document.clone().unbind(), groups)))
            }
            Err(_) => {
                let patterns = selection.extract::<Vec<(Vec<u8>, bool)>>()?;
                let patterns =
                    patterns.iter().map(|(value, allow)| (value.as_slice(), kind(*allow)));
                let rules = core::RuleSet::new(patterns, &source.cast::<Settings>()?.get().0);
                (OnceLock::from(rules), None)
            }
        };
        let (is_used, verdicts) = (AtomicBool::new(false), Mutex::default());
        Ok(Matcher { rules, source: source_groups, is_used, records: OnceLock::new(), verdicts })
    }

    /// Tell whether the rules allow *url*: the hot path.
    fn allows(&self, url: &Bound<'_, PyAny>) -> PyResult<bool> {
        let octets = octets(url)?;
        match self.rules.get().filter(|_| octets.len() <= LONG_URL) {
            Some(rules) => Ok(rules.allows(&octets, &mut Vec::new())),
            None => Ok(!matches!(self.decide_url(url.py(), &octets), core::Decision::Disallow(_))),
        }
    }

    /// Return the verdict for *url*, with its reason and the deciding rule.
    pub fn check<'py>(
        slf: &Bound<'py, Self>,
        url: &Bound<'py, PyAny>,
    ) -> PyResult<Bound<'py, PyAny>> {
        verdict(slf, slf.get().decide_url(url.py(), &octets(url)?))
    }

    /// Return the verdicts for *urls*, with one call into the engine.
    fn check_many<'py>(
        slf: &Bound<'py, Self>,
        urls: &Bound<'py, PyAny>,
    ) -> PyResult<Bound<'py, PyList>> {
        let decisions = slf.get().decide_batch::<core::Decision>(urls)?;
        let verdicts: PyResult<Vec<_>> = decisions.into_iter().map(|d| verdict(slf, d)).collect();
        PyList::new(slf.py(), verdicts?)
    }

    fn decide(&self, url: &Bound<'_, PyAny>) -> PyResult<i64> {
        Ok(decision_number(self.decide_url(url.py(), &octets(url)?)))
    }

    /// Tell whether the rules allow each of *urls*, with one call into the engine.
    fn allows_many<'py>(&self, urls: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyList>> {
        PyList::new(urls.py(), self.decide_batch::<bool>(urls)?)
    }

    fn decide_many<'py>(&self, urls: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyList>> {
        let decisions = self.decide_batch::<core::Decision>(urls)?;
        PyList::new(urls.py(), decisions.into_iter().map(decision_number))
    }

    #[pyo3(signature = (urls, threads))]
    fn allows_column(&self, urls: &Bound<'_, PyAny>, threads: usize) -> PyResult<NativeColumn> {
        Ok(columns::allows(urls.py(), self, urls, threads)?.into())
    }

    #[pyo3(signature = (urls, threads, labels, no_match, lines = None))]
    fn decide_column(
        &self,
        urls: &Bound<'_, PyAny>,
        threads: usize,
        labels: Vec<(String, Option<bool>)>,
        no_match: i8,
        lines: Option<Vec<u32>>,
    ) -> PyResult<NativeColumn> {
        let (py, labels) = (urls.py(), Labels::new(labels));
        let lines = lines.unwrap_or_else(|| self.lines());
        Ok(columns::decide(py, self, urls, threads, &labels, no_match, &lines)?.into())
    }

    fn tied(&self, url: &Bound<'_, PyAny>) -> PyResult<Vec<u32>> {
        Ok(self.with_compiled(url.py(), &octets(url)?, |rules, url| rules.tied_rules(url)))
    }

    fn find_matches<'py>(&self, url: &Bound<'py, PyAny>) -> PyResult<Matches<'py>> {
        let (path, found) =
            self.with_compiled(url.py(), &octets(url)?, |rules, url| rules.matches(url));
        Ok((PyBytes::new(url.py(), &path), found))
    }

    fn count_usable(&self, py: Python<'_>) -> usize {
        let source = self.source.as_ref().filter(|_| self.rules.get().is_none());
        let count = source.and_then(|(document, groups)| document.get().0.count_usable(groups));
        count.unwrap_or_else(|| self.compiled(py).len())
    }
}

impl Matcher {
    /// Decides a URL.
    #[inline]
    fn decide_url(&self, py: Python<'_>, url: &[u8]) -> core::Decision {
        match self.rules.get().filter(|_| url.len() <= LONG_URL) {
            Some(rules) => rules.decide(url, &mut Vec::new()),
            None => self.decide_slowly(py, url),
        }
    }

    /// Decides the first URL, and long URLs.
    #[cold]
    fn decide_slowly(&self, py: Python<'_>, url: &[u8]) -> core::Decision {
        let first = self.rules.get().is_none() && !self.is_used.swap(true, Ordering::Relaxed);
        let source = self.source.as_ref().filter(|_| first && url.len() <= LONG_URL);
        let once = source.and_then(|(document, groups)| document.get().decide_once(groups, url));
        once.unwrap_or_else(|| {
            self.with_compiled(py, url, |rules, url| rules.decide(url, &mut Vec::new()))
        })
    }

    /// Applies `query` to the compiled rules, with the GIL released if that can take long.
    fn with_compiled<T: Send>(
        &self,
        py: Python<'_>,
        url: &[u8],
        query: impl FnOnce(&core::RuleSet, &[u8]) -> T + Send,
    ) -> T {
        let rules = self.compiled(py);
        match url.len().saturating_mul(rules.len()) > MAX_GIL_WORK {
            true => py.detach(|| query(rules, url)),
            false => query(rules, url),
        }
    }

    /// The lines of the rules; empty without a document.
    fn lines(&self) -> Vec<u32> {
        self.records().iter().enumerate().map(|(rule, _)| self.line(rule as u32)).collect()
    }

    fn line(&self, rule: u32) -> u32 {
        self.record(rule).map_or(0, |(_, record)| record.line)
    }

    /// The numbers of the records of the rules; empty without a document.
    fn records(&self) -> &[u32] {
        self.records.get_or_init(|| {
            self.source().map_or(vec![], |(document, groups)| document.0.rules(groups))
        })
    }

    /// The record of a rule, and its document.
    pub(crate) fn record(&self, rule: u32) -> Option<(&Parsed, &core::records::Record)> {
        let document = &self.source()?.0 .0;
        let number = *self.records().get(rule as usize)?;
        Some((document, document.records().get(number as usize)?))
    }

    /// The document of the rules and their groups, if they were not compiled from patterns.
    pub(crate) fn source(&self) -> Option<(&Document, &[u32])> {
        self.source.as_ref().map(|(document, groups)| (document.get(), groups.as_slice()))
    }

    pub fn compiled(&self, py: Python<'_>) -> &core::RuleSet {
        if let Some(rules) = self.rules.get() {
            return rules;
        }
        // Not inside the cell: it would block a thread that holds the GIL, which this one needs.
        let compiled = match &self.source {
            Some((document, groups)) => {
                document.get().detached(py, |document| document.compile(groups))
            }
            None => core::RuleSet::default(),
        };
        self.rules.get_or_init(|| compiled)
    }

    fn lock_verdicts(&self) -> MutexGuard<'_, Vec<Option<Py<PyAny>>>> {
        self.verdicts.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Decides a batch in chunks.
    fn decide_batch<A: Answer>(&self, urls: &Bound<'_, PyAny>) -> PyResult<Vec<A>> {
        if urls.is_instance_of::<PyString>() || urls.is_instance_of::<PyBytes>() {
            let message =
                "many URLs are a list or another iterable, not one str or bytes; pass [url]";
            return Err(PyTypeError::new_err(message));
        }
        let (py, mut answers) = (urls.py(), Vec::new());
        if let Ok(list) = urls.cast::<PyList>() {
            if list.len() <= CHUNK {
                self.decide_chunk(list, &mut answers)?;
                return Ok(answers);
            }
            for from in (0..list.len()).step_by(CHUNK) {
                self.decide_chunk(&list.get_slice(from, from + CHUNK), &mut answers)?;
            }
            return Ok(answers);
        }
        let mut urls = urls.try_iter()?;
        loop {
            let some: Vec<_> = urls.by_ref().take(CHUNK).collect::<PyResult<_>>()?;
            if some.is_empty() {
                return Ok(answers);
            }
            self.decide_chunk(&PyList::new(py, some)?, &mut answers)?;
        }
    }

    /// Decides a chunk of URLs; a long chunk releases the GIL.
    fn decide_chunk<A: Answer>(
        &self,
        urls: &Bound<'_, PyList>,
        answers: &mut Vec<A>,
    ) -> PyResult<()> {
        let (py, known, count) = (urls.py(), answers.len(), urls.len());
        let rules = self.compiled(py);
        answers.reserve(count);
        if count > SHORT_BATCH {
            let (joined, copied) = match join_text(urls) {
                Some(text) => (Some(text), vec![]),
                None => (None, join_octets(urls, known)?),
            };
            let lines = joined.as_ref().and_then(|text| text.to_str().ok()).map(str::as_bytes);
            let lines = lines.unwrap_or(&copied);
            py.detach(|| A::push_lines(rules, lines, answers));
            if answers.len() == known + count {
                return Ok(());
            }
            answers.truncate(known); // a URL with a newline was read as two lines
        }
        rules.expect_checks(count);
        let mut scratch = Vec::new();
        for (number, url) in urls.iter().enumerate() {
            let octets = octets_at(&url, known + number)?;
            answers.push(match octets.len() <= LONG_URL {
                true => A::decide(rules, &octets, &mut scratch),
                false => {
                    self.with_compiled(py, &octets, |rules, url| A::decide(rules, url, &mut vec![]))
                }
            });
        }
        Ok(())
    }
}

/// The type of the answers of a batch.
trait Answer: Send + Sized {
    /// Adds the answer for each line.
    fn push_lines(rules: &core::RuleSet, lines: &[u8], answers: &mut Vec<Self>);

    /// The answer for one URL.
    fn decide(rules: &core::RuleSet, url: &[u8], scratch: &mut Vec<u8>) -> Self;
}

impl Answer for bool {
    fn push_lines(rules: &core::RuleSet, lines: &[u8], answers: &mut Vec<bool>) {
        rules.allows_lines(lines, answers);
    }

    fn decide(rules: &core::RuleSet, url: &[u8], scratch: &mut Vec<u8>) -> bool {
        rules.allows(url, scratch)
    }
}

impl Answer for core::Decision {
    fn push_lines(rules: &core::RuleSet, lines: &[u8], answers: &mut Vec<core::Decision>) {
        rules.decide_lines(lines, answers);
    }

    fn decide(rules: &core::RuleSet, url: &[u8], scratch: &mut Vec<u8>) -> core::Decision {
        rules.decide(url, scratch)
    }
}

/// Joins URLs that are all `str` with newlines: the fastest way to read many of them.
fn join_text<'py>(urls: &Bound<'py, PyList>) -> Option<Bound<'py, PyString>> {
    urls.get_item(0).ok()?.cast::<PyString>().ok()?;
    let newline = intern!(urls.py(), "\n");
    let text = newline.call_method1(intern!(urls.py(), "join"), (urls,)).ok()?;
    let text = text.cast_into::<PyString>().ok()?;
    text.to_str().is_ok().then_some(text)
}

/// Joins the octets of URLs of any type with newlines; `before` is the number of the first URL.
fn join_octets(urls: &Bound<'_, PyList>, before: usize) -> PyResult<Vec<u8>> {
    let mut lines = Vec::new();
    for (number, url) in urls.iter().enumerate() {
        lines.extend((number > 0).then_some(b'\n'));
        lines.extend_from_slice(&octets_at(&url, before + number)?);
    }
    Ok(lines)
}

pub fn kind(allow: bool) -> core::Kind {
    match allow {
        true => core::Kind::Allow,
        false => core::Kind::Disallow,
    }
}

/// A decision as a number: the rule, with its outcome in the two lowest bits; negative without a rule.
fn decision_number(decision: core::Decision) -> i64 {
    match decision {
        core::Decision::Disallow(rule) => i64::from(rule) << 2,
        core::Decision::Allow(rule) => i64::from(rule) << 2 | 1,
        core::Decision::Empty(rule) => i64::from(rule) << 2 | 3,
        core::Decision::NoMatch => -1,
        core::Decision::Implicit => -2,
    }
}

/// The verdict on a decision, from the cache or from the hook of the subclass.
fn verdict<'py>(
    slf: &Bound<'py, Matcher>,
    decision: core::Decision,
) -> PyResult<Bound<'py, PyAny>> {
    let (matcher, slot) = (slf.get(), slot(decision));
    if let Some(Some(known)) = matcher.lock_verdicts().get(slot) {
        return Ok(known.bind(slf.py()).clone());
    }
    // Made without the mutex, because Python code runs. Of two threads the first verdict is kept.
    let new = slf.call_method1(intern!(slf.py(), "_make_verdict"), (decision_number(decision),))?;
    let mut verdicts = matcher.lock_verdicts();
    if verdicts.len() <= slot {
        verdicts.resize_with(slot + 1, || None);
    }
    Ok(verdicts[slot].get_or_insert(new.unbind()).bind(slf.py()).clone())
}

/// The slot of a decision in the cache of verdicts.
fn slot(decision: core::Decision) -> usize {
    match decision {
        core::Decision::NoMatch => 0,
        core::Decision::Implicit => 1,
        core::Decision::Disallow(rule)
        | core::Decision::Allow(rule)
        | core::Decision::Empty(rule) => rule as usize + 2,
    }
}

/// The octets of a `str` or `bytes`.
#[inline(always)]
pub fn octets<'a>(url: &'a Bound<'_, PyAny>) -> PyResult<Cow<'a, [u8]>> {
    match url.cast::<PyString>().map(|text| text.to_str()) {
        Ok(Ok(text)) => Ok(Cow::Borrowed(text.as_bytes())),
        _ => octets_of_other(url),
    }
}

/// The octets of a URL in a batch; an error names its position.
#[inline(always)]
fn octets_at<'a>(url: &'a Bound<'_, PyAny>, position: usize) -> PyResult<Cow<'a, [u8]>> {
    octets(url).map_err(|error| {
        PyTypeError::new_err(format!("urls[{position}]: {}", error.value(url.py())))
    })
}

#[cold]
#[inline(never)]
fn octets_of_other<'a>(url: &'a Bound<'_, PyAny>) -> PyResult<Cow<'a, [u8]>> {
    if let Ok(bytes) = url.cast::<PyBytes>() {
        return Ok(Cow::Borrowed(bytes.as_bytes()));
    }
    if let Ok(text) = url.cast::<PyString>() {
        // Lone surrogates: those of "surrogateescape" are octets again, others are encoded as they are.
        for errors in ["surrogateescape", "surrogatepass"] {
            if let Ok(encoded) = text.call_method1("encode", ("utf-8", errors)) {
                return Ok(Cow::Owned(encoded.cast_into::<PyBytes>()?.as_bytes().to_vec()));
            }
        }
    }
    // The message is in Python, so that both engines and the clients share it.
    let module = url.py().import("robotrules._engine.url_type")?;
    Err(PyErr::from_value(module.call_method1("url_type_error", (url,))?))
}
