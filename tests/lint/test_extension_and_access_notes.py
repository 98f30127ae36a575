"""
Notes about extensions and access: their URLs, levels, numbers and edits.

The literate tests cover the lines of notes. These tests check the URL of a note with the readers,
lint every fixed file again, and check the limits.
"""

from __future__ import annotations

import pytest

from robotrules import DEFAULT, parse, preferences
from robotrules.linting import LintNote, ServedResponse, fix, lint
from robotrules.linting.checks.leaking_purpose import MOST_SHOWN as LEAKS_SHOWN
from robotrules.linting.checks.not_inherited import MOST_SHOWN as LOST_SHOWN
from robotrules.linting.checks.sitemap_disallowed import MOST_SITEMAPS
from robotrules.linting.responses import format_duration
from robotrules.linting.scoped_records import describe_group
from robotrules.linting.sensitive_paths import find_sensitive_word
from robotrules.registries import Application, Registries, Registry


def only(body: str | bytes, slug: str, received: ServedResponse | None = None) -> LintNote:
    """Return the single note of a check on a file."""
    (note,) = lint(body, select=[slug], received=received)
    return note


# --- URLs -----------------------------------------------------------------------------------------


def test_a_leaking_purpose_shows_a_url_that_parsers_without_purposes_block() -> None:
    """With purposes it is allowed, and without them it is blocked."""
    body = "User-agent: Foo\nDisallow: /a\n\nUser-Agent-Purpose: P\nAllow: /b\nDisallow: /*/c$\n"
    note = only(body, "leaking-purpose")
    assert note.level == "error"
    assert note.url == "https://example.com//c"
    assert parse(body).check(note.url, "Foo")
    assert not parse(body, DEFAULT.replace(extensions=())).check(note.url, "Foo")
    assert note.url in note.message


def test_a_leak_without_a_difference_shows_no_url() -> None:
    """
    Allow wins a tie, so parsers without purposes agree here, although the rules are in the wrong
    group.
    """
    body = "User-agent: *\nAllow: /\n\nUser-Agent-Purpose: P\nDisallow: /\n"
    assert only(body, "leaking-purpose").url is None


def test_the_fix_of_a_leak_uses_the_line_end_of_the_file() -> None:
    """The inserted line ends like the line after it."""
    body = b"User-agent: *\r\nDisallow: /a\r\nUser-Agent-Purpose: P\r\nDisallow: /\r\n"
    robots = parse(body)
    fixed = fix(robots, lint(robots, select=["leaking-purpose"]), unsafe=True).body
    assert b"\r\nUser-agent: _purpose-only_\r\nUser-Agent-Purpose: P\r\n" in fixed
    assert fixed.count(b"\n") == fixed.count(b"\r\n")
    old = parse(fixed, DEFAULT.replace(extensions=()))
    assert old.check("https://example.com/b", "anybody")


def test_a_preference_that_is_not_inherited_shows_a_url() -> None:
    """The category is unknown for the URL, although it is stated for the whole site."""
    body = "User-agent: *\nContent-Usage: train-ai=n\nContent-Usage: /a/*.pdf$ search=n\n"
    note = only(body, "not-inherited")
    assert note.url == "https://example.com/a/.pdf"
    robots = parse(body)
    assert preferences(note.url, "x", robots=robots).get("train-ai") == "unknown"
    assert preferences("https://example.com/b", "x", robots=robots).get("train-ai") == "disallowed"
    assert "'train-ai=n' of line 2" in note.message


def test_only_preferences_that_the_path_does_not_state_are_lost() -> None:
    """A preference that is stated again, even with another value, is known there."""
    body = "User-agent: *\nContent-Usage: train-ai=n, search=y\nContent-Usage: /a search=n\n"
    note = only(body, "not-inherited")
    assert "'train-ai=n' of line 2" in note.message
    assert note.fix
    assert note.fix.title == "Add 'train-ai=n'"


def test_a_blocked_path_shows_no_url() -> None:
    """A blocked URL has no preference at all."""
    body = "User-agent: *\nDisallow: /a\nContent-Usage: train-ai=n\nContent-Usage: /a/ search=n\n"
    assert only(body, "not-inherited").url is None


def test_only_sitemaps_of_the_same_origin_are_examined() -> None:
    """If the URL of the file is known, sitemaps of other origins are skipped."""
    body = "User-agent: *\nDisallow: /s\nSitemap: https://cdn.example.net/s.xml\n"
    assert "same origin" in only(body, "sitemap-disallowed").message
    here = ServedResponse("https://example.com/robots.txt")
    assert lint(body, select=["sitemap-disallowed"], received=here) == []
    relative = only(body.replace("https://cdn.example.net", ""), "sitemap-disallowed", here)
    assert relative.url == "https://example.com/s.xml"
    assert "same origin" not in relative.message


@pytest.mark.parametrize(
    ("more", "who"),
    [
        ("", "all crawlers,"),
        ("User-agent: x\nAllow: /\n", "all crawlers that no group names"),
        ("User-agent: bingbot\nDisallow: /s\n", "all crawlers,"),
    ],
)
def test_crawlers_for_which_a_sitemap_is_blocked(more: str, who: str) -> None:
    """All crawlers, unless a group allows it for some."""
    body = f"User-agent: *\nDisallow: /s\n{more}Sitemap: https://example.com/s.xml\n"
    assert f"blocks this sitemap for {who}" in only(body, "sitemap-disallowed").message


# --- Levels and numbers ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("seconds", "level", "words"),
    [
        ("60", "info", "1,440 pages a day"),
        ("300", "info", "288 pages a day"),
        ("300.5", "warning", "287 pages a day"),
        ("90000", "warning", "at most one page a day"),
    ],
)
def test_a_long_delay_in_pages_per_day(seconds: str, level: str, words: str) -> None:
    """Above 300 seconds some crawlers skip the site, so it is a warning."""
    note = only(f"User-agent: *\nCrawl-delay: {seconds}\n", "long-crawl-delay")
    assert note.level == level
    assert words in note.message


@pytest.mark.parametrize(
    ("received", "slug", "level"),
    [
        (ServedResponse(charset="latin1"), "wrong-charset", "info"),
        (ServedResponse("http://a.example/robots.txt"), "", ""),
        (
            ServedResponse(
                "http://a.example/robots.txt", redirects=("https://www.a.example/robots.txt",)
            ),
            "robots-redirected",
            "info",
        ),
        (
            ServedResponse(
                "http://a.example/robots.txt", redirects=("https://b.example/robots.txt",)
            ),
            "robots-redirected",
            "warning",
        ),
        (ServedResponse(redirects=("https://b.example/r",)), "robots-redirected", "info"),
        (ServedResponse(redirects=tuple("abcdef")), "too-many-redirects", "error"),
        (ServedResponse(status=500, media_type="text/html"), "robots-unreachable", "error"),
        (ServedResponse(status=451), "robots-missing", "info"),
        (ServedResponse(cache_control="max-age=86401"), "long-lifetime", "info"),
        (ServedResponse(cache_control='no-cache="x", max-age=9'), "short-lifetime", "info"),
        (ServedResponse(cache_control="max-age=soon"), "short-lifetime", "info"),
    ],
)
def test_a_response_has_one_note(received: ServedResponse, slug: str, level: str) -> None:
    """It is about the response, not about a line; unknown properties have no note."""
    notes = lint("User-agent: *\nDisallow: /a\n", select=["RR7"], received=received)
    assert [(note.slug, note.level) for note in notes] == ([(slug, level)] if slug else [])
    assert all(note.part == "response" and note.line is None for note in notes)


def test_a_wrong_charset_is_an_error_outside_ascii() -> None:
    """If the file is not all ASCII, a wrong charset matters."""
    note = only(
        "Disallow: /é\n".encode("latin-1"), "wrong-charset", ServedResponse(charset="latin1")
    )
    assert note.level == "error"


def test_format_duration() -> None:
    """In its largest unit, with at most one decimal."""
    formatted = [format_duration(seconds) for seconds in (1, 59, 60, 5400, 86_400, 2_592_000)]
    assert formatted == ["1 second", "59 seconds", "1 minute", "1.5 hours", "1 day", "30 days"]


def test_find_sensitive_word() -> None:
    """Whole words only, in any case."""
    assert find_sensitive_word("/2024-Backups/x") == "backups"
    assert find_sensitive_word("/a/b_internal.html") == "internal"
    assert find_sensitive_word("/internalization/admin/") is None


def test_describe_group_names_a_few_crawlers() -> None:
    """At most four, and how many more there are."""
    many = parse("".join(f"User-agent: bot{letter}\n" for letter in "abcdef") + "Allow: /\n")
    assert describe_group(many.groups[0]) == "'bota', 'botb', 'botc', 'botd' and 2 more"
    assert describe_group(parse("User-agent: a\nUser-agent: b\n").groups[0]) == "'a' and 'b'"


def test_an_application_with_other_groups_is_named() -> None:
    """Only the application whose crawler obeys other groups, not the other one of the record."""
    applications = [Application(name, name.title(), "x") for name in ("onesearch", "twosearch")]
    known = Registries(applications=Registry(Application, applications))
    body = "User-agent: *\nApp-Directives: onesearch, twosearch\nAllow: /\nUser-agent: Onesearch\n"
    (note,) = lint(body, select=["unseen-directives"], registries=known)
    assert note.message.startswith("'onesearch' obeys")


# --- Fixes ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("slug", "line"),
    [
        ("leaking-purpose", "Disallow: /a\nUser-Agent-Purpose: P\nDisallow: /"),
        ("unusable-path", "Content-Usage: images/ train-ai=n"),
        ("star-path", "Content-Usage: **.pdf$ train-ai=n"),
        ("unknown-value", 'Content-Usage: train-ai="No", search=YES'),
        ("not-inherited", "Content-Usage: train-ai=n, search=y\nContent-Usage: /a x=y"),
        ("odd-signal", "Content-Signal: ai-train = N"),
        ("bad-sitemap", "Sitemap: \u00a0https://example.com/s.xml"),
        ("relative-sitemap", "Sitemap: //example.com/s.xml"),
        ("duplicate-sitemap", "Sitemap: https://a.example/s\nSitemap: https://a.example/s"),
        ("bad-crawl-delay", "Crawl-delay: 0.5 sec"),
        ("bad-visit-time", "Visit-time: 06:00 - 08:45"),
    ],
)
@pytest.mark.parametrize("end", ["\n", "\r\n", ""])
def test_a_fix_leaves_nothing_to_fix(slug: str, line: str, end: str) -> None:
    """Each fix removes its note, with any line ends, and is applied once."""
    body = f"User-agent: *\n{line}".replace("\n", end or "\n") + end
    received = ServedResponse("https://example.com/robots.txt")
    robots = parse(body)
    notes = lint(robots, select=[slug], received=received)
    assert notes
    assert all(note.fix for note in notes)
    fixed = fix(robots, notes, unsafe=True)
    assert fixed.body != robots.body
    assert lint(fixed.body, select=[slug], received=received) == []


def test_a_second_sitemap_with_a_comment_has_no_fix() -> None:
    """The comment may say why it is there."""
    body = "Sitemap: https://a.example/s\nSitemap: https://a.example/s # for Bing\n"
    assert only(body, "duplicate-sitemap").fix is None


# --- Where a check stops --------------------------------------------------------------------------


def test_only_the_first_notes_have_a_url() -> None:
    """The other notes of a hostile file have none."""
    leaks = "User-agent: a\nDisallow: /a\n" + "User-Agent-Purpose: P\nDisallow: /b\n" * 30
    notes = lint(leaks, select=["leaking-purpose"])
    assert [note.url is not None for note in notes] == [True] * LEAKS_SHOWN + [False] * 10
    paths = "".join(f"Content-Usage: /{n} search=n\n" for n in range(100, 130))
    notes = lint(
        f"User-agent: *\nContent-Usage: train-ai=n\n{paths}",
        select=["not-inherited"],
    )
    assert [note.url is not None for note in notes] == [True] * LOST_SHOWN + [False] * 10


def test_only_the_first_sitemaps_are_examined() -> None:
    """Hand-written files have some dozens."""
    many = "".join(f"Sitemap: https://example.com/{n}\n" for n in range(MOST_SITEMAPS + 50))
    notes = lint(f"User-agent: *\nDisallow: /\n{many}", select=["sitemap-disallowed"])
    assert len(notes) == MOST_SITEMAPS
