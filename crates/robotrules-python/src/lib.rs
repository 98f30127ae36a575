//! The binding: signature, detach, call, return. What each name means is in `_native.pyi`.

use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedBytes;
use pyo3::types::{PyBytes, PyList, PyString};
use pyo3::IntoPyObjectExt;
use robotrules_core as core;
use std::borrow::Cow;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Bodies larger than this are parsed, and batches run, with the interpreter lock released.
const DETACH: usize = 64 * 1024;
/// A batch of at most this many is decided in place: some ten microseconds with the lock held.
const SHORT: usize = 128;
/// URLs of a batch that cross at once: enough to forget the crossing, little enough to stay small.
const CHUNK: usize = 1024;

#[pyclass(frozen, module = "robotrules._engine._native")]
struct Settings(Arc<core::Settings>);

#[pymethods]
impl Settings {
    #[new]
    fn new(
        switches: Vec<String>,
        keys: Vec<(Vec<u8>, Vec<u8>, String, bool)>,
        max_bytes: usize,
        max_line: Option<usize>,
    ) -> PyResult<Settings> {
        let mut on = core::Switches::default();
        if let Some(unknown) = switches.iter().find(|name| !on.turn_on(name)) {
            return Err(PyValueError::new_err(format!("the engine has no switch {unknown:?}")));
        }
        let mut settings = core::Settings::new(on, max_bytes, max_line.unwrap_or(usize::MAX));
        for (spelling, canonical, role, bare) in keys {
            let role = match role.as_str() {
                "START" => core::Role::Start,
                "RULE" => core::Role::Rule,
                "OTHER" => core::Role::Other,
                _ => return Err(PyValueError::new_err(format!("there is no role {role:?}"))),
            };
            settings.add_key(&spelling, &canonical, role, bare);
        }
        Ok(Settings(Arc::new(settings)))
    }
}

#[pyclass(frozen, module = "robotrules._engine._native")]
struct Document(core::Document<PyBackedBytes>);

type Matches<'py> = (Bound<'py, PyBytes>, Vec<(u32, u32)>);
type RecordTuple<'py> = (u32, u32, u32, u32, u32, u32, Bound<'py, PyBytes>, &'static str, i64);

#[pymethods]
impl Document {
    #[getter]
    fn body<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        match self.0.received() {
            Some(received) => received.into_bound_py_any(py),
            None => Ok(PyBytes::new(py, self.0.body()).into_any()),
        }
    }

    #[getter]
    fn complete(&self) -> bool {
        self.0.is_complete()
    }

    fn records<'py>(&self, py: Python<'py>) -> Vec<RecordTuple<'py>> {
        (0..self.0.records().len()).filter_map(|number| self.record(py, number)).collect()
    }

    fn record<'py>(&self, py: Python<'py>, number: usize) -> Option<RecordTuple<'py>> {
        let r = self.0.records().get(number)?;
        let key = PyBytes::new(py, &self.0.key(r));
        let group = self.0.group_of(number).map_or(-1, |group| group as i64);
        let (start, end) = (r.value_start, r.value_end);
        let role = role_name(r.role);
        Some((r.line, r.line_start, r.key_start, r.key_end, start, end, key, role, group))
    }

    fn lines(&self) -> Vec<(u32, usize, usize, Option<usize>)> {
        self.0.lines().map(|(line, comment)| (line.number, line.start, line.end, comment)).collect()
    }

    fn notes(&self) -> Vec<(&'static str, u32, u32, u32)> {
        self.0.notes().iter().map(|n| (n.code.slug(), n.line, n.start, n.end)).collect()
    }

    fn group_count(&self) -> usize {
        self.0.group_count()
    }

    fn select(&self, py: Python<'_>, key: &[u8], token: &Bound<'_, PyAny>) -> PyResult<Vec<u32>> {
        let key = self.0.settings().keys().iter().position(|known| known == key);
        let token = octets(token)?;
        Ok(self.detached(py, || key.map_or(vec![], |key| self.0.select(key as u16, &token))))
    }

    fn rules(&self, groups: Vec<u32>) -> Vec<u32> {
        self.0.rules(&groups)
    }
}

impl Document {
    /// Lets other threads run while a large file is worked on.
    fn detached<T: Send>(&self, py: Python<'_>, work: impl FnOnce() -> T + Send) -> T {
        if self.0.body().len() > DETACH {
            return py.detach(work);
        }
        work()
    }
}

#[pyclass(frozen, subclass, module = "robotrules._engine._native")]
struct Matcher {
    rules: core::RuleSet,
    // What a subclass makes of an answer, by `slot`; made once.
    verdicts: Mutex<Vec<Option<Py<PyAny>>>>,
}

#[pymethods]
impl Matcher {
    #[new]
    fn new(of: &Bound<'_, PyAny>, which: &Bound<'_, PyAny>) -> PyResult<Matcher> {
        let rules = match of.cast::<Document>() {
            Ok(document) => {
                let (groups, document) = (which.extract::<Vec<u32>>()?, document.get());
                document.detached(of.py(), || document.0.compile(&groups))
            }
            Err(_) => {
                let patterns = which.extract::<Vec<(Vec<u8>, bool)>>()?;
                let patterns =
                    patterns.iter().map(|(value, allow)| (value.as_slice(), kind(*allow)));
                core::RuleSet::new(patterns, &of.cast::<Settings>()?.get().0)
            }
        };
        Ok(Matcher { rules, verdicts: Mutex::default() })
    }

    /// Tell whether the rules allow *url*: the hot path.
    fn allows(&self, url: &Bound<'_, PyAny>) -> PyResult<bool> {
        Ok(self.rules.allows(&octets(url)?, &mut Vec::new()))
    }

    /// Return the verdict for *url*, with its reason and the deciding rule.
    fn check<'py>(slf: &Bound<'py, Self>, url: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        verdict(slf, slf.get().rules.decide(&octets(url)?, &mut Vec::new()))
    }

    /// Return the verdicts for many URLs with one crossing into the engine.
    fn check_many<'py>(
        slf: &Bound<'py, Self>,
        urls: &Bound<'py, PyAny>,
    ) -> PyResult<Bound<'py, PyList>> {
        let rules = &slf.get().rules;
        let decisions = slf.get().many(urls, |url, scratch| rules.decide(url, scratch))?;
        let verdicts: PyResult<Vec<_>> = decisions.into_iter().map(|d| verdict(slf, d)).collect();
        PyList::new(slf.py(), verdicts?)
    }

    fn decide(&self, url: &Bound<'_, PyAny>) -> PyResult<i64> {
        Ok(number(self.rules.decide(&octets(url)?, &mut Vec::new())))
    }

    /// Tell it for many URLs with one crossing into the engine.
    fn allows_many<'py>(&self, urls: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyList>> {
        PyList::new(urls.py(), self.many(urls, |url, scratch| self.rules.allows(url, scratch))?)
    }

    fn decide_many<'py>(&self, urls: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyList>> {
        let decide = |url: &[u8], scratch: &mut Vec<u8>| number(self.rules.decide(url, scratch));
        PyList::new(urls.py(), self.many(urls, decide)?)
    }

    fn tied(&self, url: &Bound<'_, PyAny>) -> PyResult<Vec<u32>> {
        Ok(self.rules.best(&octets(url)?))
    }

    fn found<'py>(&self, url: &Bound<'py, PyAny>) -> PyResult<Matches<'py>> {
        let (path, found) = self.rules.matches(&octets(url)?);
        Ok((PyBytes::new(url.py(), &path), found))
    }

    fn usable(&self) -> usize {
        self.rules.len()
    }
}

impl Matcher {
    fn made(&self) -> MutexGuard<'_, Vec<Option<Py<PyAny>>>> {
        self.verdicts.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Runs a batch in chunks; while a chunk is decided the interpreter lock is free.
    fn many<T: Send>(
        &self,
        urls: &Bound<'_, PyAny>,
        decide: impl Fn(&[u8], &mut Vec<u8>) -> T + Sync,
    ) -> PyResult<Vec<T>> {
        let py = urls.py();
        if urls.is_instance_of::<PyString>() || urls.is_instance_of::<PyBytes>() {
            let message =
                "many URLs are a list or another iterable, not one str or bytes; pass [url]";
            return Err(PyTypeError::new_err(message));
        }
        let (mut answers, mut scratch) = (Vec::new(), Vec::new());
        if let Ok(count) = urls.len() {
            self.rules.expect(count);
            answers.reserve(count);
            if count <= SHORT {
                for url in urls.try_iter()? {
                    answers.push(decide(&octets(&url?)?, &mut scratch));
                }
                return Ok(answers);
            }
        }
        let (mut text, mut ends) = (Vec::new(), Vec::new());
        let mut urls = urls.try_iter()?;
        loop {
            text.clear();
            ends.clear();
            for url in urls.by_ref().take(CHUNK) {
                text.extend_from_slice(&octets(&url?)?);
                ends.push(text.len());
            }
            if ends.is_empty() {
                return Ok(answers);
            }
            py.detach(|| {
                let mut start = 0;
                answers.extend(ends.iter().map(|&end| {
                    let url = &text[start..end];
                    start = end;
                    decide(url, &mut scratch)
                }));
            });
        }
    }
}

#[pyfunction]
fn parse(py: Python<'_>, body: PyBackedBytes, settings: &Settings, complete: bool) -> Document {
    let large = body.len() > DETACH;
    let parse = || core::Document::parse(body, settings.0.clone(), complete);
    Document(if large { py.detach(parse) } else { parse() })
}

#[pyfunction]
fn normal_form<'py>(
    text: &Bound<'py, PyAny>,
    pattern: bool,
    settings: &Settings,
) -> PyResult<Bound<'py, PyBytes>> {
    let (octets, mut scratch) = (octets(text)?, Vec::new());
    let form = match pattern {
        true => &core::pattern::normal_form(&octets, &settings.0),
        false => {
            core::octets::path(&octets, settings.0.switches.url_as_given, &mut scratch).octets()
        }
    };
    Ok(PyBytes::new(text.py(), form))
}

fn kind(allow: bool) -> core::Kind {
    match allow {
        true => core::Kind::Allow,
        false => core::Kind::Disallow,
    }
}

fn role_name(role: core::Role) -> &'static str {
    match role {
        core::Role::Start => "START",
        core::Role::Rule => "RULE",
        core::Role::Other => "OTHER",
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
#[inline]
fn octets<'a>(url: &'a Bound<'_, PyAny>) -> PyResult<Cow<'a, [u8]>> {
    if let Ok(text) = url.cast::<PyString>() {
        if let Ok(text) = text.to_str() {
            return Ok(Cow::Borrowed(text.as_bytes()));
        }
        // Lone surrogates: octets that were smuggled into a str come out again, others as they are.
        for errors in ["surrogateescape", "surrogatepass"] {
            if let Ok(encoded) = text.call_method1("encode", ("utf-8", errors)) {
                return Ok(Cow::Owned(encoded.cast_into::<PyBytes>()?.as_bytes().to_vec()));
            }
        }
    }
    if let Ok(bytes) = url.cast::<PyBytes>() {
        return Ok(Cow::Borrowed(bytes.as_bytes()));
    }
    let name = url.get_type().name()?;
    Err(PyTypeError::new_err(format!("a URL is str or bytes, not {name}; pass str(url)")))
}

#[pymodule(gil_used = false)]
fn _native(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add("VERSION", env!("CARGO_PKG_VERSION"))?;
    module.add_class::<Settings>()?;
    module.add_class::<Document>()?;
    module.add_class::<Matcher>()?;
    module.add_function(wrap_pyfunction!(parse, module)?)?;
    module.add_function(wrap_pyfunction!(normal_form, module)?)?;
    Ok(())
}
