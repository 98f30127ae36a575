//! SIMD over lanes of sixteen octets: the position of the first octet of a class.
//!
//! URLs are short and vary, so that a scalar loop over octets costs mispredicted branches. These
//! functions take one branch per sixteen octets. This module does not parse URLs.

use wide::u8x16;

/// Sixteen lanes of one octet each.
pub type Lanes = u8x16;

/// The lanes that equal `octet`.
#[inline(always)]
pub fn is(octets: Lanes, octet: u8) -> Lanes {
    octets.simd_eq(Lanes::splat(octet))
}

/// The lanes from `first` to `last`, both included.
#[inline(always)]
pub fn in_range(octets: Lanes, first: u8, last: u8) -> Lanes {
    let span = Lanes::splat(last - first);
    (octets - Lanes::splat(first)).max(span).simd_eq(span)
}

/// The first eight octets as a number, the first lowest; padded with zeros.
#[inline]
pub fn first_word(octets: &[u8]) -> u64 {
    let at = |number: usize| 8 * number as u32;
    match octets {
        [a, b, c, d, e, f, g, h, ..] => u64::from_le_bytes([*a, *b, *c, *d, *e, *f, *g, *h]),
        // The first four and the last four, which may overlap.
        [a, b, c, d, .., _] | [a, b, c, d] => {
            let first = u32::from_le_bytes([*a, *b, *c, *d]);
            let last = octets.last_chunk().map_or(0, |last| u32::from_le_bytes(*last));
            u64::from(first) | u64::from(last) << at(octets.len() - 4)
        }
        [first, .., last] => {
            let middle = octets.len() / 2;
            let between = u64::from(octets[middle]) << at(middle);
            u64::from(*first) | between | u64::from(*last) << at(octets.len() - 1)
        }
        [only] => u64::from(*only),
        [] => 0,
    }
}

/// The last eight octets as a number, the last highest; padded with zeros.
#[inline]
pub fn last_word(octets: &[u8]) -> u64 {
    match octets.last_chunk() {
        Some(last) => u64::from_le_bytes(*last),
        None => first_word(octets).checked_shl(64 - 8 * octets.len() as u32).unwrap_or(0),
    }
}

/// Loads sixteen octets of a slice that include the one at `from`; returns them and the position of
/// the first. A short slice is padded with zeros, which no caller searches for.
#[inline(always)]
pub fn load(octets: &[u8], from: usize) -> (Lanes, usize) {
    match octets.last_chunk::<16>() {
        Some(last) => {
            let at = from.min(octets.len() - 16);
            let chunk = octets[at..].first_chunk().unwrap_or(last);
            (Lanes::new(*chunk), at)
        }
        None => {
            let missing = 8 * 16_usize.saturating_sub(octets.len()) as u32;
            let high = octets.last_chunk().map_or(0, |last| u64::from_le_bytes(*last));
            let (low, high) = (first_word(octets), u128::from(high) << 64 >> missing);
            (Lanes::new((u128::from(low) | high).to_le_bytes()), 0)
        }
    }
}

/// The position of the first octet at or after `from` of the class `class`; the length of `octets`
/// if there is none.
#[inline(always)]
pub fn find(octets: &[u8], from: usize, class: impl Fn(Lanes) -> Lanes) -> usize {
    let mut from = from;
    while from < octets.len() {
        let (lanes, at) = load(octets, from);
        let found = class(lanes).to_bitmask() >> (from - at);
        if found != 0 {
            return octets.len().min(from + found.trailing_zeros() as usize);
        }
        from = at + 16;
    }
    octets.len()
}

/// The position of the first `a` at or after `from` that is followed by `b`; the length of `octets`
/// if there is none.
#[inline(always)]
pub fn find_pair(octets: &[u8], from: usize, a: u8, b: u8) -> usize {
    let mut from = from;
    while from + 1 < octets.len() {
        let (lanes, at) = load(octets, from);
        let pairs = is(lanes, a).to_bitmask() & is(lanes, b).to_bitmask() >> 1;
        let found = pairs >> (from - at);
        if found != 0 {
            return from + found.trailing_zeros() as usize;
        }
        from = at + 15;
    }
    octets.len()
}
