//! Notes: code, line and span.

mod profiles;

use profiles::{limited, settings};
use robotrules_core::lines::SLACK;
use robotrules_core::{Document, Role, Settings};
use std::sync::Arc;

/// Code, line and marked text of each note.
type Shown = Vec<(&'static str, u32, String)>;

fn notes_of(body: &[u8], settings: Settings, complete: bool) -> Shown {
    let document = Document::parse(body, Arc::new(settings), complete);
    let marked = |start: u32, end: u32| &document.body()[start as usize..end as usize];
    let shown = |octets: &[u8]| String::from_utf8_lossy(octets).into_owned();
    let notes = document.notes().into_iter();
    notes.map(|note| (note.code.slug(), note.line, shown(marked(note.start, note.end)))).collect()
}

#[track_caller]
fn check(body: &str, switches: &[&str], expected: &[(&'static str, u32, &str)]) {
    let expected: Shown =
        expected.iter().map(|&(code, line, text)| (code, line, text.into())).collect();
    assert_eq!(notes_of(body.as_bytes(), settings(switches), true), expected, "{body:?}");
}

#[test]
fn encodings() {
    check("\u{feff}sitemap: /", &[], &[("bom", 0, "\u{feff}")]);
    check("sitemap: /", &["cut_bom"], &[]);
    let cut = notes_of(b"\xEF\xBBsitemap: /", settings(&["cut_bom"]), true);
    assert_eq!(cut, [("cut-bom", 0, "\u{fffd}".into())]);
    let wide = notes_of(b"\xFF\xFEa\0:\0b\0", settings(&["decode_utf16"]), true);
    assert_eq!(wide, [("not-utf8", 0, String::new())]);
}

#[test]
fn html_pages() {
    let line = ("no-separator", 2, "<html>");
    check(" \n<html>\n", &[], &[("looks-like-html", 0, "<"), line]);
    check("\u{feff}\n<html>\n", &[], &[("bom", 0, "\u{feff}"), ("looks-like-html", 0, "<"), line]);
    check("a<b: c\n", &[], &[]);
    check(" \n", &[], &[]);
}

/// A truncated line, and lines after the limit.
#[test]
fn truncated_files() {
    let body = b"sitemap: /a\nsitemap: /b\nsitemap: /c";
    assert_eq!(notes_of(body, settings(&[]), true), []);
    assert_eq!(notes_of(body, settings(&[]), false), [("cut-line", 3, "sitemap: /c".into())]);
    let rest = ("truncated", 0, "sitemap: /b\nsitemap: /c".into());
    assert_eq!(notes_of(body, limited(&[], 12, usize::MAX), true), [rest]);
    // A last line that continues after the slack: the limit truncates it, not the sender.
    let long = [&body[..], &[b'x'; 2 * SLACK]].concat();
    let kept = String::from_utf8_lossy(&long[24..30 + SLACK]).into_owned();
    assert_eq!(notes_of(&long, limited(&[], 30, usize::MAX), true), [("truncated", 0, kept)]);
}

#[test]
fn names_of_records() {
    check(" allow / \n", &[], &[("no-separator", 1, "allow /")]);
    check("\n : / ", &[], &[("empty-key", 2, ": /")]);
    let bare = ("missing-colon", 2, "allow /");
    check("user-agent: a\n allow / \n", &["missing_colon"], &[bare]);
    check("user-agent: a\nDisalow : /", &[], &[("typo", 2, "Disalow")]);
    check("user-agent: a\nDisalow: /a/longer/path", &[], &[("typo", 2, "Disalow")]);
    check("user-agent: a\nallow-x: /", &["prefix_keys"], &[("prefix-key", 2, "allow-x")]);
    check("user-agent: a\nallow-x: /\nallow: /", &[], &[]);
}

#[test]
fn truncated_lines() {
    let limits = limited(&[], 512_000, 12);
    let found = notes_of(b"user-agent:a\nallow: /1234567#c\nallow: /\n", limits, true);
    assert_eq!(found, [("long-line", 2, "567#c".into())]);
    check("sitemap: /a\0b#c\n", &["cut_at_nul"], &[("nul", 1, "\0b#c")]);
    check("sitemap: /a\0b#c\n", &[], &[]);
}

/// VT and FF are noted where they are trimmed, not where they are data.
#[test]
fn odd_whitespace() {
    let switches = ["ascii_whitespace", "keep_controls"];
    for line in ["\x0Bx: /", "x\x0C: /", "x:\x0B/", "x: /\x0C ", "x:\x0C"] {
        check(&format!("{line}#\x0B\n"), &switches, &[("odd-whitespace", 1, line)]);
    }
    check("x: /a\x0Bb#\x0B\n\x0B\nx\x0By: z", &switches, &[]);
    check("\x0Bx: /", &[], &[]);
}

#[test]
fn misplaced_records() {
    let first = ("rule-outside-group", 1, "allow: /");
    let second = ("rule-outside-group", 3, "disallow: /b");
    check("allow: / #\nsitemap: /\ndisallow: /b\nuser-agent: a\nallow: /\n", &[], &[first, second]);
    let between = ("record-between-agents", 2, "sitemap: x");
    let agents = "user-agent: a\nsitemap: x \nsitemap: y\nuser-agent: b\n";
    check(agents, &[], &[between]);
    check(&format!("{agents}user-agent: c\nallow: /"), &[], &[between]);
    let again = ("record-between-agents", 6, "sitemap: z");
    check(&format!("{agents}allow: /\nsitemap: z\nuser-agent: d"), &[], &[between]);
    check(&format!("{agents}user-agent: c\nsitemap: z\nuser-agent: d"), &[], &[between, again]);
    check("sitemap: x\nuser-agent: a\nsitemap: y\nallow: /\nuser-agent: b\n", &[], &[]);
    check("user-agent: a\nallow: /\nsitemap: x\nuser-agent: b\nuser-agent: c", &[], &[]);
}

#[test]
fn user_agents() {
    let agent = |value: &str, switches: &[&str], expected: &[(&'static str, u32, &str)]| {
        check(&format!("user-agent: {value}\n"), switches, expected);
    };
    for value in ["*", "ExampleBot", "a-b_C"] {
        agent(value, &[], &[]);
        agent(value, &["star_with_text"], &[]);
    }
    agent("", &[], &[("empty-user-agent", 1, "")]);
    agent("ExampleBot/1.0", &[], &[("user-agent-text", 1, "/1.0")]);
    agent("12", &[], &[("unusable-user-agent", 1, "12")]);
    agent("* all", &[], &[("unusable-user-agent", 1, "* all")]);
    agent("* all", &["star_with_text"], &[("star-with-text", 1, " all")]);
    let list = ("comma-list", 1, "a, b");
    agent("a, b", &[], &[list, ("user-agent-text", 1, ", b")]);
    agent("a, b", &["comma_user_agents"], &[list]);
    agent("a,\x01", &[], &[("control-character", 1, "a,\x01")]);
    let kept = ("control-kept", 1, "a\x01");
    agent("a\x01", &["keep_controls"], &[kept, ("user-agent-text", 1, "\x01")]);
    let found = notes_of(b"user-agent: a\xFF", settings(&[]), true);
    let codes: Vec<_> = found.iter().map(|(code, ..)| *code).collect();
    assert_eq!(codes, ["invalid-utf8", "user-agent-text"]);
    // Another START record does not name a crawler.
    check("x-name-longer-than-sixteen: 12\n", &[], &[("typo", 1, "x-name-longer-than-sixteen")]);
}

#[test]
fn patterns() {
    for key in ["allow", "disallow"] {
        let rule = |value: &str, switches: &[&str], expected: &[(&'static str, u32, &str)]| {
            check(&format!("user-agent: *\n{key}: {value}\n"), switches, expected);
        };
        for value in ["", "/", "*", "/index.html", "/é~%zz"] {
            rule(value, &[], &[]);
        }
        rule("a/b", &[], &[("pattern-start", 2, "a/b")]);
        rule("/a b", &[], &[("space-in-pattern", 2, "/a b")]);
        let both = [("space-in-pattern", 2, "a b"), ("pattern-start", 2, "a b")];
        rule("a b", &["keep_spaces"], &both);
        rule("a\x01b c", &[], &[("control-character", 2, "a\x01b c")]);
        rule("/\x01", &["keep_controls"], &[("control-kept", 2, "/\x01")]);
        rule(
            "/index.htm",
            &["index_page"],
            match key {
                "allow" => &[("index-page", 2, "/index.htm")],
                _ => &[],
            },
        );
        rule("/a", &["index_page"], &[]);
        let body = [b"user-agent: *\n", key.as_bytes(), b": /\xFF"].concat();
        assert_eq!(notes_of(&body, settings(&[]), true), [("invalid-utf8", 2, "/\u{fffd}".into())]);
    }
}

/// A rule that is neither allow nor disallow has no path pattern.
#[test]
fn other_rules() {
    let mut settings = settings(&[]);
    settings.add_key(b"noindex", b"noindex", Role::Rule, true);
    assert_eq!(notes_of(b"user-agent: *\nnoindex: a b\n", settings, true), []);
}
