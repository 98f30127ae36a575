//! The binding: signature, detach, call, return. What each name means is in `_native.pyi`.

use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedBytes;
use pyo3::types::{PyBytes, PyList, PyString};
use pyo3::IntoPyObjectExt;
use robotrules_core as core;
use std::borrow::Cow;
use std::sync::Arc;

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

    fn select(&self, py: Python<'_>, key: &[u8], token: &[u8]) -> Vec<u32> {
        let key = self.0.settings().keys().iter().position(|known| known == key);
        let select = || key.map_or(vec![], |key| self.0.select(key as u16, token));
        self.detached(py, select)
    }

    fn rules(&self, groups: Vec<u32>) -> Vec<u32> {
        self.0.rules(&groups)
    }

    fn compile(&self, py: Python<'_>, groups: Vec<u32>) -> Matcher {
        Matcher(self.detached(py, || self.0.compile(&groups)))
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

#[pyclass(frozen, module = "robotrules._engine._native")]
struct Matcher(core::RuleSet);

#[pymethods]
impl Matcher {
    fn allows(&self, url: &Bound<'_, PyAny>) -> PyResult<bool> {
        Ok(self.0.allows(&octets(url)?, &mut Vec::new()))
    }

    fn decide(&self, url: &Bound<'_, PyAny>) -> PyResult<i64> {
        Ok(number(self.0.decide(&octets(url)?, &mut Vec::new())))
    }

    fn allows_many<'py>(&self, urls: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyList>> {
        self.many(urls, |url, scratch| self.0.allows(url, scratch))
    }

    fn decide_many<'py>(&self, urls: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyList>> {
        self.many(urls, |url, scratch| number(self.0.decide(url, scratch)))
    }

    fn best(&self, url: &Bound<'_, PyAny>) -> PyResult<Vec<u32>> {
        Ok(self.0.best(&octets(url)?))
    }

    fn matches<'py>(&self, url: &Bound<'py, PyAny>) -> PyResult<Matches<'py>> {
        let (path, found) = self.0.matches(&octets(url)?);
        Ok((PyBytes::new(url.py(), &path), found))
    }

    fn __len__(&self) -> usize {
        self.0.len()
    }
}

impl Matcher {
    /// Runs a batch in chunks; while a chunk is decided the interpreter lock is free.
    fn many<'py, T>(
        &self,
        urls: &Bound<'py, PyAny>,
        decide: impl Fn(&[u8], &mut Vec<u8>) -> T + Sync,
    ) -> PyResult<Bound<'py, PyList>>
    where
        T: IntoPyObject<'py> + Send,
    {
        let py = urls.py();
        let (mut answers, mut scratch) = (Vec::new(), Vec::new());
        if let Ok(count) = urls.len() {
            self.0.expect(count);
            answers.reserve(count);
            if count <= SHORT {
                for url in urls.try_iter()? {
                    answers.push(decide(&octets(&url?)?, &mut scratch));
                }
                return PyList::new(py, answers);
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
                return PyList::new(py, answers);
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
fn compile(patterns: Vec<(Vec<u8>, bool)>, settings: &Settings) -> Matcher {
    let kind = |allow| if allow { core::Kind::Allow } else { core::Kind::Disallow };
    let patterns = patterns.iter().map(|(value, allow)| (value.as_slice(), kind(*allow)));
    Matcher(core::RuleSet::new(patterns, &settings.0))
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
        false => core::octets::path(&octets, settings.0.switches.url_as_given, &mut scratch).octets,
    };
    Ok(PyBytes::new(text.py(), form))
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
    module.add_function(wrap_pyfunction!(compile, module)?)?;
    module.add_function(wrap_pyfunction!(normal_form, module)?)?;
    Ok(())
}
