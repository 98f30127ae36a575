//! `File`: a parsed file with a cache of rule sets by product token.
//!
//! `check()` for a known token stays in Rust: one cache lookup and one match. This module does not
//! choose groups: for a new token it calls a hook of the Python subclass. The hooks are listed in
//! `_native.pyi`, under "Hooks".

use crate::matcher::Matcher;
use crate::{parse, Document, Settings};
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyString};
use std::sync::OnceLock;

// The public name of the class, for error messages about arguments.
#[pyclass(frozen, subclass, name = "RobotsTxt", module = "robotrules._engine._native")]
pub struct File {
    #[pyo3(get, name = "_document")]
    document: Py<Document>,
    #[pyo3(get, name = "_profile")]
    profile: Py<PyAny>,
    #[pyo3(get, name = "_engine")]
    engine: Py<PyAny>,
    #[pyo3(get, name = "_received")]
    received: Py<PyBytes>,
    // Rule sets, added by the Python subclass.
    #[pyo3(get, name = "_by_name")]
    by_name: Py<PyDict>,
    #[pyo3(get, name = "_by_groups")]
    by_groups: Py<PyDict>,
    // The first token and its rules: most files are checked for one crawler, which needs no lookup.
    first: OnceLock<(Py<PyAny>, Py<Matcher>)>,
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
            first: OnceLock::new(),
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
        let (py, file) = (slf.py(), slf.get());
        let rules = match purposes {
            Some(purposes) if purposes.is_truthy()? => {
                slf.call_method1(intern!(py, "rules_for"), (product_token, purposes))?
            }
            _ => {
                if let Some((_, rules)) =
                    file.first.get().filter(|(name, _)| name.is(product_token))
                {
                    return Matcher::check(rules.bind(py), url);
                }
                file.rules_for_token(slf, product_token)?
            }
        };
        match rules.cast::<Matcher>() {
            Ok(rules) => Matcher::check(rules, url),
            Err(_) => rules.call_method1(intern!(py, "check"), (url,)),
        }
    }
}

impl File {
    /// The rules for a product token, or for several tokens.
    fn rules_for_token<'py>(
        &self,
        slf: &Bound<'py, Self>,
        token: &Bound<'py, PyAny>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let py = slf.py();
        if !token.is_instance_of::<PyString>() {
            return slf.call_method1(intern!(py, "rules_for"), (token,));
        }
        let rules = match self.by_name.bind(py).get_item(token)? {
            Some(rules) => rules,
            None => slf.call_method1(intern!(py, "_rules_for_new_token"), (token,))?,
        };
        if let Ok(matcher) = rules.cast::<Matcher>() {
            self.first.get_or_init(|| (token.clone().unbind(), matcher.clone().unbind()));
        }
        Ok(rules)
    }
}
