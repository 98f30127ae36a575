//! The Python binding of `robotrules-core`: convert arguments, release the interpreter lock (GIL) for
//! long work, call, convert the result.
//!
//! `_native.pyi` documents every name, and lists the hooks that this crate calls on Python subclasses.
//! This crate does not parse or match: `robotrules-core` does.

mod arrow;
mod columns;
mod facts;
mod file;
mod languages;
mod matcher;
mod origins;
mod rule_table;

use matcher::octets;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedBytes;
use pyo3::types::PyBytes;
use pyo3::IntoPyObjectExt;
use robotrules_core as core;
use std::sync::Arc;

/// Files larger than this are parsed and compiled with the interpreter lock (GIL) released.
const DETACH: usize = 64 * 1024;

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
struct Document(Parsed);

type Parsed = core::Document<PyBackedBytes>;
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
        let select =
            |document: &Parsed| key.map_or(vec![], |key| document.select(key as u16, &token));
        Ok(self.detached(py, select))
    }

    fn choose(&self, py: Python<'_>, token: &Bound<'_, PyAny>) -> PyResult<(Vec<u32>, bool)> {
        let token = octets(token)?;
        Ok(self.detached(py, |document| document.choose(&token)))
    }

    fn rules(&self, groups: Vec<u32>) -> Vec<u32> {
        self.0.rules(&groups)
    }
}

impl Document {
    /// Runs `work`, with the interpreter lock (GIL) released for a large file.
    fn detached<T: Send>(&self, py: Python<'_>, work: impl FnOnce(&Parsed) -> T + Send) -> T {
        match self.is_large() {
            true => py.detach(|| work(&self.0)),
            false => work(&self.0),
        }
    }

    /// Decides a URL without compiling rules; `None` for a large file, whose rules are compiled with
    /// the interpreter lock (GIL) released.
    fn decide_once(&self, groups: &[u32], url: &[u8]) -> Option<core::Decision> {
        if self.is_large() {
            return None;
        }
        self.0.decide_once(groups, url)
    }

    fn is_large(&self) -> bool {
        self.0.body().len() > DETACH
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
    let octets = octets(text)?;
    let form = match pattern {
        true => core::pattern::normal_form(&octets, &settings.0),
        false => core::url_path::normal_form(&octets, &settings.0),
    };
    Ok(PyBytes::new(text.py(), &form))
}

fn role_name(role: core::Role) -> &'static str {
    match role {
        core::Role::Start => "START",
        core::Role::Rule => "RULE",
        core::Role::Other => "OTHER",
    }
}

#[pymodule(gil_used = false)]
fn _native(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add("VERSION", env!("CARGO_PKG_VERSION"))?;
    module.add_class::<Settings>()?;
    module.add_class::<arrow::NativeColumn>()?;
    module.add_class::<Document>()?;
    module.add_class::<facts::FactsReader>()?;
    module.add_class::<facts::FactsJob>()?;
    module.add("File", module.py().get_type::<file::File>())?;
    module.add_class::<languages::Languages>()?;
    module.add_class::<matcher::Matcher>()?;
    module.add_class::<origins::OriginIndex>()?;
    module.add_class::<origins::Timelines>()?;
    module.add_class::<rule_table::RuleTable>()?;
    module.add("NO_ORIGIN", origins::NO_ORIGIN)?;
    module.add("MISSING", origins::MISSING)?;
    module.add_function(wrap_pyfunction!(origins::origins_column, module)?)?;
    module.add_function(wrap_pyfunction!(parse, module)?)?;
    module.add_function(wrap_pyfunction!(normal_form, module)?)?;
    Ok(())
}
