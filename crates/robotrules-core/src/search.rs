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

use crate::path_dfa::PathDfa;
use crate::pattern_dfa::PatternDfas;
use crate::product_search::{DecisionList, ProductSearch, SearchLimits};
use crate::url_path::Path;
use std::collections::BTreeSet;

/// The search for a witness, and its statistics.
pub struct WitnessSearch<'a> {
    dfas: &'a PatternDfas,
    path_dfa: &'a PathDfa,
    limits: SearchLimits,
    constraints: Vec<Constraint>,
    // The rejecting clauses that were activated, by decision list, over all its branches.
    rejecting: Vec<BTreeSet<u32>>,
    /// The number of states that were reached, in all product searches.
    pub states_seen: i64,
    /// Whether the search stopped at `max_states`.
    pub exhausted: bool,
}

/// A decision list that must accept, or a branch of it, and its active rejecting clauses.
#[derive(Clone)]
struct Constraint {
    list: usize,
    clauses: Vec<u32>,
    default: bool,
    active: BTreeSet<u32>,
}

fn is_accepting(clause: &u32) -> bool {
    clause & 1 == 1
}

impl<'a> WitnessSearch<'a> {
    /// A search that has not started. The pattern of every clause must exist.
    pub fn new(
        dfas: &'a PatternDfas,
        path_dfa: &'a PathDfa,
        lists: Vec<DecisionList>,
        limits: SearchLimits,
    ) -> WitnessSearch<'a> {
        let rejecting = vec![BTreeSet::new(); lists.len()];
        let constraints = lists.into_iter().enumerate();
        let mut constraints: Vec<_> = constraints.map(Constraint::new).collect();
        let required: Vec<_> = constraints.iter().filter_map(Constraint::required).collect();
        for constraint in &mut constraints {
            constraint.drop_unreachable(&required, dfas);
        }
        WitnessSearch {
            dfas,
            path_dfa,
            limits,
            constraints,
            rejecting,
            states_seen: 0,
            exhausted: false,
        }
    }

    /// The patterns of each decision list that rejected a path during the search.
    pub fn rejecting(&self) -> Vec<Vec<u32>> {
        let rejecting =
            self.constraints.iter().zip(&self.rejecting).map(|(constraint, rejecting)| {
                let (mut entries, mut seen) = (Vec::new(), BTreeSet::new());
                for clause in constraint.clauses.iter().filter(|clause| rejecting.contains(clause))
                {
                    if seen.insert(clause >> 1) {
                        entries.push(clause >> 1);
                    }
                }
                entries
            });
        rejecting.collect()
    }

    /// A path that all decision lists accept: a shortest one, or any path if the limits permit.
    pub fn run(&mut self) -> Option<Vec<u8>> {
        let mut constraints = self.constraints.clone();
        match self.limits.shortest {
            true => self.find_refined(&mut constraints),
            false => self.find_any(&mut constraints),
        }
    }

    /// A path that all constraints accept, by refinement.
    fn find_refined(&mut self, constraints: &mut [Constraint]) -> Option<Vec<u8>> {
        loop {
            let starts = split_branches(constraints.iter().map(Constraint::relaxation).collect());
            let remaining = SearchLimits {
                max_states: self.limits.max_states - self.states_seen,
                ..self.limits
            };
            let mut search = ProductSearch::new(self.dfas, self.path_dfa, &starts, remaining);
            let path = search.run();
            self.states_seen += search.states_seen;
            self.exhausted = search.exhausted;
            let path = path?;
            // Every constraint is checked, so that each activates its rejecting clause.
            let rejections =
                constraints.iter_mut().map(|constraint| self.rejects(constraint, &path));
            if rejections.filter(|&rejects| rejects).count() == 0 {
                return Some(path);
            }
        }
    }

    /// Any path that all constraints accept; the branches of one of them are searched in turn.
    fn find_any(&mut self, constraints: &mut [Constraint]) -> Option<Vec<u8>> {
        let branches: Vec<_> = constraints.iter().map(Constraint::branches).collect();
        let most = branches.iter().map(Vec::len).max().unwrap_or(0);
        let Some(split) = branches.iter().position(|branches| branches.len() == most && most > 1)
        else {
            return self.find_refined(constraints);
        };
        let mut constraint = constraints[split].clone();
        let mut trial = constraints.to_vec();
        trial[split] = constraint.rejections_above(0);
        let mut path = self.find_refined(&mut trial)?;
        if !self.rejects(&mut constraint, &path) {
            return Some(path);
        }
        for &at in &branches[split] {
            trial[split] = constraint.rejections_above(at).with_active_of(&trial[split]);
            if self.rejects(&mut trial[split], &path) {
                // If no path is left for this branch, none is left for those below.
                path = self.find_refined(&mut trial)?;
            }
            let mut following = trial.clone();
            following[split] = constraint.branch(at).with_active_of(&trial[split]);
            let found = self.find_refined(&mut following);
            if found.is_some() || self.exhausted {
                return found;
            }
        }
        None
    }

    /// Whether a constraint rejects a path; activates the rejecting clause.
    fn rejects(&mut self, constraint: &mut Constraint, path: &[u8]) -> bool {
        let path = Path::new(path);
        let matches = |clause: &&u32| self.dfas.matches(**clause as usize >> 1, path);
        let Some(&clause) = constraint.clauses.iter().find(matches) else {
            return !constraint.default;
        };
        if !is_accepting(&clause) {
            constraint.active.insert(clause);
            self.rejecting[constraint.list].insert(clause);
        }
        !is_accepting(&clause)
    }
}

impl Constraint {
    fn new((list, (clauses, default)): (usize, DecisionList)) -> Constraint {
        Constraint { list, clauses, default, active: BTreeSet::new() }
    }

    /// The only accepting pattern, if every accepted path must match it.
    fn required(&self) -> Option<usize> {
        let mut accepting = self.clauses.iter().filter(|clause| is_accepting(clause));
        let required = accepting.next().filter(|_| !self.default && accepting.next().is_none())?;
        Some(*required as usize >> 1)
    }

    /// Removes clauses that cannot match a path that matches all patterns in `required`.
    fn drop_unreachable(&mut self, required: &[usize], dfas: &PatternDfas) {
        self.clauses.retain(|&clause| {
            let prefix = dfas.prefix(clause as usize >> 1);
            required.iter().all(|&required| {
                let other = dfas.prefix(required);
                prefix.starts_with(other) || other.starts_with(prefix)
            })
        });
    }

    /// A decision list that accepts at least what this one does: without inactive rejecting clauses.
    fn relaxation(&self) -> DecisionList {
        let is_kept = |clause: &&u32| is_accepting(clause) || self.active.contains(clause);
        let mut clauses: Vec<_> = self.clauses.iter().filter(is_kept).copied().collect();
        while self.default && clauses.last().is_some_and(is_accepting) {
            clauses.pop();
        }
        (clauses, self.default)
    }

    /// The branches, by positions of clauses; the position after the last clause is the default.
    ///
    /// Accepting clauses above a branch do not restrict it. An accepting clause directly above an
    /// accepting default is part of the default's branch.
    fn branches(&self) -> Vec<usize> {
        let last_rejecting = self.clauses.iter().rposition(|clause| !is_accepting(clause));
        let end = if self.default { last_rejecting.unwrap_or(0) } else { self.clauses.len() };
        let mut branches: Vec<_> = (0..end).filter(|&at| is_accepting(&self.clauses[at])).collect();
        branches.extend(self.default.then_some(self.clauses.len()));
        branches
    }

    /// The constraint of one branch.
    fn branch(&self, at: usize) -> Constraint {
        let mut branch = self.rejections_above(at);
        branch.clauses.extend(self.clauses.get(at));
        branch.default = at == self.clauses.len();
        branch
    }

    /// The constraint that no rejecting clause above a branch matches.
    fn rejections_above(&self, at: usize) -> Constraint {
        let clauses =
            self.clauses[..at].iter().filter(|clause| !is_accepting(clause)).copied().collect();
        Constraint { list: self.list, clauses, default: true, active: BTreeSet::new() }
    }

    /// This constraint, with the active clauses of another one added.
    fn with_active_of(mut self, other: &Constraint) -> Constraint {
        self.active.extend(&other.active);
        self
    }
}

/// Splits the decision list with the most branches: the decision lists of each branch.
fn split_branches(mut lists: Vec<DecisionList>) -> Vec<Vec<DecisionList>> {
    let branches = |(clauses, default): &DecisionList| {
        clauses.iter().filter(|&clause| clause & 1 == 1).count() + usize::from(*default)
    };
    let most = lists.iter().map(branches).max().unwrap_or(0);
    let Some(split) = lists.iter().position(|list| branches(list) == most && most > 1) else {
        return vec![lists];
    };
    let (clauses, default) = std::mem::take(&mut lists[split]);
    let with = |branch: DecisionList| {
        let mut start = lists.clone();
        start[split] = branch;
        start
    };
    let (mut rejections, mut starts) = (Vec::new(), Vec::with_capacity(most));
    for clause in clauses {
        if clause & 1 == 0 {
            rejections.push(clause);
        } else {
            let above = rejections.iter().copied();
            starts.push(with((above.chain([clause]).collect(), false)));
        }
    }
    if default {
        starts.push(with((rejections, true)));
    }
    starts
}
