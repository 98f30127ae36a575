//! Decisions by uncompiled patterns equal those by compiled patterns.

mod profiles;

use profiles::{parse, Random};
use robotrules_core::Decision;

/// Octets with several spellings, delimiters, and octets that resemble them.
const WORDS: [&str; 34] = [
    "/",
    "/a",
    "/a/b",
    "a",
    "b",
    "f",
    "F",
    "2",
    "aaaaaaaa",
    "*",
    "**",
    "$",
    "%",
    "%2",
    "%2f",
    "%2F",
    "%41",
    "%61",
    "%3f",
    "%3D",
    "%25",
    "?",
    "=",
    "&",
    ".",
    "..",
    "~",
    ";",
    " ",
    "\u{e9}",
    "\u{1}",
    "\0",
    "robots.txt",
    "\t",
];

#[test]
fn the_first_url_is_decided_like_later_ones() {
    let mut random = Random(9);
    let profiles: [&[&str]; 3] =
        [&[], &["keep_spaces", "keep_invalid_utf8"], &["keep_controls", "keep_spaces"]];
    for round in 0..6_000 {
        let mut body = String::from("user-agent: *\n");
        for _ in 0..1 + random.below(5) {
            let (key, start) = (["allow", "disallow"][random.below(2)], ["/", "/", "/", ""]);
            let value = random.words(&WORDS, 7);
            body += &format!("{key}: {}{value}\n", random.choice(&start));
        }
        let mut body = body.into_bytes();
        if round % 20 == 0 {
            body.extend(b"disallow: /a\xff\n");
        }
        let document = parse(&body, profiles[round % 3]);
        let rules = document.compile(&[0]);
        assert_eq!(document.count_usable(&[0]), Some(rules.len()));
        for _ in 0..8 {
            let url = format!("/{}", random.words(&WORDS, 7));
            let compiled = rules.decide(url.as_bytes(), &mut Vec::new());
            let shown = String::from_utf8_lossy(&body);
            let once = document.decide_once(&[0], url.as_bytes());
            assert_eq!(once, Some(compiled), "{url:?} by {shown:?}");
        }
    }
}

/// Pairs of pattern and path for which comparing octets gives the wrong result.
#[test]
fn octets_with_another_meaning() {
    let same = [
        ("/%2fx", "/%2Fx"),
        ("/%zz", "/%25zz"),
        ("/a%2", "/a%252"),
        ("/%61bc", "/abc"),
        ("/a?b/c", "/a?b%2Fc"),
        ("/a=b", "/a%3Db"),
        ("/*%2F", "/x%2f"),
        ("/*/a?b", "/x/a?b"),
        ("/\u{e9}", "/%C3%A9"),
        ("/abcdefgh%2f", "/abcdefgh%2F"),
        ("*", "/"),
        ("/$", "/"),
        ("/%3dx%3D", "/=x="),
        ("/a%3Db*%3D", "/a=b="),
    ];
    let other = [
        ("/a%2", "/a%2F"),
        ("/*%2F", "/x/"),
        ("/a\0", "/a"),
        ("/*?", "/a"),
        ("a", "/a"),
        ("", "/"),
        ("/abcdefghi", "/abcdefgh"),
        ("/a$", "/ab"),
        ("/*3D", "/a=b"),
        ("/*40", "/@user"),
        ("/*D$", "/a="),
        // In the compared form digits of an escape are marked octets.
        ("/%\u{f0}", "/%C0"),
    ];
    for (pairs, expected) in [(&same[..], Decision::Disallow(0)), (&other, Decision::NoMatch)] {
        for (value, url) in pairs {
            let body = format!("user-agent: *\ndisallow: {value}\n");
            let document = parse(body.as_bytes(), &[]);
            let once = document.decide_once(&[0], url.as_bytes());
            assert_eq!(once, Some(expected), "{value} and {url}");
            let compiled = document.compile(&[0]).decide(url.as_bytes(), &mut Vec::new());
            assert_eq!(compiled, expected, "{value} and {url}");
        }
    }
}

#[test]
fn profiles_with_other_comparisons_are_not_supported() {
    let switches = [
        "minimal_encoding",
        "url_as_given",
        "split_escapes",
        "index_page",
        "match_robots_txt",
        "empty_rules_match",
    ];
    for switch in switches {
        let document = parse(b"user-agent: *\ndisallow: /\n", &[switch]);
        assert_eq!(document.decide_once(&[0], b"/"), None, "{switch}");
        assert_eq!(document.count_usable(&[0]), None, "{switch}");
    }
}

/// The groups of a token: those that name it, else the star groups; `*` does not name a crawler.
#[test]
fn groups_of_a_crawler() {
    let document = parse(b"user-agent: a\nallow: /\nuser-agent: *\nallow: /\n", &[]);
    assert_eq!(document.choose(b"A"), (vec![0], true));
    assert_eq!(document.choose(b"b"), (vec![1], false));
    assert_eq!(document.choose(b"*"), (vec![1], false));
    assert_eq!(parse(b"", &[]).choose(b"a"), (vec![], false));
}
