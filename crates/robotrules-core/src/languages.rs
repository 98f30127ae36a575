//! Which paths do some patterns match and others not: a shortest one, or the proof that there is
//! none.
//!
//! A question is a list of ladders. A ladder has patterns in the order of precedence, each with a
//! yes or a no; a path gets the word of the first that matches, and the word at the foot if none
//! does. What is sought is a shortest path to which all ladders say yes. Verdicts, deciding rules
//! and differences of verdicts are all questions of this form.
//!
//! Patterns that say no are looked at only when a path was found that they object to; the path is
//! then sought again with them. As what is walked always allows more than the question does, a path
//! that all agree on is a shortest one, and where nothing is found there is nothing. A ladder that
//! has many ways to a yes is walked one way at a time, each a start of the same walk: one pattern
//! has to match, and none that says no above it may. Together they would be in as many states as
//! there are sets of them.
//!
//! It does not know rules, verdicts or files. `pure_search.py` is the same, written to be read.

use crate::machine::Machines;
use crate::octets::Path;
use crate::pattern::normal_form;
use crate::ruleset::{decision, index_page, octets_and_rule, Decision, Kind, RuleSet};
use crate::settings::Settings;
use crate::universe::{universe, Universe};
pub use crate::walk::Within;
use crate::walk::{Ladder, Walk};
use std::collections::BTreeSet;

/// Patterns that are asked about together, in the order of precedence.
#[derive(Debug)]
pub struct Languages {
    entries: Vec<Entry>,
    machines: Machines,
    universe: &'static Universe,
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
        Languages { entries, machines, universe: universe(paths.url_as_given) }
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
        let mut questions: Vec<_> = ladders.into_iter().map(Question::new).collect();
        let only: Vec<_> = questions.iter().filter_map(Question::only).collect();
        for question in &mut questions {
            question.leave_out(&only, &self.machines);
        }
        let mut states = 0;
        loop {
            let starts = starts(questions.iter().map(Question::relaxed).collect());
            let left = Within { budget: within.budget - states, ..within };
            let mut walk = Walk::new(&self.machines, self.universe, &starts, left);
            let path = walk.run();
            states += walk.seen;
            if let Some(path) = &path {
                // All of them are asked, so that each hears what it has to hear.
                let path = Path::new(path);
                let objections = questions.iter_mut().map(|q| q.objects(path, &self.machines));
                if objections.filter(|&objects| objects).count() > 0 {
                    continue;
                }
            }
            let heard = questions.iter().map(Question::heard).collect();
            return Some(Sought { decided: !walk.exhausted, path, states, heard });
        }
    }

    /// The first of some entries that matches a path.
    pub fn decider(&self, entries: impl Iterator<Item = u32>, path: &[u8]) -> Option<u32> {
        let path = Path::new(path);
        let mut known = entries.filter(|&at| (at as usize) < self.entries.len());
        known.find(|&at| self.machines.matches(at as usize, path))
    }
}

/// Ladders for each way to a yes on the one that has most of them.
fn starts(mut ladders: Vec<Ladder>) -> Vec<Vec<Ladder>> {
    let ways = |(rungs, foot): &Ladder| {
        rungs.iter().filter(|&rung| rung & 1 == 1).count() + usize::from(*foot)
    };
    let most = ladders.iter().map(ways).max().unwrap_or(0);
    let Some(split) = ladders.iter().position(|ladder| ways(ladder) == most && most > 1) else {
        return vec![ladders];
    };
    let (rungs, foot) = std::mem::take(&mut ladders[split]);
    let with = |way: Ladder| {
        let mut start = ladders.clone();
        start[split] = way;
        start
    };
    let (mut noes, mut found) = (Vec::new(), Vec::with_capacity(most));
    for rung in rungs {
        if rung & 1 == 0 {
            noes.push(rung);
        } else {
            let above = noes.iter().copied();
            found.push(with((above.chain([rung]).collect(), false)));
        }
    }
    if foot {
        found.push(with((noes, true)));
    }
    found
}

/// A ladder, and which of its patterns that say no are looked at so far.
struct Question {
    rungs: Vec<u32>,
    foot: bool,
    heard: BTreeSet<usize>,
    to_the_foot: bool,
}

impl Question {
    fn new((rungs, foot): Ladder) -> Question {
        Question { rungs, foot, heard: BTreeSet::new(), to_the_foot: !foot }
    }

    /// The pattern that has to match, if there is just one.
    fn only(&self) -> Option<usize> {
        let mut positive = self.rungs.iter().filter(|&rung| rung & 1 == 1);
        let only = positive.next().filter(|_| !self.foot && positive.next().is_none())?;
        Some(*only as usize >> 1)
    }

    /// Leaves out what cannot match where all that has to match does.
    fn leave_out(&mut self, only: &[usize], machines: &Machines) {
        self.rungs.retain(|&rung| {
            let first = machines.first(rung as usize >> 1);
            only.iter().all(|&only| {
                let other = machines.first(only);
                first.starts_with(other) || other.starts_with(first)
            })
        });
    }

    fn heard(&self) -> Vec<u32> {
        self.heard.iter().map(|&at| self.rungs[at] >> 1).collect()
    }

    /// A ladder that says yes at least where this one does.
    fn relaxed(&self) -> Ladder {
        let last = match self.to_the_foot {
            true => self.rungs.len(),
            false => self.heard.last().map_or(0, |&last| last + 1),
        };
        let rungs = self.rungs[..last].iter().enumerate();
        let looked_at = rungs.filter(|(at, &rung)| rung & 1 == 1 || self.heard.contains(at));
        (looked_at.map(|(_, &rung)| rung).collect(), self.foot || !self.to_the_foot)
    }

    /// Whether this ladder says no; what says it is heard from now on.
    fn objects(&mut self, path: Path<'_>, machines: &Machines) -> bool {
        for (at, &rung) in self.rungs.iter().enumerate() {
            if machines.matches(rung as usize >> 1, path) {
                if rung & 1 == 0 {
                    self.heard.insert(at);
                }
                return rung & 1 == 0;
            }
        }
        self.to_the_foot |= !self.foot;
        !self.foot
    }
}
