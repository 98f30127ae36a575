//! Compiled rules, and what a subclass makes of their answers.

use crate::{Document, Settings};
use pyo3::exceptions::PyTypeError;
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyList, PyString};
use robotrules_core as core;
use std::borrow::Cow;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};

/// A batch of at most this many is decided in place: some ten microseconds with the lock held.
const SHORT: usize = 128;
/// A URL of more octets is decided with the interpreter lock released if there are many rules: at
/// worst each is searched for in all of it.
const LONG: usize = 1024;
/// So many octets times rules take some hundred microseconds at worst.
const MUCH: usize = 1 << 22;
/// URLs of a batch that cross at once: enough to forget the crossing, little enough to stay small.
const CHUNK: usize = 1024;

type Matches<'py> = (Bound<'py, PyBytes>, Vec<(u32, u32)>);

#[pyclass(frozen, subclass, module = "robotrules._engine._native")]
pub struct Matcher {
    // Compiled when a second question comes: the first is answered without.
    rules: OnceLock<core::RuleSet>,
    // Where they are written, if not compiled from the start.
    written: Option<(Py<Document>, Vec<u32>)>,
    asked: AtomicBool,
    // What a subclass makes of an answer, by `slot`; made once.
    verdicts: Mutex<Vec<Option<Py<PyAny>>>>,
}

#[pymethods]
impl Matcher {
    #[new]
    fn new(of: &Bound<'_, PyAny>, which: &Bound<'_, PyAny>) -> PyResult<Matcher> {
        let (rules, written) = match of.cast::<Document>() {
            Ok(document) => {
                let groups = which.extract::<Vec<u32>>()?;
                (OnceLock::new(), Some((document.clone().unbind(), groups)))
            }
            Err(_) => {
                let patterns = which.extract::<Vec<(Vec<u8>, bool)>>()?;
                let patterns =
                    patterns.iter().map(|(value, allow)| (value.as_slice(), kind(*allow)));
                let rules = core::RuleSet::new(patterns, &of.cast::<Settings>()?.get().0);
                (OnceLock::from(rules), None)
            }
        };
        let (asked, verdicts) = (AtomicBool::new(false), Mutex::default());
        Ok(Matcher { rules, written, asked, verdicts })
    }

    /// Tell whether the rules allow *url*: the hot path.
    fn allows(&self, url: &Bound<'_, PyAny>) -> PyResult<bool> {
        let octets = octets(url)?;
        match self.rules.get().filter(|_| octets.len() <= LONG) {
            Some(rules) => Ok(rules.allows(&octets, &mut Vec::new())),
            None => Ok(!matches!(self.ask(url.py(), &octets), core::Decision::Disallow(_))),
        }
    }

    /// Return the verdict for *url*, with its reason and the deciding rule.
    pub fn check<'py>(
        slf: &Bound<'py, Self>,
        url: &Bound<'py, PyAny>,
    ) -> PyResult<Bound<'py, PyAny>> {
        verdict(slf, slf.get().ask(url.py(), &octets(url)?))
    }

    /// Return the verdicts for many URLs with one crossing into the engine.
    fn check_many<'py>(
        slf: &Bound<'py, Self>,
        urls: &Bound<'py, PyAny>,
    ) -> PyResult<Bound<'py, PyList>> {
        let decisions = slf.get().many::<core::Decision>(urls)?;
        let verdicts: PyResult<Vec<_>> = decisions.into_iter().map(|d| verdict(slf, d)).collect();
        PyList::new(slf.py(), verdicts?)
    }

    fn decide(&self, url: &Bound<'_, PyAny>) -> PyResult<i64> {
        Ok(number(self.ask(url.py(), &octets(url)?)))
    }

    /// Tell it for many URLs with one crossing into the engine.
    fn allows_many<'py>(&self, urls: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyList>> {
        PyList::new(urls.py(), self.many::<bool>(urls)?)
    }

    fn decide_many<'py>(&self, urls: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyList>> {
        let decisions = self.many::<core::Decision>(urls)?;
        PyList::new(urls.py(), decisions.into_iter().map(number))
    }

    fn tied(&self, url: &Bound<'_, PyAny>) -> PyResult<Vec<u32>> {
        Ok(self.asking(url.py(), &octets(url)?, |rules, url| rules.best(url)))
    }

    fn found<'py>(&self, url: &Bound<'py, PyAny>) -> PyResult<Matches<'py>> {
        let (path, found) = self.asking(url.py(), &octets(url)?, |rules, url| rules.matches(url));
        Ok((PyBytes::new(url.py(), &path), found))
    }

    fn usable(&self, py: Python<'_>) -> usize {
        let written = self.written.as_ref().filter(|_| self.rules.get().is_none());
        let usable = written.and_then(|(document, groups)| document.get().0.usable(groups));
        usable.unwrap_or_else(|| self.compiled(py).len())
    }
}

impl Matcher {
    /// What decides about a URL.
    #[inline]
    fn ask(&self, py: Python<'_>, url: &[u8]) -> core::Decision {
        match self.rules.get().filter(|_| url.len() <= LONG) {
            Some(rules) => rules.decide(url, &mut Vec::new()),
            None => self.ask_slowly(py, url),
        }
    }

    /// The same for the first question, and for long URLs.
    #[cold]
    fn ask_slowly(&self, py: Python<'_>, url: &[u8]) -> core::Decision {
        let first = self.rules.get().is_none() && !self.asked.swap(true, Ordering::Relaxed);
        let written = self.written.as_ref().filter(|_| first && url.len() <= LONG);
        let once = written.and_then(|(document, groups)| document.get().decide_once(groups, url));
        once.unwrap_or_else(|| {
            self.asking(py, url, |rules, url| rules.decide(url, &mut Vec::new()))
        })
    }

    /// Asks compiled rules about a URL; others may run meanwhile if that can take long.
    fn asking<T: Send>(
        &self,
        py: Python<'_>,
        url: &[u8],
        ask: impl FnOnce(&core::RuleSet, &[u8]) -> T + Send,
    ) -> T {
        let rules = self.compiled(py);
        match url.len().saturating_mul(rules.len()) > MUCH {
            true => py.detach(|| ask(rules, url)),
            false => ask(rules, url),
        }
    }

    fn compiled(&self, py: Python<'_>) -> &core::RuleSet {
        if let Some(rules) = self.rules.get() {
            return rules;
        }
        // Not within the cell, which would wait for a thread that waits for the interpreter lock.
        let made = match &self.written {
            Some((document, groups)) => {
                document.get().detached(py, |document| document.compile(groups))
            }
            None => core::RuleSet::default(),
        };
        self.rules.get_or_init(|| made)
    }

    fn made(&self) -> MutexGuard<'_, Vec<Option<Py<PyAny>>>> {
        self.verdicts.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Runs a batch in chunks.
    fn many<A: Answer>(&self, urls: &Bound<'_, PyAny>) -> PyResult<Vec<A>> {
        if urls.is_instance_of::<PyString>() || urls.is_instance_of::<PyBytes>() {
            let message =
                "many URLs are a list or another iterable, not one str or bytes; pass [url]";
            return Err(PyTypeError::new_err(message));
        }
        let (py, mut answers) = (urls.py(), Vec::new());
        if let Ok(list) = urls.cast::<PyList>() {
            if list.len() <= CHUNK {
                self.chunk(list, &mut answers)?;
                return Ok(answers);
            }
            for from in (0..list.len()).step_by(CHUNK) {
                self.chunk(&list.get_slice(from, from + CHUNK), &mut answers)?;
            }
            return Ok(answers);
        }
        let mut urls = urls.try_iter()?;
        loop {
            let some: Vec<_> = urls.by_ref().take(CHUNK).collect::<PyResult<_>>()?;
            if some.is_empty() {
                return Ok(answers);
            }
            self.chunk(&PyList::new(py, some)?, &mut answers)?;
        }
    }

    /// Answers for some URLs; while a long list is decided the interpreter lock is free.
    fn chunk<A: Answer>(&self, urls: &Bound<'_, PyList>, answers: &mut Vec<A>) -> PyResult<()> {
        let (py, known, count) = (urls.py(), answers.len(), urls.len());
        let rules = self.compiled(py);
        answers.reserve(count);
        if count > SHORT {
            let (joined, copied) = match joined(urls) {
                Some(text) => (Some(text), vec![]),
                None => (None, copied(urls, known)?),
            };
            let lines = joined.as_ref().and_then(|text| text.to_str().ok()).map(str::as_bytes);
            let lines = lines.unwrap_or(&copied);
            py.detach(|| A::each(rules, lines, answers));
            if answers.len() == known + count {
                return Ok(());
            }
            answers.truncate(known); // a URL holds a newline, and looks like two
        }
        rules.expect(count);
        let mut scratch = Vec::new();
        for (number, url) in urls.iter().enumerate() {
            let octets = octets_at(&url, known + number)?;
            answers.push(match octets.len() <= LONG {
                true => A::one(rules, &octets, &mut scratch),
                false => self.asking(py, &octets, |rules, url| A::one(rules, url, &mut vec![])),
            });
        }
        Ok(())
    }
}

/// What is asked of many URLs at once.
trait Answer: Send + Sized {
    /// Adds the answer for each line.
    fn each(rules: &core::RuleSet, lines: &[u8], answers: &mut Vec<Self>);

    /// The answer for one URL.
    fn one(rules: &core::RuleSet, url: &[u8], scratch: &mut Vec<u8>) -> Self;
}

impl Answer for bool {
    fn each(rules: &core::RuleSet, lines: &[u8], answers: &mut Vec<bool>) {
        rules.allows_lines(lines, answers);
    }

    fn one(rules: &core::RuleSet, url: &[u8], scratch: &mut Vec<u8>) -> bool {
        rules.allows(url, scratch)
    }
}

impl Answer for core::Decision {
    fn each(rules: &core::RuleSet, lines: &[u8], answers: &mut Vec<core::Decision>) {
        rules.decide_lines(lines, answers);
    }

    fn one(rules: &core::RuleSet, url: &[u8], scratch: &mut Vec<u8>) -> core::Decision {
        rules.decide(url, scratch)
    }
}

/// URLs that are all `str` as one, a newline between them: the quickest way to get at many.
fn joined<'py>(urls: &Bound<'py, PyList>) -> Option<Bound<'py, PyString>> {
    urls.get_item(0).ok()?.cast::<PyString>().ok()?;
    let newline = intern!(urls.py(), "\n");
    let text = newline.call_method1(intern!(urls.py(), "join"), (urls,)).ok()?;
    let text = text.cast_into::<PyString>().ok()?;
    text.to_str().is_ok().then_some(text)
}

/// The octets of URLs of any kind, a newline between them; `before` came before them.
fn copied(urls: &Bound<'_, PyList>, before: usize) -> PyResult<Vec<u8>> {
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

/// A rule's number with what it says in the two lowest bits, or a negative number for no rule.
fn number(decision: core::Decision) -> i64 {
    match decision {
        core::Decision::Disallow(rule) => i64::from(rule) << 2,
        core::Decision::Allow(rule) => i64::from(rule) << 2 | 1,
        core::Decision::Empty(rule) => i64::from(rule) << 2 | 3,
        core::Decision::NoMatch => -1,
        core::Decision::Implicit => -2,
    }
}

/// What the subclass that a matcher is makes of a decision; made once.
fn verdict<'py>(
    slf: &Bound<'py, Matcher>,
    decision: core::Decision,
) -> PyResult<Bound<'py, PyAny>> {
    let (matcher, slot) = (slf.get(), slot(decision));
    if let Some(Some(known)) = matcher.made().get(slot) {
        return Ok(known.bind(slf.py()).clone());
    }
    // Made without the lock, for Python code runs. Of two threads the first one's is kept.
    let new = slf.call_method1(intern!(slf.py(), "_verdict"), (number(decision),))?;
    let mut made = matcher.made();
    if made.len() <= slot {
        made.resize_with(slot + 1, || None);
    }
    Ok(made[slot].get_or_insert(new.unbind()).bind(slf.py()).clone())
}

/// Where what is made of a decision is kept.
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
        _ => odd_octets(url),
    }
}

/// The same of a URL in a batch: an error says which one it is.
#[inline(always)]
fn octets_at<'a>(url: &'a Bound<'_, PyAny>, place: usize) -> PyResult<Cow<'a, [u8]>> {
    octets(url)
        .map_err(|error| PyTypeError::new_err(format!("urls[{place}]: {}", error.value(url.py()))))
}

#[cold]
#[inline(never)]
fn odd_octets<'a>(url: &'a Bound<'_, PyAny>) -> PyResult<Cow<'a, [u8]>> {
    if let Ok(bytes) = url.cast::<PyBytes>() {
        return Ok(Cow::Borrowed(bytes.as_bytes()));
    }
    if let Ok(text) = url.cast::<PyString>() {
        // Lone surrogates: octets that were smuggled into a str come out again, others as they are.
        for errors in ["surrogateescape", "surrogatepass"] {
            if let Ok(encoded) = text.call_method1("encode", ("utf-8", errors)) {
                return Ok(Cow::Owned(encoded.cast_into::<PyBytes>()?.as_bytes().to_vec()));
            }
        }
    }
    // The wording is Python's, so that both engines and the clients say the same.
    let module = url.py().import("robotrules._engine.url_type")?;
    Err(PyErr::from_value(module.call_method1("url_type_error", (url,))?))
}
