//! `Languages`: path patterns as DFAs, and the search for witnesses. Searches release the
//! interpreter lock (GIL).

use crate::matcher::kind;
use crate::Settings;
use pyo3::exceptions::PyIndexError;
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedBytes;
use pyo3::types::{PyBytes, PyInt};
use robotrules_core as core;

type WitnessResult<'py> = (bool, Option<Bound<'py, PyBytes>>, i64, Vec<Vec<u32>>);

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
            let (rule, outcome) = match entry.decision {
                core::Decision::Disallow(rule) => (i64::from(rule), 0),
                core::Decision::Allow(rule) => (i64::from(rule), 1),
                core::Decision::Empty(rule) => (i64::from(rule), 3),
                core::Decision::Implicit | core::Decision::NoMatch => (-2, 1),
            };
            (rule, PyBytes::new(py, &entry.form), outcome)
        });
        entries.collect()
    }

    #[pyo3(signature = (decision_lists, max_states, shorter_than = None, shortest = true))]
    fn find_witness<'py>(
        &self,
        py: Python<'py>,
        decision_lists: Vec<(Vec<u32>, bool)>,
        max_states: &Bound<'py, PyInt>,
        shorter_than: Option<&Bound<'py, PyInt>>,
        shortest: bool,
    ) -> PyResult<WitnessResult<'py>> {
        // A number that does not fit means no limit.
        let max_states = max_states.extract().unwrap_or(i64::MAX);
        let limit = shorter_than.map_or(i64::MAX, |most| most.extract().unwrap_or(i64::MAX));
        let shorter_than = u32::try_from(limit.max(0)).unwrap_or(u32::MAX);
        let limits = core::languages::SearchLimits { max_states, shorter_than, shortest };
        let Some(result) = py.detach(|| self.0.find_witness(decision_lists, limits)) else {
            let message = "clause out of range: pass positions in entries(), shifted left by one";
            return Err(PyIndexError::new_err(message));
        };
        let path = result.path.map(|path| PyBytes::new(py, &path));
        Ok((result.decided, path, result.states, result.rejecting))
    }

    fn first_match(&self, entries: Vec<u32>, path: &[u8]) -> i64 {
        self.0.first_match(entries.into_iter(), path).map_or(-1, i64::from)
    }
}
