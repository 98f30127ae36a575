//! Patterns as automata, and the paths that are sought among them.

use crate::matcher::kind;
use crate::Settings;
use pyo3::exceptions::PyIndexError;
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedBytes;
use pyo3::types::{PyBytes, PyInt};
use robotrules_core as core;

type Sought<'py> = (bool, Option<Bound<'py, PyBytes>>, i64, Vec<Vec<u32>>);

#[pyclass(frozen, module = "robotrules._engine._native")]
pub struct Languages(core::Languages);

#[pymethods]
impl Languages {
    #[new]
    fn new(py: Python<'_>, settings: &Settings, patterns: Vec<(PyBackedBytes, bool)>) -> Languages {
        let patterns: Vec<_> =
            patterns.iter().map(|(value, allow)| (&value[..], kind(*allow))).collect();
        Languages(py.detach(|| core::Languages::new(&patterns, &settings.0)))
    }

    fn entries<'py>(&self, py: Python<'py>) -> Vec<(i64, Bound<'py, PyBytes>, u8)> {
        let entries = self.0.entries().iter().map(|entry| {
            let (rule, says) = match entry.says {
                core::Decision::Disallow(rule) => (i64::from(rule), 0),
                core::Decision::Allow(rule) => (i64::from(rule), 1),
                core::Decision::Empty(rule) => (i64::from(rule), 3),
                core::Decision::Implicit | core::Decision::NoMatch => (-2, 1),
            };
            (rule, PyBytes::new(py, &entry.form), says)
        });
        entries.collect()
    }

    #[pyo3(signature = (ladders, budget, shorter_than = None, shortest = true))]
    fn seek<'py>(
        &self,
        py: Python<'py>,
        ladders: Vec<(Vec<u32>, bool)>,
        budget: &Bound<'py, PyInt>,
        shorter_than: Option<&Bound<'py, PyInt>>,
        shortest: bool,
    ) -> PyResult<Sought<'py>> {
        // More than can be counted is as good as no limit.
        let budget = budget.extract().unwrap_or(i64::MAX);
        let octets = shorter_than.map_or(i64::MAX, |most| most.extract().unwrap_or(i64::MAX));
        let shorter_than = u32::try_from(octets.max(0)).unwrap_or(u32::MAX);
        let within = core::languages::Within { budget, shorter_than, shortest };
        let Some(found) = py.detach(|| self.0.seek(ladders, within)) else {
            let message = "a rung is of no entry: pass positions in entries(), shifted left by one";
            return Err(PyIndexError::new_err(message));
        };
        let path = found.path.map(|path| PyBytes::new(py, &path));
        Ok((found.decided, path, found.states, found.heard))
    }

    fn decider(&self, entries: Vec<u32>, path: &[u8]) -> i64 {
        self.0.decider(entries.into_iter(), path).map_or(-1, i64::from)
    }
}
