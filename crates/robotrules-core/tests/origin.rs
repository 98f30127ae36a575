//! Origins of URLs with plain hosts, and the index of origins.

use robotrules_core::origin::{origin, scheme_and_authority, Origin};
use robotrules_core::origin_index::OriginIndex;

fn same(text: &str) -> Origin<'_> {
    Origin::Same(text.as_bytes())
}

fn normalized(text: &str) -> Origin<'static> {
    Origin::Normalized(text.as_bytes().to_vec())
}

#[test]
fn plain_hosts() {
    let long = format!("https://{}.example", "a".repeat(63));
    for (url, expected) in [
        ("https://example.com/a", same("https://example.com")),
        ("http://example.com", same("http://example.com")),
        ("https://example.com?q", same("https://example.com")),
        ("https://example.com#f", same("https://example.com")),
        ("https://example.com:8443/", same("https://example.com:8443")),
        ("https://a-b_c.example/", same("https://a-b_c.example")),
        (&long, same(&long)),
        ("HTTPS://Example.COM/", normalized("https://example.com")),
        ("https://example.com./", normalized("https://example.com")),
        ("https://example.com:443/", normalized("https://example.com")),
        ("http://example.com:080/", normalized("http://example.com")),
        ("http://example.com:443/", same("http://example.com:443")),
        ("https://example.com:/", normalized("https://example.com")),
        ("https://example.com:0065535/", normalized("https://example.com:65535")),
    ] {
        assert_eq!(origin(url.as_bytes()), expected, "{url}");
    }
}

#[test]
fn no_origin() {
    let label = format!("https://{}.example", "a".repeat(64));
    let host = format!("https://{}example", "ab.".repeat(90));
    for url in [
        "",
        "/a",
        "h",
        "http",
        "http:",
        "http:/",
        "ftp://example.com/",
        "httpx://example.com/",
        "https:/example.com",
        " https://example.com",
        "https://a..b/",
        "https://.a/",
        "https://./",
        "https://example.com:0/",
        "https://example.com:65536/",
        "https://example.com:100000/",
        &label,
        &host,
    ] {
        assert_eq!(origin(url.as_bytes()), Origin::Nowhere, "{url}");
    }
    let digits = format!("https://a.example:{}1/", "0".repeat(32));
    assert_eq!(origin(digits.as_bytes()), Origin::Nowhere);
    let digits = format!("https://a.example:{}1/", "0".repeat(31));
    assert_eq!(origin(digits.as_bytes()), normalized("https://a.example:1"));
}

#[test]
fn other_hosts() {
    for prefix in [
        "https://é.example",
        "https://xn--e1afmkfd.example",
        "https://a.XN--b.example",
        "https://127.0.0.1",
        "https://1.2.3.4:80",
        "https://0x7f.1",
        "https://a.1e",
        "https://[::1]",
        "https://user@example.com",
        "https://u:p@example.com",
        "https://a%41.example",
        "https://",
        "https://a b",
        "https://a\\b",
        "https://a:b",
        "https://a:8x",
    ] {
        let url = format!("{prefix}/path");
        assert_eq!(origin(url.as_bytes()), Origin::Other(prefix.as_bytes()), "{prefix}");
    }
}

#[test]
fn the_prefix_of_a_url() {
    let prefix = |url: &'static str| scheme_and_authority(url.as_bytes());
    assert_eq!(prefix("https://a/b"), Some((&b"https://a"[..], 8)));
    assert_eq!(prefix("hTTp://a"), Some((&b"hTTp://a"[..], 7)));
    assert_eq!(prefix("https:a"), None);
}

#[test]
fn numbers_of_origins() {
    let mut index = OriginIndex::default();
    assert!(index.is_empty());
    assert_eq!(index.find(b"https://a.example"), None);
    let name =
        |number: u32| format!("https://host-{number}.{}example", "x.".repeat(number as usize % 20));
    for number in 0..5000 {
        assert_eq!(index.add(name(number).as_bytes()), Some(number));
    }
    for number in 0..5000 {
        assert_eq!(index.add(name(number).as_bytes()), Some(number));
        assert_eq!(index.find(name(number).as_bytes()), Some(number));
        assert_eq!(index.origin(number), Some(name(number).as_bytes()));
    }
    assert_eq!(index.len(), 5000);
    assert_eq!(index.find(name(5000).as_bytes()), None);
    assert_eq!(index.find(b""), None);
    assert_eq!(index.add(b""), Some(5000));
    assert_eq!(index.find(b""), Some(5000));
    assert_eq!(index.origin(5001), None);
    // The origins, and about twenty octets for each; vectors may have twice the room.
    let text: usize = (0..5000).map(|number| name(number).len()).sum();
    assert!(index.memory() < 2 * (text + 5001 * 20), "{}", index.memory());
}

#[test]
fn lengths_that_share_octets_have_their_own_numbers() {
    let mut index = OriginIndex::default();
    let zeros = [0_u8; 64];
    for length in 0..64 {
        assert_eq!(index.add(&zeros[..length]), Some(length as u32));
    }
    for length in 0..64 {
        assert_eq!(index.find(&zeros[..length]), Some(length as u32));
    }
}
