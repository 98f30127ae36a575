//! Records: key, value and role of a line; faults of values.

mod profiles;

use profiles::{limited, parse, Random};
use robotrules_core::records::{faults, Faults};
use robotrules_core::{Document, Role};
use std::sync::Arc;

/// Key, value and role of each record of a file.
fn read(body: &[u8], switches: &[&str]) -> Vec<(String, String, Role)> {
    let document = parse(body, switches);
    let shown = |octets: &[u8]| String::from_utf8_lossy(octets).into_owned();
    let records = document.records().iter();
    records.map(|r| (shown(&document.key(r)), shown(r.value(body)), r.role)).collect()
}

fn read_one(body: &str, switches: &[&str]) -> Option<(String, String, Role)> {
    read(body.as_bytes(), switches).into_iter().next()
}

fn is(key: &str, value: &str, role: Role) -> Option<(String, String, Role)> {
    Some((key.into(), value.into(), role))
}

#[test]
fn names_and_values() {
    assert_eq!(read_one("Allow:/", &[]), is("allow", "/", Role::Rule));
    assert_eq!(read_one(" \tuSeR-AgEnT\t : a b\t ", &[]), is("user-agent", "a b", Role::Start));
    assert_eq!(read_one("Disallow: /a:b#c", &[]), is("disallow", "/a:b", Role::Rule));
    assert_eq!(read_one("DISALOW:/", &[]), is("disallow", "/", Role::Rule));
    assert_eq!(read_one("Disallow-x: /", &[]), is("disallow-x", "/", Role::Other));
    assert_eq!(read_one("Disallow-x: /", &["prefix_keys"]), is("disallow", "/", Role::Rule));
    assert_eq!(read_one("X-Name-Longer-Than-Sixteen: /", &[]), is("x-long", "/", Role::Start));
    assert_eq!(read_one("x-name-longer-than-sixteem: /", &[]).map(|r| r.2), Some(Role::Other));
    assert_eq!(read_one("allow /", &[]), None);
    assert_eq!(read_one("allow /", &["missing_colon"]), is("allow", "/", Role::Rule));
    assert_eq!(read_one("other /", &["missing_colon"]), None);
    assert_eq!(read_one("allow / /", &["missing_colon"]), None);
    assert_eq!(read_one("\x0BAllow\x0C:/", &["ascii_whitespace"]), is("allow", "/", Role::Rule));
    assert_eq!(read_one("\x0BAllow:/\x0C", &[]), is("\x0Ballow", "/\x0C", Role::Other));
    assert_eq!(read_one("\x01Allow:/", &["ascii_whitespace"]), is("\x01allow", "/", Role::Other));
    assert_eq!(read_one("Allow: /a\0b", &["cut_at_nul"]), is("allow", "/a", Role::Rule));
    assert_eq!(read_one(": /", &[]), None);
    assert_eq!(read_one("# Allow: /", &[]), None);
}

/// A name is found at every position, because the engine reads sixteen octets at once.
#[test]
fn names_near_the_end_of_the_file() {
    for name in ["a", "allow", "disallow", "user-agent", "x-sixteen-octets", "x-seventeen-octet"] {
        for rest in ["", "x", "a long rest that fills sixteen octets"] {
            let line = format!("{name}:{rest}");
            let found = read_one(&line, &[]).map(|(key, ..)| key);
            assert_eq!(found.as_deref(), Some(name), "{line}");
        }
    }
}

/// Every pair of octets: only ASCII letters fold.
#[test]
fn only_ascii_letters_fold() {
    for octet in 0..=255u8 {
        let mut body = b"allow: /".to_vec();
        body[0] = octet;
        let known = parse(&body, &[]).records().first().map(|r| r.role);
        assert_eq!(known == Some(Role::Rule), matches!(octet, b'a' | b'A'), "{octet:#x}");
    }
}

#[test]
fn a_long_line_is_truncated() {
    let settings = Arc::new(limited(&[], 512_000, 12));
    let body = b"Disallow: /abc\nAllow: /d";
    let document = Document::parse(body, settings, true);
    let values: Vec<_> = document.records().iter().map(|r| r.value(body)).collect();
    assert_eq!(values, [b"/a", b"/d"]);
}

/// A line whose limit is before its colon is not a record.
#[test]
fn a_line_that_is_truncated_before_its_colon() {
    let body = b"allow:/ and more octets\nallow:/ and more octets\n";
    for limit in [1, 4, 5, 6, 7] {
        let settings = Arc::new(limited(&[], 512_000, limit));
        let document = Document::parse(body, settings, true);
        let values: Vec<_> = document.records().iter().map(|r| r.value(body)).collect();
        let expected: &[&[u8]] = match limit {
            7 => &[b"/", b"/"],
            6 => &[b"", b""],
            _ => &[],
        };
        assert_eq!(values, expected, "{limit}");
    }
}

#[test]
fn faults_of_values() {
    let none = Faults::default();
    assert_eq!(faults(b"/a~\x7F"), none);
    assert_eq!(faults("/é\u{80}".as_bytes()), none);
    assert_eq!(faults(b"/a b"), Faults { space: true, ..none });
    assert_eq!(faults(b"/a\tb"), Faults { space: true, ..none });
    for control in (0..0x20).filter(|&octet| octet != b'\t') {
        assert_eq!(faults(&[b'/', control]), Faults { control: true, ..none });
    }
    for odd in [&b"\xFF"[..], b"\xC0\xAF", b"\xED\xA0\x80", b"\xF4\x90\x80\x80", b"\xE9"] {
        assert_eq!(faults(odd), Faults { not_utf8: true, ..none });
    }
}

/// Faults are found at every position, because the engine reads sixteen octets at once.
#[test]
fn faults_at_every_position() {
    let none = Faults::default();
    for length in 1..50 {
        for at in 0..length {
            for (odd, expected) in [
                (b'\x01', Faults { control: true, ..none }),
                (b'\x1F', Faults { control: true, ..none }),
                (b' ', Faults { space: true, ..none }),
                (b'\t', Faults { space: true, ..none }),
                (b'\x80', Faults { not_utf8: true, ..none }),
                (b'\xFF', Faults { not_utf8: true, ..none }),
                (b'!', none),
                (b'\x7F', none),
            ] {
                let mut value = vec![b'a'; length];
                value[at] = odd;
                assert_eq!(faults(&value), expected, "{odd:#x} at {at} of {length}");
            }
        }
    }
}

#[test]
fn spans_are_in_bounds_and_in_order() {
    let words = ["User-agent", "Allow", "Disalow", ":", ": ", " ", "\t", "#", "/", "a", "\0", "\n"];
    let switches = ["missing_colon", "prefix_keys", "cut_at_nul", "ascii_whitespace"];
    let mut random = Random(2);
    for _ in 0..5_000 {
        let body = random.words(&words, 20);
        let document = parse(body.as_bytes(), &switches[random.below(5).min(4)..]);
        for (number, r) in document.records().iter().enumerate() {
            assert!(r.line_start <= r.key_start && r.key_start < r.key_end, "{body:?}");
            assert!(r.key_end <= r.value_start && r.value_start <= r.value_end, "{body:?}");
            assert!(r.value_end as usize <= body.len(), "{body:?}");
            let group = document.group_of(number);
            assert!(group.is_none_or(|group| document.group(group).contains(&number)));
        }
    }
}
