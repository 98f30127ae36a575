//! One pattern against one path, compared with a matcher that tries everything.

mod profiles;

use profiles::{settings, Random};
use robotrules_core::octets;
use robotrules_core::pattern::{normal_form, Arena};
use std::collections::BTreeSet;

/// Whether the fast matcher says that `value` matches `path`, which is in normal form.
fn matches(value: &str, path: &str) -> bool {
    let (mut arena, settings) = (Arena::default(), settings(&[]));
    let pattern = arena.add(value.as_bytes(), &settings);
    assert_eq!(pattern.octets as usize, normal_form(value.as_bytes(), &settings).len());
    arena.matches(&pattern, octets::Path::new(path.as_bytes()))
}

/// The same by trying every place for every piece. For patterns of letters and delimiters only:
/// what a delimiter after a `*` is spelled like depends on where it stands.
fn naive(value: &str, path: &str) -> bool {
    let query = path.find('?').map_or(path.len() + 1, |at| at + 1);
    let (body, anchored) = value.strip_suffix('$').map_or((value, false), |body| (body, true));
    let spelled = |piece: &str, mut in_query: bool| -> String {
        let mut out = String::new();
        for letter in piece.chars() {
            match letter {
                '/' if in_query => out.push_str("%2F"),
                '?' if in_query => out.push_str("%3F"),
                '=' if !in_query => out.push_str("%3D"),
                '&' if !in_query => out.push_str("%26"),
                _ => out.push(letter),
            }
            in_query |= letter == '?';
        }
        out
    };
    let mut pieces = body.split('*');
    let first = pieces.next().unwrap_or_default();
    let mut asked = first.contains('?');
    let first = spelled(first, false);
    let mut ends = BTreeSet::new();
    ends.extend(path.starts_with(&first).then_some(first.len()));
    for piece in pieces {
        let from = ends.first().copied().unwrap_or(path.len() + 1);
        let mut found = BTreeSet::new();
        for start in from..=path.len() {
            let octets = spelled(piece, asked || start >= query);
            found.extend(path[start..].starts_with(&octets).then_some(start + octets.len()));
        }
        ends = found;
        asked |= piece.contains('?');
    }
    if anchored {
        ends.contains(&path.len())
    } else {
        !ends.is_empty()
    }
}

#[test]
fn matching() {
    for (value, path, expected) in [
        ("/fish", "/fishheads", true),
        ("/fish", "/Fish", false),
        ("/*.gif$", "/a/b.gif", true),
        ("/*.gif$", "/a.gif?", false),
        ("/a*a$", "/a", false),
        ("/a*a$", "/aa", true),
        ("/*&sort=", "/x?a=1&sort=2", true),
        ("/*&sort=", "/x%26sort%3D2", true),
        ("/*http://", "/x?u=http%3A%2F%2Fy", true),
        ("/*%2F", "/a/b", false),
        ("/*%2F", "/?a%2Fb", true),
        ("*", "/", true),
        ("/**$", "/", true),
    ] {
        assert_eq!(matches(value, path), expected, "{value} {path}");
    }
}

#[test]
fn as_the_naive_matcher_says() {
    let words = ["a", "b", "ab", "aa", "*", "*", "*", "/", "/", "?", "=", "&", "*/", "*?", "*="];
    let parts = ["a", "b", "ab", "/", "/", "%2F", "%3D", "%26"];
    let more = ["a", "b", "ab", "=", "&", "%2F", "%3F"];
    let (mut random, mut hits) = (Random(4), 0);
    for _ in 0..60_000 {
        let end = ["", "", "$", "*"][random.below(4)];
        let value = format!("/{}{end}", random.words(&words, 6));
        let mut path = format!("/{}", random.words(&parts, 6));
        if random.below(2) == 0 {
            path = format!("{path}?{}", random.words(&more, 5));
        }
        let expected = naive(&value, &path);
        hits += usize::from(expected);
        assert_eq!(matches(&value, &path), expected, "{value} {path}");
    }
    assert!(hits > 5_000, "{hits}");
}
