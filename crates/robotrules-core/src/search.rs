//! The search for a witness: a path that several decision lists accept, by counterexample-guided
//! refinement of product searches.
//!
//! A rejecting clause is ignored until it rejects a path that was found; then the search runs again
//! with the clause. The relaxed decision lists accept at least what the given ones do, so that a
//! path that all given lists accept is a shortest one, and if the relaxed search finds nothing there
//! is nothing.
//!
//! A decision list that can accept in many ways is split into branches, one for each accepting clause
//! and one for the default: the clause matches, and no rejecting clause above it does. Together they
//! would have as many states as there are sets of clauses. For a shortest path the branches are
//! starts of the same product search. If any path is permitted they are searched in order of
//! precedence, until one has a path, or the rejecting clauses above leave none.
//!
//! The cost is that of the product searches, within `max_states` in total. This module does not
//! expand states: `product_search.rs` does. `pure_search.py` is the readable version.

use crate::path_dfa::Universe;
use crate::pattern_dfa::Machines;
use crate::product_search::{Ladder, Walk, Within};
use crate::url_path::Path;
use std::collections::BTreeSet;

/// The search for a witness, and its statistics.
pub struct Search<'a> {
    machines: &'a Machines,
    universe: &'a Universe,
    within: Within,
    questions: Vec<Question>,
    // The rejecting clauses that were activated, by decision list, over all its branches.
    told: Vec<BTreeSet<u32>>,
    /// The number of states that were reached, in all product searches.
    pub seen: i64,
    /// Whether the search stopped at `max_states`.
    pub exhausted: bool,
}

/// A decision list that must accept, or a branch of it, and its active rejecting clauses.
#[derive(Clone)]
struct Question {
    ladder: usize,
    rungs: Vec<u32>,
    foot: bool,
    heard: BTreeSet<u32>,
}

fn is_yes(rung: &u32) -> bool {
    rung & 1 == 1
}

impl<'a> Search<'a> {
    /// A search that has not started. The pattern of every clause must exist.
    pub fn new(
        machines: &'a Machines,
        universe: &'a Universe,
        ladders: Vec<Ladder>,
        within: Within,
    ) -> Search<'a> {
        let told = vec![BTreeSet::new(); ladders.len()];
        let questions = ladders.into_iter().enumerate();
        let mut questions: Vec<_> = questions.map(Question::new).collect();
        let only: Vec<_> = questions.iter().filter_map(Question::only).collect();
        for question in &mut questions {
            question.leave_out(&only, machines);
        }
        Search { machines, universe, within, questions, told, seen: 0, exhausted: false }
    }

    /// The patterns of each decision list that rejected a path during the search.
    pub fn told(&self) -> Vec<Vec<u32>> {
        let told = self.questions.iter().zip(&self.told).map(|(question, told)| {
            let (mut found, mut seen) = (Vec::new(), BTreeSet::new());
            for rung in question.rungs.iter().filter(|rung| told.contains(rung)) {
                if seen.insert(rung >> 1) {
                    found.push(rung >> 1);
                }
            }
            found
        });
        told.collect()
    }

    /// A path that all decision lists accept: a shortest one, or any path if the limits permit.
    pub fn run(&mut self) -> Option<Vec<u8>> {
        let mut questions = self.questions.clone();
        match self.within.shortest {
            true => self.agreed(&mut questions),
            false => self.first(&mut questions),
        }
    }

    /// A path that all constraints accept, by refinement.
    fn agreed(&mut self, questions: &mut [Question]) -> Option<Vec<u8>> {
        loop {
            let starts = starts(questions.iter().map(Question::relaxed).collect());
            let left = Within { budget: self.within.budget - self.seen, ..self.within };
            let mut walk = Walk::new(self.machines, self.universe, &starts, left);
            let path = walk.run();
            self.seen += walk.seen;
            self.exhausted = walk.exhausted;
            let path = path?;
            // Every constraint is checked, so that each activates its rejecting clause.
            let objections = questions.iter_mut().map(|question| self.objects(question, &path));
            if objections.filter(|&objects| objects).count() == 0 {
                return Some(path);
            }
        }
    }

    /// Any path that all constraints accept; the branches of one of them are searched in turn.
    fn first(&mut self, questions: &mut [Question]) -> Option<Vec<u8>> {
        let ways: Vec<_> = questions.iter().map(Question::ways).collect();
        let most = ways.iter().map(Vec::len).max().unwrap_or(0);
        let Some(split) = ways.iter().position(|ways| ways.len() == most && most > 1) else {
            return self.agreed(questions);
        };
        let mut question = questions[split].clone();
        let mut trial = questions.to_vec();
        trial[split] = question.above(0);
        let mut path = self.agreed(&mut trial)?;
        if !self.objects(&mut question, &path) {
            return Some(path);
        }
        for &at in &ways[split] {
            trial[split] = question.above(at).hearing(&trial[split]);
            if self.objects(&mut trial[split], &path) {
                // If no path is left for this branch, none is left for those below.
                path = self.agreed(&mut trial)?;
            }
            let mut following = trial.clone();
            following[split] = question.way(at).hearing(&trial[split]);
            let found = self.agreed(&mut following);
            if found.is_some() || self.exhausted {
                return found;
            }
        }
        None
    }

    /// Whether a constraint rejects a path; activates the rejecting clause.
    fn objects(&mut self, question: &mut Question, path: &[u8]) -> bool {
        let path = Path::new(path);
        let matches = |rung: &&u32| self.machines.matches(**rung as usize >> 1, path);
        let Some(&rung) = question.rungs.iter().find(matches) else {
            return !question.foot;
        };
        if !is_yes(&rung) {
            question.heard.insert(rung);
            self.told[question.ladder].insert(rung);
        }
        !is_yes(&rung)
    }
}

impl Question {
    fn new((ladder, (rungs, foot)): (usize, Ladder)) -> Question {
        Question { ladder, rungs, foot, heard: BTreeSet::new() }
    }

    /// The only accepting pattern, if every accepted path must match it.
    fn only(&self) -> Option<usize> {
        let mut positive = self.rungs.iter().filter(|rung| is_yes(rung));
        let only = positive.next().filter(|_| !self.foot && positive.next().is_none())?;
        Some(*only as usize >> 1)
    }

    /// Removes clauses that cannot match a path that matches all patterns in `only`.
    fn leave_out(&mut self, only: &[usize], machines: &Machines) {
        self.rungs.retain(|&rung| {
            let first = machines.first(rung as usize >> 1);
            only.iter().all(|&only| {
                let other = machines.first(only);
                first.starts_with(other) || other.starts_with(first)
            })
        });
    }

    /// A decision list that accepts at least what this one does: without inactive rejecting clauses.
    fn relaxed(&self) -> Ladder {
        let looked_at = |rung: &&u32| is_yes(rung) || self.heard.contains(rung);
        let mut rungs: Vec<_> = self.rungs.iter().filter(looked_at).copied().collect();
        while self.foot && rungs.last().is_some_and(is_yes) {
            rungs.pop();
        }
        (rungs, self.foot)
    }

    /// The branches, by positions of clauses; the position after the last clause is the default.
    ///
    /// Accepting clauses above a branch do not restrict it. An accepting clause directly above an
    /// accepting default is part of the default's branch.
    fn ways(&self) -> Vec<usize> {
        let last_no = self.rungs.iter().rposition(|rung| !is_yes(rung));
        let end = if self.foot { last_no.unwrap_or(0) } else { self.rungs.len() };
        let mut ways: Vec<_> = (0..end).filter(|&at| is_yes(&self.rungs[at])).collect();
        ways.extend(self.foot.then_some(self.rungs.len()));
        ways
    }

    /// The constraint of one branch.
    fn way(&self, at: usize) -> Question {
        let mut way = self.above(at);
        way.rungs.extend(self.rungs.get(at));
        way.foot = at == self.rungs.len();
        way
    }

    /// The constraint that no rejecting clause above a branch matches.
    fn above(&self, at: usize) -> Question {
        let rungs = self.rungs[..at].iter().filter(|rung| !is_yes(rung)).copied().collect();
        Question { ladder: self.ladder, rungs, foot: true, heard: BTreeSet::new() }
    }

    /// This constraint, with the active clauses of another one added.
    fn hearing(mut self, other: &Question) -> Question {
        self.heard.extend(&other.heard);
        self
    }
}

/// Splits the decision list with the most branches: the decision lists of each branch.
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
