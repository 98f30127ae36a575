//! Groups: built by role alone, selected by the leading identifier of user-agent lines.

mod profiles;

use profiles::parse;
use robotrules_core::groups::{agent, identifier, Agent, Groups};
use robotrules_core::{Document, Role};

/// The groups that name a token; `*` selects the star groups.
fn select(document: &Document<&[u8]>, token: &str) -> Vec<u32> {
    document.select(document.settings().user_agent, token.as_bytes())
}

#[test]
fn grouping_by_role() {
    use Role::{Other, Rule, Start};
    let cases: [(&[Role], &[u32]); 6] = [
        (&[], &[]),
        (&[Start, Start, Rule, Rule, Start], &[0, 4]),
        (&[Rule, Other, Start, Rule], &[2]),
        (&[Start, Other, Start, Rule], &[0]),
        (&[Start, Rule, Other, Start], &[0, 3]),
        (&[Start, Rule, Start, Rule, Start, Rule], &[0, 2, 4]),
    ];
    for (roles, starts) in cases {
        let mut groups = Groups::default();
        for (number, role) in roles.iter().enumerate() {
            groups.add(*role, number as u32);
        }
        assert_eq!(groups.starts, starts, "{roles:?}");
    }
}

#[test]
fn identifiers() {
    for (value, expected) in [
        ("ExampleBot", "ExampleBot"),
        ("ExampleBot/1.0", "ExampleBot"),
        ("a-b_c d", "a-b_c"),
        ("MJ12bot", "MJ"),
        ("*", ""),
        ("", ""),
        ("é", ""),
    ] {
        assert_eq!(identifier(value.as_bytes()), expected.as_bytes());
    }
}

#[test]
fn agents_of_a_value() {
    let document = parse(b"", &["star_with_text", "literal_tokens"]);
    let settings = document.settings();
    let names = |value: &str, token: &str| {
        agent(value.as_bytes(), settings).names(token.as_bytes(), settings)
    };
    assert!(names("ExampleBot/1", "examplebot"));
    assert!(names("MJ12bot", "mj12BOT"));
    assert!(names("* text", "*"));
    assert!(!names("* text", "text"));
    assert!(!names("*text", "*"));
    assert!(!names("", ""));
    assert!(!names("12", ""));
    assert_eq!(agent(b"", settings), Agent::Empty);
    let strict = parse(b"", &[]);
    assert!(!agent(b"* text", strict.settings()).names(b"*", strict.settings()));
    assert!(!agent(b"MJ12bot", strict.settings()).names(b"MJ12bot", strict.settings()));
}

#[test]
fn choosing_groups() {
    let body = b"User-agent: a\nAllow: /1\nUser-agent: b\nUser-agent: A/2\nAllow: /2\n\
        User-agent: *\nAllow: /3\nUser-agent: x\x01\nAllow: /4";
    let document = parse(body, &[]);
    assert_eq!(document.group_count(), 4);
    assert_eq!(select(&document, "A"), [0, 1]);
    assert_eq!(select(&document, "b"), [1]);
    assert_eq!(select(&document, "*"), [2]);
    assert_eq!(select(&document, "x"), [], "a control character makes the line unusable");
    assert_eq!(select(&document, "c"), []);
    assert_eq!(document.rules(&[0, 1]), [1, 4]);
    assert_eq!(document.rules(&[9]), []);
    assert_eq!(document.group_of(0), Some(0));
    assert_eq!(document.group(9), 0..0);
}

#[test]
fn comma_lists() {
    let body = b"User-agent: a , b/2,*";
    assert_eq!(select(&parse(body, &[]), "b"), []);
    for token in ["a", "B", "*"] {
        assert_eq!(select(&parse(body, &["comma_user_agents"]), token), [0]);
    }
    for (body, token) in [(&body[..], "c"), (body, "2"), (b"User-agent: a, b\x01", "a")] {
        assert_eq!(select(&parse(body, &["comma_user_agents"]), token), [], "{token}");
    }
}

/// A file with very many groups selects the same groups before and after the index is built, and the
/// same groups as a small file with these user-agent lines.
#[test]
fn very_many_groups() {
    let values = ["*", "Foo", "foo/1.0", "FOO bar", "a-b_c", "MJ12bot", "", "*x", "* x", "\u{e9}"];
    let values = [&values[..], &["Foo, Bar", "bar,*", "9x", "x\u{1}y", "Foo\tBar"]].concat();
    let mut body = String::new();
    for number in 0..500 {
        let value = values[number % values.len()];
        body += &format!("User-agent: {value}\n");
        if number % 7 == 0 {
            body += &format!("User-agent: {value}\nX-other: 1\nUser-agent: n{number}\n");
        }
        body += "Disallow: /\n";
    }
    let tokens =
        ["*", "foo", "FOO", "bar", "Bar", "a-b_c", "mj", "mj12bot", "", "n", "n7", "x", "9x"];
    let switches: [&[&str]; 4] = [
        &[],
        &["comma_user_agents", "star_with_text"],
        &["literal_tokens", "keep_invalid_utf8"],
        &["literal_tokens", "comma_user_agents", "star_with_text"],
    ];
    for on in switches {
        let document = parse(body.as_bytes(), on);
        let first: Vec<_> = tokens.map(|token| select(&document, token)).into();
        let (again, copy) = (document.clone(), document.clone());
        for (token, expected) in tokens.iter().zip(&first) {
            let one_by_one: Vec<u32> = (0..document.group_count())
                .filter(|&number| {
                    let lines = document.records()[document.group(number)].iter();
                    let mut starts = lines.filter(|record| record.role == Role::Start);
                    starts.any(|record| {
                        let value = record.value(document.body());
                        let line = [b"User-agent: ", value, b"\nDisallow: /\n"].concat();
                        !select(&parse(&line, on), token).is_empty()
                    })
                })
                .map(|number| number as u32)
                .collect();
            assert_eq!(expected, &one_by_one, "{token:?} {on:?}");
            for _ in 0..20 {
                assert_eq!(&select(&document, token), expected, "{token:?} {on:?}");
                assert_eq!(&select(&again, token), expected, "{token:?} {on:?}");
            }
        }
        assert_eq!(select(&copy, "nobody"), [0u32; 0]);
    }
}
