//! Patterns against paths, compared with a brute-force matcher.

mod naive;
mod profiles;

use profiles::{settings, Random};
use robotrules_core::pattern::{normal_form, Arena, Span};
use robotrules_core::url_path;
use robotrules_core::{Comparison, Settings};

/// Whether `value` matches `path`, which is in normal form, in the engine.
fn matches(value: &str, path: &str, settings: &Settings) -> bool {
    let mut arena = Arena::default();
    let pattern = arena.add(value.as_bytes(), settings);
    assert_eq!(pattern.octets as usize, normal_form(value.as_bytes(), settings).len());
    let path = Comparison::from_settings(settings).to_compared(path.as_bytes());
    arena.matches(&pattern, url_path::Path::new(&path))
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
        ("/%E3%83", "/%E3%83%84", true),
        ("/*=b", "/a%3Db", true),
        ("/*%3Db", "/a%3Db", true),
        // `*` ends between units, never inside an escape (AMB-43).
        ("/*3D", "/a%3Db", false),
        ("/*3D", "/a%3D3D", true),
        ("/*3Db", "/a%3D3Db", true),
        ("/*D$", "/%3D", false),
        ("/*D$", "/%3DD", true),
        ("/*8*9", "/%E3%89", false),
        ("/*28", "/Foo_%28bar%29", false),
        ("/*40", "/%40user", false),
        ("/*4$", "/foo-%24", false),
        ("/*25", "/%25", false),
        ("/*2", "/%252", true),
        ("/*/3D", "/a?b%2F3D", true),
        ("/*F3D", "/a?b%2F3D", false),
        ("/%*41", "/%2541", true),
        // In a query `=` and `/` have other normal forms than in a path, from its first octet on.
        ("/*=b$", "/?%3Db", false),
        ("/*=b$", "/?x%3Db", false),
        ("/*=b$", "/?=b", true),
        ("/*=b$", "/%3Db", true),
        ("/*/b$", "/?%2Fb", true),
        ("/*/b$", "/x?/b", false),
    ] {
        assert_eq!(matches(value, path, &settings(&[])), expected, "{value} {path}");
    }
}

#[test]
fn split_escapes_compares_octets() {
    let settings = settings(&["split_escapes"]);
    for (value, path) in [
        ("/*3D", "/a%3Db"),
        ("/*D$", "/%3D"),
        ("/*8*9", "/%E3%89"),
        ("/*4$", "/foo-%24"),
        ("/*F3D", "/a?b%2F3D"),
    ] {
        assert!(matches(value, path, &settings), "{value} {path}");
    }
}

/// A piece has two normal forms only if it holds a delimiter; its run is the longest common part.
#[test]
fn pieces() {
    let minimal = ["minimal_encoding", "url_as_given", "split_escapes"];
    for (value, switches, in_path, in_query, run) in [
        ("/*ab", &[][..], "ab", "ab", "ab"),
        ("/*ab/cde=f", &[], "ab/cde%3Df", "ab%2Fcde=f", "cde"),
        ("/*ab/cd", &[], "ab/cd", "ab%2Fcd", "ab"),
        ("/*/?", &[], "/?", "%2F%3F", ""),
        ("/a?*b=c/d", &[], "b=c%2Fd", "b=c%2Fd", "b=c%2Fd"),
        ("/*ab/cde=f", &minimal, "ab/cde=f", "ab/cde=f", "ab/cde=f"),
    ] {
        let settings = settings(switches);
        let mut arena = Arena::default();
        let pattern = arena.add(value.as_bytes(), &settings);
        let [piece] = arena.pieces_of(&pattern) else { panic!("{value} has one wildcard") };
        let shown = |span: Span| {
            let form = Comparison::from_settings(&settings).to_readable(span.of(&arena.octets));
            String::from_utf8_lossy(&form).into_owned()
        };
        let spelled = [piece.in_path, piece.in_query, piece.run].map(shown);
        assert_eq!(spelled, [in_path, in_query, run], "{value}");
        assert_eq!(piece.in_path == piece.in_query, in_path == in_query, "{value}");
    }
}

/// A prefix, a whole path, or neither.
#[test]
fn literals() {
    for (value, expected) in [
        ("/a", Some(false)),
        ("/a*", Some(false)),
        ("/a**", Some(false)),
        ("/a*$", Some(false)),
        ("/a$", Some(true)),
        ("/*a", None),
        ("/a*b*", None),
    ] {
        let mut arena = Arena::default();
        let pattern = arena.add(value.as_bytes(), &settings(&[]));
        assert_eq!(arena.literal(&pattern), expected, "{value}");
    }
}

/// An incomplete escape in a pattern is compared as written, under minimal encoding.
#[test]
fn an_incomplete_escape_is_compared_as_written() {
    let units = settings(&["minimal_encoding"]);
    for (value, path, expected) in [
        ("/a%2", "/a%2F", true),
        ("/a%", "/a%2F", true),
        ("/a%2*b", "/a%2Fb", true),
        ("/*%2", "/a%2F", true),
        ("/a%2f", "/a%2F", true),
        ("/a%3", "/a%2F", false),
        ("/*F", "/a%2F", false),
        ("/*F", "/a%2FF", true),
        ("/\u{e9}", "/%C3%A9", true),
    ] {
        assert_eq!(matches(value, path, &units), expected, "{value} {path}");
    }
}

/// Under minimal encoding only complete escapes are escapes; the octets after a lone `%` are encoded
/// like all others.
#[test]
fn minimal_forms() {
    let settings = settings(&["minimal_encoding", "url_as_given", "split_escapes"]);
    for (value, form) in [
        (&b"/%2f%c3a"[..], "/%2F%C3a"),
        (b"/%%4a", "/%%4A"),
        (b"/%2%4a", "/%2%4A"),
        (b"/%zz%4", "/%zz%4"),
        (b"/%4z%", "/%4z%"),
        ("/%é".as_bytes(), "/%%C3%A9"),
        (b"/%\xE9", "/%%E9"),
        (b"/\x7F\x80~", "/\x7F%80~"),
    ] {
        assert_eq!(String::from_utf8_lossy(&normal_form(value, &settings)), form);
    }
}

#[test]
fn agrees_with_the_naive_matcher() {
    let words = [
        "a", "b", "ab", "aa", "*", "*", "*", "/", "/", "?", "=", "&", "*/", "*?", "*=", "2", "F",
        "3D", "*3", "*D", "*2F", "%3D", "%2F", "%", ":",
    ];
    let parts = ["a", "b", "ab", "/", "/", "%2F", "%3D", "%26", "2F", "3D", "%3A", "%25"];
    let more = ["a", "b", "ab", "=", "&", "%2F", "%3F", "3", "D", "%3A", "%25"];
    let (mut random, mut hits) = (Random(4), 0);
    for switches in [&[][..], &["split_escapes"]] {
        let settings = settings(switches);
        for _ in 0..60_000 {
            let end = ["", "", "$", "*"][random.below(4)];
            let value = format!("/{}{end}", random.words(&words, 6));
            let mut path = format!("/{}", random.words(&parts, 6));
            if random.below(2) == 0 {
                path = format!("{path}?{}", random.words(&more, 5));
            }
            let expected = naive::matching(value.as_bytes(), path.as_bytes(), &settings);
            hits += usize::from(expected.is_some());
            let found = matches(&value, &path, &settings);
            assert_eq!(found, expected.is_some(), "{value} {path} {switches:?}");
        }
    }
    assert!(hits > 10_000, "{hits}");
}
