//! Batches: many URLs in one text, one per line, are decided like single URLs.

mod profiles;

use profiles::{settings, Random};
use robotrules_core::{Decision, Kind, RuleSet};

const RULES: [(&[u8], Kind); 11] = [
    (b"/a", Kind::Disallow),
    (b"/a/b", Kind::Allow),
    (b"/*.gif$", Kind::Disallow),
    (b"/*?q=", Kind::Disallow),
    (b"/aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa", Kind::Allow),
    (b"/~", Kind::Disallow),
    (b"/b/%0A", Kind::Disallow),
    (b"//", Kind::Disallow),
    (b"/*:", Kind::Disallow),
    (b"/*?*b/", Kind::Disallow),
    (b"/*=a", Kind::Disallow),
];

/// A line: mostly of one origin and in normal form.
fn line(random: &mut Random) -> String {
    let origins = ["https://www.site.example", "https://www.site.example", "http://a", "", "//h"];
    let others =
        ["https://longer.than.thirty-two.octets.site.example", "https://u@h:80", "x:", "A"];
    let origin = match random.below(12) {
        0 => *random.choice(&others),
        1..4 => *random.choice(&origins),
        _ => origins[0],
    };
    let words =
        ["a", "b", "/", "/a/b", ".gif", "aaaaaaaaaaaaaaa", "/b/", "shop-1", "index.html", "~"];
    let odd = [
        "?", "?q=", "?=a", "#", "/.", "/../", "%2e", "%2E%2e", "%0A", ":", "é", "\r", " ", "&",
        "//",
    ];
    let mut path = random.words(&words, 9);
    for _ in 0..[0, 0, 0, 1, 2][random.below(5)] {
        path += &(random.words(&odd, 1) + &random.words(&words, 3));
    }
    let slash = if random.below(9) > 0 { "/" } else { "" };
    format!("{origin}{slash}{path}")
}

fn decide_singly(rules: &RuleSet, lines: &str) -> Vec<Decision> {
    lines.split('\n').map(|url| rules.decide(url.as_bytes(), &mut Vec::new())).collect()
}

/// The rows of a column: the lines without newlines in one text, or each in a text of its own.
fn compare_rows(rules: &RuleSet, lines: &str) {
    let expected = decide_singly(rules, lines);
    let allowed: Vec<_> =
        expected.iter().map(|decision| !matches!(decision, Decision::Disallow(_))).collect();
    let (mut text, mut ends) = (String::new(), vec![0]);
    for line in lines.split('\n') {
        text += line;
        ends.push(text.len());
    }
    // With and without octets after the last row, which blocks may load.
    for after in ["", "/../x?%41 after the end, in a block of thirty-two octets"] {
        let text = format!("{text}{after}");
        let joined: Vec<_> =
            ends.windows(2).map(|ends| (text.as_bytes(), ends[0], ends[1])).collect();
        let apart: Vec<_> =
            lines.split('\n').map(|line| (line.as_bytes(), 0, line.len())).collect();
        for rows in [joined, apart] {
            let (mut decided, mut few, mut allows) = (vec![], vec![], vec![]);
            rules.decide_rows(rows.iter().copied(), |decision| decided.push(decision));
            rules.decide_few_rows(rows.iter().copied(), |decision| few.push(decision));
            rules.allows_rows(rows.iter().copied(), |allowed| allows.push(allowed));
            assert_eq!(decided, expected, "{lines:?}");
            assert_eq!(few, expected, "{lines:?}");
            assert_eq!(allows, allowed, "{lines:?}");
        }
    }
}

fn compare(rules: &RuleSet, lines: &str) {
    compare_rows(rules, lines);
    let expected = decide_singly(rules, lines);
    let mut decided = vec![];
    rules.decide_lines(lines.as_bytes(), &mut decided);
    assert_eq!(decided, expected, "{lines:?}");
    let mut allowed = vec![];
    rules.allows_lines(lines.as_bytes(), &mut allowed);
    let expected: Vec<_> =
        expected.iter().map(|decision| !matches!(decision, Decision::Disallow(_))).collect();
    assert_eq!(allowed, expected, "{lines:?}");
}

/// The lines before and after a line do not change its decision.
#[test]
fn a_batch_decides_like_single_urls() {
    let mut random = Random(11);
    for switches in [&[][..], &["match_robots_txt"], &["url_as_given", "minimal_encoding"]] {
        let settings = settings(switches);
        for _ in 0..1_500 {
            let rules = RuleSet::new(RULES.iter().copied(), &settings);
            let count = 1 + random.below(40);
            let lines: Vec<_> = (0..count).map(|_| line(&mut random)).collect();
            compare(&rules, &lines.join("\n"));
        }
    }
}

/// Paths and queries of every length around the size of a block.
#[test]
fn paths_and_queries_of_every_length() {
    let rules = RuleSet::new(RULES.iter().copied(), &settings(&[]));
    for path in 0..100 {
        for query in [0, 1, 30, 31, 32, 33, 63, 64, 65] {
            let (path, query) = ("a".repeat(path), "q".repeat(query));
            let url = format!("https://www.site.example/{path}?{query}");
            let lines = [url.as_str(), &url, &format!("/{path}"), &url[..24 + path.len()], &url];
            compare(&rules, &lines.join("\n"));
        }
    }
}

/// A common prefix of two lines is an origin only if a path follows it.
#[test]
fn origins() {
    let rules = RuleSet::new(RULES.iter().copied(), &settings(&[]));
    let far = "\n/filled/up/to/have/octets/behind/the/lines/that/matter/here";
    for lines in [
        "https://e.example/a\nhttps://e.example.org/a\nhttps://e.example\nhttps://e.example?/a",
        "https://e.example/x\nhttps://e.example#/a\nhttps://e.example:/a\nHTTPS://e.example/a",
        "/a\n//a/b\n/a//b\n///a\n//\n/\n",
        "\n\n\n",
        "/robots.txt\nhttps://e.example/robots.txt\nhttps://e.example/robots.txt?\n/robots.txtx",
        "http://a\nhttp://a/\nhttp://a/a\nhttp://a/a#/b\nhttp://ab/a\nhttp:///a\nhttp://",
    ] {
        compare(&rules, lines);
        compare(&rules, &format!("{lines}{far}"));
    }
}

/// Without rules every line is allowed, and has an answer.
#[test]
fn no_rules() {
    let rules = RuleSet::new([].into_iter(), &settings(&[]));
    for lines in ["", "/a", "/a\n", "/a\n/b\n/c"] {
        compare(&rules, lines);
    }
}

/// A dot segment is removed even if it is the only one in its line and in the next line.
#[test]
fn a_single_dot_segment() {
    let rules = RuleSet::new([(&b"/."[..], Kind::Disallow)].into_iter(), &settings(&[]));
    let far = "x".repeat(80);
    for dots in ["/.", "/..", "/...", "/.a", "/"] {
        compare(&rules, &format!("/eight-octets\n{dots}\n{far}"));
        compare(&rules, &format!("/eight-octets\n{dots}?q\n{far}"));
    }
}
