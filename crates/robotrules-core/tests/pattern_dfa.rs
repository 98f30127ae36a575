//! Patterns as automata: each must match what the matcher matches, octet by octet.

mod profiles;

use profiles::{settings, Random};
use robotrules_core::kmp::{contains, insert, Octets};
use robotrules_core::pattern::Arena;
use robotrules_core::pattern_dfa::{Machines, DEAD, MARK, MATCHED};
use robotrules_core::url_path::Path;
use robotrules_core::{Compared, Settings};

fn machine(value: &str, settings: &Settings) -> Machines {
    let mut arena = Arena::default();
    let pattern = arena.add(value.as_bytes(), settings);
    Machines::new(arena, std::iter::once(pattern))
}

/// A path as it is compared, an escape being one unit.
fn units(path: &str) -> Vec<u8> {
    Compared::Units.of_shown(path.as_bytes()).into_owned()
}

/// The states on the way through a path, the first behind its `/`.
fn states(machines: &Machines, path: &[u8]) -> Vec<u32> {
    let mut states = vec![machines.start(0)];
    let mut queried = false;
    for &octet in &path[1..] {
        match states[states.len() - 1] {
            DEAD | MATCHED => break,
            state => states.push(machines.step(0, state, octet, queried)),
        }
        queried |= octet == MARK;
    }
    states
}

fn accepts(machines: &Machines, path: &[u8]) -> bool {
    match states(machines, path)[..] {
        [.., MATCHED] => true,
        [.., DEAD] | [] => false,
        [.., state] => machines.accepts(0, state),
    }
}

const WORDS: [&str; 20] = [
    "a", "b", "ab", "aa", "aab", "*", "*", "*", "/", "/", "?", "=", "&", "*/", "*?", "*=", "%2F",
    "*2", "*3D", "F",
];
const PARTS: [&str; 9] = ["a", "b", "aab", "/", "/", "%2F", "%3D", "%26", "2F"];
const MORE: [&str; 8] = ["a", "b", "aab", "=", "&", "%2F", "%3F", "3D"];

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
    let more = [&["minimal_encoding"], &["url_as_given"], &["split_escapes"]];
    for switches in [&[][..]].into_iter().chain(more.iter().map(|switches| &switches[..])) {
        let settings = settings(switches);
        for _ in 0..25_000 {
            let (value, path) = pattern_and_path(&mut random);
            let path = Compared::by(&settings).of_shown(path.as_bytes()).into_owned();
            let machines = machine(&value, &settings);
            let expected = machines.matches(0, Path::new(&path));
            hits += usize::from(expected);
            let shown = String::from_utf8_lossy(&path);
            assert_eq!(accepts(&machines, &path), expected, "{value} {shown} {switches:?}");
        }
    }
    assert!(hits > 20_000, "{hits}");
}

#[test]
fn what_is_to_go_is_never_too_much() {
    let (mut random, settings) = (Random(7), settings(&[]));
    for _ in 0..30_000 {
        let (value, path) = pattern_and_path(&mut random);
        let (machines, octets) = (machine(&value, &settings), units(&path));
        if !machines.matches(0, Path::new(&octets)) {
            continue;
        }
        for (read, state) in states(&machines, &octets).into_iter().enumerate() {
            if state != MATCHED {
                let left = path.len() - 1 - read;
                assert!(machines.to_go(0, state) as usize <= left, "{value} {path} after {read}");
            }
        }
    }
}

/// What is to go counts the octets of this piece and of those behind it, in the spelling that is nearer.
#[test]
fn what_is_to_go() {
    for (value, path, expected) in [
        ("/abc$", "/abc", &[3, 2, 1, 0][..]),
        ("/ab*cd*ef", "/abcxcdef", &[6, 5, 4, 3, 4, 3, 2, 1]),
        ("/*ab*cd$", "/aabcdd", &[4, 3, 3, 2, 1, 0, 2]),
        ("/*=b", "/?=b", &[3, 2, 1]),
        ("/*=b", "/%3Db", &[3, 3, 2, 1]),
        ("/*=b*c=", "/?=bc=", &[5, 4, 3, 2, 1]),
        ("/*=?=", "/%3D?=", &[5, 4, 3, 2, 1]),
        ("/*=?=a", "/%3D?=xa", &[6, 5, 4, 3, 2, 1, 6, 6]),
    ] {
        let machines = machine(value, &settings(&[]));
        let left = states(&machines, &units(path)).into_iter().filter(|&state| state != MATCHED);
        let found: Vec<_> = left.map(|state| machines.to_go(0, state)).collect();
        assert_eq!(found, expected, "{value} {path}");
    }
}

#[test]
fn beginnings() {
    for (value, first) in [("/", "/"), ("/ab*c$", "/ab"), ("*a", ""), ("/a$", "/a")] {
        assert_eq!(machine(value, &settings(&[])).first(0), first.as_bytes());
    }
}

#[test]
fn octets_that_no_state_asks_about_are_one() {
    let (mut random, settings) = (Random(8), settings(&[]));
    for _ in 0..5_000 {
        let (value, path) = pattern_and_path(&mut random);
        let (machines, path) = (machine(&value, &settings), units(&path));
        let mut queried = false;
        for (state, &octet) in states(&machines, &path).into_iter().zip(&path[1..]) {
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

/// Every piece of some letters in every path of them, so that each way to fall back is taken.
#[test]
fn every_piece_in_every_path() {
    let texts = |most: usize| -> Vec<String> {
        let mut all = vec![String::new()];
        for length in 1..=most {
            let longest = all.iter().filter(|text| text.len() == length - 1);
            let longer = longest.flat_map(|text| [format!("{text}a"), format!("{text}b")]);
            all.extend(longer.collect::<Vec<_>>());
        }
        all
    };
    let (pieces, paths, settings) = (texts(5), texts(8), settings(&[]));
    for piece in pieces {
        let machines = machine(&format!("/*{piece}"), &settings);
        for path in &paths {
            let found = accepts(&machines, format!("/{path}").as_bytes());
            assert_eq!(found, path.contains(&piece), "{piece} {path}");
        }
    }
}

#[test]
fn sets_of_octets() {
    for octet in 0..=255 {
        let mut set = Octets::default();
        insert(&mut set, octet);
        insert(&mut set, octet ^ 64);
        let found: Vec<u8> = (0..=255).filter(|&other| contains(&set, other)).collect();
        assert_eq!(found, [octet & !64, octet | 64]);
    }
}

#[test]
fn a_piece_crosses_the_mark() {
    let settings = settings(&[]);
    // In the path `=` is data and escaped; behind the piece's own `?` it delimits.
    let crossing = machine("/*=?=", &settings);
    assert!(accepts(&crossing, &units("/x%3D?=")));
    assert!(!accepts(&crossing, &units("/x%3D?%3D")));
    assert!(accepts(&crossing, &units("/?=%3F=")));
    // What was read behind the `?` may begin the other spelling.
    let again = machine("/*?a?b", &settings);
    assert!(accepts(&again, &units("/?a%3Fb")));
    assert!(accepts(&again, &units("/?a%3Fa%3Fb")));
    assert!(!accepts(&again, &units("/?a%3Fa")));
}

#[test]
fn long_pieces_cost_little() {
    // A piece of one octet over and over is what a plain failure function is slow at.
    let piece = "a".repeat(250_000);
    let machines = machine(&format!("/*{piece}b"), &settings(&[]));
    let path = format!("/{}", "ac".repeat(100) + &piece);
    let last = states(&machines, path.as_bytes()).pop().unwrap();
    for _ in 0..100_000 {
        assert_ne!(machines.step(0, last, b'c', false), last);
        machines.symbols(0, last, &mut Octets::default());
    }
    assert_eq!(machines.to_go(0, last), 1);
}
