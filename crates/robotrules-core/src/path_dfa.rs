//! The DFA of all paths: octet strings that are the path of some URL.
//!
//! A path starts with `/`; the start state is after it. In normal form a path has escapes in upper
//! case, only of octets that need them; no dot segment before the `?`; and only the delimiters of
//! each part (§2.2.2, AMB-33). The digits of an escape are those of the compared form (AMB-43). If
//! paths are compared as given, a path has any octet except NUL and `#`.
//!
//! Built once per form of comparison. This module does not use patterns: `product_search.rs`
//! combines both DFAs.

use crate::normalize::{is_unreserved, Comparison, DIGIT_BIT};
use std::sync::OnceLock;

/// The preferred representatives of octets that no pattern distinguishes, in order of preference;
/// all other octets follow.
const PREFERRED_OCTETS: &[u8] =
    b"xyzabcdefghijklmnopqrstuvw0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ-_~./?=&%!'()*+,:;@$";

#[derive(Clone, Copy, PartialEq, Eq)]
enum Place {
    Segment,
    Dot,
    Dots,
    Percent,
    /// The second digit of an escape, and which digits are possible, one bit each.
    Digit(u16),
    Inside,
}

/// The place in a path, and whether a `?` was read.
type Position = (Place, bool);

/// A state of the DFA.
#[derive(Debug)]
pub struct State {
    /// The transitions: octets that lead to the same state, and that state.
    pub classes: Vec<(Vec<u8>, u32)>,
    /// The least number of octets up to the end of a path; 0: an accepting state.
    pub min_remaining: u32,
    /// Whether a `?` was read.
    pub in_query: bool,
}

/// The states, by number.
pub type PathDfa = Vec<State>;

/// The DFA of paths in the compared form.
pub fn path_dfa(compared: Comparison) -> &'static PathDfa {
    static BUILT: [OnceLock<PathDfa>; 3] = [const { OnceLock::new() }; 3];
    BUILT[compared as usize].get_or_init(|| build(compared))
}

fn build(compared: Comparison) -> PathDfa {
    let mut positions = vec![(Place::Segment, false)];
    let mut states = PathDfa::new();
    while let Some(&position) = positions.get(states.len()) {
        let mut classes: Vec<(Vec<u8>, u32)> = Vec::new();
        for octet in octets_by_preference() {
            let Some(following) = next(position, octet, compared) else { continue };
            let known = positions.iter().position(|&known| known == following);
            let number = known.unwrap_or_else(|| {
                positions.push(following);
                positions.len() - 1
            }) as u32;
            match classes.iter_mut().find(|(_, to)| *to == number) {
                Some((octets, _)) => octets.push(octet),
                None => classes.push((vec![octet], number)),
            }
        }
        // The search expands the last state first: plain octets come last.
        classes.reverse();
        let min_remaining = match position.0 {
            Place::Percent => 2,
            Place::Dot | Place::Dots | Place::Digit(_) => 1,
            Place::Segment | Place::Inside => 0,
        };
        states.push(State { classes, min_remaining, in_query: position.1 });
    }
    states
}

fn octets_by_preference() -> impl Iterator<Item = u8> {
    let others = (1..=255).filter(|octet| !PREFERRED_OCTETS.contains(octet));
    PREFERRED_OCTETS.iter().copied().chain(others)
}

/// The position after an octet; `None` if no path has this octet here.
fn next((place, in_query): Position, octet: u8, compared: Comparison) -> Option<Position> {
    let inside = Some((Place::Inside, in_query));
    let only_if = |allowed: bool| if allowed { inside } else { None };
    if compared == Comparison::AsGiven {
        return (octet != b'#').then_some((Place::Inside, in_query || octet == b'?'));
    }
    let is_dotted = matches!(place, Place::Dot | Place::Dots);
    match (place, octet) {
        (Place::Percent, _) => {
            let first = digit(octet, compared)?;
            Some((Place::Digit(second_digits(first)), in_query))
        }
        (Place::Digit(allowed), _) => only_if(allowed >> digit(octet, compared)? & 1 == 1),
        (_, b'%') => Some((Place::Percent, in_query)),
        (_, b'=' | b'&') => only_if(in_query),
        (_, b'/' | b'?') if in_query || is_dotted => None, // data, or the segment would be removed
        (_, b'/') => Some((Place::Segment, in_query)),
        (_, b'?') => Some((Place::Inside, true)),
        (Place::Segment, b'.') => Some((Place::Dot, in_query)),
        (Place::Dot, b'.') => Some((Place::Dots, in_query)),
        _ => only_if(is_unreserved(octet)),
    }
}

/// The value of a digit of an escape, in upper case.
fn digit(octet: u8, compared: Comparison) -> Option<u32> {
    let bit = if compared == Comparison::Units { DIGIT_BIT } else { 0 };
    let octet = octet ^ bit;
    char::from(octet).to_digit(16).filter(|_| !octet.is_ascii_lowercase())
}

/// The second digits that make the escape of an octet that needs escaping, one bit each.
fn second_digits(first: u32) -> u16 {
    let needs_one = |second: &u32| !is_unreserved((first * 16 + second) as u8);
    (0..16).filter(needs_one).fold(0, |all, second| all | 1 << second)
}
