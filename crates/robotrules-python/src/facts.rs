//! `FactsReader`: facts about a column of files, as an Arrow struct.
//!
//! Three steps: the files are read on several threads with the interpreter lock (GIL) released; a hook
//! reads the few values that need Python, each list of values once; then the columns are made. This
//! module does not read files: `robotrules_core::facts` does.

use crate::arrow::{dictionary, import_texts, thread_count, Column, NativeColumn};
use crate::arrow::{TextColumn, Texts, Validity};
use crate::Settings;
use core::coverage::Coverage;
use core::crawler_names::CrawlerTable;
use core::facts::{Facts, FactsBuilder, NoFile, PendingKind, UNDECIDED};
use core::notes::Code;
use core::text_lists::TextLists;
use pyo3::exceptions::{PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use robotrules_core as core;
use std::collections::HashMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;

/// A thread gets at least this many files: they take about a millisecond.
const FILES_PER_THREAD: usize = 128;
/// Threads take blocks of files, so that one with large files does not hold up the others.
const BLOCKS_PER_THREAD: usize = 4;
/// The state of a row with a whole file; 1: a truncated file. Others have no file, see `_native.pyi`.
const WHOLE: u8 = 0;

#[pyclass(frozen, module = "robotrules._engine._native")]
pub struct FactsReader {
    reader: Arc<core::facts::FactsReader>,
    // The names of the crawlers, as fields of the struct `crawlers`.
    tokens: Vec<String>,
    read_values: Py<PyAny>,
}

#[pymethods]
impl FactsReader {
    #[new]
    fn new(
        settings: &Settings,
        crawlers: Vec<(String, Vec<Vec<u8>>, bool)>,
        first_star_group_only: bool,
        read_values: Py<PyAny>,
    ) -> FactsReader {
        let names = crawlers.iter().map(|(_, names, ignores_star)| (&names[..], *ignores_star));
        let table = CrawlerTable::new(names);
        let reader =
            core::facts::FactsReader::new(settings.0.clone(), table, first_star_group_only);
        let tokens = crawlers.into_iter().map(|(token, _, _)| token).collect();
        FactsReader { reader: Arc::new(reader), tokens, read_values }
    }

    fn start(
        slf: &Bound<'_, Self>,
        bodies: &Bound<'_, PyAny>,
        states: Vec<u8>,
        threads: usize,
    ) -> PyResult<FactsJob> {
        let column = import_texts(bodies)?;
        check_length(column.length, states.len())?;
        let reader = slf.get().reader.clone();
        // The interpreter's own thread is one of them.
        let threads = thread_count(threads, states.len(), FILES_PER_THREAD).max(2) - 1;
        let work = move || {
            let facts = column.texts().map(|texts| read_files(&reader, &texts, &states, threads));
            // The column is released where the job ends: its owner may need the interpreter.
            (facts, column)
        };
        let thread = std::thread::Builder::new().name("robotrules-facts".to_owned()).spawn(work)?;
        Ok(FactsJob { reader: slf.clone().unbind(), thread: Mutex::new(Some(thread)) })
    }

    fn read(
        &self,
        py: Python<'_>,
        bodies: &Bound<'_, PyAny>,
        states: &[u8],
        threads: usize,
    ) -> PyResult<NativeColumn> {
        let column = import_texts(bodies)?;
        let texts = column.texts()?;
        check_length(column.length, states.len())?;
        let facts = py.detach(|| read_files(&self.reader, &texts, states, threads));
        self.finish(py, facts)
    }
}

type Reading = (PyResult<Facts>, TextColumn);

/// Facts that a thread reads while the interpreter does something else: see `_native.pyi`.
#[pyclass(frozen, module = "robotrules._engine._native")]
pub struct FactsJob {
    reader: Py<FactsReader>,
    thread: Mutex<Option<JoinHandle<Reading>>>,
}

#[pymethods]
impl FactsJob {
    fn result(&self, py: Python<'_>) -> PyResult<NativeColumn> {
        let Some(joined) = py.detach(|| self.join()) else {
            return Err(PyValueError::new_err("the result of a job can be taken once"));
        };
        let failed = |_| PyRuntimeError::new_err("reading facts failed: please report this");
        let (facts, _column) = joined.map_err(failed)?;
        self.reader.get().finish(py, facts?)
    }
}

impl FactsJob {
    /// Waits for the thread, which does not need the interpreter; `None` if it was joined before.
    fn join(&self) -> Option<std::thread::Result<Reading>> {
        let thread = self.thread.lock().unwrap_or_else(PoisonError::into_inner).take();
        thread.map(JoinHandle::join)
    }
}

impl Drop for FactsJob {
    fn drop(&mut self) {
        // The column has to be released here, and not by the thread.
        drop(self.join());
    }
}

fn check_length(bodies: usize, states: usize) -> PyResult<()> {
    match bodies == states {
        true => Ok(()),
        false => {
            let message = format!("{bodies} bodies have {states} states: pass one each");
            Err(PyValueError::new_err(message))
        }
    }
}

/// What a hook made of the values of a record, by kind and row. Lists have texts, maps have pairs.
#[derive(Default)]
struct PendingValues {
    sitemaps: HashMap<usize, Vec<String>>,
    applications: HashMap<usize, Vec<String>>,
    content_usage: HashMap<usize, Vec<(String, String)>>,
    content_signal: HashMap<usize, Vec<(String, String)>>,
}

impl FactsReader {
    /// The columns of facts, after the hook read the values that need Python.
    fn finish(&self, py: Python<'_>, facts: Facts) -> PyResult<NativeColumn> {
        let values = self.read_pending(py, &facts)?;
        Ok(py.detach(|| make_columns(facts, &values, &self.tokens)).into())
    }

    /// Calls the hook for each different list of values.
    fn read_pending(&self, py: Python<'_>, facts: &Facts) -> PyResult<PendingValues> {
        let (mut values, mut seen) = (PendingValues::default(), HashMap::new());
        for pending in &facts.pending {
            let answer = match seen.get(&(pending.kind, &pending.values)) {
                Some(answer) => answer,
                None => {
                    let octets = pending.values.iter().map(|value| PyBytes::new(py, value));
                    let octets: Vec<_> = octets.collect();
                    let answer = self.read_values.bind(py).call1((kind(pending.kind), octets))?;
                    seen.entry((pending.kind, &pending.values)).or_insert(answer)
                }
            };
            let row = pending.row;
            match pending.kind {
                PendingKind::Sitemaps => _ = values.sitemaps.insert(row, answer.extract()?),
                PendingKind::Applications => _ = values.applications.insert(row, answer.extract()?),
                PendingKind::ContentUsage => {
                    values.content_usage.insert(row, answer.extract()?);
                }
                PendingKind::ContentSignal => {
                    values.content_signal.insert(row, answer.extract()?);
                }
            }
        }
        Ok(values)
    }
}

fn kind(kind: PendingKind) -> &'static str {
    match kind {
        PendingKind::Sitemaps => "sitemaps",
        PendingKind::ContentUsage => "content_usage",
        PendingKind::ContentSignal => "content_signal",
        PendingKind::Applications => "applications",
    }
}

/// Reads files in blocks, on several threads.
fn read_files(
    reader: &core::facts::FactsReader,
    texts: &[Texts<'_>],
    states: &[u8],
    threads: usize,
) -> Facts {
    let threads = thread_count(threads, states.len(), FILES_PER_THREAD);
    if threads == 1 {
        return read_block(reader, texts, states, 0, states.len());
    }
    let size = states.len().div_ceil(threads * BLOCKS_PER_THREAD).max(1);
    let (next, blocks) = (AtomicUsize::new(0), Mutex::new(Vec::new()));
    std::thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| loop {
                let from = next.fetch_add(size, Ordering::Relaxed);
                if from >= states.len() {
                    break;
                }
                let to = states.len().min(from + size);
                let facts = read_block(reader, texts, states, from, to);
                if let Ok(mut blocks) = blocks.lock() {
                    blocks.push((from, facts));
                }
            });
        }
    });
    let mut blocks = blocks.into_inner().unwrap_or_else(|poisoned| poisoned.into_inner());
    blocks.sort_unstable_by_key(|(from, _)| *from);
    let mut all = Facts::default();
    for (_, facts) in blocks {
        all.append(facts);
    }
    all
}

/// Reads the files of some rows.
fn read_block(
    reader: &core::facts::FactsReader,
    texts: &[Texts<'_>],
    states: &[u8],
    from: usize,
    to: usize,
) -> Facts {
    let mut builder = FactsBuilder::new(reader);
    let rows = texts.iter().flat_map(|texts| (0..texts.length).map(move |row| (texts, row)));
    for ((texts, row), state) in rows.zip(states).take(to).skip(from) {
        match state {
            0 | 1 if texts.is_valid(row) => builder.add(texts.octets(row), *state == WHOLE),
            2 => builder.add_missing(NoFile::Unavailable),
            3 => builder.add_missing(NoFile::Unreachable),
            _ => builder.add_missing(NoFile::Missing),
        }
    }
    builder.finish()
}

// --- Columns -------------------------------------------------------------------------------------

/// The facts as a struct. Rows without a file have nulls, except for the coverage of crawlers.
fn make_columns(mut facts: Facts, values: &PendingValues, tokens: &[String]) -> Column {
    let rows = facts.is_file.len();
    let crawlers = coverage_columns(&facts, tokens);
    let sitemaps = with_pending(std::mem::take(&mut facts.sitemaps), &values.sitemaps);
    let applications = with_pending(empty_lists(rows), &values.applications);
    let is_file = facts.is_file;
    let all_files = is_file.iter().all(|&is_file| is_file);
    let valid = || (!all_files).then(|| is_file.clone());
    let counts = |name: &str, counts: Vec<u32>| Column::uint32(counts, valid()).named(name);
    let lists = |name: &str, lists: TextLists| {
        let texts = Column::strings(lists.text, &lists.text_ends, Validity::default());
        Column::lists(texts, &lists.row_ends, valid()).named(name)
    };
    let maps = |name: &str, found: &HashMap<usize, Vec<(String, String)>>| {
        let (mut keys, mut texts) = (TextLists::default(), TextLists::default());
        for row in 0..rows {
            for (key, value) in found.get(&row).into_iter().flatten() {
                keys.push(key.as_bytes());
                texts.push(value.as_bytes());
            }
            keys.end_row();
        }
        let texts = Column::strings(texts.text, &texts.text_ends, Validity::default());
        let key_texts = Column::strings(keys.text, &keys.text_ends, Validity::default());
        Column::maps(key_texts, texts, &keys.row_ends, valid()).named(name)
    };
    let delays = Column::structs(
        vec![
            Column::strings(
                facts.delayed_agents.text,
                &facts.delayed_agents.text_ends,
                Validity::default(),
            )
            .named("user_agent"),
            Column::float64(facts.delays, Validity::default()).named("seconds"),
        ],
        facts.delayed_agents.text_ends.len(),
        None,
    );
    let has_delay: Vec<_> = facts.crawl_delay.iter().map(|seconds| !seconds.is_nan()).collect();
    let codes =
        dictionary(facts.note_codes.iter().map(|&code| Code::ALL[usize::from(code)].slug()));
    let named =
        dictionary(facts.named.iter().map(|&crawler| tokens[usize::from(crawler)].as_str()));
    let notes = Column::maps(
        codes,
        Column::uint32(facts.note_counts, Validity::default()),
        &facts.note_ends,
        valid(),
    );
    let fields = vec![
        counts("size", facts.size),
        Column::bools(&facts.truncated, valid()).named("truncated"),
        counts("lines", facts.lines),
        counts("records", facts.records),
        counts("groups", facts.groups),
        counts("allow_rules", facts.allow_rules),
        counts("disallow_rules", facts.disallow_rules),
        counts("other_records", facts.other_records),
        lists("user_agents", facts.user_agents),
        lists("sitemaps", sitemaps),
        Column::float64(facts.crawl_delay, Some(has_delay)).named("crawl_delay"),
        Column::lists(delays, &facts.delayed_agents.row_ends, valid()).named("crawl_delays"),
        lists("purposes", facts.purposes),
        maps("content_usage", &values.content_usage),
        maps("content_signal", &values.content_signal),
        counts("app_directives", facts.app_directives),
        lists("applications", applications),
        notes.named("notes"),
        Column::lists(named, &facts.named_ends, valid()).named("named_crawlers"),
        Column::structs(crawlers, rows, Validity::default()).named("crawlers"),
    ];
    Column::structs(fields, rows, Validity::default())
}

/// One column for each crawler; in `facts` the rows are one after another.
fn coverage_columns(facts: &Facts, tokens: &[String]) -> Vec<Column> {
    let column = |(number, token): (usize, &String)| {
        let found: Vec<i8> =
            facts.coverage.iter().skip(number).step_by(tokens.len()).copied().collect();
        let valid = found.contains(&UNDECIDED).then(|| found.iter().map(|&c| c >= 0).collect());
        let names = dictionary(Coverage::ALL.map(Coverage::name));
        let found = found.into_iter().map(|coverage| coverage.max(0)).collect();
        Column::small_dictionary(found, valid, names).named(token)
    };
    tokens.iter().enumerate().map(column).collect()
}

fn empty_lists(rows: usize) -> TextLists {
    TextLists { row_ends: vec![0; rows], ..TextLists::default() }
}

/// The lists of a column, with those that a hook made in the place of empty ones.
fn with_pending(lists: TextLists, values: &HashMap<usize, Vec<String>>) -> TextLists {
    if values.is_empty() {
        return lists;
    }
    let mut all = TextLists::default();
    for row in 0..lists.row_ends.len() {
        match values.get(&row) {
            Some(texts) => texts.iter().for_each(|text| all.push(text.as_bytes())),
            None => lists.row(row).for_each(|text| all.push(text)),
        }
        all.end_row();
    }
    all
}
