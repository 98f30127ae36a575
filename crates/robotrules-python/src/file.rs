//! A parsed file as it is asked, by name: the question most crawlers ask does not leave this file.
//!
//! It does not know how groups are chosen: a name that was not heard before is Python's affair.

use crate::matcher::Matcher;
use crate::{parse, Document, Settings};
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyString};

#[pyclass(frozen, subclass, module = "robotrules._engine._native")]
pub struct File {
    #[pyo3(get, name = "_document")]
    document: Py<Document>,
    #[pyo3(get, name = "_profile")]
    profile: Py<PyAny>,
    #[pyo3(get, name = "_engine")]
    engine: Py<PyAny>,
    #[pyo3(get, name = "_received")]
    received: Py<PyBytes>,
    // Rule sets, which Python puts here.
    #[pyo3(get, name = "_by_name")]
    by_name: Py<PyDict>,
    #[pyo3(get, name = "_by_groups")]
    by_groups: Py<PyDict>,
}

#[pymethods]
impl File {
    #[new]
    fn new(
        profile: Py<PyAny>,
        engine: Py<PyAny>,
        settings: &Settings,
        body: &Bound<'_, PyBytes>,
        complete: bool,
    ) -> PyResult<File> {
        let py = body.py();
        Ok(File {
            document: Py::new(py, parse(py, body.clone().into(), settings, complete))?,
            profile,
            engine,
            received: body.clone().unbind(),
            by_name: PyDict::new(py).unbind(),
            by_groups: PyDict::new(py).unbind(),
        })
    }

    /// Return the verdict on *url* for the crawler called *product_token*.
    #[pyo3(
        signature = (url, product_token, purposes = None),
        text_signature = "($self, url, product_token, purposes=())"
    )]
    fn check<'py>(
        slf: &Bound<'py, Self>,
        url: &Bound<'py, PyAny>,
        product_token: &Bound<'py, PyAny>,
        purposes: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let py = slf.py();
        let rules = match (purposes, product_token.is_instance_of::<PyString>()) {
            (Some(purposes), _) if purposes.is_truthy()? => {
                slf.call_method1(intern!(py, "rules_for"), (product_token, purposes))?
            }
            (_, false) => slf.call_method1(intern!(py, "rules_for"), (product_token,))?,
            (_, true) => match slf.get().by_name.bind(py).get_item(product_token)? {
                Some(rules) => rules,
                None => slf.call_method1(intern!(py, "_introduced"), (product_token,))?,
            },
        };
        match rules.cast::<Matcher>() {
            Ok(rules) => Matcher::check(rules, url),
            Err(_) => rules.call_method1(intern!(py, "check"), (url,)),
        }
    }
}
