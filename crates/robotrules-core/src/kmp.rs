//! KMP (Knuth, Morris, Pratt): how much of a searched piece is matched after one more octet.
//!
//! Their failure function, built once for each piece. It does not know patterns: `pattern_dfa.rs` does.

/// Octets, as a set.
pub type Octets = [u64; 4];

/// Adds an octet to a set.
#[inline(always)]
pub fn insert(set: &mut Octets, octet: u8) {
    set[usize::from(octet >> 6)] |= 1 << (octet & 63);
}

/// Whether an octet is in a set.
#[inline(always)]
pub fn contains(set: &Octets, octet: u8) -> bool {
    set[usize::from(octet >> 6)] >> (octet & 63) & 1 == 1
}

/// Octets with their failure function: one spelling of a piece.
#[derive(Clone, Copy)]
pub struct Spelling<'a> {
    /// The octets.
    pub octets: &'a [u8],
    /// How much is still matched after one that does not fit, by position.
    pub fall: &'a [u32],
}

impl Spelling<'_> {
    /// How much is matched after one more octet.
    #[inline]
    pub fn advance(self, mut at: usize, octet: u8) -> usize {
        if at == self.octets.len() {
            at = self.fall[at] as usize;
        }
        loop {
            if self.octets[at] == octet {
                return at + 1;
            }
            if at == 0 {
                return 0;
            }
            at = self.fall[at] as usize;
        }
    }

    /// The octets that match at a position, or at one that a failure leads to.
    #[inline]
    pub fn chain(self, mut at: usize, found: &mut Octets) {
        if at == self.octets.len() {
            at = self.fall[at] as usize;
        }
        loop {
            insert(found, self.octets[at]);
            if at == 0 {
                return;
            }
            at = self.fall[at] as usize;
        }
    }
}

/// Appends how much of `octets` is still matched after an octet that does not fit, by position.
/// Positions where the same octet would not fit either are passed over, so that no chain of
/// failures is longer than a logarithm.
pub fn push_failure(falls: &mut Vec<u32>, octets: &[u8]) -> u32 {
    let start = falls.len();
    falls.resize(start + octets.len() + 1, 0);
    let fall = &mut falls[start..];
    let mut at = 0;
    for position in 1..octets.len() {
        // `at` octets before this position are those at the beginning.
        let fits = octets[position] == octets[at];
        fall[position] = if fits { fall[at] } else { at as u32 };
        while at > 0 && octets[position] != octets[at] {
            at = fall[at] as usize;
        }
        at += usize::from(octets[position] == octets[at]);
    }
    fall[octets.len()] = at as u32;
    start as u32
}
