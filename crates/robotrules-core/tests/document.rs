//! Documents: complete and truncated files, and the positions of their lines and groups.

mod profiles;

use profiles::{limited, parse, settings};
use robotrules_core::lines::SLACK;
use robotrules_core::records::UNKNOWN;
use robotrules_core::{Document, Role, Settings, Switches};
use std::sync::Arc;

/// A file is complete if the caller says so and all of it was read: a truncated rule is not used.
#[test]
fn complete_and_truncated_files() {
    let body = [&b"user-agent: *\ndisallow: /"[..], &[b'a'; SLACK]].concat();
    for (limit, complete, expected) in
        [(512_000, true, true), (512_000, false, false), (20, true, false), (20, false, false)]
    {
        let settings = Arc::new(limited(&[], limit, usize::MAX));
        let document = Document::parse(&body, settings, complete);
        assert_eq!(document.is_complete(), expected, "{limit} {complete}");
        let rules = document.records().iter().filter(|record| record.role == Role::Rule).count();
        assert_eq!(rules == 1, expected, "{limit} {complete}");
    }
}

/// The received body is kept unchanged, unless it is decoded or truncated.
#[test]
fn the_received_body() {
    let body: &[u8] = b"user-agent: *\nallow: /\n";
    let document = parse(body, &[]);
    assert_eq!((document.received(), document.body()), (Some(&body), body));
    let document = parse(b"\xFF\xFEa\0", &["decode_utf16"]);
    assert_eq!((document.received(), document.body()), (None, &b"a"[..]));
    let long = vec![b'a'; 2 * SLACK];
    let document = Document::parse(&long, Arc::new(limited(&[], 20, usize::MAX)), true);
    assert_eq!((document.received(), document.body()), (None, &long[..20 + SLACK]));
}

#[test]
fn lines_and_comments() {
    let body = b"\xEF\xBB\xBFa: b\n\n# c\r\nd: #\ne";
    let document = parse(body, &[]);
    let shown = |octets: &[u8]| String::from_utf8_lossy(octets).into_owned();
    let lines = document.lines().map(|(line, comment)| {
        let comment = comment.map(|start| shown(&body[start..line.end]));
        (line.number, shown(&body[line.start..line.end]), comment)
    });
    let expected = [
        (1, "a: b", None),
        (2, "", None),
        (3, "# c", Some("# c")),
        (4, "d: #", Some("#")),
        (5, "e", None),
    ];
    let expected = expected
        .map(|(number, text, comment)| (number, text.to_string(), comment.map(str::to_string)));
    assert_eq!(lines.collect::<Vec<_>>(), expected);
}

#[test]
fn groups_and_their_records() {
    let body = b"sitemap: /\nuser-agent: a\nallow: /\nuser-agent: b\nallow: /b\nsitemap: /";
    let document = parse(body, &[]);
    assert_eq!(document.group_count(), 2);
    assert_eq!((document.group(0), document.group(1), document.group(2)), (1..3, 3..6, 0..0));
    let groups: Vec<_> = (0..6).map(|record| document.group_of(record)).collect();
    assert_eq!(groups, [None, Some(0), Some(0), Some(1), Some(1), Some(1)]);
}

/// Without a key for user-agent lines no record is a user-agent line, even if its name is unknown.
#[test]
fn names_that_are_not_in_the_settings() {
    let settings = Settings::new(Switches::default(), 512_000, usize::MAX);
    for known in [settings.user_agent, settings.allow, settings.disallow] {
        assert_ne!(known, UNKNOWN);
    }
    let document = Document::parse(b"user-agent: a\nallow: /\n", Arc::new(settings), true);
    assert_eq!((document.group_count(), document.records().len()), (0, 2));
    assert!(document.records().iter().all(|record| record.key == UNKNOWN));
}

/// Groups by another START record: by its whole value, ignoring case (AMB-98).
#[test]
fn groups_by_another_key() {
    let body = b"user-agent: a\nallow: /\nx-name-longer-than-sixteen: A/2\nallow: /b\n\
        x-name-longer-than-sixteen: a\nuser-agent: b\ndisallow: /\nuser-agent: a/2\n";
    let document = parse(body, &[]);
    let key = document.records()[2].key;
    assert_eq!(document.select(key, b"a/2"), [1]);
    assert_eq!(document.select(key, b"a"), [2]);
    assert_eq!(document.select(key, b"b"), []);
    assert_eq!(document.select(document.settings().user_agent, b"a"), [0, 3]);
    assert_eq!(document.select(document.settings().allow, b"/"), []);
}

/// A crawler gets the groups that name it, else the star groups.
#[test]
fn choosing_groups_or_the_star() {
    let document = parse(b"user-agent: *\nallow: /\nuser-agent: a\nallow: /a\n", &[]);
    assert_eq!(document.choose(b"A"), (vec![1], true));
    assert_eq!(document.choose(b"b"), (vec![0], false));
    assert_eq!(document.choose(b"*"), (vec![0], false));
}

/// The number of usable rules is known without compiling them, if patterns are compared as written.
#[test]
fn usable_rules() {
    let body = b"user-agent: *\nallow: /\nallow: *a\ndisallow:\ndisallow: a\ndisallow: /b c\n\
        disallow: /\x01\nsitemap: /\nuser-agent: a\ndisallow: /d\n";
    for groups in [&[][..], &[0], &[1], &[0, 1], &[1, 0]] {
        let document = parse(body, &[]);
        let expected = document.compile(groups).len();
        assert_eq!(document.count_usable(groups), Some(expected), "{groups:?}");
        assert_eq!(expected, groups.iter().map(|&group| 2 - group as usize).sum::<usize>());
    }
    let document = Document::parse(body, Arc::new(settings(&["index_page"])), true);
    assert_eq!(document.count_usable(&[0]), None);
    assert_eq!(document.decide_once(&[0], b"/a"), None);
}
