//! The names of crawlers, looked up by the user-agent lines of a file (RFC 9309 §2.2.1).
//!
//! Selecting the groups of a hundred crawlers one after another would read all user-agent lines a
//! hundred times. Here each line is looked up once in a hash table of the names. A lookup is linear
//! in the line. The table is built from trusted names, so that a file cannot make it degenerate.
//! This module does not decide which form of a name a profile compares: the caller passes it.

use crate::groups::{agents, Agent};
use crate::records::faults;
use crate::settings::Settings;

/// Crawlers, by number, and their names.
#[derive(Clone, Debug, Default)]
pub struct CrawlerTable {
    // Distinct names, in lower case.
    names: Vec<Vec<u8>>,
    // The crawlers that use each name.
    users: Vec<Vec<u16>>,
    // A hash table with open addressing: numbers of names, or FREE.
    slots: Vec<u16>,
    longest_name: usize,
    crawlers: Vec<Crawler>,
    ignore_star: Vec<bool>,
}

#[derive(Clone, Debug)]
struct Crawler {
    /// The numbers of its names in the order of preference.
    names: Vec<u16>,
    /// Whether the first of them is its own name.
    has_own_name: bool,
}

const FREE: u16 = u16::MAX;

/// FNV-1a over the octets in lower case.
fn hash(name: &[u8]) -> usize {
    let step = |hash: u32, octet: &u8| {
        (hash ^ u32::from(octet.to_ascii_lowercase())).wrapping_mul(0x0100_0193)
    };
    name.iter().fold(0x811C_9DC5, step) as usize
}

impl CrawlerTable {
    /// A table of crawlers, each with its names in the order of preference, its own first, and
    /// whether it ignores the star groups. An empty name is not compared.
    pub fn new<'a>(crawlers: impl Iterator<Item = (&'a [Vec<u8>], bool)>) -> CrawlerTable {
        let mut table = CrawlerTable { slots: vec![FREE; 4], ..CrawlerTable::default() };
        // More than this many crawlers have no number.
        for (number, (names, ignores_star)) in crawlers.take(usize::from(FREE)).enumerate() {
            let used = names.iter().filter(|name| !name.is_empty());
            let ids: Vec<_> = used.filter_map(|name| table.intern(name)).collect();
            for &name in &ids {
                let users = &mut table.users[usize::from(name)];
                if users.last() != Some(&(number as u16)) {
                    users.push(number as u16);
                }
            }
            let has_own_name = names.first().is_some_and(|name| !name.is_empty());
            table.crawlers.push(Crawler { names: ids, has_own_name });
            table.ignore_star.push(ignores_star);
        }
        table
    }

    /// The number of crawlers.
    pub fn len(&self) -> usize {
        self.crawlers.len()
    }

    /// Whether there are no crawlers.
    pub fn is_empty(&self) -> bool {
        self.crawlers.is_empty()
    }

    /// Whether each crawler ignores the star groups.
    pub fn ignore_star(&self) -> &[bool] {
        &self.ignore_star
    }

    /// The number of a name, which is added if it is new.
    fn intern(&mut self, name: &[u8]) -> Option<u16> {
        if let Some(known) = self.find(name) {
            return Some(known);
        }
        let number = u16::try_from(self.names.len()).ok().filter(|&number| number != FREE)?;
        self.names.push(name.to_ascii_lowercase());
        self.users.push(vec![]);
        self.longest_name = self.longest_name.max(name.len());
        if self.names.len() * 2 > self.slots.len() {
            self.slots = vec![FREE; self.slots.len() * 4];
            for known in 0..number {
                self.place(known);
            }
        }
        self.place(number);
        Some(number)
    }

    fn place(&mut self, number: u16) {
        let mask = self.slots.len() - 1;
        let mut at = hash(&self.names[usize::from(number)]) & mask;
        while self.slots[at] != FREE {
            at = (at + 1) & mask;
        }
        self.slots[at] = number;
    }

    /// The number of a name, ignoring ASCII case.
    #[inline]
    fn find(&self, name: &[u8]) -> Option<u16> {
        if name.len() > self.longest_name {
            return None;
        }
        let mask = self.slots.len() - 1;
        let mut at = hash(name) & mask;
        loop {
            match self.slots[at] {
                FREE => return None,
                found if self.names[usize::from(found)].eq_ignore_ascii_case(name) => {
                    return Some(found);
                }
                _ => at = (at + 1) & mask,
            }
        }
    }
}

/// The groups of a file by the names of crawlers.
#[derive(Clone, Debug)]
pub struct GroupsByName {
    /// The star groups.
    pub star: Vec<u32>,
    by_name: Vec<Vec<u32>>,
    // The names that the file has.
    used: Vec<u16>,
}

impl GroupsByName {
    /// No groups yet.
    pub fn new(table: &CrawlerTable) -> GroupsByName {
        GroupsByName { star: vec![], by_name: vec![vec![]; table.names.len()], used: vec![] }
    }

    /// Removes all groups.
    pub fn clear(&mut self) {
        self.star.clear();
        for name in self.used.drain(..) {
            self.by_name[usize::from(name)].clear();
        }
    }

    /// Adds a user-agent line of a group.
    pub fn add_line(
        &mut self,
        table: &CrawlerTable,
        value: &[u8],
        group: u32,
        settings: &Settings,
    ) {
        // Most lines that match are usable: check for faults only those.
        let mut is_usable = None;
        let mut usable = || *is_usable.get_or_insert_with(|| faults(value).usable_token(settings));
        let push = |groups: &mut Vec<u32>| {
            if groups.last() != Some(&group) {
                groups.push(group);
            }
        };
        for agent in agents(value, settings) {
            let [first, second] = agent.tokens(settings);
            if agent == Agent::Star {
                if usable() {
                    push(&mut self.star);
                }
                continue;
            }
            let second = second.filter(|&whole| Some(whole) != first);
            for name in [first, second].into_iter().flatten().filter_map(|name| table.find(name)) {
                if usable() {
                    let groups = &mut self.by_name[usize::from(name)];
                    if groups.is_empty() {
                        self.used.push(name);
                    }
                    push(groups);
                }
            }
        }
    }

    /// The crawlers that a group may name, each once, by number.
    pub fn affected(&self, table: &CrawlerTable) -> Vec<u16> {
        let users = self.used.iter().flat_map(|&name| &table.users[usize::from(name)]);
        let mut crawlers: Vec<_> = users.copied().collect();
        crawlers.sort_unstable();
        crawlers.dedup();
        crawlers
    }

    /// The groups of the first of a crawler's names that a group has; none if no group names it.
    pub fn of_crawler(&self, table: &CrawlerTable, crawler: u16) -> &[u32] {
        let names = table.crawlers[usize::from(crawler)].names.iter();
        let mut named = names.map(|&name| &self.by_name[usize::from(name)]);
        named.find(|groups| !groups.is_empty()).map_or(&[], Vec::as_slice)
    }

    /// Whether a group has the crawler's own name.
    pub fn names_itself(&self, table: &CrawlerTable, crawler: u16) -> bool {
        let crawler = &table.crawlers[usize::from(crawler)];
        let own = crawler.names.first().filter(|_| crawler.has_own_name);
        own.is_some_and(|&name| !self.by_name[usize::from(name)].is_empty())
    }
}

/// Whether a user-agent value names all crawlers.
pub fn is_star(value: &[u8], settings: &Settings) -> bool {
    agents(value, settings).any(|agent| agent == Agent::Star)
        && faults(value).usable_token(settings)
}
