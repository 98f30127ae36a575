//! The first question: what decides by patterns as they are written is what decides when they are
//! compiled.

mod profiles;

use profiles::{parse, Random};
use robotrules_core::Decision;

/// Octets that are written in several ways, that mean something, or that only seem to.
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
fn a_first_question_is_answered_as_later_ones_are() {
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
        assert_eq!(document.usable(&[0]), Some(rules.len()));
        for _ in 0..8 {
            let url = format!("/{}", random.words(&WORDS, 7));
            let compiled = rules.decide(url.as_bytes(), &mut Vec::new());
            let shown = String::from_utf8_lossy(&body);
            let once = document.decide_once(&[0], url.as_bytes());
            assert_eq!(once, Some(compiled), "{url:?} by {shown:?}");
        }
    }
}

/// Each is a pair of pattern and path that octets alone would tell wrongly.
#[test]
fn octets_that_are_not_what_they_seem() {
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
        // While paths are compared, digits of an escape are other octets than people see.
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
fn profiles_that_compare_otherwise_are_left_alone() {
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
        assert_eq!(document.usable(&[0]), None, "{switch}");
    }
}

/// The groups a name obeys: its own, else the star's; the star is nobody's name.
#[test]
fn whom_a_crawler_obeys() {
    let document = parse(b"user-agent: a\nallow: /\nuser-agent: *\nallow: /\n", &[]);
    assert_eq!(document.choose(b"A"), (vec![0], true));
    assert_eq!(document.choose(b"b"), (vec![1], false));
    assert_eq!(document.choose(b"*"), (vec![1], false));
    assert_eq!(parse(b"", &[]).choose(b"a"), (vec![], false));
}
