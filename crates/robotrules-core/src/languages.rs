//! Path patterns as regular languages: a shortest witness for a combination of patterns, or the proof
//! that there is none.
//!
//! A decision list has clauses in order of precedence, each with a pattern that accepts or rejects;
//! the first clause that matches a path decides, else the default. A witness is a path that all given
//! decision lists accept. Verdicts, deciding rules and differences of verdicts are all expressed by
//! decision lists.
//!
//! Compiling is linear in the patterns; a search visits at most `max_states` states. This module does
//! not use verdicts or files, and does not search: `search.rs` does.

use crate::normalize::Comparison;
use crate::path_dfa::{path_dfa, PathDfa};
use crate::pattern::normal_form;
use crate::pattern_dfa::PatternDfas;
use crate::product_search::DecisionList;
pub use crate::product_search::SearchLimits;
use crate::ruleset::{decision, index_page, octets_and_rule, Decision, Kind, RuleSet};
use crate::search::WitnessSearch;
use crate::settings::Settings;
use crate::url_path::Path;

/// Compiled patterns, in order of precedence.
#[derive(Debug)]
pub struct Languages {
    entries: Vec<Entry>,
    dfas: PatternDfas,
    path_dfa: &'static PathDfa,
    comparison: Comparison,
}

/// A pattern that can match.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// The decision of its rule.
    pub decision: Decision,
    /// Its normal form.
    pub form: Vec<u8>,
}

/// The result of a search.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WitnessResult {
    /// Whether the search finished within `max_states`.
    pub decided: bool,
    /// The witness, if there is one.
    pub path: Option<Vec<u8>>,
    /// The number of states that were reached.
    pub states: i64,
    /// The entries of each decision list that rejected a path during the search.
    pub rejecting: Vec<Vec<u32>>,
}

impl Languages {
    /// Compiles patterns as written in a file, without those that can never match.
    pub fn new(patterns: &[(&[u8], Kind)], settings: &Settings) -> Languages {
        let rules = RuleSet::new(patterns.iter().copied(), settings);
        let (mut arena, ranked, paths) = rules.into_patterns();
        let mut entries = Vec::with_capacity(ranked.len() + 1);
        let mut compiled = Vec::with_capacity(ranked.len() + 1);
        if paths.robots_txt_is_implicit {
            // Always allowed (AMB-45): the same as a rule above all others.
            let form = b"/robots.txt$";
            compiled.push(arena.add(form, settings));
            entries.push(Entry { decision: Decision::Implicit, form: form.to_vec() });
        }
        for (rank, pattern) in ranked {
            let (octets, rule) = octets_and_rule(rank);
            let (value, kind) = patterns[rule as usize];
            let mut form = normal_form(value, settings);
            if form.len() != octets as usize {
                // The second of the two patterns of an index page rule.
                let directory = index_page(value, kind, settings).unwrap_or_default();
                form = normal_form(&directory, settings);
            }
            entries.push(Entry { decision: decision(rank), form });
            compiled.push(pattern);
        }
        let dfas = PatternDfas::new(arena, compiled.into_iter());
        let comparison = paths.comparison;
        Languages { entries, dfas, path_dfa: path_dfa(comparison), comparison }
    }

    /// The patterns in order of precedence.
    pub fn entries(&self) -> &[Entry] {
        &self.entries
    }

    /// Searches for a path that all decision lists accept.
    ///
    /// A clause is the position of an entry, shifted left by one, plus 1 to accept. `None` if a
    /// position is out of range.
    pub fn find_witness(
        &self,
        lists: Vec<DecisionList>,
        limits: SearchLimits,
    ) -> Option<WitnessResult> {
        let mut clauses = lists.iter().flat_map(|(clauses, _)| clauses);
        if clauses.any(|&clause| clause as usize >> 1 >= self.entries.len()) {
            return None;
        }
        let mut search = WitnessSearch::new(&self.dfas, self.path_dfa, lists, limits);
        let path = search.run().map(|path| self.comparison.to_readable(&path));
        let (decided, states) = (!search.exhausted, search.states_seen);
        Some(WitnessResult { decided, path, states, rejecting: search.rejecting() })
    }

    /// The first of the given entries that matches a path in normal form.
    pub fn first_match(&self, entries: impl Iterator<Item = u32>, path: &[u8]) -> Option<u32> {
        let path = self.comparison.to_compared(path);
        let path = Path::new(&path);
        let mut known = entries.filter(|&at| (at as usize) < self.entries.len());
        known.find(|&at| self.dfas.matches(at as usize, path))
    }
}
