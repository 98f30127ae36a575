//! Settings: all lookups in the table of record names.

use robotrules_core::settings::KnownKey;
use robotrules_core::{Role, Settings, Switches};

fn settings(names: &[(&str, &str, bool)]) -> Settings {
    let mut settings = Settings::new(Switches::default(), 512_000, usize::MAX);
    for (spelling, canonical, bare) in names {
        settings.add_key(spelling.as_bytes(), canonical.as_bytes(), Role::Other, *bare);
    }
    settings
}

fn known(settings: &Settings, name: &[u8]) -> Option<KnownKey> {
    settings.key(name, 0, name.len())
}

/// Only ASCII letters fold: every octet at every position, in names of any length, near the end of a
/// file and elsewhere, with and without a colon after the name.
#[test]
fn only_ascii_letters_fold() {
    let names =
        ["az[\\]^_`{|}~@", "@[`{q", "fifteen-octets!", "sixteen-octets{_", "seventeen-octets_"];
    let settings = settings(&names.map(|name| (name, name, true)));
    for (number, name) in names.iter().enumerate() {
        for at in 0..name.len() {
            for octet in 0..=255_u8 {
                let mut written = name.as_bytes().to_vec();
                written[at] = octet;
                let expected = written.eq_ignore_ascii_case(name.as_bytes()).then_some(number);
                let found = |known: Option<KnownKey>| known.map(|known| usize::from(known.key));
                assert_eq!(found(known(&settings, &written)), expected, "{name} {at} {octet:#x}");
                let line = [&written[..], b": a value of more octets"].concat();
                let key = settings.key(&line, 0, name.len());
                assert_eq!(found(key), expected, "{name} {at} {octet:#x}");
                let opening = settings.name_at(&line, 0);
                let expected = expected.filter(|_| name.len() < 16);
                assert_eq!(found(opening.map(|(known, _)| known)), expected, "{name} {at}");
                assert!(opening.is_none_or(|(_, length)| length == name.len()));
            }
        }
    }
}

/// A spelling that is added twice keeps its first meaning.
#[test]
fn the_first_spelling_wins() {
    let settings = settings(&[
        ("a", "a", true),
        ("b", "a", true),
        ("B", "c", true),
        ("a", "c", true),
        ("long-name-of-many-octets", "d", true),
        ("long-name-of-many-octets", "a", true),
    ]);
    let names = [b"a".to_vec(), b"c".to_vec(), b"d".to_vec()];
    assert_eq!(settings.keys(), names);
    for (name, key, canonical) in
        [("a", 0, true), ("A", 0, true), ("b", 0, false), ("long-name-of-many-octets", 2, false)]
    {
        let found = known(&settings, name.as_bytes()).map(|known| (known.key, known.canonical));
        assert_eq!(found, Some((key, canonical)), "{name}");
        let by_prefix = settings.key_by_prefix(format!("{name}x").as_bytes());
        assert_eq!(by_prefix.map(|known| known.key), Some(key), "{name}");
    }
    assert_eq!(known(&settings, b"c"), None, "a name without a spelling");
}

/// A prefix lookup finds the longest name that may appear without a colon.
#[test]
fn names_by_prefix() {
    let settings = settings(&[("ab", "ab", true), ("abcd", "abcd", true), ("abc", "abc", false)]);
    for (name, expected) in [
        ("a", None),
        ("ab", Some(0)),
        ("ABC", Some(0)),
        ("abcd", Some(1)),
        ("abcDef", Some(1)),
        ("xab", None),
    ] {
        let found = settings.key_by_prefix(name.as_bytes()).map(|known| known.key);
        assert_eq!(found, expected, "{name}");
    }
}

/// The numbers of the names that the engine interprets.
#[test]
fn numbers_of_names() {
    let names = ["sitemap", "disallow", "User-Agent", "allow"];
    let settings = settings(&names.map(|name| (name, name, true)));
    assert_eq!((settings.user_agent, settings.allow, settings.disallow), (2, 3, 1));
}
