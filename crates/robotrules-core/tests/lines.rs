//! Lines: CR, LF and CRLF terminate a line, and lines and terminators rejoin to the file.

mod profiles;

use profiles::{limited, parse, settings, Random};
use robotrules_core::lines::{prepare, Ending, Lines, SLACK};
use robotrules_core::notes::Code;

fn texts(body: &[u8]) -> Vec<&[u8]> {
    Lines::new(body, 0, usize::MAX, true).map(|line| &body[line.start..line.end]).collect()
}

#[test]
fn terminators() {
    let lines = |body| texts(body).iter().map(|text| String::from_utf8_lossy(text)).collect();
    let cases: [(&[u8], &[&str]); 8] = [
        (b"", &[]),
        (b"\n", &[""]),
        (b"\r\n", &[""]),
        (b"\n\r", &["", ""]),
        (b"a\nb\rc\r\nd", &["a", "b", "c", "d"]),
        (b"a\r\rb\n\nc\r\n\r\nd\n", &["a", "", "b", "", "c", "", "d"]),
        (b"a\x0Bb\x0Cc", &["a\x0Bb\x0Cc"]),
        (b"a\xE2\x80\xA8b\xC2\x85", &["a\u{2028}b\u{85}"]),
    ];
    for (body, expected) in cases {
        let found: Vec<_> = lines(body);
        assert_eq!(found, expected);
    }
}

#[test]
fn lines_rejoin_to_the_body() {
    let mut random = Random(1);
    for _ in 0..5_000 {
        let octets = (0..random.below(40)).map(|_| *random.choice(b"\r\n\r\n#:a \0\xFF"));
        let body: Vec<u8> = octets.collect();
        let (mut at, mut number) = (0, 0);
        for line in Lines::new(&body, 0, usize::MAX, true) {
            assert!(matches!(&body[at..line.start], b"" | b"\n" | b"\r" | b"\r\n"));
            assert!(number == 0 || at < line.start, "a terminator between lines");
            assert!(!body[line.start..line.end].iter().any(|octet| b"\r\n".contains(octet)));
            let hash = body[line.start..line.end].iter().position(|&octet| octet == b'#');
            assert_eq!(line.comment, hash.map_or(line.end, |length| line.start + length));
            (at, number) = (line.end, number + 1);
            assert_eq!(line.number, number);
        }
        assert!(matches!(&body[at..], b"" | b"\n" | b"\r" | b"\r\n"));
    }
}

#[test]
fn the_limit_applies_to_the_start_of_lines() {
    let ending = |body, limit, complete| {
        let mut lines = Lines::new(body, 0, limit, complete);
        (lines.by_ref().count(), lines.ending)
    };
    assert_eq!(ending(b"aaa\nbbb\n", 4, true), (1, Ending::Limit(4)));
    assert_eq!(ending(b"aaa\nbbb\n", 5, true), (2, Ending::Whole));
    assert_eq!(ending(b"aaa\nbbb", 5, true), (2, Ending::Whole));
    assert_eq!(ending(b"aaa\n", 4, true), (1, Ending::Whole));
    assert_eq!(ending(b"aaa\n", 4, false), (1, Ending::Limit(4)));
    assert!(matches!(ending(b"aaa\nbbb", 5, false), (1, Ending::Cut(4, ..))));
}

#[test]
fn byte_order_marks() {
    let first = |body, switches| {
        let prepared = prepare(body, &settings(switches));
        (prepared.first, prepared.encoding)
    };
    assert_eq!(first(b"\xEF\xBB\xBFa", &[]), (3, Some(Code::Bom)));
    assert_eq!(first(b"\xEF\xBBa", &[]), (0, None));
    assert_eq!(first(b"\xEF\xBBa", &["cut_bom"]), (2, Some(Code::CutBom)));
    assert_eq!(first(b"\xEF", &["cut_bom"]), (1, Some(Code::CutBom)));
    assert_eq!(first(b"\xBB\xBF", &["cut_bom"]), (0, None));
}

#[test]
fn utf_16() {
    let decoded = |body: &[u8]| prepare(body, &settings(&["decode_utf16"])).octets;
    assert_eq!(decoded(b"\xFF\xFEa\0\xE9\0"), Some("aé".into()));
    assert_eq!(decoded(b"\xFE\xFF\0a\0\xE9"), Some("aé".into()));
    assert_eq!(decoded(b"\xFF\xFE\x3C\xD8\x70\xDF"), Some("🍰".into()));
    assert_eq!(decoded(b"\xFF\xFE\x3C\xD8a\0"), Some("\u{FFFD}a".into()));
    assert_eq!(decoded(b"\xFF\xFEa\0b"), Some("a".into()));
    assert_eq!(decoded(b"\xFF\xFE\0\0a\0\0\0"), None, "UTF-32");
    assert!(prepare(b"\xFF\xFEa\0", &settings(&[])).octets.is_none());
}

#[test]
fn octets_after_the_slack_are_dropped() {
    assert_eq!(SLACK, 16_384, "AMB-18");
    let settings = limited(&[], 10, usize::MAX);
    let whole = vec![b'a'; 10 + SLACK];
    assert!(prepare(&whole, &settings).octets.is_none());
    let more = vec![b'a'; 11 + SLACK];
    let prepared = prepare(&more, &settings);
    assert!(prepared.cut);
    assert_eq!(prepared.octets.map(|octets| octets.len()), Some(10 + SLACK));
}

/// The limit applies to the decoded octets.
#[test]
fn the_limit_of_utf_16() {
    let settings = limited(&["decode_utf16"], 10, usize::MAX);
    let window = 10 + SLACK;
    for (character, octets) in [("a", 1), ("é", 2), ("ツ", 3)] {
        for characters in [window / octets - 1, window / octets, window / octets + 1, 3 * window] {
            let text = character.repeat(characters);
            let units = text.encode_utf16().flat_map(u16::to_le_bytes);
            let received: Vec<u8> = b"\xFF\xFE".iter().copied().chain(units).collect();
            let prepared = prepare(&received, &settings);
            assert_eq!(prepared.cut, text.len() > window, "{characters} {character}");
            let expected = &text.as_bytes()[..window.min(text.len())];
            assert_eq!(prepared.octets.as_deref(), Some(expected), "{characters} {character}");
        }
    }
}

/// Only the first octets of a file are a byte order mark (RFC 3629 §6): later it is data, at every
/// position in a block of sixteen octets.
#[test]
fn a_mark_inside_the_file() {
    let mark = "\u{feff}";
    for before in 0..40 {
        let comment = format!("#{}\n", "x".repeat(before));
        for terminator in ["\n", "\r", "\r\n", "\n\n"] {
            let body = format!(
                "{comment}user-agent: a{terminator}allow: /{terminator}{mark}user-agent: b\ndisallow: /"
            );
            let prepared = prepare(body.as_bytes(), &settings(&["cut_bom", "decode_utf16"]));
            assert_eq!((prepared.first, prepared.encoding), (0, None));
            let document = parse(body.as_bytes(), &[]);
            assert_eq!((document.group_count(), document.records().len()), (1, 4), "{body:?}");
            assert_eq!(document.choose(b"b"), (vec![], false), "{body:?}");
            let key = document.key(&document.records()[2]);
            assert_eq!(key, format!("{mark}user-agent").as_bytes());
        }
    }
    let twice = format!("{mark}{mark}user-agent: a\ndisallow: /\n");
    let document = parse(twice.as_bytes(), &[]);
    assert_eq!((document.group_count(), document.choose(b"a")), (0, (vec![], false)));
}
