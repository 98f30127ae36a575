//! Product search: A* over the product of the path DFA and pattern DFAs for a shortest path that all
//! decision lists accept.
//!
//! A breadth-first search in which a lower bound for the remaining octets orders the frontier. A
//! product state holds a state of the path DFA, and for each decision list its answer so far and the
//! clauses that can still change it, each with the DFA state of its pattern. States are interned in
//! one pool, so that a state costs little more than its clauses. A search may have several starts,
//! each with its own decision lists, and expands only those that can lead to a shortest path.
//!
//! Time and memory are linear in the states, which `max_states` bounds; there may be exponentially
//! many in the number of wildcards. This module does not choose the decision lists: `search.rs`
//! does. `pure_product_search.py` is the readable version.

use crate::kmp::{contains, OctetSet};
use crate::path_dfa::PathDfa;
use crate::pattern_dfa::{PatternDfas, DEAD, MATCHED};
use std::collections::BTreeMap;
use std::hash::{BuildHasher, RandomState};

/// A decision list: clauses in order of precedence, each the number of a pattern shifted left by
/// one, plus 1 to accept; and the default for a path that no clause matches.
pub type DecisionList = (Vec<u32>, bool);

/// A path length that no search reaches.
pub const NO_LIMIT: u32 = 1 << 31;
/// In a state, in place of a decision list: it accepts, whatever follows.
const SETTLED: u32 = u32::MAX;
/// The maximum size of the pool: positions in it are 32 bits wide.
const MAX_POOL_WORDS: usize = u32::MAX as usize - (1 << 24);

/// The limits of a search.
#[derive(Clone, Copy, Debug)]
pub struct SearchLimits {
    /// The state budget: the maximum number of states.
    pub max_states: i64,
    /// Only paths with fewer octets are returned.
    pub shorter_than: u32,
    /// Whether to return a shortest path.
    pub shortest: bool,
}

/// A product search, and its statistics.
pub struct ProductSearch<'a> {
    dfas: &'a PatternDfas,
    path_dfa: &'a PathDfa,
    starts: &'a [Vec<DecisionList>],
    max_states: i64,
    limit: u32,
    shortest: bool,
    frontier: Frontier,
    /// The number of states that were reached.
    pub states_seen: i64,
    /// Whether the search stopped at `max_states`.
    pub exhausted: bool,
}

/// The states that were reached, and the queue of those to expand.
#[derive(Default)]
struct Frontier {
    states: StatePool,
    reached: Vec<Reached>,
    // States by the estimated length of their paths; of equals the last one first.
    queue: BTreeMap<u32, Vec<u32>>,
}

/// How a state was reached.
#[derive(Clone, Copy)]
struct Reached {
    from: u32,
    length: u32,
    octet: u8,
    is_expanded: bool,
}

impl<'a> ProductSearch<'a> {
    /// A search that has not started.
    pub fn new(
        dfas: &'a PatternDfas,
        path_dfa: &'a PathDfa,
        starts: &'a [Vec<DecisionList>],
        limits: SearchLimits,
    ) -> ProductSearch<'a> {
        let SearchLimits { max_states, shorter_than, shortest } = limits;
        let (limit, frontier) = (shorter_than.min(NO_LIMIT), Frontier::default());
        let (states_seen, exhausted) = (0, false);
        ProductSearch {
            dfas,
            path_dfa,
            starts,
            max_states,
            limit,
            shortest,
            frontier,
            states_seen,
            exhausted,
        }
    }

    /// A shortest path, or any path if the limits permit, that all decision lists accept; `None` if
    /// there is none or `max_states` is reached.
    pub fn run(&mut self) -> Option<Vec<u8>> {
        let mut starts = self.start_states();
        let (mut state, mut next) = (Vec::new(), Vec::new());
        loop {
            let nearest = self.frontier.queue.first_key_value();
            let least = nearest.map_or(NO_LIMIT, |(&least, _)| least);
            if let Some((estimate, start)) = starts.pop_if(|(estimate, _)| *estimate < least) {
                let step = Reached { from: 0, length: 1, octet: b'/', is_expanded: false };
                self.add(&start, step, estimate)?;
                continue;
            }
            let number = self.frontier.pop_nearest()?;
            let this = &mut self.frontier.reached[number as usize];
            if std::mem::replace(&mut this.is_expanded, true) {
                continue;
            }
            let length = this.length + 1;
            state.clear();
            state.extend_from_slice(self.frontier.states.get(number));
            if self.is_result(&state) {
                return Some(self.frontier.path(number));
            }
            let distinguished = self.distinguished(&state);
            let path_dfa = self.path_dfa;
            let here = &path_dfa[state[0] as usize];
            for (octets, following) in &here.classes {
                let others = octets.iter().find(|&&octet| !contains(&distinguished, octet));
                let distinguished = octets.iter().filter(|&&octet| contains(&distinguished, octet));
                for &octet in others.into_iter().chain(distinguished) {
                    next.clear();
                    next.push(*following);
                    if self.step_lists(&state, octet, here.in_query, &mut next) {
                        let step = Reached { from: number, length, octet, is_expanded: false };
                        if let Some(remaining) = self.estimate(&next, length) {
                            self.add(&next, step, length + remaining)?;
                        }
                    }
                }
            }
        }
    }

    /// Adds a state to the frontier; `None` if `max_states` is reached.
    fn add(&mut self, state: &[u32], step: Reached, estimate: u32) -> Option<()> {
        let Frontier { states, reached, queue } = &mut self.frontier;
        let number = match states.find(state) {
            Some(known) if step.length < reached[known as usize].length => {
                // If any path is permitted, an expanded state may be reached by a shorter path later.
                let is_expanded = reached[known as usize].is_expanded;
                reached[known as usize] = Reached { is_expanded, ..step };
                known
            }
            Some(_) => return Some(()),
            None => {
                if self.states_seen >= self.max_states || states.words.len() > MAX_POOL_WORDS {
                    self.exhausted = true;
                    return None;
                }
                self.states_seen += 1;
                reached.push(step);
                states.add(state)
            }
        };
        queue.entry(estimate).or_default().push(number);
        Some(())
    }

    /// The state of each start and the estimated length of its paths, longest first: the search pops
    /// them from the end.
    fn start_states(&self) -> Vec<(u32, Vec<u32>)> {
        let mut found = Vec::with_capacity(self.starts.len());
        for lists in self.starts {
            let mut state = vec![0];
            let settled = lists.iter().all(|(clauses, default)| {
                let start = |&clause: &u32| (clause, self.dfas.start(clause as usize >> 1));
                push_list(*default, clauses.iter().map(start), &mut state)
            });
            if let Some(remaining) = settled.then(|| self.estimate(&state, 1)).flatten() {
                found.push((1 + remaining, state));
            }
        }
        found.sort_by_key(|&(estimate, _)| estimate);
        found.reverse();
        found
    }

    /// The octets that some pattern of a state distinguishes.
    fn distinguished(&self, state: &[u32]) -> OctetSet {
        let mut distinguished = OctetSet::default();
        for (_, clauses) in open_lists(state) {
            for (clause, at) in clause_states(clauses) {
                self.dfas.add_distinguished(clause as usize >> 1, at, &mut distinguished);
            }
        }
        distinguished
    }

    /// Appends the decision lists after an octet; false if one of them rejects.
    fn step_lists(&self, state: &[u32], octet: u8, in_query: bool, next: &mut Vec<u32>) -> bool {
        let mut at = 1;
        while at < state.len() {
            if state[at] == SETTLED {
                next.push(SETTLED);
                at += 1;
                continue;
            }
            let (answer, clauses, end) = list_at(state, at);
            let step = |(clause, state)| {
                (clause, self.dfas.step(clause as usize >> 1, state, octet, in_query))
            };
            if !push_list(answer, clause_states(clauses).map(step), next) {
                return false;
            }
            at = end;
        }
        true
    }

    /// Whether a path that ends in this state is a result.
    fn is_result(&self, state: &[u32]) -> bool {
        let accepts = |&(clause, at): &(u32, u32)| self.dfas.accepts(clause as usize >> 1, at);
        self.path_dfa[state[0] as usize].min_remaining == 0
            && open_lists(state).all(|(answer, clauses)| {
                clause_states(clauses).find(accepts).map_or(answer, |(clause, _)| clause & 1 == 1)
            })
    }

    /// The A* heuristic: a lower bound for the octets up to a result, or, if any path is permitted, a
    /// likely number. `None` if a path would be too long.
    fn estimate(&self, state: &[u32], length: u32) -> Option<u32> {
        let path_rest = self.path_dfa[state[0] as usize].min_remaining;
        let (mut least, mut likely) = (path_rest, 0);
        for (_, clauses) in open_lists(state).filter(|(answer, _)| !answer) {
            let accepting = clause_states(clauses).filter(|(clause, _)| clause & 1 == 1);
            let to_accept = accepting
                .map(|(clause, at)| self.dfas.min_remaining(clause as usize >> 1, at))
                .min();
            least = least.max(to_accept.unwrap_or(0));
            likely += to_accept.unwrap_or(0);
        }
        let remaining = if self.shortest { least } else { likely.max(path_rest) };
        (length + least < self.limit).then_some(remaining)
    }
}

impl Frontier {
    /// Removes a state with the least estimated length from the queue.
    fn pop_nearest(&mut self) -> Option<u32> {
        let mut nearest = self.queue.first_entry()?;
        let number = nearest.get_mut().pop();
        if nearest.get().is_empty() {
            nearest.remove();
        }
        number
    }

    fn path(&self, mut number: u32) -> Vec<u8> {
        let mut octets = Vec::new();
        loop {
            let reached = self.reached[number as usize];
            octets.push(reached.octet);
            if reached.length == 1 {
                octets.reverse();
                return octets;
            }
            number = reached.from;
        }
    }
}

/// Appends a decision list without the clauses that cannot change its answer; false if it rejects.
fn push_list(
    mut answer: bool,
    clauses: impl Iterator<Item = (u32, u32)>,
    next: &mut Vec<u32>,
) -> bool {
    let head = next.len();
    next.push(SETTLED);
    // The end of the last clause that can change the answer.
    let (mut accept_end, mut reject_end) = (0, 0);
    for (clause, state) in clauses {
        if state == MATCHED {
            answer = clause & 1 == 1;
            break;
        }
        if state != DEAD {
            next.extend([clause, state]);
            match clause & 1 {
                1 => accept_end = next.len(),
                _ => reject_end = next.len(),
            }
        }
    }
    let end = if answer { reject_end } else { accept_end };
    next.truncate(end.max(head + 1));
    if end == 0 {
        return answer;
    }
    next[head] = ((end - head - 1) as u32) | u32::from(answer);
    true
}

/// The answer, the clauses and the end of the decision list at a position of a state. Its first
/// number is the count of the numbers that follow, which is even, plus 1 if the answer is to accept.
fn list_at(state: &[u32], at: usize) -> (bool, &[u32], usize) {
    let head = state[at];
    let end = at + 1 + (head & !1) as usize;
    (head & 1 == 1, &state[at + 1..end], end)
}

/// The answers and clauses of all decision lists that are not settled.
fn open_lists(state: &[u32]) -> impl Iterator<Item = (bool, &[u32])> {
    let mut at = 1;
    std::iter::from_fn(move || {
        while *state.get(at)? == SETTLED {
            at += 1;
        }
        let (answer, clauses, end) = list_at(state, at);
        at = end;
        Some((answer, clauses))
    })
}

fn clause_states(clauses: &[u32]) -> impl Iterator<Item = (u32, u32)> + '_ {
    clauses.chunks_exact(2).map(|pair| (pair[0], pair[1]))
}

/// A pool of interned states, numbered in the order of insertion.
#[derive(Default)]
struct StatePool {
    words: Vec<u32>,
    // The end of each state in `words`.
    ends: Vec<u32>,
    // A hash table with open addressing: numbers of states plus one; zero is a free slot.
    slots: Vec<u32>,
    hasher: RandomState,
}

impl StatePool {
    fn get(&self, number: u32) -> &[u32] {
        let start = match number {
            0 => 0,
            _ => self.ends[number as usize - 1] as usize,
        };
        &self.words[start..self.ends[number as usize] as usize]
    }

    fn slot(&self, state: &[u32]) -> usize {
        self.hasher.hash_one(state) as usize & (self.slots.len() - 1)
    }

    fn find(&self, state: &[u32]) -> Option<u32> {
        if self.slots.is_empty() {
            return None;
        }
        let mut slot = self.slot(state);
        loop {
            let number = self.slots[slot].checked_sub(1)?;
            if self.get(number) == state {
                return Some(number);
            }
            slot = (slot + 1) & (self.slots.len() - 1);
        }
    }

    fn add(&mut self, state: &[u32]) -> u32 {
        let number = self.ends.len() as u32;
        self.words.extend_from_slice(state);
        self.ends.push(self.words.len() as u32);
        if self.slots.len() <= 2 * self.ends.len() {
            self.slots = vec![0; (4 * self.ends.len()).next_power_of_two().max(64)];
            (0..=number).for_each(|number| self.insert(number));
        } else {
            self.insert(number);
        }
        number
    }

    fn insert(&mut self, number: u32) {
        let mut slot = self.slot(self.get(number));
        while self.slots[slot] != 0 {
            slot = (slot + 1) & (self.slots.len() - 1);
        }
        self.slots[slot] = number + 1;
    }
}
