//! Facts about files: what each column has, and that blocks of rows can be joined.

mod profiles;

use profiles::settings;
use robotrules_core::coverage::Coverage;
use robotrules_core::crawler_names::CrawlerTable;
use robotrules_core::document::Document;
use robotrules_core::facts::{Facts, FactsBuilder, FactsReader, NoFile, PendingKind, UNDECIDED};
use robotrules_core::notes::Code;
use robotrules_core::text_lists::{Distinct, TextLists};
use robotrules_core::{Role, Settings};
use std::sync::Arc;

fn table(crawlers: &[(&[&str], bool)]) -> CrawlerTable {
    let names = crawlers.iter().map(|(names, ignores_star)| {
        let names: Vec<_> = names.iter().map(|name| name.as_bytes().to_vec()).collect();
        (names, *ignores_star)
    });
    let names: Vec<_> = names.collect();
    CrawlerTable::new(names.iter().map(|(names, ignores_star)| (&names[..], *ignores_star)))
}

fn reader(switches: &[&str], first_star_group_only: bool) -> FactsReader {
    let mut settings: Settings = settings(switches);
    settings.add_key(b"user-agent-purpose", b"user-agent-purpose", Role::Start, false);
    let crawlers = [
        (&["GPTBot"][..], false),
        (&["Googlebot-News", "Googlebot"], false),
        (&["AdsBot"], true),
        (&["", "Second"], false),
    ];
    FactsReader::new(Arc::new(settings), table(&crawlers), first_star_group_only)
}

fn read_with(reader: &FactsReader, bodies: &[&[u8]]) -> Facts {
    let mut builder = FactsBuilder::new(reader);
    bodies.iter().for_each(|body| builder.add(body, true));
    builder.finish()
}

fn read(body: &str) -> Facts {
    read_with(&reader(&["literal_tokens", "star_with_text"], false), &[body.as_bytes()])
}

fn texts(lists: &TextLists, row: usize) -> Vec<String> {
    lists.row(row).map(|text| String::from_utf8(text.to_vec()).unwrap()).collect()
}

fn names(coverage: &[i8]) -> Vec<&'static str> {
    let name = |&one: &i8| usize::try_from(one).map_or("?", |at| Coverage::ALL[at].name());
    coverage.iter().map(name).collect()
}

#[test]
fn counts_and_lists() {
    let facts = read(
        "Disallow: /outside\nUser-agent: b\nUser-agent: a\nUser-agent: b\nDisallow:\nAllow: /x\n\
         Disallow: /y z\nSitemap: https://h/s.xml\nSitemap: https://h/s.xml\nSitemap: /relative\n\
         Sitemap: mailto:a\nSitemap: https:///x\nno record\nX: y\nUser-Agent-Purpose: p\n# comment\n",
    );
    assert_eq!((facts.lines[0], facts.records[0], facts.groups[0]), (16, 14, 2));
    assert_eq!((facts.allow_rules[0], facts.disallow_rules[0], facts.other_records[0]), (1, 3, 7));
    assert_eq!(texts(&facts.user_agents, 0), ["b", "a"]);
    assert_eq!(texts(&facts.sitemaps, 0), ["https://h/s.xml", "/relative"]);
    assert_eq!(texts(&facts.purposes, 0), ["p"]);
    let codes = facts.note_codes.iter().map(|&code| Code::ALL[usize::from(code)].slug());
    let notes: Vec<_> = codes.zip(facts.note_counts.iter().copied()).collect();
    let expected = [("no-separator", 1), ("rule-outside-group", 1), ("space-in-pattern", 1)];
    assert_eq!(notes, expected);
    assert!(facts.pending.is_empty());
}

#[test]
fn text_that_is_not_utf8_is_escaped() {
    let facts = read_with(&reader(&[], false), &[b"User-agent: caf\xE9\xC3\xA9\n"]);
    assert_eq!(texts(&facts.user_agents, 0), ["caf\\xe9é"]);
}

#[test]
fn delays_of_groups() {
    let facts = read(
        "User-agent: a\nCrawl-delay: x\nCrawl-delay: 1.5\nCrawl-delay: 9\nDisallow:\n\
         User-agent: *\nUser-agent: b\nCrawl-delay: 2.\nDisallow:\n\
         User-agent: a\nCRAWL-DELAY: .75\nDisallow:\nUser-agent: *\nCrawl-delay: 3\n",
    );
    assert_eq!(facts.crawl_delay, [3.0]);
    assert_eq!(texts(&facts.delayed_agents, 0), ["a", "*", "b"]);
    assert_eq!(facts.delays, [1.5, 3.0, 2.0]);
    let facts = read("User-agent: *\nUser-agent: *\nDisallow:\nUser-agent: *\nCrawl-delay: 3\n");
    assert_eq!(facts.crawl_delay, [3.0]);
    for wrong in ["", "-1", "1e3", "inf", "1.2.3", ".", "٣", "1 s", &"9".repeat(400)] {
        let facts = read(&format!("User-agent: *\nCrawl-delay: {wrong}\n"));
        assert!(facts.crawl_delay[0].is_nan() && facts.delays.is_empty(), "{wrong}");
    }
}

#[test]
fn the_first_star_group_only() {
    let body = b"User-agent: *\nAllow: /\nCrawl-delay: 1\nContent-Signal: a=b\nContent-Usage: x=y\n\
                 User-agent: *\nDisallow: /\nCrawl-delay: 2\nContent-Signal: c=d\nContent-Usage: z=y\n";
    for (first_only, delay, values, coverage) in [(true, 1.0, 1, "all"), (false, 2.0, 2, "all")] {
        let facts = read_with(&reader(&[], first_only), &[body]);
        assert_eq!(facts.crawl_delay, [delay]);
        let counts: Vec<_> = facts.pending.iter().map(|one| one.values.len()).collect();
        assert_eq!(counts, [values, values]);
        assert_eq!(names(&facts.coverage)[0], coverage);
    }
}

#[test]
fn crawlers_select_groups_by_their_names_in_order() {
    let named = |facts: &Facts| facts.named.clone();
    let facts = read("User-agent: *\nDisallow: /\n");
    assert_eq!(names(&facts.coverage), ["none", "none", "all", "none"]);
    assert!(named(&facts).is_empty());
    let facts = read("User-agent: *\nDisallow: /\nUser-agent: googlebot\nDisallow: /a\n");
    assert_eq!(names(&facts.coverage), ["none", "some", "all", "none"]);
    assert!(named(&facts).is_empty());
    let facts = read(
        "User-agent: Googlebot\nDisallow: /\n\nUser-agent: GOOGLEBOT-NEWS\nUser-agent: adsbot\n\
         Disallow:\n\nUser-agent: Second/1.0\nDisallow: /\n",
    );
    assert_eq!(names(&facts.coverage), ["all", "all", "all", "none"]);
    assert_eq!(named(&facts), [1, 2]);
    // Groups of one name are merged; a control character makes the line unusable.
    let facts =
        read("User-agent: gptbot\nDisallow: /\nUser-agent: gptbot\nAllow: /a\nUser-agent: x\n");
    assert_eq!(names(&facts.coverage)[0], "some");
    let facts = read("User-agent: gptbot\x01\nDisallow: /\n");
    assert_eq!((names(&facts.coverage)[0], facts.named.len()), ("all", 0));
}

#[test]
fn comma_lists_and_whole_names() {
    let reader = reader(&["comma_user_agents"], false);
    let facts = read_with(&reader, &[b"User-agent: x, GPTBot , *\nDisallow: /\n"]);
    assert_eq!(names(&facts.coverage), ["none", "none", "all", "none"]);
    assert_eq!(facts.named, [0]);
}

#[test]
fn rows_without_a_file() {
    let reader = reader(&[], false);
    let mut builder = FactsBuilder::new(&reader);
    builder.add(b"User-agent: GPTBot\nDisallow: /", true);
    for reason in [NoFile::Unavailable, NoFile::Unreachable, NoFile::Missing] {
        builder.add_missing(reason);
    }
    builder.add(b"User-agent: GPTBot\nDisallow: /", false);
    let facts = builder.finish();
    let gptbot: Vec<_> = facts.coverage.iter().step_by(4).copied().collect();
    assert_eq!(names(&gptbot), ["none", "all", "none", "?", "all"]);
    assert_eq!(gptbot[3], UNDECIDED);
    assert_eq!(facts.is_file, [true, false, false, false, true]);
    assert_eq!(facts.truncated, [false, false, false, false, true]);
    assert_eq!(facts.named_ends, [1, 1, 1, 1, 2]);
}

#[test]
fn what_is_left_to_the_caller() {
    let facts = read(
        "User-agent: a\nContent-Usage: x=y\nUser-agent: *\nContent-Usage: /p train-ai=n\n\
         Content-Signal: s=yes\nApp-Directives: one\nDisallow:\nUser-agent: b\nContent-Signal: n=o\n\
         App-directive: two\nSitemap: https://h/a b\nSitemap: https://h/usual\n",
    );
    let found: Vec<_> = facts.pending.iter().map(|one| (one.kind, one.values.clone())).collect();
    let octets = |texts: &[&str]| -> Vec<Box<[u8]>> {
        texts.iter().map(|text| text.as_bytes().into()).collect()
    };
    let expected = [
        // The user-agent line after a Content-Usage record starts a new group (AMB-29).
        (PendingKind::ContentUsage, octets(&["/p train-ai=n"])),
        (PendingKind::ContentSignal, octets(&["s=yes"])),
        (PendingKind::Applications, octets(&["one", "two"])),
        (PendingKind::Sitemaps, octets(&["https://h/a b", "https://h/usual"])),
    ];
    assert_eq!(found, expected);
    assert_eq!(facts.app_directives, [2]);
    assert_eq!(texts(&facts.sitemaps, 0).len(), 0);
}

#[test]
fn content_usage_ends_the_user_agent_lines_of_its_group() {
    let body = "User-agent: *\nContent-Usage: one\nUser-agent: b\nContent-Usage: two\n";
    let values: Vec<_> = read(body).pending.into_iter().flat_map(|one| one.values).collect();
    assert_eq!(values, [Box::from(b"one".as_slice())]);
}

#[test]
fn blocks_can_be_joined() {
    let bodies: Vec<String> = (0..40)
        .map(|n| {
            format!(
                "User-agent: gptbot\nUser-agent: x{n}\nCrawl-delay: {n}\nDisallow: /{n}\n\
                 Sitemap: https://h/{n}\nContent-Signal: a=b\nUser-agent: *\nContent-Signal: s={n}\nbad\n"
            )
        })
        .collect();
    let bodies: Vec<_> = bodies.iter().map(|body| body.as_bytes()).collect();
    let reader = reader(&[], false);
    let whole = read_with(&reader, &bodies);
    let mut joined = Facts::default();
    for part in bodies.chunks(7) {
        joined.append(read_with(&reader, part));
    }
    assert_eq!(format!("{whole:?}"), format!("{joined:?}"));
}

#[test]
fn counting_while_parsing_equals_the_notes() {
    let body =
        b"\xEF\xBB\xBF<html\nUser-agent: a b\nDisalow: x\nCrawl-delay: 1\nUser-agent: c\n:\nrest";
    for complete in [true, false] {
        let settings = Arc::new(settings(&[]));
        let (document, counts) = Document::parse_and_count(&body[..], settings.clone(), complete);
        let plain = Document::parse(&body[..], settings, complete);
        assert_eq!(document.records(), plain.records());
        assert_eq!(counts.lines as usize, plain.lines().count());
        let mut expected = [0; Code::ALL.len()];
        plain.notes().iter().for_each(|note| expected[note.code as usize] += 1);
        assert_eq!(counts.notes, expected);
        assert!(counts.notes.iter().sum::<u32>() > 4);
    }
}

#[test]
fn distinct_values_few_and_many() {
    let values: Vec<String> = (0..200).map(|n| format!("v{}", n % 100)).collect();
    let mut distinct = Distinct::default();
    for (number, value) in values.iter().enumerate() {
        assert_eq!(distinct.add(value.as_bytes()), (number % 100, number < 100));
    }
}

#[test]
fn many_crawlers_and_a_table_without_any() {
    let names: Vec<Vec<Vec<u8>>> =
        (0..3_000).map(|n| vec![format!("bot{n}x").into_bytes()]).collect();
    let table = CrawlerTable::new(names.iter().map(|names| (&names[..], false)));
    assert_eq!(table.len(), 3_000);
    let reader = FactsReader::new(Arc::new(settings(&["literal_tokens"])), table, false);
    let facts = read_with(&reader, &[b"User-agent: BOT2999X\nDisallow: /\n"]);
    assert_eq!(facts.named, [2_999]);
    assert_eq!(facts.coverage.iter().filter(|&&one| one == Coverage::None as i8).count(), 1);
    let empty = CrawlerTable::new(std::iter::empty());
    assert!(empty.is_empty());
    let reader = FactsReader::new(Arc::new(settings(&[])), empty, false);
    assert!(read_with(&reader, &[b"User-agent: a\n"]).coverage.is_empty());
}
