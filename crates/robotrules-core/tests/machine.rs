//! Patterns as automata: each must match what the matcher matches, octet by octet.

mod profiles;

use profiles::{settings, Random};
use robotrules_core::machine::{Machines, DEAD, MARK, MATCHED};
use robotrules_core::octets::Path;
use robotrules_core::pattern::Arena;
use robotrules_core::spelling::{contains, Octets};
use robotrules_core::Settings;

fn machine(value: &str, settings: &Settings) -> Machines {
    let mut arena = Arena::default();
    let pattern = arena.add(value.as_bytes(), settings);
    Machines::new(arena, std::iter::once(pattern))
}

/// The states on the way through a path, the first behind its `/`.
fn states(machines: &Machines, path: &str) -> Vec<u32> {
    let mut states = vec![machines.start(0)];
    let mut queried = false;
    for &octet in &path.as_bytes()[1..] {
        match states[states.len() - 1] {
            DEAD | MATCHED => break,
            state => states.push(machines.step(0, state, octet, queried)),
        }
        queried |= octet == MARK;
    }
    states
}

fn accepts(machines: &Machines, path: &str) -> bool {
    match states(machines, path)[..] {
        [.., MATCHED] => true,
        [.., DEAD] | [] => false,
        [.., state] => machines.accepts(0, state),
    }
}

const WORDS: [&str; 17] =
    ["a", "b", "ab", "aa", "aab", "*", "*", "*", "/", "/", "?", "=", "&", "*/", "*?", "*=", "%2F"];
const PARTS: [&str; 8] = ["a", "b", "aab", "/", "/", "%2F", "%3D", "%26"];
const MORE: [&str; 7] = ["a", "b", "aab", "=", "&", "%2F", "%3F"];

fn pattern_and_path(random: &mut Random) -> (String, String) {
    let end = ["", "", "$", "*", "*$"][random.below(5)];
    let first = ["/", "/", "*", "/*"][random.below(4)];
    let value = format!("{first}{}{end}", random.words(&WORDS, 6));
    let path = format!("/{}", random.words(&PARTS, 7));
    let query = format!("?{}", random.words(&MORE, 6));
    (value, if random.below(2) == 0 { path + &query } else { path })
}

#[test]
fn an_automaton_matches_what_the_matcher_matches() {
    let (mut random, mut hits) = (Random(6), 0);
    for switches in [&[][..], &["minimal_encoding"], &["url_as_given"]] {
        let settings = settings(switches);
        for _ in 0..30_000 {
            let (value, path) = pattern_and_path(&mut random);
            let machines = machine(&value, &settings);
            let expected = machines.matches(0, Path::new(path.as_bytes()));
            hits += usize::from(expected);
            assert_eq!(accepts(&machines, &path), expected, "{value} {path} {switches:?}");
        }
    }
    assert!(hits > 20_000, "{hits}");
}

#[test]
fn what_is_to_go_is_never_too_much() {
    let (mut random, settings) = (Random(7), settings(&[]));
    for _ in 0..30_000 {
        let (value, path) = pattern_and_path(&mut random);
        let machines = machine(&value, &settings);
        if !machines.matches(0, Path::new(path.as_bytes())) {
            continue;
        }
        for (read, state) in states(&machines, &path).into_iter().enumerate() {
            if state != MATCHED {
                let left = path.len() - 1 - read;
                assert!(machines.to_go(0, state) as usize <= left, "{value} {path} after {read}");
            }
        }
    }
}

#[test]
fn octets_that_no_state_asks_about_are_one() {
    let (mut random, settings) = (Random(8), settings(&[]));
    for _ in 0..5_000 {
        let (value, path) = pattern_and_path(&mut random);
        let machines = machine(&value, &settings);
        let mut queried = false;
        for (state, octet) in states(&machines, &path).into_iter().zip(path.bytes().skip(1)) {
            if state == MATCHED || state == DEAD {
                break;
            }
            let mut asked = Octets::default();
            machines.symbols(0, state, &mut asked);
            let others = (1..=255).filter(|&octet| octet != MARK && !contains(&asked, octet));
            let next: Vec<_> = others.map(|o| machines.step(0, state, o, queried)).collect();
            assert!(next.windows(2).all(|pair| pair[0] == pair[1]), "{value} in {state}");
            queried |= octet == MARK;
        }
    }
}

#[test]
fn a_piece_crosses_the_mark() {
    let settings = settings(&[]);
    // In the path `=` is data and escaped; behind the piece's own `?` it delimits.
    let crossing = machine("/*=?=", &settings);
    assert!(accepts(&crossing, "/x%3D?="));
    assert!(!accepts(&crossing, "/x%3D?%3D"));
    assert!(accepts(&crossing, "/?=%3F="));
    // What was read behind the `?` may begin the other spelling.
    let again = machine("/*?a?b", &settings);
    assert!(accepts(&again, "/?a%3Fb"));
    assert!(accepts(&again, "/?a%3Fa%3Fb"));
    assert!(!accepts(&again, "/?a%3Fa"));
}

#[test]
fn long_pieces_cost_little() {
    // A piece of one octet over and over is what a plain failure function is slow at.
    let piece = "a".repeat(250_000);
    let machines = machine(&format!("/*{piece}b"), &settings(&[]));
    let path = format!("/{}", "ac".repeat(100) + &piece);
    let last = states(&machines, &path).pop().unwrap();
    for _ in 0..100_000 {
        assert_ne!(machines.step(0, last, b'c', false), last);
        machines.symbols(0, last, &mut Octets::default());
    }
    assert_eq!(machines.to_go(0, last), 1);
}
