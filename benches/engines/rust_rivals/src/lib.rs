//! A thin Python binding of the crates `texting_robots` and `robotstxt`.
//!
//! One class for each rival, with the same three calls (construct, `allowed`, `allowed_many`).
//! PyO3 raises a rival's panic in Python.

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedStr;

/// `texting_robots::Robot`: parsed once, for one product token.
#[pyclass(frozen)]
struct TextingRobots(texting_robots::Robot);

#[pymethods]
impl TextingRobots {
    #[new]
    fn new(token: &str, body: &[u8]) -> PyResult<Self> {
        texting_robots::Robot::new(token, body)
            .map(Self)
            .map_err(|error| PyValueError::new_err(error.to_string()))
    }

    fn allowed(&self, url: &str) -> bool {
        self.0.allowed(url)
    }

    /// The rival has no batch call; this loop avoids crossing into Rust for each URL.
    fn allowed_many(&self, urls: Vec<PyBackedStr>) -> Vec<bool> {
        urls.iter().map(|url| self.0.allowed(url)).collect()
    }
}

/// `robotstxt::DefaultMatcher`: keeps the body, and parses all of it again for each check.
#[pyclass(frozen)]
struct Robotstxt(String);

#[pymethods]
impl Robotstxt {
    #[new]
    fn new(body: &str) -> Self {
        Self(body.to_owned())
    }

    fn allowed(&self, url: &str, token: &str) -> bool {
        robotstxt::DefaultMatcher::default().one_agent_allowed_by_robots(&self.0, token, url)
    }

    /// The rival has no batch call; this loop avoids crossing into Rust for each URL.
    fn allowed_many(&self, urls: Vec<PyBackedStr>, token: &str) -> Vec<bool> {
        urls.iter().map(|url| self.allowed(url, token)).collect()
    }
}

/// The Python module. The caller counts panics, so their text is not printed.
#[pymodule]
mod rust_rivals {
    #[pymodule_export]
    use super::{Robotstxt, TextingRobots};

    #[pymodule_init]
    fn quiet(_module: &super::Bound<'_, super::PyModule>) -> super::PyResult<()> {
        std::panic::set_hook(Box::new(|_| {}));
        Ok(())
    }
}
