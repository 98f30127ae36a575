//! The path of a URL, and its percent-encoding normal form.

mod naive;
mod profiles;

use profiles::{settings, Random};
use robotrules_core::url_path::{normal_form, path};
use robotrules_core::Comparison;

fn form(url: &str) -> String {
    String::from_utf8_lossy(&normal_form(url.as_bytes(), &settings(&[]))).into_owned()
}

fn as_given(url: &str) -> String {
    let settings = settings(&["url_as_given"]);
    String::from_utf8_lossy(&normal_form(url.as_bytes(), &settings)).into_owned()
}

#[test]
fn forms() {
    for (url, expected) in [
        ("https://e.example/foo/bar?baz=quz", "/foo/bar?baz=quz"),
        ("/foo/bar?baz=http://foo.bar", "/foo/bar?baz=http%3A%2F%2Ffoo.bar"),
        ("/foo/bar/ツ", "/foo/bar/%E3%83%84"),
        ("/foo/bar/%62%61%7A", "/foo/bar/baz"),
        ("https://e.example", "/"),
        ("https://e.example?q#f", "/?q"),
        ("//e.example/a#b", "/a"),
        ("/a/%2e%2E/b/./c/..", "/b/"),
        ("/%4g%", "/%254g%25"),
        ("/*$", "/%2A%24"),
        ("", "/"),
    ] {
        assert_eq!(form(url), expected, "{url}");
    }
    for (url, expected) in [
        ("https://e.example/a/../%62#c", "/a/../%62"),
        ("https://e.example;a", "/;a"),
        ("/a?b://c", "/a?b://c"),
        ("e.example", "/"),
    ] {
        assert_eq!(as_given(url), expected, "{url}");
    }
}

/// A normal form is borrowed from the URL or written to the scratch buffer; both agree, and
/// normalization is idempotent.
#[test]
fn normalization_is_idempotent() {
    let words = [
        "/",
        "/",
        "a",
        "Z9",
        "-._~",
        "?",
        "=",
        "&",
        "%",
        "%2F",
        "%61",
        "%2e",
        ".",
        "..",
        "é",
        " ",
        "#",
        "*",
        "$",
        ":",
        "eight-octets",
        "%zz",
        "+",
    ];
    let mut random = Random(3);
    for _ in 0..20_000 {
        let url = format!("https://e.example/{}", random.words(&words, 12));
        let once = form(&url);
        assert_eq!(form(&format!("https://e.example{once}")), once, "{url}");
        assert!(once.starts_with('/'));
        let allowed = |octet: u8| octet.is_ascii_alphanumeric() || b"-._~/?=&%".contains(&octet);
        assert!(once.bytes().all(allowed), "{once}");
        assert!(once.matches('?').count() <= 1, "{once}");
        let before = once.split('?').next().unwrap_or_default();
        assert!(before.split('/').all(|part| part != "." && part != ".."), "{once}");
    }
}

/// Digits of an escape differ from the same raw octets in the compared form, and are equal to them in
/// the readable form (AMB-43).
#[test]
fn digits_of_an_escape() {
    let url = b"/3D=%3d%25%zz?3D=:%C3\xA9";
    let shown = b"/3D%3D%3D%25%25zz?3D=%3A%C3%A9";
    let mut scratch = Vec::new();
    let compared = path(url, Comparison::Units, &mut scratch).octets().to_vec();
    for (at, &octet) in shown.iter().enumerate() {
        let inside = shown[at.saturating_sub(2)..at].contains(&b'%');
        assert_eq!(compared[at], if inside { octet | 0x80 } else { octet }, "octet {at}");
    }
    assert_eq!(Comparison::Units.to_readable(&compared), shown);
    assert_eq!(*Comparison::Units.to_compared(shown), *compared);
    assert_eq!(path(url, Comparison::Octets, &mut scratch).octets(), shown);
    assert_eq!(*Comparison::Octets.to_compared(shown), *shown);
    assert_eq!(*Comparison::AsGiven.to_compared(b"/%3D"), *b"/%3D");
    assert_eq!(Comparison::AsGiven.to_readable("/é".as_bytes()), "/é".as_bytes());
}

/// The path of a URL equals that of a naive implementation of RFC 3986: with an origin of every length,
/// and with each delimiter at every position.
#[test]
fn agrees_with_the_naive_path() {
    let check = |url: &str| {
        let expected = naive::path(url.as_bytes());
        assert_eq!(form(url), String::from_utf8_lossy(&expected), "{url}");
    };
    let odd = [
        "/", "//", "?", "#", ":", "/.", "/..", "/./", "/../", "/.a", ".", "..", "%2e", "%2F",
        "%41", "%", "~", "=", "&", "*", "é", "@", "?/", "#/", "/?", "://", "", "\\", " ",
    ];
    for origin in
        ["", "https://", "http://", "HTTPS://", "ftp://", "//", "x:", "https:", "http:/", "a"]
    {
        for length in 0..36 {
            let name = "n".repeat(length);
            for one in odd {
                check(&format!("{origin}{name}{one}"));
                check(&format!("{origin}{name}{one}b/c.d"));
                check(&format!("{origin}h/{name}{one}/e?f=g/h"));
                check(&format!("{origin}h/a?{name}{one}i#j/k?l"));
            }
        }
    }
    let mut random = Random(31);
    for _ in 0..40_000 {
        let start = ["https://e.example/", "http://", "https://e", "/", "//", ""][random.below(6)];
        check(&format!(
            "{start}{}{}",
            random.words(&odd, 6),
            random.words(&["ab", "/c", "d.e"], 9)
        ));
        check(&format!(
            "{start}{}",
            random.words(&["/", "a", ".", "..", "?", "#", "%2e", "b"], 12)
        ));
    }
}

/// Every raw octet in a path and in a query, once and twice, before and after others.
#[test]
fn every_octet() {
    let settings = settings(&[]);
    for octet in 0..=255_u8 {
        for (before, behind) in [("/", ""), ("/a", "b"), ("https://e.example/", "/c"), ("/?", "d")]
        {
            for count in [1, 2, 20] {
                let odd = vec![octet; count];
                let url = [before.as_bytes(), &odd, behind.as_bytes()].concat();
                assert_eq!(normal_form(&url, &settings), naive::path(&url), "{url:?}");
            }
        }
    }
}

/// As google/robotstxt extracts it: `;` starts a path too, a scheme counts only before the path, and a
/// fragment before the path leaves an empty path.
#[test]
fn paths_as_given() {
    for (url, expected) in [
        ("", "/"),
        ("/", "/"),
        ("/a;b?c", "/a;b?c"),
        ("//h/a", "/a"),
        ("//h", "/"),
        ("h/a", "/a"),
        ("h;a", "/;a"),
        ("h?a", "/?a"),
        ("https://h", "/"),
        ("https://h;a/b", "/;a/b"),
        ("https://h?a/b", "/?a/b"),
        ("https://h/a#b", "/a"),
        ("https://h#/a", "/"),
        ("https://h#", "/"),
        ("https://h/#a", "/"),
        ("a/b://c/d", "/b://c/d"),
        ("a?b://c/d", "/?b://c/d"),
        ("x;y://c/d", "/;y://c/d"),
        ("//a/b://c", "/b://c"),
        ("//a://b/c", "/c"),
        ("#/a", "/"),
        ("/a\0b", "/a"),
        ("/%7e", "/%7e"),
    ] {
        assert_eq!(as_given(url), expected, "{url:?}");
    }
}
