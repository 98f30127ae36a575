//! Rule sets: decisions, for any number of rules and checks.

mod naive;
mod profiles;

use naive::Rule;
use profiles::{parse, settings, Random};
use robotrules_core::{url_path, Decision, Kind, RuleSet, Settings};

fn compile(rules: &[Rule], settings: &Settings) -> RuleSet {
    RuleSet::new(rules.iter().map(|(value, kind)| (value.as_slice(), *kind)), settings)
}

/// Rules that are hard for an index: shared prefixes, pieces shorter than an n-gram, repeated n-grams,
/// literals with `$`, wildcards at the end, only wildcards.
fn hard_rules(random: &mut Random, count: usize) -> Vec<Rule> {
    let words = [
        "a", "b", "ab", "abc", "abcd", "aaaa", "aaaaaaaa", "shop", "shopping", "/", "*", "**",
        "*a*", "*/", "*?", "*=", "*.gif", "?", "=", "&", "%2F", "$", "*2F", "*D", "3D", "%3D", "%",
    ];
    let ends = ["", "", "$", "*", "*$", "**"];
    let rule = |_| {
        let first = ["/", "/", "/*", "*", "/shop/"][random.below(5)];
        let value = format!("{first}{}{}", random.words(&words, 4), random.choice(&ends));
        (value.into_bytes(), [Kind::Allow, Kind::Disallow][random.below(2)])
    };
    (0..count).map(rule).collect()
}

fn url_near(random: &mut Random, rules: &[Rule]) -> Vec<u8> {
    let (value, _) = random.choice(rules);
    let fill = ["", "a", "ab", "x/", "?b=", "aaaa", "/shop", "=", "%2", "%"];
    let mut url = Vec::new();
    for &octet in value.strip_suffix(b"$").unwrap_or(value) {
        match octet {
            b'*' => url.extend(random.choice(&fill).bytes()),
            _ => url.push(octet),
        }
    }
    url.extend(random.choice(&["", "", "a", "/", "?x"]).bytes());
    url
}

/// Sets below and above the size of an index, checked before it is built, after, and in a batch.
#[test]
fn all_implementations_decide_alike() {
    let mut random = Random(5);
    let settings = settings(&["match_robots_txt", "keep_spaces"]);
    for round in 0..48 {
        let count = [1, 5, 64, 65, 129, 256, 257, 300][round % 8];
        let rules = hard_rules(&mut random, count);
        let (fresh, ready) = (compile(&rules, &settings), compile(&rules, &settings));
        ready.expect_checks(1_000);
        let mut scratch = Vec::new();
        let (mut lines, mut decided) = (vec![], vec![]);
        for _ in 0..100 {
            let url = url_near(&mut random, &rules);
            let expected = naive::decide(&rules, &url, &settings);
            let origin: &[u8] = if round % 3 == 0 { b"" } else { b"https://site.example" };
            lines.push([origin, url.as_slice()].concat());
            // Without an origin two slashes would start an authority.
            decided.push(match url.starts_with(b"//") && !origin.is_empty() {
                true => naive::decide(&rules, lines.last().unwrap(), &settings),
                false => expected,
            });
            let shown = String::from_utf8_lossy(&url).into_owned();
            assert_eq!(fresh.decide(&url, &mut scratch), expected, "{shown}");
            assert_eq!(ready.decide(&url, &mut scratch), expected, "{shown} by index");
            let disallows = matches!(expected, Decision::Disallow(_));
            assert_eq!(fresh.allows(&url, &mut scratch), !disallows);
            let winner = match expected {
                Decision::Allow(rule) | Decision::Disallow(rule) => Some(rule),
                _ => None,
            };
            assert_eq!(ready.tied_rules(&url).first().copied(), winner);
            assert_eq!(fresh.matches(&url), ready.matches(&url));
        }
        let mut at_once = vec![];
        fresh.decide_lines(&lines.join(&b'\n'), &mut at_once);
        assert_eq!(at_once, decided);
    }
}

/// Equal patterns among very many wildcard patterns are deduplicated, and all are reported.
#[test]
fn duplicate_patterns() {
    let (mut random, settings) = (Random(12), settings(&["keep_spaces"]));
    for round in 0..6 {
        let few = hard_rules(&mut random, [20, 60, 300][round % 3]);
        let count = [1_100, 3_000][round % 2];
        let rules: Vec<Rule> = (0..count).map(|_| random.choice(&few).clone()).collect();
        let (fresh, ready) = (compile(&rules, &settings), compile(&rules, &settings));
        ready.expect_checks(1_000);
        let usable = |(value, _): &&Rule| matches!(value.first(), Some(b'/' | b'*'));
        assert_eq!(fresh.len(), rules.iter().filter(usable).count());
        for _ in 0..12 {
            let url = url_near(&mut random, &few);
            let expected = naive::decide(&rules, &url, &settings);
            assert_eq!(fresh.decide(&url, &mut Vec::new()), expected);
            assert_eq!(ready.decide(&url, &mut Vec::new()), expected);
            let path = url_path::normal_form(&url, &settings);
            let octets = rules.iter().map(|(value, _)| naive::matching(value, &path, &settings));
            let numbered = octets.enumerate().filter_map(|(rule, octets)| Some((rule, octets?)));
            let mut all: Vec<_> = numbered.collect();
            all.sort_by_key(|&(rule, octets)| {
                (std::cmp::Reverse(octets), rules[rule].1 == Kind::Disallow, rule)
            });
            let found = fresh.matches(&url).1.into_iter();
            let found: Vec<_> =
                found.map(|(rule, octets)| (rule as usize, octets as usize)).collect();
            assert_eq!(found, all);
            let most = all.first().map(|&(_, octets)| octets);
            let ties = all.iter().filter(|&&(_, octets)| Some(octets) == most);
            let ties: Vec<_> = ties.map(|&(rule, _)| rule as u32).collect();
            assert_eq!(ready.tied_rules(&url), ties);
        }
    }
}

/// A path with more n-gram hits than fit on the stack.
#[test]
fn many_patterns_match_one_path() {
    let settings = settings(&[]);
    for winner in 0..60 {
        let word = |number: usize| format!("{:04x}", number * 997);
        let tail = |number: usize| if number == winner { "**" } else { "" };
        let value = |number| format!("/*{}{}", word(number), tail(number)).into_bytes();
        let rules: Vec<Rule> = (0..130).map(|number| (value(number), Kind::Disallow)).collect();
        let ready = compile(&rules, &settings);
        ready.expect_checks(1_000);
        let url: String = (0..60).map(|number| format!("/{}", word(number))).collect();
        let decided = ready.decide(url.as_bytes(), &mut Vec::new());
        assert_eq!(decided, Decision::Disallow(winner as u32));
    }
}

#[test]
fn decisions() {
    let rules = [(b"/a".to_vec(), Kind::Disallow), (Vec::new(), Kind::Disallow)];
    let mut scratch = Vec::new();
    let plain = compile(&rules, &settings(&[]));
    assert_eq!(plain.decide(b"/a", &mut scratch), Decision::Disallow(0));
    assert_eq!(plain.decide(b"/b", &mut scratch), Decision::NoMatch);
    assert_eq!(plain.decide(b"https://e.example/robots.txt", &mut scratch), Decision::Implicit);
    assert_eq!((plain.len(), plain.is_empty()), (1, false));
    let google = compile(&rules, &settings(&["empty_rules_match", "match_robots_txt"]));
    assert_eq!(google.decide(b"/b", &mut scratch), Decision::Empty(1));
    assert_eq!(google.decide(b"/robots.txt", &mut scratch), Decision::Empty(1));
}

/// Empty rules allow (AMB-42), and so do empty sets.
#[test]
fn empty_rules() {
    let settings = settings(&["empty_rules_match"]);
    for (kind, more) in [(Kind::Allow, 0), (Kind::Disallow, 0), (Kind::Disallow, 70)] {
        let mut rules = vec![(vec![], kind)];
        rules.extend((0..more).map(|n| (format!("/no/{n}").into_bytes(), Kind::Disallow)));
        let set = compile(&rules, &settings);
        assert!(!set.is_empty());
        assert_eq!(set.decide(b"/a", &mut Vec::new()), Decision::Empty(0));
        assert!(set.allows(b"/a", &mut Vec::new()));
        let mut allowed = vec![];
        set.allows_lines(b"/a\n/b", &mut allowed);
        assert_eq!(allowed, [true, true]);
    }
    assert!(compile(&[], &settings).is_empty());
}

#[test]
fn from_a_file() {
    let body = b"User-agent: a\nDisallow: /\nUser-agent: b\nAllow: /p\nUser-agent: A\nAllow: /p";
    let document = parse(body, &[]);
    let rules = document.compile(&document.select(document.settings().user_agent, b"a"));
    let mut scratch = Vec::new();
    assert_eq!(rules.decide(b"/x", &mut scratch), Decision::Disallow(0));
    assert_eq!(rules.decide(b"/p", &mut scratch), Decision::Allow(1));
}

/// Files are untrusted: no octets make parsing or deciding panic.
#[test]
fn no_input_panics() {
    let mut random = Random(6);
    let names = [
        "decode_utf16",
        "cut_bom",
        "cut_at_nul",
        "ascii_whitespace",
        "missing_colon",
        "prefix_keys",
        "keep_controls",
        "keep_invalid_utf8",
        "keep_spaces",
        "star_with_text",
        "literal_tokens",
        "comma_user_agents",
        "minimal_encoding",
        "url_as_given",
        "split_escapes",
        "index_page",
        "match_robots_txt",
        "empty_rules_match",
    ];
    let words: [&[u8]; 16] = [
        b"User-agent:",
        b"Allow:",
        b"Disallow ",
        b"*",
        b"$",
        b"/",
        b"\n",
        b"\r",
        b"\0",
        b"\xFF\xFE",
        b"\xEF\xBB\xBF",
        b"%",
        b"%2f",
        b"?",
        b"#",
        b"index.htm",
    ];
    let mut scratch = Vec::new();
    for _ in 0..20_000 {
        let on: Vec<_> = names.iter().filter(|_| random.below(2) == 0).copied().collect();
        let count = random.below(24);
        let body: Vec<u8> = (0..count).flat_map(|_| random.choice(&words).to_vec()).collect();
        let document = parse(&body, &on);
        let groups: Vec<u32> = (0..document.group_count() as u32).collect();
        let rules = document.compile(&groups);
        let (decided, tied) = (rules.decide(&body, &mut scratch), rules.tied_rules(&body));
        assert!(tied.is_empty() || decided != Decision::NoMatch);
        for note in document.notes() {
            assert!(note.start <= note.end && note.end as usize <= document.body().len());
        }
    }
}
