//! Witnesses: each is accepted, none is shorter, and if none is found there is none.

mod profiles;

use profiles::{settings, Random};
use robotrules_core::languages::{Languages, SearchLimits, WitnessResult};
use robotrules_core::product_search::{DecisionList, NO_LIMIT};
use robotrules_core::url_path;
use robotrules_core::{Decision, Kind, Settings};

const ANY: SearchLimits =
    SearchLimits { max_states: 100_000, shorter_than: NO_LIMIT, shortest: false };
const SHORTEST: SearchLimits = SearchLimits { shortest: true, ..ANY };

fn languages(patterns: &[&str], settings: &Settings) -> Languages {
    let patterns: Vec<_> = patterns.iter().map(|p| (p.as_bytes(), Kind::Allow)).collect();
    Languages::new(&patterns, settings)
}

/// The entry of a pattern, by its form.
fn entry(languages: &Languages, form: &str) -> u32 {
    let found = languages.entries().iter().position(|entry| entry.form == form.as_bytes());
    found.unwrap_or_else(|| panic!("no entry {form}")) as u32
}

fn accept(languages: &Languages, form: &str) -> u32 {
    entry(languages, form) << 1 | 1
}

fn reject(languages: &Languages, form: &str) -> u32 {
    entry(languages, form) << 1
}

fn path(found: Option<WitnessResult>) -> Option<String> {
    let found = found.unwrap();
    assert!(found.decided);
    found.path.map(|path| String::from_utf8(path).unwrap())
}

#[test]
fn a_shortest_path() {
    let settings = settings(&[]);
    let made = languages(&["/a", "/*b", "/ab", "/a*b$", "/a/../b", "/*="], &settings);
    let find = |lists: Vec<DecisionList>| path(made.find_witness(lists, SHORTEST));
    let (a, b) = (accept(&made, "/a"), accept(&made, "/*b"));
    assert_eq!(find(vec![(vec![a], false)]).as_deref(), Some("/a"));
    assert_eq!(find(vec![(vec![a], false), (vec![b], false)]).as_deref(), Some("/ab"));
    let not_ab = vec![reject(&made, "/ab"), b];
    let found = find(vec![(vec![a], false), (not_ab.clone(), false)]);
    assert_eq!(found.as_deref().map(str::len), Some(4)); // such as /axb
    assert_eq!(
        find(vec![(not_ab, false), (vec![reject(&made, "/a")], true)]).as_deref(),
        Some("/b")
    );
    // An escape is three octets, so the query is nearer.
    assert_eq!(find(vec![(vec![accept(&made, "/*=")], false)]).as_deref(), Some("/?="));
    assert_eq!(find(vec![(vec![accept(&made, "/a/../b")], false)]), None);
    assert_eq!(find(vec![(vec![a, reject(&made, "/a")], false)]).as_deref(), Some("/a"));
    assert_eq!(find(vec![(vec![reject(&made, "/a"), a], false)]), None);
    assert_eq!(find(vec![]).as_deref(), Some("/"));
    assert_eq!(find(vec![(vec![], false)]), None);
}

#[test]
fn rejecting_entries_are_reported() {
    let settings = settings(&[]);
    let made = languages(&["/a*x", "/a*", "/a", "/b"], &settings);
    let list =
        vec![reject(&made, "/b"), reject(&made, "/a*x"), reject(&made, "/a"), accept(&made, "/a*")];
    let found = made.find_witness(vec![(list, false)], SHORTEST).unwrap();
    assert_eq!((found.decided, found.path), (true, None));
    assert_eq!(found.rejecting, [[entry(&made, "/a")]]);
}

#[test]
fn max_states_and_shorter_than() {
    let settings = settings(&[]);
    let made = languages(&["/abcdef"], &settings);
    let find =
        |limits| made.find_witness(vec![(vec![accept(&made, "/abcdef")], false)], limits).unwrap();
    let few = find(SearchLimits { max_states: 3, ..SHORTEST });
    assert_eq!((few.decided, few.path, few.states), (false, None, 3));
    assert_eq!(find(SearchLimits { shorter_than: 7, ..SHORTEST }).path, None);
    assert!(find(SearchLimits { shorter_than: 7, ..SHORTEST }).decided);
    assert_eq!(
        find(SearchLimits { shorter_than: 8, ..ANY }).path.as_deref(),
        Some(&b"/abcdef"[..])
    );
    assert!(!find(SearchLimits { max_states: i64::MIN, ..ANY }).decided);
}

#[test]
fn a_clause_without_an_entry() {
    let made = languages(&["/a"], &settings(&[]));
    let past = made.entries().len() as u32;
    assert_eq!(made.find_witness(vec![(vec![past << 1], true)], SHORTEST), None);
    assert_eq!(made.first_match([past, 7, u32::MAX].into_iter(), b"/a"), None);
    assert_eq!(made.first_match([past, entry(&made, "/a")].into_iter(), b"/ab"), Some(1));
}

#[test]
fn entries_are_in_order_of_precedence() {
    let settings = settings(&["index_page", "empty_rules_match"]);
    let rules = [("/b", Kind::Disallow), ("/c", Kind::Allow), ("/d/index.html", Kind::Allow)];
    let more = [("", Kind::Disallow), ("x", Kind::Allow), ("/\u{1}", Kind::Allow)];
    let patterns: Vec<_> = rules.iter().chain(&more).map(|(v, k)| (v.as_bytes(), *k)).collect();
    let made = Languages::new(&patterns, &settings);
    let entries: Vec<_> =
        made.entries().iter().map(|entry| (entry.decision, &entry.form[..])).collect();
    let expected: [(Decision, &[u8]); 6] = [
        (Decision::Implicit, b"/robots.txt$"),
        (Decision::Allow(2), b"/d/index.html"),
        (Decision::Allow(2), b"/d/$"),
        (Decision::Allow(1), b"/c"),
        (Decision::Disallow(0), b"/b"),
        (Decision::Empty(3), b""),
    ];
    assert_eq!(entries, expected);
}

/// Every path over an alphabet with up to `most` octets that is in normal form, shortest first.
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

fn accepts(made: &Languages, (clauses, default): &DecisionList, path: &[u8]) -> bool {
    let first = made.first_match(clauses.iter().map(|clause| clause >> 1), path);
    let clause = clauses.iter().find(|&&clause| Some(clause >> 1) == first);
    clause.map_or(*default, |clause| clause & 1 == 1)
}

#[test]
fn witnesses_agree_with_brute_force() {
    let words = ["a", "a", "b", "/", "?", "=", "*", "*", "."];
    let mut random = Random(9);
    let (mut some, mut none) = (0, 0);
    let kinds: [&[&str]; 4] = [&[], &["minimal_encoding"], &["url_as_given"], &["split_escapes"]];
    for switches in kinds {
        let settings = settings(switches);
        let all_paths = paths(b"ab/?=.", 6, &settings);
        for _ in 0..400 {
            let values: Vec<_> = (0..1 + random.below(6))
                .map(|_| {
                    let (first, end) =
                        (["/", "/", "*"][random.below(3)], ["", "$"][random.below(2)]);
                    format!("{first}{}{end}", random.words(&words, 5))
                })
                .collect();
            let made = languages(&values.iter().map(String::as_str).collect::<Vec<_>>(), &settings);
            let lists: Vec<DecisionList> = (0..1 + random.below(3))
                .map(|_| {
                    let count = random.below(6);
                    let clauses = (0..count).map(|_| random.below(2 * made.entries().len()) as u32);
                    (clauses.collect(), random.below(5) < 2)
                })
                .collect();
            let all_accept = |path: &[u8]| lists.iter().all(|list| accepts(&made, list, path));
            let shortest = all_paths.iter().find(|path| all_accept(path));
            for limits in [SHORTEST, ANY] {
                let found = made.find_witness(lists.clone(), limits).unwrap();
                assert!(found.decided);
                let Some(path) = found.path else {
                    assert_eq!(shortest, None, "{values:?} {lists:?}");
                    none += 1;
                    continue;
                };
                some += 1;
                assert!(all_accept(&path), "{values:?} {lists:?}");
                let is_short = shortest.is_none_or(|other| path.len() <= other.len());
                assert!(is_short || !limits.shortest, "{values:?} {lists:?} {path:?}");
                let limit = SearchLimits { shorter_than: path.len() as u32, ..SHORTEST };
                let shorter = made.find_witness(lists.clone(), limit).unwrap();
                assert!(shorter.path.is_none() || !limits.shortest, "{values:?} {lists:?}");
            }
        }
    }
    assert!(some > 500 && none > 200, "{some} {none}");
}

/// A witness matches by units (AMB-43), and its escapes are readable.
#[test]
fn an_escape_is_one_unit() {
    let values = ["/*3D", "/*%3D", "/%3Da", "/*=3D$", "/*D$", "/*"];
    let find = |switches: &[&str], accepted: &[&str], rejected: &[&str]| {
        let settings = settings(switches);
        let made = languages(&values, &settings);
        let lists = accepted.iter().map(|form| (vec![accept(&made, form)], false));
        let rejections = rejected.iter().map(|form| (vec![reject(&made, form)], true));
        path(made.find_witness(lists.chain(rejections).collect(), SHORTEST))
    };
    assert_eq!(find(&[], &["/*3D"], &[]).as_deref(), Some("/3D"));
    assert_eq!(find(&[], &["/*%3D"], &[]).as_deref(), Some("/%3D"));
    assert_eq!(find(&[], &["/*%3D"], &["/*3D"]).as_deref(), Some("/%3D"));
    assert_eq!(find(&["split_escapes"], &["/*%3D"], &["/*3D"]), None);
    assert_eq!(find(&[], &["/%3Da", "/*3D"], &[]).as_deref(), Some("/%3Da3D"));
    assert_eq!(find(&["split_escapes"], &["/%3Da", "/*3D"], &[]).as_deref(), Some("/%3Da"));
    assert_eq!(find(&[], &["/*D$"], &["/*3D"]).as_deref(), Some("/D"));
    assert_eq!(find(&[], &["/*=3D$", "/*%3D"], &[]).as_deref(), Some("/%3D3D"));
    let made = languages(&values, &settings(&[]));
    let entries = [entry(&made, "/*3D"), entry(&made, "/*%3D")];
    assert_eq!(made.first_match(entries.into_iter(), b"/a%3Db"), Some(entries[1]));
    assert_eq!(made.first_match(entries.into_iter(), b"/a%3D3D"), Some(entries[0]));
}

#[test]
fn many_branches_are_many_small_searches() {
    // A single search would have as many states as there are sets of partially matched patterns.
    let settings = settings(&[]);
    let values: Vec<_> = (0..300).map(|number| format!("/*a{number}*b{number}")).collect();
    let made = languages(&values.iter().map(String::as_str).collect::<Vec<_>>(), &settings);
    let wanted = vec![accept(&made, "/*a7*b7")];
    let others = (0..300).filter(|&number| number != 7);
    let others = others.map(|n| accept(&made, &format!("/*a{n}*b{n}"))).collect();
    let found = made.find_witness(vec![(wanted, false), (others, false)], ANY).unwrap();
    assert!(found.path.is_some() && found.states < 200, "{found:?}");
}
