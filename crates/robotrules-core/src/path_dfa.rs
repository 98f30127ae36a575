//! The octet strings that are paths, as a DFA.
//!
//! A path starts with `/`, and the first state is behind it. In the normal form it has escapes in
//! upper case, of octets that need them; no dot segment before the `?`; and only the delimiters of
//! the part it is in (§2.2.2, AMB-33). The digits of an escape are those of the form that is compared
//! (AMB-43). Compared as given, a path has any octet but NUL and `#`.
//!
//! It does not know patterns: `product_search.rs` walks both together.

use crate::normalize::{is_unreserved, Compared, DIGIT};
use std::sync::OnceLock;

/// Octets that stand for all that nobody asks about, in the order in which they are taken; after
/// them all others.
const FILLERS: &[u8] =
    b"xyzabcdefghijklmnopqrstuvw0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ-_~./?=&%!'()*+,:;@$";

#[derive(Clone, Copy, PartialEq, Eq)]
enum Place {
    Segment,
    Dot,
    Dots,
    Percent,
    /// Which digits may come, one bit for each.
    Digit(u16),
    Inside,
}

/// Where a path is, and whether a `?` was read.
type Position = (Place, bool);

/// What may follow, and what is missing.
#[derive(Debug)]
pub struct State {
    /// Octets that lead to the same state, and that state.
    pub classes: Vec<(Vec<u8>, u32)>,
    /// How many octets are missing until a path may end; 0: it may end here.
    pub to_go: u32,
    /// Whether a `?` was read.
    pub queried: bool,
}

/// The states, by number.
pub type Universe = Vec<State>;

/// The paths that URLs have, in the form that is compared.
pub fn universe(compared: Compared) -> &'static Universe {
    static MADE: [OnceLock<Universe>; 3] = [const { OnceLock::new() }; 3];
    MADE[compared as usize].get_or_init(|| build(compared))
}

fn build(compared: Compared) -> Universe {
    let mut positions = vec![(Place::Segment, false)];
    let mut states = Universe::new();
    while let Some(&position) = positions.get(states.len()) {
        let mut classes: Vec<(Vec<u8>, u32)> = Vec::new();
        for octet in fillers() {
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
        // What is walked last is found first: plain octets last of all.
        classes.reverse();
        let to_go = match position.0 {
            Place::Percent => 2,
            Place::Dot | Place::Dots | Place::Digit(_) => 1,
            Place::Segment | Place::Inside => 0,
        };
        states.push(State { classes, to_go, queried: position.1 });
    }
    states
}

fn fillers() -> impl Iterator<Item = u8> {
    let others = (1..=255).filter(|octet| !FILLERS.contains(octet));
    FILLERS.iter().copied().chain(others)
}

/// The position after an octet; none if no path has it there.
fn next((place, queried): Position, octet: u8, compared: Compared) -> Option<Position> {
    let inside = Some((Place::Inside, queried));
    let only_if = |allowed: bool| if allowed { inside } else { None };
    if compared == Compared::AsGiven {
        return (octet != b'#').then_some((Place::Inside, queried || octet == b'?'));
    }
    let is_dotted = matches!(place, Place::Dot | Place::Dots);
    match (place, octet) {
        (Place::Percent, _) => {
            let first = digit(octet, compared)?;
            Some((Place::Digit(second_digits(first)), queried))
        }
        (Place::Digit(allowed), _) => only_if(allowed >> digit(octet, compared)? & 1 == 1),
        (_, b'%') => Some((Place::Percent, queried)),
        (_, b'=' | b'&') => only_if(queried),
        (_, b'/' | b'?') if queried || is_dotted => None, // data, or the segment would be removed
        (_, b'/') => Some((Place::Segment, queried)),
        (_, b'?') => Some((Place::Inside, true)),
        (Place::Segment, b'.') => Some((Place::Dot, queried)),
        (Place::Dot, b'.') => Some((Place::Dots, queried)),
        _ => only_if(is_unreserved(octet)),
    }
}

/// The value of a digit of an escape, in upper case.
fn digit(octet: u8, compared: Compared) -> Option<u32> {
    let bit = if compared == Compared::Units { DIGIT } else { 0 };
    let octet = octet ^ bit;
    char::from(octet).to_digit(16).filter(|_| !octet.is_ascii_lowercase())
}

/// The digits that make an escape of an octet that needs one.
fn second_digits(first: u32) -> u16 {
    let needs_one = |second: &u32| !is_unreserved((first * 16 + second) as u8);
    (0..16).filter(needs_one).fold(0, |all, second| all | 1 << second)
}
