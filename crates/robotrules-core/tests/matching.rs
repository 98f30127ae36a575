//! Every implementation of a decision, compared with the naive matcher on inputs that reach each
//! branch at each offset: uncompiled, scan, index, batch with prefilters, batch with index.

mod naive;
mod profiles;

use naive::Rule;
use profiles::{limited, settings, Random};
use robotrules_core::{Decision, Document, Kind, RuleSet, Settings};
use std::sync::Arc;

/// Follows the tested lines, so that a batch reads them 32 octets at a time.
const FAR: &str = "\n/filled/up/to/have/octets/behind/the/lines/that/matter/here/and/some/more";

fn compile(rules: &[Rule], settings: &Settings) -> RuleSet {
    RuleSet::new(rules.iter().map(|(value, kind)| (value.as_slice(), *kind)), settings)
}

fn disallow(values: &[&str]) -> Vec<Rule> {
    values.iter().map(|value| (value.as_bytes().to_vec(), Kind::Disallow)).collect()
}

/// The same rules and others that match no tested URL, `count` in all.
fn padded(rules: &[Rule], count: usize, wild: bool) -> Vec<Rule> {
    let mut padded = rules.to_vec();
    for number in rules.len()..count {
        let value = match wild {
            true => format!("/~*q{number}~w*~{number}"),
            false => format!("/~q{number}"),
        };
        padded.push((value.into_bytes(), Kind::Allow));
    }
    padded
}

/// A rule set in every implementation.
struct Implementations<'a> {
    rules: &'a [Rule],
    settings: Settings,
    sets: Vec<(&'static str, RuleSet)>,
    document: Option<Document<Vec<u8>>>,
}

impl<'a> Implementations<'a> {
    fn new(rules: &'a [Rule], switches: &[&str]) -> Implementations<'a> {
        let settings = settings(switches);
        let mut sets = vec![];
        for (name, rules) in [
            ("scanned", rules.to_vec()),
            ("scanned with 60", padded(rules, 60, true)),
            ("indexed with 70", padded(rules, 70, true)),
            ("indexed with 70 plain", padded(rules, 70, false)),
            ("indexed with 300", padded(rules, 300, true)),
        ] {
            let set = compile(&rules, &settings);
            set.expect_checks(1_000);
            sets.push((name, set));
        }
        let as_written = settings.switches.compare_as_written();
        let document = as_written.then(|| {
            let mut body = b"user-agent: *\n".to_vec();
            for (value, kind) in rules {
                let key: &[u8] = if *kind == Kind::Allow { b"allow: " } else { b"disallow: " };
                body.extend([key, value, b"\n"].concat());
            }
            Document::parse(body, Arc::new(limited(switches, 512_000, usize::MAX)), true)
        });
        Implementations { rules, settings, sets, document }
    }

    /// Decides each URL in every implementation; no padding rule may match.
    fn compare(&self, urls: &[String]) {
        let naively = |url: &String| naive::decide(self.rules, url.as_bytes(), &self.settings);
        let expected: Vec<Decision> = urls.iter().map(naively).collect();
        let lines = urls.join("\n") + FAR;
        let mut scratch = Vec::new();
        for (name, set) in &self.sets {
            for (url, expected) in urls.iter().zip(&expected) {
                let found = set.decide(url.as_bytes(), &mut scratch);
                assert_eq!(found, *expected, "{url:?} {name} by {}", self.describe());
                let allowed = !matches!(expected, Decision::Disallow(_));
                assert_eq!(set.allows(url.as_bytes(), &mut scratch), allowed, "{url:?} {name}");
            }
            let (mut decided, mut allowed) = (vec![], vec![]);
            set.decide_lines(lines.as_bytes(), &mut decided);
            set.allows_lines(lines.as_bytes(), &mut allowed);
            let denied = |decision: &Decision| matches!(decision, Decision::Disallow(_));
            assert!(decided.iter().zip(&allowed).all(|(found, allowed)| denied(found) != *allowed));
            for ((url, expected), found) in urls.iter().zip(&expected).zip(&decided) {
                assert_eq!(found, expected, "{url:?} in a batch, {name}, by {}", self.describe());
            }
        }
        for (url, expected) in urls.iter().zip(&expected) {
            if let Some(document) = &self.document {
                let found = document.decide_once(&[0], url.as_bytes());
                assert_eq!(found, Some(*expected), "{url:?} first by {}", self.describe());
            }
        }
    }

    fn describe(&self) -> String {
        let values = self.rules.iter().map(|(value, _)| String::from_utf8_lossy(value));
        values.collect::<Vec<_>>().join(" ")
    }
}

const LETTERS: &str = "abcxyzABCXYZ0189-._~";

/// Patterns with every bigram: a lost bit in a table of bigrams, or a hash that differs between
/// pattern and path, hides one of them.
#[test]
fn every_bigram() {
    let others = ["/*.php", "/*.gif~", "/*jpg_x"];
    for a in LETTERS.chars() {
        for b in LETTERS.chars() {
            let (pair, piece) = (format!("/*{a}{b}"), format!("/*_{a}{b}{a}_"));
            let rules = disallow(&[&pair, &piece, others[0], others[1], others[2]]);
            let implementations = Implementations::new(&rules, &[]);
            let mut urls = vec![format!("/s/index.php?{a}={b}"), format!("/{b}{a}")];
            for before in [0, 1, 5, 6, 7, 8, 9, 14, 15, 16, 17, 30] {
                let fill = "/".repeat(before);
                urls.push(format!("https://e.example/{fill}{a}{b}"));
                urls.push(format!("https://e.example/{fill}_{a}{b}{a}_/s"));
            }
            implementations.compare(&urls);
        }
    }
}

/// All octets that a path can have, and escapes of all others.
#[test]
fn every_octet_after_a_wildcard() {
    for octet in 1..=255u8 {
        let raw = |octet: u8| !matches!(octet, b'*' | b'#' | b'\n' | b'\r' | b' ' | b'\t');
        let written = match octet.is_ascii() && !octet.is_ascii_control() && raw(octet) {
            true => char::from(octet).to_string(),
            false => format!("%{octet:02x}"),
        };
        let one = format!("/*{written}z");
        let two = format!("/y*{written}");
        let ending = format!("/*a{written}*$");
        let rules = disallow(&[&one, &two, &ending, "/*.php", "/*q?", "/*jpg"]);
        let urls = [
            format!("/a{written}z"),
            format!("/%{octet:02X}z"),
            format!("/y/{written}"),
            format!("/y?{written}"),
            format!("/x?a{written}"),
            format!("/{octet:02X}z"),
            format!("/y{octet:02X}"),
        ];
        Implementations::new(&rules, &[]).compare(&urls);
        Implementations::new(&rules, &["split_escapes"]).compare(&urls);
    }
}

/// Prefixes of every length, with one octet changed at every position, and paths that are shorter.
#[test]
fn prefixes_of_every_length() {
    let whole = "/abcdefghijklmnopqrstuvwxyz-0123456789_ABCDEFGH";
    for length in 1..40 {
        let first = &whole[..length];
        let values = [first.to_string(), format!("{first}$"), format!("{first}*~x")];
        let mut urls = vec![first.to_string(), whole.to_string(), format!("{first}~x")];
        urls.push(format!("{first}?a"));
        urls.push(format!("/x{first}"));
        for at in 1..length {
            let mut changed = first.to_string().into_bytes();
            changed[at] ^= 4;
            urls.push(String::from_utf8(changed).unwrap());
            urls.push(first[..at].to_string());
            urls.push(format!("{}~{}~x", &first[..at], &first[at..]));
        }
        for value in &values {
            Implementations::new(&disallow(&[value]), &[]).compare(&urls);
        }
        Implementations::new(&disallow(&[&values[0], &values[1], &values[2]]), &[]).compare(&urls);
    }
}

/// Suffixes of every length, in the same way.
#[test]
fn suffixes_of_every_length() {
    let whole = "abcdefghijklmnopqrstuvwxyz";
    for length in 1..20 {
        let end = &whole[whole.len() - length..];
        let rules = disallow(&[&format!("/*{end}$"), &format!("/*/{end}$"), "/*.php", "/*a.b$"]);
        let mut urls = vec![format!("/{end}"), format!("/{end}{end}"), format!("/x/{end}")];
        urls.push(format!("/{end}?"));
        urls.push(format!("/?{end}"));
        urls.push(format!("/?/{end}"));
        urls.push(format!("/?%2F{end}"));
        urls.push(format!("/%2F{end}"));
        for at in 0..length {
            let mut changed = end.to_string().into_bytes();
            changed[at] ^= 4;
            let changed = String::from_utf8(changed).unwrap();
            urls.push(format!("/{changed}"));
            urls.push(format!("/x/y/z/{changed}"));
            urls.push(format!("/{end}{}", &end[..at]));
            urls.push(format!("/{}", &end[at..]));
        }
        Implementations::new(&rules, &[]).compare(&urls);
    }
}

/// Pieces at every position of paths of every length, after a partial match.
#[test]
fn pieces_at_every_position() {
    for piece in ["b", "ab", "aab", "abc", "aaab", "abab", "?b", "a?b", "=b", "a/b", "aaaaaaaab"] {
        let rules = disallow(&[&format!("/*{piece}"), &format!("/*{piece}*c$"), "/*.php", "/*_q_"]);
        let implementations = Implementations::new(&rules, &[]);
        let mut urls = vec![];
        for before in 0..36 {
            for fill in ["a", "x"] {
                let fill = fill.repeat(before);
                urls.push(format!("/{fill}{piece}"));
                urls.push(format!("/{fill}{piece}c"));
                urls.push(format!("/{fill}{}", &piece[..piece.len() - 1]));
                urls.push(format!("/?{fill}{piece}c"));
            }
            urls.push(format!("/{}{piece}", "a-".repeat(before)));
            urls.push(format!("/{}?{piece}", "ab-".repeat(before / 2)));
        }
        implementations.compare(&urls);
    }
}

/// Dot segments at every position around the size of a block.
#[test]
fn dot_segments_at_every_position() {
    for dots in ["/.", "/..", "/./", "/../", "/.../", "/.a", "/..a", "//.", "/%2e/", "/.%2E"] {
        for before in 0..70 {
            let path = format!("/{}{dots}", "a".repeat(before));
            for (origin, tail) in
                [("https://e.example", ""), ("https://e.example", "b/c"), ("", "?q/./")]
            {
                let url = format!("{origin}{path}{tail}");
                let settings = settings(&[]);
                let form = robotrules_core::url_path::normal_form(url.as_bytes(), &settings);
                // The path as it is, and as it would be if dots were data.
                let rules = [
                    ([&form[..], b"$"].concat(), Kind::Disallow),
                    (format!("{path}{tail}").into_bytes(), Kind::Allow),
                    (b"/aaaa".to_vec(), Kind::Allow),
                ];
                let expected = naive::decide(&rules, url.as_bytes(), &settings);
                let set = compile(&rules, &settings);
                let lines = format!("{origin}/x\n{url}\n{url}#a\n{url}{FAR}");
                let mut decided = vec![];
                set.decide_lines(lines.as_bytes(), &mut decided);
                assert_eq!(decided[1..4], [expected; 3], "{url}");
                assert_eq!(set.decide(url.as_bytes(), &mut Vec::new()), expected, "{url}");
            }
        }
    }
}

/// After dot segments are removed the query has moved: its delimiters are those of a query.
#[test]
fn a_query_after_dot_segments() {
    let rules = disallow(&["/*=b&$", "/*?a", "/c*&d", "/*/e", "/*?*f/"]);
    let implementations = Implementations::new(&rules, &[]);
    let mut urls = vec![];
    for dots in ["/.", "/./.", "/x/..", "/x/y/../..", "/long-segment/and/another/../../.."] {
        for query in ["", "?", "?a", "?=b&", "?c&d", "?g=b&", "?h/e", "?i/f/", "?.=b&", "=b&"] {
            urls.extend([format!("{dots}/c{query}"), format!("/c{dots}/{query}")]);
            urls.push(format!("https://e.example/c{dots}{query}"));
        }
    }
    implementations.compare(&urls);
}

/// Origins of any length are compared to their last octet.
#[test]
fn origins_that_differ_in_one_octet() {
    let rules = disallow(&["/b", "/o", "/n/", "/*g", "/?"]);
    let settings = settings(&[]);
    let set = compile(&rules, &settings);
    for length in [1, 2, 15, 16, 17, 20, 30, 31, 32, 33, 34, 40, 47, 48, 49, 60, 64, 65, 80] {
        let name: String = "boring-long-name-of-a-site.".chars().cycle().take(length).collect();
        let origin = format!("https://{name}");
        let line = format!("{origin}/path");
        for at in 0..origin.len() {
            let mut lines = vec![line.clone()];
            for octet in ["/", "?", "#", "x", ":"] {
                lines.push(format!("{}{octet}{}/path", &origin[..at], &origin[at + 1..]));
                lines.push(line.clone());
            }
            lines.push(line[..at].to_string());
            let naively = |url: &String| naive::decide(&rules, url.as_bytes(), &settings);
            let expected: Vec<_> = lines.iter().map(naively).collect();
            let mut decided = vec![];
            set.decide_lines((lines.join("\n") + FAR).as_bytes(), &mut decided);
            assert_eq!(decided[..lines.len()], expected, "{origin} at {at}");
        }
    }
}

/// Lines of every length at the end of a batch, with less than 32 octets left.
#[test]
fn the_last_lines_of_a_batch() {
    let rules = disallow(&["/a", "/*z$", "/*?q", "/b"]);
    let settings = settings(&[]);
    let set = compile(&rules, &settings);
    for length in 0..70 {
        for last in ["z", "b", "?q", "?a", "%7A", "/.", ""] {
            for origin in ["", "https://e.example"] {
                let line = format!("{origin}/{}{last}", "y".repeat(length));
                let lines = [format!("{origin}/a"), line.clone(), line.clone()];
                let naively = |url: &String| naive::decide(&rules, url.as_bytes(), &settings);
                let expected: Vec<_> = lines.iter().map(naively).collect();
                let mut decided = vec![];
                set.decide_lines(lines.join("\n").as_bytes(), &mut decided);
                assert_eq!(decided, expected, "{line}");
            }
        }
    }
}

/// A trie with more children than SIMD lanes, labels of every length, and more shortcuts than free
/// slots nearby.
#[test]
fn prefix_tries() {
    let mut random = Random(21);
    let letters: Vec<char> =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_".chars().collect();
    for round in 0..12 {
        let mut values = vec![];
        for &letter in &letters {
            values.push(format!("/p{letter}"));
            values.push(format!("/p{letter}{}", "x".repeat(random.below(20))));
            values.push(format!("/{}{letter}", "y".repeat(random.below(12))));
            values.push(format!("/{}/{letter}$", "z".repeat(round)));
        }
        values.push(["/", "/$", "/p", "*"][round % 4].to_string());
        let kinds = [Kind::Allow, Kind::Disallow];
        let rules: Vec<Rule> = values
            .iter()
            .map(|value| (value.clone().into_bytes(), kinds[random.below(2)]))
            .collect();
        let settings = settings(&[]);
        let set = compile(&rules, &settings);
        set.expect_checks(1_000);
        let mut urls = vec!["/".to_string(), "/q".to_string(), String::new()];
        for value in &values {
            let plain = value.trim_end_matches('$');
            urls.push(plain.to_string());
            urls.push(format!("{plain}x"));
            urls.push(format!("{}~", &plain[..plain.len() - 1]));
        }
        for url in urls {
            let expected = naive::decide(&rules, url.as_bytes(), &settings);
            assert_eq!(set.decide(url.as_bytes(), &mut Vec::new()), expected, "{url}");
        }
    }
}

/// Nodes with many children side by side: no node finds the children of its neighbours.
#[test]
fn children_of_neighbouring_nodes() {
    let settings = settings(&[]);
    let mut values = vec![];
    for (node, letters) in [("m", 'a'..='x'), ("n", 'c'..='s'), ("o", 'e'..='u'), ("p", 'b'..='z')]
    {
        values.extend(letters.map(|letter| format!("/{node}{letter}")));
    }
    let rules = disallow(&values.iter().map(String::as_str).collect::<Vec<_>>());
    let set = compile(&rules, &settings);
    set.expect_checks(1_000);
    for node in 'l'..='q' {
        for letter in 'a'..='z' {
            let url = format!("/{node}{letter}");
            let expected = naive::decide(&rules, url.as_bytes(), &settings);
            assert_eq!(set.decide(url.as_bytes(), &mut Vec::new()), expected, "{url}");
        }
    }
}

/// More than two prefilters of 64 patterns, and deciding patterns in each of them.
#[test]
fn prefilters_of_every_size() {
    let settings = settings(&[]);
    for count in [1, 2, 63, 64, 65, 127, 128, 129, 192, 255, 256, 257] {
        let value = |number: usize| match number % 4 {
            0 => format!("/a{number:03}b"),
            1 => format!("/*c{number:03}d"),
            2 => format!("/*e{number:03}$"),
            _ => format!("/*?f{number:03}"),
        };
        let rules: Vec<Rule> =
            (0..count).map(|number| (value(number).into_bytes(), Kind::Disallow)).collect();
        let set = compile(&rules, &settings);
        let url = |number: usize| value(number).replace('*', "x").replace('$', "");
        let mut urls: Vec<String> = (0..count).map(url).collect();
        urls.extend((0..count).map(|number| url(number) + "~"));
        urls.push("/x".into());
        let naively = |url: &String| naive::decide(&rules, url.as_bytes(), &settings);
        let expected: Vec<_> = urls.iter().map(naively).collect();
        let mut decided = vec![];
        set.decide_lines((urls.join("\n") + FAR).as_bytes(), &mut decided);
        assert_eq!(decided[..urls.len()], expected, "{count}");
    }
}

/// Random rules and URLs in every implementation.
#[test]
fn random_rules_and_urls() {
    let words = [
        "a", "b", "ab", "/", "/", "*", "*", "**", "?", "=", "&", "%2F", "%3D", "%", "%2", "2F",
        "3D", ":", ".php", "$", "shop", "é", "~", "-", "..", ".", "%41", "%7e",
    ];
    let mut random = Random(22);
    for _ in 0..500 {
        let count = [1, 3, 5, 9][random.below(4)];
        let rules: Vec<Rule> = (0..count)
            .map(|_| {
                let first = ["/", "/", "/*", "*"][random.below(4)];
                let end = ["", "", "$", "*"][random.below(4)];
                let value = format!("{first}{}{end}", random.words(&words, 5));
                (value.into_bytes(), [Kind::Allow, Kind::Disallow][random.below(2)])
            })
            .collect();
        let urls: Vec<String> = (0..20)
            .map(|_| {
                let (value, _) = random.choice(&rules);
                let fill = words[random.below(words.len())];
                let value = String::from_utf8_lossy(value).replace('*', fill);
                let origin = ["", "https://e.example", "http://h"][random.below(3)];
                let more = random.words(&words, 2);
                format!("{origin}/{}{more}", value.trim_start_matches('/').trim_end_matches('$'))
            })
            .collect();
        let profiles: [&[&str]; 5] = [
            &[],
            &["match_robots_txt"],
            &["split_escapes"],
            &["url_as_given", "minimal_encoding", "split_escapes"],
            &["url_as_given"],
        ];
        Implementations::new(&rules, profiles[random.below(5)]).compare(&urls);
    }
}
