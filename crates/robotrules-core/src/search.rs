//! The walks for one question: which patterns and which ways are looked at, and in what order.
//!
//! Patterns that say no are looked at only when a path was found that they object to; the path is
//! then sought again with them. As what is walked always allows more than the question does, a path
//! that all agree on is a shortest one, and where nothing is found there is nothing.
//!
//! A ladder that has many ways to a yes is walked one way at a time: one pattern has to match, and
//! none that says no above it may. Together they would be in as many states as there are sets of
//! them. For a shortest path each way is a start of the same walk. Where any path will do they are
//! tried one after the other from above, until one leads to a path, or what says no above leaves
//! nothing.
//!
//! It does not know how a path is walked: `product_search.rs` does. `pure_search.py` is the same, written to be
//! read.

use crate::path_dfa::Universe;
use crate::pattern_dfa::Machines;
use crate::product_search::{Ladder, Walk, Within};
use crate::url_path::Path;
use std::collections::BTreeSet;

/// The walks for one question, and what they have seen.
pub struct Search<'a> {
    machines: &'a Machines,
    universe: &'a Universe,
    within: Within,
    questions: Vec<Question>,
    // What was heard by all questions about one ladder.
    told: Vec<BTreeSet<u32>>,
    /// How many states were seen.
    pub seen: i64,
    /// Whether it was given up because the budget was spent.
    pub exhausted: bool,
}

/// A ladder, or a part of one, and which of its patterns that say no are looked at so far.
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
    /// A search that has not begun. Every rung is of a pattern that there is.
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

    /// The patterns of each ladder that said no to what was found on the way.
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

    /// A path to which all ladders say yes: a shortest one, or any if that will do.
    pub fn run(&mut self) -> Option<Vec<u8>> {
        let mut questions = self.questions.clone();
        match self.within.shortest {
            true => self.agreed(&mut questions),
            false => self.first(&mut questions),
        }
    }

    /// A path that all agree on.
    fn agreed(&mut self, questions: &mut [Question]) -> Option<Vec<u8>> {
        loop {
            let starts = starts(questions.iter().map(Question::relaxed).collect());
            let left = Within { budget: self.within.budget - self.seen, ..self.within };
            let mut walk = Walk::new(self.machines, self.universe, &starts, left);
            let path = walk.run();
            self.seen += walk.seen;
            self.exhausted = walk.exhausted;
            let path = path?;
            // All of them are asked, so that each hears what it has to hear.
            let objections = questions.iter_mut().map(|question| self.objects(question, &path));
            if objections.filter(|&objects| objects).count() == 0 {
                return Some(path);
            }
        }
    }

    /// The first path that all agree on, the ways of one ladder tried in turn.
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
                // If nothing is left for this way, nothing is for those below.
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

    /// Whether a ladder says no; what says it is heard from now on.
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

    /// The pattern that has to match, if there is just one.
    fn only(&self) -> Option<usize> {
        let mut positive = self.rungs.iter().filter(|rung| is_yes(rung));
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

    /// A ladder that says yes at least where this one does.
    fn relaxed(&self) -> Ladder {
        let looked_at = |rung: &&u32| is_yes(rung) || self.heard.contains(rung);
        let mut rungs: Vec<_> = self.rungs.iter().filter(looked_at).copied().collect();
        while self.foot && rungs.last().is_some_and(is_yes) {
            rungs.pop();
        }
        (rungs, self.foot)
    }

    /// The ways to a yes, by positions of rungs; past the last is the foot.
    ///
    /// That another yes stands above a way does no harm. Above the foot one does not count unless a
    /// pattern below it says no.
    fn ways(&self) -> Vec<usize> {
        let last_no = self.rungs.iter().rposition(|rung| !is_yes(rung));
        let end = if self.foot { last_no.unwrap_or(0) } else { self.rungs.len() };
        let mut ways: Vec<_> = (0..end).filter(|&at| is_yes(&self.rungs[at])).collect();
        ways.extend(self.foot.then_some(self.rungs.len()));
        ways
    }

    /// The question for one way.
    fn way(&self, at: usize) -> Question {
        let mut way = self.above(at);
        way.rungs.extend(self.rungs.get(at));
        way.foot = at == self.rungs.len();
        way
    }

    /// The question whether nothing above a way says no.
    fn above(&self, at: usize) -> Question {
        let rungs = self.rungs[..at].iter().filter(|rung| !is_yes(rung)).copied().collect();
        Question { ladder: self.ladder, rungs, foot: true, heard: BTreeSet::new() }
    }

    /// This question, which hears what another did too.
    fn hearing(mut self, other: &Question) -> Question {
        self.heard.extend(&other.heard);
        self
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
