//! Pattern DFAs: each accepts the paths that the matcher matches.

mod profiles;

use profiles::{settings, Random};
use robotrules_core::kmp::{contains, insert, OctetSet};
use robotrules_core::pattern::Arena;
use robotrules_core::pattern_dfa::{PatternDfas, DEAD, MATCHED, QUERY_MARK};
use robotrules_core::url_path::Path;
use robotrules_core::{Comparison, Settings};

fn dfa(value: &str, settings: &Settings) -> PatternDfas {
    let mut arena = Arena::default();
    let pattern = arena.add(value.as_bytes(), settings);
    PatternDfas::new(arena, std::iter::once(pattern))
}

/// A path as it is compared by units.
fn units(path: &str) -> Vec<u8> {
    Comparison::Units.to_compared(path.as_bytes()).into_owned()
}

/// The states of a run over a path, from the state after its `/`.
fn states(dfas: &PatternDfas, path: &[u8]) -> Vec<u32> {
    let mut states = vec![dfas.start(0)];
    let mut in_query = false;
    for &octet in &path[1..] {
        match states[states.len() - 1] {
            DEAD | MATCHED => break,
            state => states.push(dfas.step(0, state, octet, in_query)),
        }
        in_query |= octet == QUERY_MARK;
    }
    states
}

fn accepts(dfas: &PatternDfas, path: &[u8]) -> bool {
    match states(dfas, path)[..] {
        [.., MATCHED] => true,
        [.., DEAD] | [] => false,
        [.., state] => dfas.accepts(0, state),
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
fn the_dfa_agrees_with_the_matcher() {
    let (mut random, mut hits) = (Random(6), 0);
    let more = [&["minimal_encoding"], &["url_as_given"], &["split_escapes"]];
    for switches in [&[][..]].into_iter().chain(more.iter().map(|switches| &switches[..])) {
        let settings = settings(switches);
        for _ in 0..25_000 {
            let (value, path) = pattern_and_path(&mut random);
            let path =
                Comparison::from_settings(&settings).to_compared(path.as_bytes()).into_owned();
            let dfas = dfa(&value, &settings);
            let expected = dfas.matches(0, Path::new(&path));
            hits += usize::from(expected);
            let shown = String::from_utf8_lossy(&path);
            assert_eq!(accepts(&dfas, &path), expected, "{value} {shown} {switches:?}");
        }
    }
    assert!(hits > 20_000, "{hits}");
}

#[test]
fn min_remaining_is_a_lower_bound() {
    let (mut random, settings) = (Random(7), settings(&[]));
    for _ in 0..30_000 {
        let (value, path) = pattern_and_path(&mut random);
        let (dfas, octets) = (dfa(&value, &settings), units(&path));
        if !dfas.matches(0, Path::new(&octets)) {
            continue;
        }
        for (read, state) in states(&dfas, &octets).into_iter().enumerate() {
            if state != MATCHED {
                let left = path.len() - 1 - read;
                assert!(
                    dfas.min_remaining(0, state) as usize <= left,
                    "{value} {path} after {read}"
                );
            }
        }
    }
}

/// The octets of this piece and of the following ones, in the shorter form.
#[test]
fn min_remaining() {
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
        let dfas = dfa(value, &settings(&[]));
        let left = states(&dfas, &units(path)).into_iter().filter(|&state| state != MATCHED);
        let found: Vec<_> = left.map(|state| dfas.min_remaining(0, state)).collect();
        assert_eq!(found, expected, "{value} {path}");
    }
}

#[test]
fn prefixes() {
    for (value, first) in [("/", "/"), ("/ab*c$", "/ab"), ("*a", ""), ("/a$", "/a")] {
        assert_eq!(dfa(value, &settings(&[])).prefix(0), first.as_bytes());
    }
}

#[test]
fn undistinguished_octets_are_equivalent() {
    let (mut random, settings) = (Random(8), settings(&[]));
    for _ in 0..5_000 {
        let (value, path) = pattern_and_path(&mut random);
        let (dfas, path) = (dfa(&value, &settings), units(&path));
        let mut in_query = false;
        for (state, &octet) in states(&dfas, &path).into_iter().zip(&path[1..]) {
            if state == MATCHED || state == DEAD {
                break;
            }
            let mut distinguished = OctetSet::default();
            dfas.add_distinguished(0, state, &mut distinguished);
            let others =
                (1..=255).filter(|&octet| octet != QUERY_MARK && !contains(&distinguished, octet));
            let next: Vec<_> = others.map(|o| dfas.step(0, state, o, in_query)).collect();
            assert!(next.windows(2).all(|pair| pair[0] == pair[1]), "{value} in {state}");
            in_query |= octet == QUERY_MARK;
        }
    }
}

/// Every piece over some letters in every path over them, so that every failure is taken.
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
        let dfas = dfa(&format!("/*{piece}"), &settings);
        for path in &paths {
            let found = accepts(&dfas, format!("/{path}").as_bytes());
            assert_eq!(found, path.contains(&piece), "{piece} {path}");
        }
    }
}

#[test]
fn sets_of_octets() {
    for octet in 0..=255 {
        let mut set = OctetSet::default();
        insert(&mut set, octet);
        insert(&mut set, octet ^ 64);
        let found: Vec<u8> = (0..=255).filter(|&other| contains(&set, other)).collect();
        assert_eq!(found, [octet & !64, octet | 64]);
    }
}

#[test]
fn a_piece_extends_over_the_query_mark() {
    let settings = settings(&[]);
    // In the path `=` is data and escaped; after the `?` of the piece it is a delimiter.
    let crossing = dfa("/*=?=", &settings);
    assert!(accepts(&crossing, &units("/x%3D?=")));
    assert!(!accepts(&crossing, &units("/x%3D?%3D")));
    assert!(accepts(&crossing, &units("/?=%3F=")));
    // The octets after the `?` may start the query form.
    let again = dfa("/*?a?b", &settings);
    assert!(accepts(&again, &units("/?a%3Fb")));
    assert!(accepts(&again, &units("/?a%3Fa%3Fb")));
    assert!(!accepts(&again, &units("/?a%3Fa")));
}

#[test]
fn long_pieces_take_logarithmic_steps() {
    // A piece that repeats one octet is the worst case of a plain failure function.
    let piece = "a".repeat(250_000);
    let dfas = dfa(&format!("/*{piece}b"), &settings(&[]));
    let path = format!("/{}", "ac".repeat(100) + &piece);
    let last = states(&dfas, path.as_bytes()).pop().unwrap();
    for _ in 0..100_000 {
        assert_ne!(dfas.step(0, last, b'c', false), last);
        dfas.add_distinguished(0, last, &mut OctetSet::default());
    }
    assert_eq!(dfas.min_remaining(0, last), 1);
}
