//! Coverage: all, some or none of the URLs, by one look at the patterns, by samples and by searches.

mod profiles;

use profiles::{settings, Random};
use robotrules_core::coverage::{coverage, Coverage, SearchBudget};
use robotrules_core::{Decision, Kind, RuleSet, Settings};

const GOOGLE: &[&str] = &[
    "minimal_encoding",
    "url_as_given",
    "split_escapes",
    "index_page",
    "match_robots_txt",
    "empty_rules_match",
    "keep_controls",
];

/// Rules as text: `+/a -/b` allows `/a` and disallows `/b`.
fn rules(text: &str) -> Vec<(&[u8], Kind)> {
    let kind = |sign: &str| if sign == "+" { Kind::Allow } else { Kind::Disallow };
    let split = text.split_whitespace().map(|rule| rule.split_at(1));
    split.map(|(sign, pattern)| (pattern.as_bytes(), kind(sign))).collect()
}

fn covered(text: &str, settings: &Settings) -> (Option<Coverage>, u32) {
    let mut budget = SearchBudget::default();
    let found = coverage(rules(text).into_iter(), settings, &mut budget);
    (found, budget.searches)
}

#[track_caller]
fn check(text: &str, expected: Coverage, searches: u32) {
    assert_eq!(covered(text, &settings(&[])), (Some(expected), searches), "{text}");
}

#[test]
fn most_rules_need_one_look() {
    for text in ["", "+/a", "-", "-a", "+/ +/x", "-relative +/"] {
        check(text, Coverage::All, 0);
    }
    for everything in ["/", "/*", "*", "**", "*/", "*/*", "/**", "/*$", "*$", "*/*$"] {
        check(&format!("-{everything}"), Coverage::None, 0);
        check(&format!("-{everything} -/a -/b$"), Coverage::None, 0);
    }
    check("+/ -/", Coverage::All, 0);
    check("+/ -/*", Coverage::None, 0);
    check("+/* -/", Coverage::All, 0);
    check("+/* -/**", Coverage::None, 0);
}

#[test]
fn samples_show_that_some_are_allowed() {
    let texts = [
        "-/a",
        "-/ +/a",
        "-/$",
        "-/*?",
        "-*?",
        "-*.gif$",
        "-/ +/$",
        "-/a +/ -/b",
        "-//a",
        "-/* +/a/",
    ];
    for text in texts {
        check(text, Coverage::Some, 0);
    }
    // A wildcard in the place of nothing would make a dot segment; the second sample matches.
    check("-/a/*. +/a/$", Coverage::Some, 0);
    // `/private` itself is allowed.
    check("-/private +/private$", Coverage::Some, 0);
}

#[test]
fn searches_decide_the_rest() {
    check("-/* +/", Coverage::None, 0);
    check("-/* +/ -/abc", Coverage::None, 0);
    check("-/a* +/a", Coverage::Some, 0);
    // Every path that an allow rule matches is disallowed by a longer rule.
    check("-/ +/a -/a*", Coverage::None, 1);
    check("-/ +/a*b -/a*b* +/c -/c*", Coverage::None, 1);
    // Every path that a disallow rule matches is allowed by a longer rule.
    check("-/a +/a*", Coverage::All, 1);
    check("-/a/../b", Coverage::All, 1);
    check("-/robots.txt$", Coverage::All, 1);
    check("-/ +/robots.txt$", Coverage::None, 1);
    check("-/ +/robots.txt", Coverage::Some, 0);
}

#[test]
fn robots_txt_is_left_out_in_every_profile() {
    let google = settings(GOOGLE);
    assert_eq!(covered("-/robots.txt$", &google).0, Some(Coverage::All));
    assert_eq!(covered("-/ +/robots.txt$", &google).0, Some(Coverage::None));
    assert_eq!(covered("+/ -/robots.txt$", &google).0, Some(Coverage::All));
    assert_eq!(covered("-/robots.txt", &google).0, Some(Coverage::Some));
    assert_eq!(covered("- -/a", &google).0, Some(Coverage::Some));
    assert_eq!(covered("-/ +/index.html", &google).0, Some(Coverage::Some));
    assert_eq!(covered("-/a;b", &google).0, Some(Coverage::Some));
}

#[test]
fn unusable_patterns_do_not_count() {
    for (value, usable) in
        [(b"/a b".as_slice(), false), (b"/\x01", false), (b"/\xFF", false), (b"/a", true)]
    {
        let mut budget = SearchBudget::default();
        let patterns = [(value, Kind::Disallow)].into_iter();
        let expected = if usable { Coverage::Some } else { Coverage::All };
        assert_eq!(coverage(patterns, &settings(&[]), &mut budget), Some(expected), "{value:?}");
    }
}

#[test]
fn a_spent_budget_leaves_it_open() {
    let text = "-/ +/a -/a*";
    let mut budget = SearchBudget { states: 0, searches: 0 };
    assert_eq!(coverage(rules(text).into_iter(), &settings(&[]), &mut budget), None);
    let many: String = (0..2_000).map(|n| format!("+/a{n}*b -/a{n}*b* ")).collect();
    let mut budget = SearchBudget::default();
    let text = format!("-/ {many}");
    assert_eq!(coverage(rules(&text).into_iter(), &settings(&[]), &mut budget), None);
    assert!(budget.states > -10_000, "{budget:?}");
}

/// URLs over the alphabet of the random patterns, up to six octets.
fn urls() -> Vec<String> {
    let mut paths = vec![String::from("/")];
    let mut from = 0;
    for _ in 0..5 {
        let to = paths.len();
        for at in from..to {
            for octet in ["a", "b", "/", "?", "$"] {
                paths.push(format!("{}{octet}", paths[at]));
            }
        }
        from = to;
    }
    paths.into_iter().map(|path| format!("https://h{path}")).collect()
}

#[test]
fn it_agrees_with_the_matcher() {
    let (urls, mut random) = (urls(), Random(17));
    let (pieces, mut seen) = (["/", "a", "b", "*", "*", "?", "$"], [0; 3]);
    for round in 0..1_500 {
        let switches = if round % 3 == 0 { GOOGLE } else { &[] };
        let settings = settings(switches);
        let text: String = (0..random.below(5) + 1)
            .map(|_| {
                let sign = *random.choice(&["+", "-", "-"]);
                let start = *random.choice(&["/", "/", "*"]);
                format!("{sign}{start}{} ", random.words(&pieces, 4))
            })
            .collect();
        let Some(found) = covered(&text, &settings).0 else { panic!("not decided: {text}") };
        seen[found as usize] += 1;
        let set = RuleSet::new(rules(&text).into_iter(), &settings);
        let mut scratch = vec![];
        let is_disallowed = |url: &String, scratch: &mut Vec<u8>| {
            matches!(set.decide(url.as_bytes(), scratch), Decision::Disallow(_))
        };
        let disallowed = urls.iter().filter(|url| is_disallowed(url, &mut scratch)).count();
        match found {
            Coverage::All => assert_eq!(disallowed, 0, "{text}"),
            Coverage::None => assert_eq!(disallowed, urls.len(), "{text}"),
            // Patterns are short, so that short URLs show both.
            Coverage::Some => assert!((1..urls.len()).contains(&disallowed), "{text}"),
        }
    }
    assert!(seen.iter().all(|&count| count > 50), "{seen:?}");
}
