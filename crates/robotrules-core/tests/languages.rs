//! Paths that are sought among patterns: each is right, none is shorter, and none means none.

mod profiles;

use profiles::{settings, Random};
use robotrules_core::languages::{Languages, Sought, Within};
use robotrules_core::product_search::{Ladder, NO_LIMIT};
use robotrules_core::url_path;
use robotrules_core::{Decision, Kind, Settings};

const ANY: Within = Within { budget: 100_000, shorter_than: NO_LIMIT, shortest: false };
const SHORTEST: Within = Within { shortest: true, ..ANY };

fn languages(patterns: &[&str], settings: &Settings) -> Languages {
    let patterns: Vec<_> = patterns.iter().map(|p| (p.as_bytes(), Kind::Allow)).collect();
    Languages::new(&patterns, settings)
}

/// The entry of a pattern, by its form.
fn entry(languages: &Languages, form: &str) -> u32 {
    let found = languages.entries().iter().position(|entry| entry.form == form.as_bytes());
    found.unwrap_or_else(|| panic!("no entry {form}")) as u32
}

fn yes(languages: &Languages, form: &str) -> u32 {
    entry(languages, form) << 1 | 1
}

fn no(languages: &Languages, form: &str) -> u32 {
    entry(languages, form) << 1
}

fn path(found: Option<Sought>) -> Option<String> {
    let found = found.unwrap();
    assert!(found.decided);
    found.path.map(|path| String::from_utf8(path).unwrap())
}

#[test]
fn a_shortest_path() {
    let settings = settings(&[]);
    let made = languages(&["/a", "/*b", "/ab", "/a*b$", "/a/../b", "/*="], &settings);
    let seek = |ladders: Vec<Ladder>| path(made.seek(ladders, SHORTEST));
    let (a, b) = (yes(&made, "/a"), yes(&made, "/*b"));
    assert_eq!(seek(vec![(vec![a], false)]).as_deref(), Some("/a"));
    assert_eq!(seek(vec![(vec![a], false), (vec![b], false)]).as_deref(), Some("/ab"));
    let not_ab = vec![no(&made, "/ab"), b];
    let found = seek(vec![(vec![a], false), (not_ab.clone(), false)]);
    assert_eq!(found.as_deref().map(str::len), Some(4)); // such as /axb
    assert_eq!(seek(vec![(not_ab, false), (vec![no(&made, "/a")], true)]).as_deref(), Some("/b"));
    // An escape is three octets, so the query is nearer.
    assert_eq!(seek(vec![(vec![yes(&made, "/*=")], false)]).as_deref(), Some("/?="));
    assert_eq!(seek(vec![(vec![yes(&made, "/a/../b")], false)]), None);
    assert_eq!(seek(vec![(vec![a, no(&made, "/a")], false)]).as_deref(), Some("/a"));
    assert_eq!(seek(vec![(vec![no(&made, "/a"), a], false)]), None);
    assert_eq!(seek(vec![]).as_deref(), Some("/"));
    assert_eq!(seek(vec![(vec![], false)]), None);
}

#[test]
fn who_said_no_is_told() {
    let settings = settings(&[]);
    let made = languages(&["/a*x", "/a*", "/a", "/b"], &settings);
    let ladder = vec![no(&made, "/b"), no(&made, "/a*x"), no(&made, "/a"), yes(&made, "/a*")];
    let found = made.seek(vec![(ladder, false)], SHORTEST).unwrap();
    assert_eq!((found.decided, found.path), (true, None));
    assert_eq!(found.heard, [[entry(&made, "/a")]]);
}

#[test]
fn a_budget_and_a_limit() {
    let settings = settings(&[]);
    let made = languages(&["/abcdef"], &settings);
    let seek = |within| made.seek(vec![(vec![yes(&made, "/abcdef")], false)], within).unwrap();
    let few = seek(Within { budget: 3, ..SHORTEST });
    assert_eq!((few.decided, few.path, few.states), (false, None, 3));
    assert_eq!(seek(Within { shorter_than: 7, ..SHORTEST }).path, None);
    assert!(seek(Within { shorter_than: 7, ..SHORTEST }).decided);
    assert_eq!(seek(Within { shorter_than: 8, ..ANY }).path.as_deref(), Some(&b"/abcdef"[..]));
    assert!(!seek(Within { budget: i64::MIN, ..ANY }).decided);
}

#[test]
fn a_rung_of_no_entry() {
    let made = languages(&["/a"], &settings(&[]));
    let past = made.entries().len() as u32;
    assert_eq!(made.seek(vec![(vec![past << 1], true)], SHORTEST), None);
    assert_eq!(made.decider([past, 7, u32::MAX].into_iter(), b"/a"), None);
    assert_eq!(made.decider([past, entry(&made, "/a")].into_iter(), b"/ab"), Some(1));
}

#[test]
fn entries_stand_in_the_order_of_precedence() {
    let settings = settings(&["index_page", "empty_rules_match"]);
    let rules = [("/b", Kind::Disallow), ("/c", Kind::Allow), ("/d/index.html", Kind::Allow)];
    let more = [("", Kind::Disallow), ("x", Kind::Allow), ("/\u{1}", Kind::Allow)];
    let patterns: Vec<_> = rules.iter().chain(&more).map(|(v, k)| (v.as_bytes(), *k)).collect();
    let made = Languages::new(&patterns, &settings);
    let told: Vec<_> = made.entries().iter().map(|entry| (entry.says, &entry.form[..])).collect();
    let expected: [(Decision, &[u8]); 6] = [
        (Decision::Implicit, b"/robots.txt$"),
        (Decision::Allow(2), b"/d/index.html"),
        (Decision::Allow(2), b"/d/$"),
        (Decision::Allow(1), b"/c"),
        (Decision::Disallow(0), b"/b"),
        (Decision::Empty(3), b""),
    ];
    assert_eq!(told, expected);
}

/// Every path of so many octets of an alphabet that is its own normal form, short ones first.
fn paths(alphabet: &[u8], most: usize, settings: &Settings) -> Vec<Vec<u8>> {
    let (mut found, mut last) = (vec![], vec![b"/".to_vec()]);
    for _ in 0..most {
        let is_path = |path: &&Vec<u8>| {
            let url = [b"https://example.com".as_slice(), path].concat();
            url_path::normal_form(&url, settings) == **path
        };
        found.extend(last.iter().filter(is_path).cloned());
        let longer = |path: &Vec<u8>| -> Vec<_> {
            alphabet.iter().map(|&octet| [&path[..], &[octet]].concat()).collect()
        };
        last = last.iter().flat_map(longer).collect();
    }
    found
}

fn says(made: &Languages, (rungs, foot): &Ladder, path: &[u8]) -> bool {
    let first = made.decider(rungs.iter().map(|rung| rung >> 1), path);
    let rung = rungs.iter().find(|&&rung| Some(rung >> 1) == first);
    rung.map_or(*foot, |rung| rung & 1 == 1)
}

#[test]
fn as_trying_every_path_says() {
    let words = ["a", "a", "b", "/", "?", "=", "*", "*", "."];
    let mut random = Random(9);
    let (mut some, mut none) = (0, 0);
    let kinds: [&[&str]; 4] = [&[], &["minimal_encoding"], &["url_as_given"], &["split_escapes"]];
    for switches in kinds {
        let settings = settings(switches);
        let world = paths(b"ab/?=.", 6, &settings);
        for _ in 0..400 {
            let values: Vec<_> = (0..1 + random.below(6))
                .map(|_| {
                    let (first, end) =
                        (["/", "/", "*"][random.below(3)], ["", "$"][random.below(2)]);
                    format!("{first}{}{end}", random.words(&words, 5))
                })
                .collect();
            let made = languages(&values.iter().map(String::as_str).collect::<Vec<_>>(), &settings);
            let ladders: Vec<Ladder> = (0..1 + random.below(3))
                .map(|_| {
                    let count = random.below(6);
                    let rungs = (0..count).map(|_| random.below(2 * made.entries().len()) as u32);
                    (rungs.collect(), random.below(5) < 2)
                })
                .collect();
            let agree = |path: &[u8]| ladders.iter().all(|ladder| says(&made, ladder, path));
            let shortest = world.iter().find(|path| agree(path));
            for within in [SHORTEST, ANY] {
                let found = made.seek(ladders.clone(), within).unwrap();
                assert!(found.decided);
                let Some(path) = found.path else {
                    assert_eq!(shortest, None, "{values:?} {ladders:?}");
                    none += 1;
                    continue;
                };
                some += 1;
                assert!(agree(&path), "{values:?} {ladders:?}");
                let is_short = shortest.is_none_or(|other| path.len() <= other.len());
                assert!(is_short || !within.shortest, "{values:?} {ladders:?} {path:?}");
                let limit = Within { shorter_than: path.len() as u32, ..SHORTEST };
                let shorter = made.seek(ladders.clone(), limit).unwrap();
                assert!(shorter.path.is_none() || !within.shortest, "{values:?} {ladders:?}");
            }
        }
    }
    assert!(some > 500 && none > 200, "{some} {none}");
}

/// A witness is found only where units match (AMB-43), and escapes in it are as people write them.
#[test]
fn an_escape_is_one_unit() {
    let asked = ["/*3D", "/*%3D", "/%3Da", "/*=3D$", "/*D$", "/*"];
    let seek = |switches: &[&str], yes_to: &[&str], no_to: &[&str]| {
        let settings = settings(switches);
        let made = languages(&asked, &settings);
        let ladders = yes_to.iter().map(|form| (vec![yes(&made, form)], false));
        let noes = no_to.iter().map(|form| (vec![no(&made, form)], true));
        path(made.seek(ladders.chain(noes).collect(), SHORTEST))
    };
    assert_eq!(seek(&[], &["/*3D"], &[]).as_deref(), Some("/3D"));
    assert_eq!(seek(&[], &["/*%3D"], &[]).as_deref(), Some("/%3D"));
    assert_eq!(seek(&[], &["/*%3D"], &["/*3D"]).as_deref(), Some("/%3D"));
    assert_eq!(seek(&["split_escapes"], &["/*%3D"], &["/*3D"]), None);
    assert_eq!(seek(&[], &["/%3Da", "/*3D"], &[]).as_deref(), Some("/%3Da3D"));
    assert_eq!(seek(&["split_escapes"], &["/%3Da", "/*3D"], &[]).as_deref(), Some("/%3Da"));
    assert_eq!(seek(&[], &["/*D$"], &["/*3D"]).as_deref(), Some("/D"));
    assert_eq!(seek(&[], &["/*=3D$", "/*%3D"], &[]).as_deref(), Some("/%3D3D"));
    let made = languages(&asked, &settings(&[]));
    let entries = [entry(&made, "/*3D"), entry(&made, "/*%3D")];
    assert_eq!(made.decider(entries.into_iter(), b"/a%3Db"), Some(entries[1]));
    assert_eq!(made.decider(entries.into_iter(), b"/a%3D3D"), Some(entries[0]));
}

#[test]
fn many_ways_are_many_small_walks() {
    // All at once they would have as many states as there are sets of half-matched patterns.
    let settings = settings(&[]);
    let values: Vec<_> = (0..300).map(|number| format!("/*a{number}*b{number}")).collect();
    let made = languages(&values.iter().map(String::as_str).collect::<Vec<_>>(), &settings);
    let wanted = vec![yes(&made, "/*a7*b7")];
    let others = (0..300).filter(|&number| number != 7);
    let others = others.map(|n| yes(&made, &format!("/*a{n}*b{n}"))).collect();
    let found = made.seek(vec![(wanted, false), (others, false)], ANY).unwrap();
    assert!(found.path.is_some() && found.states < 200, "{found:?}");
}
