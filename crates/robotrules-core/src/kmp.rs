//! Knuth–Morris–Pratt (KMP): how many octets of a needle are matched after one more octet.
//!
//! The failure function is built once per needle, in linear time; a step costs the logarithm of the
//! needle in the worst case. This module does not use patterns: `pattern_dfa.rs` does.

/// A set of octets.
pub type OctetSet = [u64; 4];

/// Adds an octet to a set.
#[inline(always)]
pub fn insert(set: &mut OctetSet, octet: u8) {
    set[usize::from(octet >> 6)] |= 1 << (octet & 63);
}

/// Whether an octet is in a set.
#[inline(always)]
pub fn contains(set: &OctetSet, octet: u8) -> bool {
    set[usize::from(octet >> 6)] >> (octet & 63) & 1 == 1
}

/// A needle with its failure function: one normal form of a piece.
#[derive(Clone, Copy)]
pub struct Needle<'a> {
    /// The octets.
    pub octets: &'a [u8],
    /// The failure function: how many octets are still matched after a mismatch, by position.
    pub failure: &'a [u32],
}

impl Needle<'_> {
    /// How many octets are matched after `at` matched octets and one more.
    #[inline]
    pub fn advance(self, mut at: usize, octet: u8) -> usize {
        if at == self.octets.len() {
            at = self.failure[at] as usize;
        }
        loop {
            if self.octets[at] == octet {
                return at + 1;
            }
            if at == 0 {
                return 0;
            }
            at = self.failure[at] as usize;
        }
    }

    /// Adds the octets that match at a position, or at one that its failures lead to.
    #[inline]
    pub fn add_matching(self, mut at: usize, found: &mut OctetSet) {
        if at == self.octets.len() {
            at = self.failure[at] as usize;
        }
        loop {
            insert(found, self.octets[at]);
            if at == 0 {
                return;
            }
            at = self.failure[at] as usize;
        }
    }
}

/// Appends the failure function of `octets` and returns its start. Positions where the same octet
/// would mismatch again are skipped, so that a chain of failures has at most logarithmic length.
pub fn push_failure_function(failures: &mut Vec<u32>, octets: &[u8]) -> u32 {
    let start = failures.len();
    failures.resize(start + octets.len() + 1, 0);
    let failure = &mut failures[start..];
    let mut at = 0;
    for position in 1..octets.len() {
        // The last `at` octets before this position equal the first `at` octets.
        let fits = octets[position] == octets[at];
        failure[position] = if fits { failure[at] } else { at as u32 };
        while at > 0 && octets[position] != octets[at] {
            at = failure[at] as usize;
        }
        at += usize::from(octets[position] == octets[at]);
    }
    failure[octets.len()] = at as u32;
    start as u32
}
