//! Origins of columns of URLs: `origins_column()`, `OriginIndex` and `Timelines`.
//!
//! Plain hosts are handled here, on several threads and with the interpreter lock (GIL) released; for other
//! hosts the function `fallback` is called, once for each spelling. This module does not know what an
//! origin may be: `origin.rs` of the core and `http/origins.py` do.

use crate::arrow::{import_numbers, import_texts, thread_count, Column, NativeColumn, Texts};
use crate::columns::{in_parts, valid_rows};
use pyo3::exceptions::{PyIndexError, PyOverflowError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use robotrules_core::origin::{origin, scheme_and_authority, Origin};
use robotrules_core::origin_index::OriginIndex as Index;
use std::collections::{HashMap, HashSet};
use std::sync::{PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

/// The number for a URL without an origin.
pub const NO_ORIGIN: u32 = u32::MAX;
/// The number for an origin that is not in the index.
pub const MISSING: u32 = u32::MAX - 1;
/// The number for a null.
pub const NULL: u32 = u32::MAX - 2;
/// An origin that `fallback` has to decide.
const PENDING: u32 = u32::MAX - 3;
/// A thread gets at least this many rows.
const ROWS_PER_THREAD: usize = 32 * 1024;

/// What `fallback` returned, by the scheme and authority of a URL.
struct Fallback<'a, 'py> {
    function: &'a Bound<'py, PyAny>,
    known: HashMap<Vec<u8>, Option<Vec<u8>>>,
}

impl<'a, 'py> Fallback<'a, 'py> {
    fn new(function: &'a Bound<'py, PyAny>) -> Fallback<'a, 'py> {
        Fallback { function, known: HashMap::new() }
    }

    /// The origin of a URL whose host is not plain.
    fn find(&mut self, url: &[u8]) -> PyResult<Option<&[u8]>> {
        let prefix = scheme_and_authority(url).map_or(url, |(prefix, _)| prefix);
        if !self.known.contains_key(prefix) {
            let answer = self.function.call1((PyBytes::new(self.function.py(), prefix),))?;
            let answer: Option<String> = answer.extract()?;
            self.known.insert(prefix.to_vec(), answer.map(String::into_bytes));
        }
        Ok(self.known.get(prefix).and_then(|known| known.as_deref()))
    }
}

/// The origins of some rows: one text, and where each of them ends in it.
#[derive(Default)]
struct OriginRows {
    text: Vec<u8>,
    ends: Vec<usize>,
    valid: Vec<bool>,
    pending: Vec<usize>,
}

impl OriginRows {
    fn push(&mut self, origin: Option<&[u8]>) {
        self.text.extend(origin.unwrap_or_default());
        self.ends.push(self.text.len());
        self.valid.push(origin.is_some());
    }

    fn read(texts: &Texts<'_>, rows: std::ops::Range<usize>) -> OriginRows {
        let mut found = OriginRows::default();
        for row in rows {
            match origin(texts.octets(row)) {
                Origin::Same(origin) => found.push(Some(origin)),
                Origin::Normalized(origin) => found.push(Some(&origin)),
                Origin::Nowhere => found.push(None),
                Origin::Other(_) => {
                    found.pending.push(row);
                    found.push(None);
                }
            }
        }
        found
    }
}

/// The origin of each URL of a column; null where there is none.
#[pyfunction]
pub fn origins_column(
    urls: &Bound<'_, PyAny>,
    threads: usize,
    fallback: &Bound<'_, PyAny>,
) -> PyResult<NativeColumn> {
    let column = import_texts(urls)?;
    let mut fallback = Fallback::new(fallback);
    let mut all = OriginRows::default();
    for texts in &column.texts()? {
        let threads = thread_count(threads, texts.length, ROWS_PER_THREAD);
        let size = texts.length.div_ceil(threads).max(1);
        let mut parts: Vec<OriginRows> = Vec::new();
        parts.resize_with(texts.length.div_ceil(size), OriginRows::default);
        urls.py().detach(|| {
            in_parts(&mut parts, threads, |first, parts| {
                for (number, part) in parts.iter_mut().enumerate() {
                    let start = (first + number) * size;
                    *part = OriginRows::read(texts, start..texts.length.min(start + size));
                }
            });
        });
        for (number, part) in parts.iter_mut().enumerate() {
            if !part.pending.is_empty() {
                *part = resolve(texts, number * size, part, &mut fallback)?;
            }
            let before = all.text.len();
            all.text.append(&mut part.text);
            all.ends.extend(part.ends.iter().map(|end| before + end));
            all.valid.append(&mut part.valid);
        }
    }
    Ok(Column::strings(all.text, &all.ends, Some(all.valid)).into())
}

/// The same rows, with the origins of those that were pending.
fn resolve(
    texts: &Texts<'_>,
    first: usize,
    part: &OriginRows,
    fallback: &mut Fallback<'_, '_>,
) -> PyResult<OriginRows> {
    let (mut found, mut pending) = (OriginRows::default(), part.pending.iter().peekable());
    let mut start = 0;
    for (number, (&end, &valid)) in part.ends.iter().zip(&part.valid).enumerate() {
        match pending.next_if(|&&row| row == first + number) {
            Some(&row) => found.push(fallback.find(texts.octets(row))?),
            None => found.push(valid.then(|| &part.text[start..end])),
        }
        start = end;
    }
    Ok(found)
}

/// Origins by number: see `_native.pyi`.
#[pyclass(frozen, module = "robotrules._engine._native")]
#[derive(Default)]
pub struct OriginIndex(RwLock<Index>);

impl OriginIndex {
    fn read(&self) -> RwLockReadGuard<'_, Index> {
        self.0.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn write(&self) -> RwLockWriteGuard<'_, Index> {
        self.0.write().unwrap_or_else(PoisonError::into_inner)
    }
}

#[pymethods]
impl OriginIndex {
    #[new]
    fn new() -> OriginIndex {
        OriginIndex::default()
    }

    fn add(&self, origins: &Bound<'_, PyAny>) -> PyResult<NativeColumn> {
        let column = import_texts(origins)?;
        let texts = column.texts()?;
        let numbers = origins.py().detach(|| {
            let mut index = self.write();
            let mut numbers = Vec::with_capacity(column.length);
            for texts in &texts {
                for row in 0..texts.length {
                    let number = match texts.is_valid(row) {
                        true => index.add(texts.octets(row)),
                        false => Some(NULL),
                    };
                    numbers.push(number?);
                }
            }
            Some(numbers)
        });
        let full = || PyOverflowError::new_err("an index has at most four billion origins");
        Ok(Column::uint32(numbers.ok_or_else(full)?, valid_rows(&texts)).into())
    }

    fn find(
        &self,
        urls: &Bound<'_, PyAny>,
        threads: usize,
        fallback: &Bound<'_, PyAny>,
    ) -> PyResult<NativeColumn> {
        let column = import_texts(urls)?;
        let texts = column.texts()?;
        let (mut numbers, mut first) = (vec![NULL; column.length], 0);
        let mut fallback = Fallback::new(fallback);
        for texts in &texts {
            let part = &mut numbers[first..first + texts.length];
            first += texts.length;
            let threads = thread_count(threads, texts.length, ROWS_PER_THREAD);
            urls.py().detach(|| {
                let index = self.read();
                in_parts(part, threads, |first, part| find_numbers(&index, texts, first, part));
            });
            for (row, number) in part.iter_mut().enumerate().filter(|(_, n)| **n == PENDING) {
                *number = match fallback.find(texts.octets(row))? {
                    Some(origin) => self.read().find(origin).unwrap_or(MISSING),
                    None => NO_ORIGIN,
                };
            }
        }
        Ok(Column::uint32(numbers, valid_rows(&texts)).into())
    }

    fn origin(&self, number: u32) -> PyResult<String> {
        let index = self.read();
        let found = index.origin(number).map(|origin| String::from_utf8_lossy(origin).into_owned());
        found.ok_or_else(|| PyIndexError::new_err(format!("there is no origin {number}")))
    }

    #[getter]
    fn memory(&self) -> usize {
        self.read().memory()
    }

    fn __len__(&self) -> usize {
        self.read().len()
    }
}

/// The numbers of the origins of some rows.
fn find_numbers(index: &Index, texts: &Texts<'_>, first: usize, numbers: &mut [u32]) {
    for (at, number) in numbers.iter_mut().enumerate() {
        let row = first + at;
        let url = texts.octets(row);
        // Most URLs spell their origin in normal form, which the index confirms.
        let known = scheme_and_authority(url).and_then(|(prefix, _)| index.find(prefix));
        *number = known.unwrap_or_else(|| match origin(url) {
            _ if !texts.is_valid(row) => NULL,
            Origin::Same(origin) => index.find(origin).unwrap_or(MISSING),
            Origin::Normalized(origin) => index.find(&origin).unwrap_or(MISSING),
            Origin::Nowhere => NO_ORIGIN,
            Origin::Other(_) => PENDING,
        });
    }
}

/// States of origins over time: see `_native.pyi`.
#[pyclass(frozen, module = "robotrules._engine._native")]
#[derive(Default)]
pub struct Timelines(RwLock<ByOrigin>);

/// Timelines by the number of an origin, and how many there are.
#[derive(Default)]
struct ByOrigin {
    slots: Vec<Option<Box<Timeline>>>,
    count: usize,
}

impl ByOrigin {
    #[inline]
    fn get(&self, origin: u32) -> Option<&Timeline> {
        self.slots.get(origin as usize)?.as_deref()
    }

    fn set(&mut self, origin: u32, timeline: Timeline) {
        let at = origin as usize;
        if self.slots.len() <= at {
            self.slots.resize_with(at + 1, || None);
        }
        self.count += usize::from(self.slots[at].replace(Box::new(timeline)).is_none());
    }
}

struct Timeline {
    times: Box<[f64]>,
    states: Box<[u32]>,
}

impl Timeline {
    /// The state in force at a time; that of the last time if there is none.
    fn at(&self, time: Option<f64>) -> u32 {
        let after = match time {
            Some(time) if time.is_nan() => return NULL,
            Some(time) => self.times.partition_point(|&from| from <= time),
            None => self.times.len(),
        };
        after.checked_sub(1).map_or(MISSING, |at| self.states[at])
    }
}

impl Timelines {
    fn read(&self) -> RwLockReadGuard<'_, ByOrigin> {
        self.0.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn write(&self) -> RwLockWriteGuard<'_, ByOrigin> {
        self.0.write().unwrap_or_else(PoisonError::into_inner)
    }
}

#[pymethods]
impl Timelines {
    #[new]
    fn new() -> Timelines {
        Timelines::default()
    }

    fn set(&self, origin: u32, times: Vec<f64>, states: Vec<u32>) -> PyResult<()> {
        if origin >= PENDING {
            return Err(PyValueError::new_err(format!("{origin} is not the number of an origin")));
        }
        if times.len() != states.len() || !times.is_sorted() {
            let message = "a timeline has as many states as times, and its times are sorted";
            return Err(PyValueError::new_err(message));
        }
        let timeline = Timeline { times: times.into(), states: states.into() };
        self.write().set(origin, timeline);
        Ok(())
    }

    fn missing(&self, py: Python<'_>, origins: &Bound<'_, PyAny>) -> PyResult<Vec<u32>> {
        let mut missing = import_numbers::<u32>(origins, NULL)?;
        py.detach(|| {
            let (known, mut seen) = (self.read(), HashSet::new());
            missing.retain(|&origin| {
                origin < PENDING && known.get(origin).is_none() && seen.insert(origin)
            });
        });
        Ok(missing)
    }

    #[pyo3(signature = (origins, at = None))]
    fn find(
        &self,
        py: Python<'_>,
        origins: &Bound<'_, PyAny>,
        at: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<NativeColumn> {
        let mut states = import_numbers::<u32>(origins, NULL)?;
        let times = at.map(|at| import_numbers::<f64>(at, f64::NAN)).transpose()?;
        if times.as_ref().is_some_and(|times| times.len() != states.len()) {
            return Err(PyValueError::new_err("the columns of origins and times differ in length"));
        }
        let valid = py.detach(|| {
            let known = self.read();
            for (row, state) in states.iter_mut().enumerate().filter(|(_, s)| **s < PENDING) {
                let time = times.as_ref().map(|times| times[row]);
                *state = known.get(*state).map_or(MISSING, |timeline| timeline.at(time));
            }
            states.iter().map(|&state| state != NULL).collect()
        });
        Ok(Column::uint32(states, Some(valid)).into())
    }

    fn clear(&self) {
        *self.write() = ByOrigin::default();
    }

    fn __len__(&self) -> usize {
        self.read().count
    }
}
