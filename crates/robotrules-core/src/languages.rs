//! Which paths do some patterns match and others not: a shortest one, or the proof that there is
//! none.
//!
//! A question is a list of ladders. A ladder has patterns in the order of precedence, each with a
//! yes or a no; a path gets the word of the first that matches, and the word at the foot if none
//! does. What is sought is a shortest path to which all ladders say yes. Verdicts, deciding rules
//! and differences of verdicts are all questions of this form.
//!
//! It does not know rules, verdicts or files, nor how paths are sought: `search.rs` does.

use crate::normalize::Compared;
use crate::path_dfa::{universe, Universe};
use crate::pattern::normal_form;
use crate::pattern_dfa::Machines;
use crate::product_search::Ladder;
pub use crate::product_search::Within;
use crate::ruleset::{decision, index_page, octets_and_rule, Decision, Kind, RuleSet};
use crate::search::Search;
use crate::settings::Settings;
use crate::url_path::Path;

/// Patterns that are asked about together, in the order of precedence.
#[derive(Debug)]
pub struct Languages {
    entries: Vec<Entry>,
    machines: Machines,
    universe: &'static Universe,
    compared: Compared,
}

/// A pattern that can match.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// Its rule, and what that says.
    pub says: Decision,
    /// Its normal form.
    pub form: Vec<u8>,
}

/// What was found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sought {
    /// Whether it was decided within the budget.
    pub decided: bool,
    /// The path, if there is one.
    pub path: Option<Vec<u8>>,
    /// How many states were seen.
    pub states: i64,
    /// Of each ladder the entries that said no to what was found on the way.
    pub heard: Vec<Vec<u32>>,
}

impl Languages {
    /// Compiles patterns as written in a file. Those that cannot match at all are left out.
    pub fn new(patterns: &[(&[u8], Kind)], settings: &Settings) -> Languages {
        let rules = RuleSet::new(patterns.iter().copied(), settings);
        let (mut arena, ranked, paths) = rules.into_patterns();
        let mut entries = Vec::with_capacity(ranked.len() + 1);
        let mut compiled = Vec::with_capacity(ranked.len() + 1);
        if paths.robots_txt_is_apart {
            // No rule is consulted (AMB-45): as if one stood above all others.
            let form = b"/robots.txt$";
            compiled.push(arena.add(form, settings));
            entries.push(Entry { says: Decision::Implicit, form: form.to_vec() });
        }
        for (rank, pattern) in ranked {
            let (octets, rule) = octets_and_rule(rank);
            let (value, kind) = patterns[rule as usize];
            let mut form = normal_form(value, settings);
            if form.len() != octets as usize {
                // The other of two patterns that a rule stands for.
                let directory = index_page(value, kind, settings).unwrap_or_default();
                form = normal_form(&directory, settings);
            }
            entries.push(Entry { says: decision(rank), form });
            compiled.push(pattern);
        }
        let machines = Machines::new(arena, compiled.into_iter());
        let compared = paths.compared;
        Languages { entries, machines, universe: universe(compared), compared }
    }

    /// The patterns in the order of precedence.
    pub fn entries(&self) -> &[Entry] {
        &self.entries
    }

    /// Seeks a path to which all ladders say yes.
    ///
    /// A rung is the position of an entry, shifted left by one, plus 1 for yes. None where one is of
    /// no entry.
    pub fn seek(&self, ladders: Vec<Ladder>, within: Within) -> Option<Sought> {
        let mut rungs = ladders.iter().flat_map(|(rungs, _)| rungs);
        if rungs.any(|&rung| rung as usize >> 1 >= self.entries.len()) {
            return None;
        }
        let mut search = Search::new(&self.machines, self.universe, ladders, within);
        let path = search.run().map(|path| self.compared.shown(&path));
        let (decided, states) = (!search.exhausted, search.seen);
        Some(Sought { decided, path, states, heard: search.told() })
    }

    /// The first of some entries that matches a path in normal form.
    pub fn decider(&self, entries: impl Iterator<Item = u32>, path: &[u8]) -> Option<u32> {
        let path = self.compared.of_shown(path);
        let path = Path::new(&path);
        let mut known = entries.filter(|&at| (at as usize) < self.entries.len());
        known.find(|&at| self.machines.matches(at as usize, path))
    }
}
