//! A prefix trie (radix tree) of the patterns without a wildcard: one descent for any number of them.
//!
//! A lookup is linear in the path. The trie is node node by node and then laid out so that a step
//! touches one or two cache lines; a hash of the first eight octets replaces the first steps. This
//! module does not decide: it returns the greatest rank of the patterns that match.

use crate::pattern::{Arena, Span};
use crate::ruleset::Rank;
use crate::simd::{first_word, is, Lanes};

const NONE: u32 = u32::MAX;

/// A node of the builder: its children are a linked list of siblings.
#[derive(Clone, Copy, Debug)]
struct BuilderNode {
    label: Span,
    prefix: Rank,
    exact: Rank,
    child: u32,
    sibling: u32,
}

/// Builds a prefix trie with one node per branching point, not per octet.
#[derive(Debug, Default)]
pub struct TrieBuilder {
    nodes: Vec<BuilderNode>,
}

impl TrieBuilder {
    fn node(&mut self, label: Span) -> u32 {
        self.nodes.push(BuilderNode { label, prefix: 0, exact: 0, child: NONE, sibling: NONE });
        self.nodes.len() as u32 - 1
    }

    /// Adds a pattern: a prefix, or a whole path if it is anchored.
    pub fn insert(&mut self, arena: &Arena, mut rest: Span, rank: Rank, anchored: bool) {
        if self.nodes.is_empty() {
            self.node(Span::default());
        }
        let mut at = 0;
        while rest.length > 0 {
            let octet = arena.octets[rest.start as usize];
            let mut child = self.nodes[at].child;
            while child != NONE && self.first_octet(arena, child) != octet {
                child = self.nodes[child as usize].sibling;
            }
            if child == NONE {
                let new = self.node(rest);
                self.nodes[new as usize].sibling = self.nodes[at].child;
                self.nodes[at].child = new;
                at = new as usize;
                break;
            }
            let label = self.nodes[child as usize].label;
            let pairs = label.of(&arena.octets).iter().zip(rest.of(&arena.octets));
            let shared = pairs.take_while(|(a, b)| a == b).count() as u32;
            if shared < label.length {
                self.split(child, shared);
            }
            rest = Span { start: rest.start + shared, length: rest.length - shared };
            at = child as usize;
        }
        let node = &mut self.nodes[at];
        let best = if anchored { &mut node.exact } else { &mut node.prefix };
        *best = rank.max(*best);
    }

    fn first_octet(&self, arena: &Arena, node: u32) -> u8 {
        arena.octets[self.nodes[node as usize].label.start as usize]
    }

    /// Splits a node: a new child gets the tail of its label, its ranks and its children.
    fn split(&mut self, at: u32, shared: u32) {
        let BuilderNode { label, .. } = self.nodes[at as usize];
        let tail = Span { start: label.start + shared, length: label.length - shared };
        let new = self.node(tail);
        let node = &mut self.nodes[at as usize];
        let (prefix, exact, child) = (node.prefix, node.exact, node.child);
        node.label.length = shared;
        (node.prefix, node.exact, node.child) = (0, 0, new);
        let tail = &mut self.nodes[new as usize];
        (tail.prefix, tail.exact, tail.child) = (prefix, exact, child);
    }

    /// Lays out the trie in breadth-first order, the children of each node side by side.
    pub fn build(&self, arena: &Arena) -> PrefixTrie {
        let mut trie = PrefixTrie::default();
        let Some(root) = self.nodes.first() else { return trie };
        // Usually all patterns start with `/`, and the descent starts at that child.
        let only = self.nodes.get(root.child as usize).is_some_and(|child| child.sibling == NONE);
        let skips = only && root.prefix == 0 && root.exact == 0;
        let mut order = vec![if skips { root.child } else { 0 }];
        trie.octets.push(0);
        let mut at = 0;
        while let Some(node) = order.get(at).and_then(|&number| self.nodes.get(number as usize)) {
            let first_child = order.len() as u32;
            let mut child = node.child;
            while child != NONE {
                order.push(child);
                trie.octets.push(self.first_octet(arena, child));
                child = self.nodes[child as usize].sibling;
            }
            let children = &trie.octets[first_child as usize..];
            let mut octets = [0; 16];
            octets.iter_mut().zip(children).for_each(|(octet, child)| *octet = *child);
            trie.nodes.push(Node {
                octets,
                start: first_word(node.label.of(&arena.octets)),
                label: node.label,
                prefix: node.prefix,
                exact: node.exact,
                first_child,
                children: order.len() as u32 - first_child,
            });
            at += 1;
        }
        trie.octets.extend([0; 16]);
        trie.shortcuts = Shortcuts::new(&trie, arena);
        trie
    }
}

/// A node: the data of one step, in one cache line.
#[derive(Clone, Copy, Debug)]
#[repr(align(64))]
struct Node {
    // The first octets of its first sixteen children.
    octets: [u8; 16],
    // The first eight octets of its label.
    start: u64,
    label: Span,
    // The greatest rank of a pattern that ends here, as a prefix and as a whole path.
    prefix: Rank,
    exact: Rank,
    first_child: u32,
    children: u32,
}

/// A prefix trie.
#[derive(Debug, Default)]
pub struct PrefixTrie {
    nodes: Vec<Node>,
    // The first octet of each node, and sixteen octets of padding.
    octets: Vec<u8>,
    shortcuts: Shortcuts,
}

/// The state of a descent after the first eight octets of a path.
#[derive(Clone, Copy, Debug, Default)]
struct Shortcut {
    // The eight octets, the first lowest. Zero: a free slot, because patterns start with a slash.
    octets: u64,
    best: Rank,
    node: u32,
    // How many of the octets precede the label of the node.
    before: u32,
}

/// The shortcuts of a trie, hashed by their octets, with open addressing and a load factor of at most
/// one half. A shortcut without a free slot nearby is dropped: the descent then starts at the root.
#[derive(Debug, Default)]
struct Shortcuts {
    slots: Vec<Shortcut>,
}

impl Shortcuts {
    const MAX_PROBES: usize = 8;

    fn new(trie: &PrefixTrie, arena: &Arena) -> Shortcuts {
        let mut found = vec![];
        let mut left = vec![(0, Shortcut::default())];
        while let Some((number, mut here)) = left.pop() {
            let Some(node): Option<&Node> = trie.nodes.get(number) else { continue };
            let label = node.label.of(&arena.octets);
            let octets =
                first_word(&label[..label.len().min(8)]) << (8 * here.before) | here.octets;
            if here.before as usize + label.len() >= 8 {
                found.push(Shortcut { octets, node: number as u32, ..here });
                continue;
            }
            here.octets = octets;
            here.best = here.best.max(node.prefix);
            here.before += node.label.length;
            let children = node.first_child as usize..(node.first_child + node.children) as usize;
            left.extend(children.map(|child| (child, here)));
        }
        let mut shortcuts =
            Shortcuts { slots: vec![Shortcut::default(); 2 * found.len().next_power_of_two()] };
        for shortcut in found {
            if let Some(slot) = shortcuts.slot(shortcut.octets) {
                shortcuts.slots[slot] = shortcut;
            }
        }
        shortcuts
    }

    /// The slot of the shortcut for eight octets, or the free slot for it.
    #[inline(always)]
    fn slot(&self, octets: u64) -> Option<usize> {
        let mask = self.slots.len().wrapping_sub(1);
        let first = (octets.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 32) as usize;
        (first..first + Shortcuts::MAX_PROBES).map(|at| at & mask).find(|&at| {
            self.slots.get(at).is_some_and(|slot| slot.octets == octets || slot.octets == 0)
        })
    }

    /// The shortcut for a path.
    #[inline(always)]
    fn find(&self, path: &[u8]) -> Option<&Shortcut> {
        let slot = self.slot(u64::from_le_bytes(*path.first_chunk()?))?;
        self.slots.get(slot).filter(|slot| slot.octets != 0)
    }
}

impl Node {
    /// The part of `rest` after the label, if it starts with the label.
    #[inline(always)]
    fn strip_label<'a>(&self, rest: &'a [u8], arena: &Arena) -> Option<&'a [u8]> {
        let length = self.label.length as usize;
        match rest.first_chunk() {
            Some(first) if length <= 8 => {
                let differs = (u64::from_le_bytes(*first) ^ self.start).trailing_zeros() / 8;
                (differs as usize >= length).then(|| &rest[length..])
            }
            _ => rest.strip_prefix(self.label.of(&arena.octets)),
        }
    }
}

impl PrefixTrie {
    /// The greatest rank of a pattern that matches `path`, in one descent.
    pub fn winner(&self, arena: &Arena, path: &[u8]) -> Rank {
        let mut best = 0;
        let Some(mut node) = self.nodes.first() else { return best };
        let mut rest = path;
        if let Some(shortcut) = self.shortcuts.find(path) {
            if let Some(reached) = self.nodes.get(shortcut.node as usize) {
                (best, node, rest) = (shortcut.best, reached, &path[shortcut.before as usize..]);
            }
        }
        loop {
            let Some(after) = node.strip_label(rest, arena) else { return best };
            rest = after;
            best = best.max(node.prefix);
            let Some(&octet) = rest.first() else { return best.max(node.exact) };
            let Some(child) = self.child(node, octet) else { return best };
            node = child;
        }
    }

    /// The child whose label starts with an octet.
    #[inline(always)]
    fn child(&self, node: &Node, octet: u8) -> Option<&Node> {
        let (mut from, mut left) = (node.first_child as usize, node.children);
        let mut sixteen = &node.octets;
        loop {
            // Sixteen at once, masked to the children of this node.
            let found = is(Lanes::new(*sixteen), octet).to_bitmask() & !(u32::MAX << left.min(16));
            if found != 0 {
                return self.nodes.get(from + found.trailing_zeros() as usize);
            }
            if left <= 16 {
                return None;
            }
            (from, left) = (from + 16, left - 16);
            sixteen = self.octets.get(from..)?.first_chunk()?;
        }
    }
}
