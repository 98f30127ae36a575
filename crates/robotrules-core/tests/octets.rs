//! The normal form: what of a URL is compared, and how it is spelled.

mod profiles;

use profiles::Random;
use robotrules_core::octets::path;

fn form(url: &str) -> String {
    let mut scratch = Vec::new();
    String::from_utf8_lossy(path(url.as_bytes(), false, &mut scratch).octets()).into_owned()
}

fn as_given(url: &str) -> String {
    let mut scratch = Vec::new();
    String::from_utf8_lossy(path(url.as_bytes(), true, &mut scratch).octets()).into_owned()
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

/// A form is found in the URL or made in the scratch buffer; both ways agree, and the form of a
/// form is itself.
#[test]
fn a_form_is_final() {
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
