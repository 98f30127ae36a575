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

use crate::kmp::{contains, Octets};
use crate::path_dfa::Universe;
use crate::pattern_dfa::{Machines, DEAD, MATCHED};
use std::collections::BTreeMap;
use std::hash::{BuildHasher, RandomState};

/// A decision list: clauses in order of precedence, each the number of a pattern shifted left by
/// one, plus 1 to accept; and the default for a path that no clause matches.
pub type Ladder = (Vec<u32>, bool);

/// A path length that no search reaches.
pub const NO_LIMIT: u32 = 1 << 31;
/// In a state, in place of a decision list: it accepts, whatever follows.
const SETTLED: u32 = u32::MAX;
/// The maximum size of the pool: positions in it are 32 bits wide.
const MOST_WORDS: usize = u32::MAX as usize - (1 << 24);

/// The limits of a search.
#[derive(Clone, Copy, Debug)]
pub struct Within {
    /// The state budget: the maximum number of states.
    pub max_states: i64,
    /// Only paths with fewer octets are returned.
    pub shorter_than: u32,
    /// Whether to return a shortest path.
    pub shortest: bool,
}

/// A product search, and its statistics.
pub struct Walk<'a> {
    machines: &'a Machines,
    universe: &'a Universe,
    starts: &'a [Vec<Ladder>],
    budget: i64,
    limit: u32,
    shortest: bool,
    frontier: Frontier,
    /// The number of states that were reached.
    pub seen: i64,
    /// Whether the search stopped at `max_states`.
    pub exhausted: bool,
}

/// The states that were reached, and the queue of those to expand.
#[derive(Default)]
struct Frontier {
    states: States,
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
    is_done: bool,
}

impl<'a> Walk<'a> {
    /// A search that has not started.
    pub fn new(
        machines: &'a Machines,
        universe: &'a Universe,
        starts: &'a [Vec<Ladder>],
        within: Within,
    ) -> Walk<'a> {
        let Within { budget, shorter_than, shortest } = within;
        let (limit, frontier) = (shorter_than.min(NO_LIMIT), Frontier::default());
        let (seen, exhausted) = (0, false);
        Walk { machines, universe, starts, budget, limit, shortest, frontier, seen, exhausted }
    }

    /// A shortest path, or any path if the limits permit, that all decision lists accept; `None` if
    /// there is none or `max_states` is reached.
    pub fn run(&mut self) -> Option<Vec<u8>> {
        let mut starts = self.start_states();
        let (mut state, mut next) = (Vec::new(), Vec::new());
        loop {
            let nearest = self.frontier.queue.first_key_value();
            let least = nearest.map_or(NO_LIMIT, |(&least, _)| least);
            if let Some((comes_to, start)) = starts.pop_if(|(comes_to, _)| *comes_to < least) {
                let came = Reached { from: 0, length: 1, octet: b'/', is_done: false };
                self.add(&start, came, comes_to)?;
                continue;
            }
            let number = self.frontier.nearest()?;
            let this = &mut self.frontier.reached[number as usize];
            if std::mem::replace(&mut this.is_done, true) {
                continue;
            }
            let length = this.length + 1;
            state.clear();
            state.extend_from_slice(self.frontier.states.get(number));
            if self.is_found(&state) {
                return Some(self.frontier.path(number));
            }
            let asked = self.asked(&state);
            let universe = self.universe;
            let here = &universe[state[0] as usize];
            for (octets, following) in &here.classes {
                let others = octets.iter().find(|&&octet| !contains(&asked, octet));
                let asked = octets.iter().filter(|&&octet| contains(&asked, octet));
                for &octet in others.into_iter().chain(asked) {
                    next.clear();
                    next.push(*following);
                    if self.climb(&state, octet, here.queried, &mut next) {
                        let came = Reached { from: number, length, octet, is_done: false };
                        if let Some(to_go) = self.to_go(&next, length) {
                            self.add(&next, came, length + to_go)?;
                        }
                    }
                }
            }
        }
    }

    /// Adds a state to the frontier; `None` if `max_states` is reached.
    fn add(&mut self, state: &[u32], came: Reached, comes_to: u32) -> Option<()> {
        let Frontier { states, reached, queue } = &mut self.frontier;
        let number = match states.find(state) {
            Some(known) if came.length < reached[known as usize].length => {
                // If any path is permitted, an expanded state may be reached by a shorter path later.
                let is_done = reached[known as usize].is_done;
                reached[known as usize] = Reached { is_done, ..came };
                known
            }
            Some(_) => return Some(()),
            None => {
                if self.seen >= self.budget || states.words.len() > MOST_WORDS {
                    self.exhausted = true;
                    return None;
                }
                self.seen += 1;
                reached.push(came);
                states.add(state)
            }
        };
        queue.entry(comes_to).or_default().push(number);
        Some(())
    }

    /// The state of each start and the estimated length of its paths, longest first: the search pops
    /// them from the end.
    fn start_states(&self) -> Vec<(u32, Vec<u32>)> {
        let mut found = Vec::with_capacity(self.starts.len());
        for ladders in self.starts {
            let mut state = vec![0];
            let settled = ladders.iter().all(|(rungs, foot)| {
                let start = |&rung: &u32| (rung, self.machines.start(rung as usize >> 1));
                settle(*foot, rungs.iter().map(start), &mut state)
            });
            if let Some(to_go) = settled.then(|| self.to_go(&state, 1)).flatten() {
                found.push((1 + to_go, state));
            }
        }
        found.sort_by_key(|&(comes_to, _)| comes_to);
        found.reverse();
        found
    }

    /// The octets that some pattern of a state distinguishes.
    fn asked(&self, state: &[u32]) -> Octets {
        let mut asked = Octets::default();
        for (_, rungs) in climbs(state) {
            for (rung, at) in pairs(rungs) {
                self.machines.symbols(rung as usize >> 1, at, &mut asked);
            }
        }
        asked
    }

    /// Appends the decision lists after an octet; false if one of them rejects.
    fn climb(&self, state: &[u32], octet: u8, queried: bool, next: &mut Vec<u32>) -> bool {
        let mut at = 1;
        while at < state.len() {
            if state[at] == SETTLED {
                next.push(SETTLED);
                at += 1;
                continue;
            }
            let (word, rungs, end) = ladder_at(state, at);
            let step = |(rung, state)| {
                (rung, self.machines.step(rung as usize >> 1, state, octet, queried))
            };
            if !settle(word, pairs(rungs).map(step), next) {
                return false;
            }
            at = end;
        }
        true
    }

    /// Whether a path that ends in this state is a result.
    fn is_found(&self, state: &[u32]) -> bool {
        let accepts = |&(rung, at): &(u32, u32)| self.machines.accepts(rung as usize >> 1, at);
        self.universe[state[0] as usize].to_go == 0
            && climbs(state).all(|(word, rungs)| {
                pairs(rungs).find(accepts).map_or(word, |(rung, _)| rung & 1 == 1)
            })
    }

    /// The A* heuristic: a lower bound for the octets up to a result, or, if any path is permitted, a
    /// likely number. `None` if a path would be too long.
    fn to_go(&self, state: &[u32], length: u32) -> Option<u32> {
        let missing = self.universe[state[0] as usize].to_go;
        let (mut least, mut likely) = (missing, 0);
        for (_, rungs) in climbs(state).filter(|(word, _)| !word) {
            let yes = pairs(rungs).filter(|(rung, _)| rung & 1 == 1);
            let near = yes.map(|(rung, at)| self.machines.to_go(rung as usize >> 1, at)).min();
            least = least.max(near.unwrap_or(0));
            likely += near.unwrap_or(0);
        }
        let to_go = if self.shortest { least } else { likely.max(missing) };
        (length + least < self.limit).then_some(to_go)
    }
}

impl Frontier {
    /// Removes a state with the least estimated length from the queue.
    fn nearest(&mut self) -> Option<u32> {
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
fn settle(mut word: bool, rungs: impl Iterator<Item = (u32, u32)>, next: &mut Vec<u32>) -> bool {
    let head = next.len();
    next.push(SETTLED);
    // The end of the last clause that can change the answer.
    let (mut yes_end, mut no_end) = (0, 0);
    for (rung, state) in rungs {
        if state == MATCHED {
            word = rung & 1 == 1;
            break;
        }
        if state != DEAD {
            next.extend([rung, state]);
            match rung & 1 {
                1 => yes_end = next.len(),
                _ => no_end = next.len(),
            }
        }
    }
    let end = if word { no_end } else { yes_end };
    next.truncate(end.max(head + 1));
    if end == 0 {
        return word;
    }
    next[head] = ((end - head - 1) as u32) | u32::from(word);
    true
}

/// The answer, the clauses and the end of the decision list at a position of a state. Its first
/// number is the count of the numbers that follow, which is even, plus 1 if the answer is to accept.
fn ladder_at(state: &[u32], at: usize) -> (bool, &[u32], usize) {
    let head = state[at];
    let end = at + 1 + (head & !1) as usize;
    (head & 1 == 1, &state[at + 1..end], end)
}

/// The answers and clauses of all decision lists that are not settled.
fn climbs(state: &[u32]) -> impl Iterator<Item = (bool, &[u32])> {
    let mut at = 1;
    std::iter::from_fn(move || {
        while *state.get(at)? == SETTLED {
            at += 1;
        }
        let (word, rungs, end) = ladder_at(state, at);
        at = end;
        Some((word, rungs))
    })
}

fn pairs(rungs: &[u32]) -> impl Iterator<Item = (u32, u32)> + '_ {
    rungs.chunks_exact(2).map(|pair| (pair[0], pair[1]))
}

/// A pool of interned states, numbered in the order of insertion.
#[derive(Default)]
struct States {
    words: Vec<u32>,
    // The end of each state in `words`.
    ends: Vec<u32>,
    // A hash table with open addressing: numbers of states plus one; zero is a free slot.
    slots: Vec<u32>,
    hasher: RandomState,
}

impl States {
    fn get(&self, number: u32) -> &[u32] {
        let start = match number {
            0 => 0,
            _ => self.ends[number as usize - 1] as usize,
        };
        &self.words[start..self.ends[number as usize] as usize]
    }

    fn place(&self, state: &[u32]) -> usize {
        self.hasher.hash_one(state) as usize & (self.slots.len() - 1)
    }

    fn find(&self, state: &[u32]) -> Option<u32> {
        if self.slots.is_empty() {
            return None;
        }
        let mut place = self.place(state);
        loop {
            let number = self.slots[place].checked_sub(1)?;
            if self.get(number) == state {
                return Some(number);
            }
            place = (place + 1) & (self.slots.len() - 1);
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
        let mut place = self.place(self.get(number));
        while self.slots[place] != 0 {
            place = (place + 1) & (self.slots.len() - 1);
        }
        self.slots[place] = number + 1;
    }
}
