"""
Notes about groups and rules: their URLs, levels, edits and limits.

The literate tests cover the lines of notes. These tests check the URL of a note with the rules, the
line ends of fixes, and that a needless pattern changes nothing.
"""

from __future__ import annotations

from random import Random

import pytest

from robotrules import analysis, parse
from robotrules.linting import LintNote, ServedResponse, fix, lint
from robotrules.linting.checks.misspelt_crawler import MOST_NAMES
from robotrules.linting.checks.pattern_like_an_expression import MOST_DESCRIBED
from robotrules.linting.value_shapes import (
    extract_path,
    is_authority,
    is_expression,
    is_header,
    split_list,
)


def only(body: str | bytes, slug: str, profile: str = "default") -> LintNote:
    """Return the single note of a check on a file."""
    (note,) = lint(body, select=[slug], profile=profile)
    return note


# --- URLs -----------------------------------------------------------------------------------------


def test_a_swallowed_group_shows_a_blocked_url() -> None:
    """The URL is blocked for the crawler that is named first, by a rule for another."""
    body = "User-agent: MJ12bot\nCrawl-delay: 9\nUser-agent: b\nAllow: /x\nDisallow: /*/y$\n"
    note = only(body, "swallowed-group")
    assert note.url
    assert not parse(body).check(note.url, "MJ12bot")
    assert "'/x/y'" in note.message


def test_a_swallowed_group_respects_other_groups_of_its_crawler() -> None:
    """An Allow in another group changes the example URL."""
    swallowed = "User-agent: a\nCrawl-delay: 9\nUser-agent: b\nDisallow: /x\nDisallow: /y\n"
    note = only(swallowed + "\nUser-agent: a\nAllow: /x\n", "swallowed-group")
    assert note.url == "https://example.com/y"


def test_a_swallowed_group_without_a_disallow_shows_no_url() -> None:
    """The shared rules may allow everything."""
    note = only("User-agent: a\nCrawl-delay: 9\nUser-agent: b\nDisallow:\n", "swallowed-group")
    assert (note.level, note.url) == ("info", None)
    assert note.message.startswith(
        "No rule ends the group of 'a', so for crawlers that follow RFC 9309 the rules of 'b' "
        "apply to it too. Add 'Disallow:'"
    )


def test_resources_show_a_url_that_is_blocked_for_googlebot() -> None:
    """The rule of the note decides the URL."""
    body = "User-agent: *\nDisallow: /a/*/css/*\nDisallow: *.js?\n"
    first, second = lint(body, select=["resources-disallowed"])
    for note, line in ((first, 2), (second, 3)):
        verdict = parse(body).check(note.url or "", "Googlebot")
        assert verdict.rule
        assert verdict.rule.line == line


def test_an_index_page_differs_between_google_and_others() -> None:
    """Profile google allows the directory, profile default does not."""
    body = "User-agent: a\nDisallow: /\nAllow: /d/index.html\n"
    note = only(body, "index-page")
    assert note.url == "https://example.com/d/"
    assert parse(body, "google").check(note.url, "a")
    assert not parse(body).check(note.url, "a")
    assert "'/d/'" in only(body, "index-page", "google").message


def test_an_index_page_without_crawler_or_with_wildcards_has_no_note() -> None:
    """There is no crawler, or no single directory."""
    outside = "Allow: /d/index.html\nUser-agent: a\nDisallow: /\n"
    unnamed = "User-agent:\nDisallow: /\nAllow: /d/index.html\n"
    wild = "User-agent: a\nDisallow: /\nAllow: /*/index.html\nAllow: /index.html/x\n"
    for body in (outside, unnamed, wild):
        assert not lint(body, select=["index-page"])


@pytest.mark.parametrize(
    ("slug", "pattern"),
    [
        ("dollar-inside", "/*.pdf$?"),
        ("dollar-inside", "*$a*"),
        ("pattern-like-an-expression", "/(a|b)*[0-9]"),
        ("question-mark-only", "/?*"),
    ],
)
def test_a_pattern_has_a_url_that_it_matches(slug: str, pattern: str) -> None:
    """The matcher confirms the URL."""
    body = f"User-agent: *\nDisallow: {pattern}\n"
    note = only(body, slug)
    assert note.url
    assert not parse(body).check(note.url, "a")


def test_a_pattern_that_matches_nothing_has_no_url() -> None:
    """An expression that starts with `^` matches no URL."""
    note = only("User-agent: *\nDisallow: ^/a\n", "pattern-like-an-expression")
    assert note.url is None
    assert "matches no URL at all" in note.message
    assert only("User-agent: *\nDisallow: /a/../$b\n", "dollar-inside").url is None


def test_queries_of_other_pages_are_not_matched_by_a_question_mark_alone() -> None:
    """The message is right about `/shop?page=2`."""
    assert parse("User-agent: *\nDisallow: /?\n").check("https://example.com/shop?page=2", "a")


# --- Levels and words -----------------------------------------------------------------------------


def test_a_name_that_is_cut_to_that_of_another_crawler_is_a_warning() -> None:
    """Wget2 is read as Wget, a known crawler; Example2 as Example, which is not."""
    assert only("User-agent: Wget2\nDisallow: /\n", "truncated-token").level == "warning"
    note = only("User-agent: Example2\nDisallow: /\n", "truncated-token")
    assert note.level == "info"
    assert "Google's parser reads 'Example2' as 'Example'" in note.message
    strict = only("User-agent: 008\nDisallow: /\n", "truncated-token", "strict")
    assert "Profile strict reads '008' as no crawler" in strict.message


def test_a_blank_line_after_the_names_loses_more_than_one_after_a_rule() -> None:
    """Some parsers lose the whole group, or the rules after the blank line."""
    after_names = only("User-agent: *\n\nDisallow: /a\n", "blank-line-in-group")
    after_rule = only("User-agent: *\nDisallow: /a\n\nDisallow: /b\n", "blank-line-in-group")
    assert (after_names.level, after_rule.level) == ("warning", "info")


def test_a_retired_crawler_has_the_date_of_the_check() -> None:
    """The sources of a remark stay in the registry."""
    note = only("User-agent: IA_Archiver\nDisallow: /\n", "retired-crawler")
    assert "Alexa" in note.message
    assert "From reports" not in note.message
    assert note.message[-11:-1].count("-") == 2


@pytest.mark.parametrize("profile", ["default", "strict", "google"])
@pytest.mark.parametrize("name", ["*", "008", "Example/1", '"x"', "", "* y", "a, b"])
def test_checks_of_groups_accept_any_name_under_any_profile(profile: str, name: str) -> None:
    """A name that a profile does not allow names no crawler, and nothing raises."""
    body = f"User-agent: {name}\nCrawl-delay: 1\nUser-agent: b\nDisallow: /\n\nUser-agent: {name}\n"
    assert isinstance(lint(body, profile=profile), list)


# --- Edits ----------------------------------------------------------------------------------------


def test_fixes_keep_line_ends() -> None:
    """A file with CRLF keeps it everywhere, and a file without a final line end has none."""
    body = b"User-agent: a, b\r\nDisallow: /x /y\r\n\r\nUser-agent: * Disallow: /z"
    checks = ["comma-list", "space-in-pattern", "star-with-text"]
    for _ in range(2):  # groups, then rules
        body = fix(parse(body), lint(body, select=checks), unsafe=True).body
    assert body == (
        b"User-agent: a\r\nUser-agent: b\r\nDisallow: /x\r\nDisallow: /y\r\n\r\n"
        b"User-agent: *\r\nDisallow: /z"
    )


def test_a_line_with_a_comment_is_not_removed() -> None:
    """The comment may matter."""
    body = "User-agent: a\nUser-agent: a # why\nDisallow: # nothing\nDisallow: /x\n"
    notes = lint(body, select=["repeated-user-agent", "empty-rule-beside-others"])
    assert [note.fix for note in notes] == [None, None]


def test_a_needless_star_changes_nothing() -> None:
    """Whatever rules compete, removing the stars changes no verdict for any URL."""
    random = Random(7)
    reported = 0
    for _ in range(300):
        rules = [
            f"{random.choice(('Allow', 'Disallow'))}: /"
            + "".join(random.choice(("a", "b", "*", "**", "$")) for _ in range(random.randrange(5)))
            for _ in range(random.randrange(1, 6))
        ]
        body = "User-agent: *\n" + "\n".join(rules) + "\n"
        notes = lint(body, select=["needless-star"])
        reported += len(notes)
        fixed = fix(parse(body), notes)
        assert len(fixed.applied) == len(notes), body
        assert analysis.compare(parse(body), parse(fixed.body)).equal
    assert reported > 50


# --- Where they stop ------------------------------------------------------------------------------


def test_names_and_patterns_beyond_a_limit_are_skipped() -> None:
    """Limits on compared names and described patterns keep lint fast."""
    names = "".join(f"User-agent: Crawler-{'x' * (n % 7)}{n}\n" for n in range(MOST_NAMES))
    assert not lint(names + "User-agent: Googelbot\n", select=["misspelt-crawler"])
    body = "User-agent: *\n" + "Disallow: /(a|b)\n" * (MOST_DESCRIBED + 1)
    notes = lint(body, select=["pattern-like-an-expression"])
    assert [": it matches" in note.message for note in notes] == [True] * MOST_DESCRIBED + [False]


def test_everything_disallowed_needs_a_proof() -> None:
    """A proof finds an exception that no rule spells out; with very many rules there is no note."""
    hidden = "User-agent: *\nDisallow: /\nDisallow: /xa*\nAllow: /*a\n"
    assert not lint(hidden, select=["everything-disallowed"])
    many = "User-agent: *\nDisallow: /\n" + "Disallow: /x\n" * 500
    assert not lint(many, select=["everything-disallowed"])


# --- Shapes ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("value", "members"),
    [
        (b"a, b", (b"a", b"b")),
        (b"a/1.0,*", (b"a/1.0", b"*")),
        (b"a,", ()),
        (b"a b, c", ()),
        (b"a", ()),
    ],
)
def test_lists_of_names(value: bytes, members: tuple[bytes, ...]) -> None:
    """A list has at least two names with a comma between them, and nothing else."""
    assert split_list(value) == members


def test_value_shapes() -> None:
    """Each value has exactly one shape."""
    assert is_header(b"mozilla/5.0")
    assert is_header(b"see https://example.com/bot")
    assert not is_header(b"ExampleBot/1.0 (https://example.com/bot)")
    assert is_authority(b"example.com:8080/x")
    assert not is_authority(b"readme.txt")
    assert is_authority(b"example.com/" + b"x" * 1000)
    assert not is_authority(b"com." * 100_000 + b"!")
    assert is_expression(rb"/\d")
    assert not is_expression(b"/a.b*c$")
    assert extract_path(b"https://example.com") == b""
    assert extract_path(b"www.example.com/a?b=/c") == b"/a?b=/c"
    assert extract_path(b"readme.txt") == b""


# What fails a run by default, and what does not: the levels that site owners rely on.
LEVELS = {
    "<!DOCTYPE html>": ("looks-like-html", "error"),
    "User-agent: *\nDisallow: /\n": ("everything-disallowed", "warning"),
    "User-agent: *\nDisallow: /a\nDisallow: /a\n": ("duplicate-rule", "info"),
    "User-agent: *\nDisallow: /a\nUser-agent: B\nDisallow: /c\n": ("star-not-inherited", "warning"),
    "User-agent: Googlebot/2.1\nDisallow: /a\n": ("user-agent-text", "info"),
    "User-agent: Download Ninja\nDisallow: /a\n": ("user-agent-text", "info"),
    "User-agent: Googlebot Mobile\nDisallow: /a\n": ("user-agent-text", "warning"),
    "User-agent: Foo Disallow: /a\n": ("user-agent-text", "warning"),
    "User-agent: http://a.example/b\nDisallow: /a\n": ("header-as-user-agent", "warning"),
}


@pytest.mark.parametrize("body", LEVELS)
def test_levels(body: str) -> None:
    """Errors and warnings fail a run, and information does not."""
    slug, level = LEVELS[body]
    assert only(body, slug).level == level


def test_utf_16_is_an_error() -> None:
    """Many crawlers find no rules there, so the fix changes verdicts."""
    body = "\ufeffUser-agent: *\nDisallow: /a\n".encode("utf-16-le")
    (note,) = lint(body, select=["not-utf8"])
    assert (note.level, note.fix and note.fix.changes_verdicts) == ("error", True)


def test_a_url_is_not_called_a_header() -> None:
    """The message distinguishes both."""
    body = "User-agent: {}\nDisallow: /a\n"
    said = only(body.format("https://a.example/bot"), "header-as-user-agent").message
    assert said.startswith("'https://a.example/bot' is a URL, not a product token")
    said = only(body.format("Mozilla/5.0 (x)"), "header-as-user-agent").message
    assert "is a whole User-Agent header" in said


# Parts of files that the software of many sites writes, with nothing wrong in them.
STOCK = {
    "shop": (
        "User-agent: *\nDisallow: /a/downloads/-/*\nDisallow: /admin\nDisallow: /cart\n"
        "Disallow: /orders\nDisallow: /checkouts/\nDisallow: /checkout\n"
        "Disallow: /collections/*+*\nDisallow: /collections/*%2B*\nDisallow: /collections/*%2b*\n"
        "Disallow: /*/collections/*+*\n"
        "Disallow: /*/collections/*%2B*\nDisallow: /*/*?*ls%3D*%3Fls%3D*\n"
        "Disallow: /*/*?*ls%3d*%3fls%3d*\n\nUser-agent: adsbot-google\nDisallow: /checkouts/\n"
        "Disallow: /cart\n\nUser-agent: Nutch\nDisallow: /\n\nUser-agent: MJ12bot\n"
        "Crawl-delay: 10\n"
    ),
    "blog": "User-agent: *\nDisallow: /wp-admin/\nAllow: /wp-admin/admin-ajax.php\n",
    "wiki": (
        "User-agent: Mediapartners-Google*\nDisallow: /\n\n"
        "User-agent: Download Ninja\nDisallow: /\n\n"
        "User-agent: *\nAllow: /w/load.php?\nDisallow: /w/\nDisallow: /wiki/Special:\n"
        "Disallow: /wiki/Special%3A\nDisallow: /wiki/Wikipedia:L\u00f6schkandidaten/\n"
        "Disallow: /wiki/Wikipedia%3AL%C3%B6schkandidaten/\n"
    ),
    "forum": (
        "User-agent: *\nDisallow: /admin/\nDisallow: /auth/\nDisallow: /badges\n"
        "Disallow: /search\n\n"
        "User-agent: Googlebot\nDisallow: /admin/\nDisallow: /auth/\n"
    ),
}


@pytest.mark.parametrize("name", STOCK)
def test_a_stock_file_passes(name: str) -> None:
    """A run fails on errors and warnings by default, and such files have none."""
    assert [note for note in lint(STOCK[name]) if note.level != "info"] == []


def test_example_urls_use_the_origin_of_the_file() -> None:
    """If it is known; a URL that is written in the file stays as it is."""
    body = "User-agent: *\nDisalow: /private/\n"
    for url, origin in (
        (None, "https://example.com"),
        ("http://a.example:81/", "http://a.example:81"),
    ):
        notes = lint(body, received=None if url is None else ServedResponse(url))
        assert {note.url for note in notes if note.url} == {f"{origin}/private/"}
    body += "Sitemap: https://example.com/private/\n"
    notes = lint(body, received=ServedResponse("http://a.example:81/"))
    assert {note.url for note in notes if note.url} == {"https://example.com/private/"}


def test_a_file_in_utf16_has_no_other_note_about_parsers() -> None:
    """Many crawlers find no rules in it, so no note compares parsers."""
    body = "\ufeffUser-agent: *\nDisallow: /a\n"
    slugs = [note.slug for note in lint(body.encode("utf-16-le"))]
    assert "not-utf8" in slugs
    assert "profiles-differ" not in slugs


def test_a_rule_of_the_star_group_that_is_not_repeated() -> None:
    """The first such line, and a URL that the crawler may fetch."""
    body = (
        "User-agent: *\nDisallow: /a\nDisallow: /b\nDisallow: /c*/d$\n"
        "User-agent: ExampleBot\nDisallow: /a\nDisallow: /b2\nDisallow: /c*/d$\n"
    )
    note = only(body, "star-not-inherited")
    assert (note.line, note.level) == (5, "info")
    assert note.message == (
        "ExampleBot obeys only this group, which repeats 2 of 3 rules for '*', so it may fetch the "
        "URLs that line 3 ('Disallow: /b') blocks for everyone else. Repeat the rule here if it "
        "should apply."
    )
    assert note.url
    assert parse(body).check(note.url, "ExampleBot")
    assert not parse(body).check(note.url, "OtherBot")
    third = only(body.replace("Disallow: /a\nDisallow: /b2", "Disallow: /b2"), note.slug)
    assert (third.level, "repeats 1 of 3" in third.message) == ("warning", True)
    one_of_four = (
        "User-agent: *\nDisallow: /a\nDisallow: /b\nDisallow: /c\nDisallow: /d\n"
        "User-agent: ExampleBot\nDisallow: /a\nDisallow: /e\n"
    )
    assert only(one_of_four, note.slug).level == "warning"


def test_one_note_for_all_redundant_rules() -> None:
    """With all locations; a suppressed line does not count."""
    rules = [f"Disallow: /a/{number}" for number in range(5)]
    body = "\n".join(["User-agent: *", "Disallow: /a/", *rules])
    note = only(body, "redundant-rule")
    assert (note.line, [one.line for one in note.related]) == (3, [2, 4, 5, 6, 7])
    assert note.message.startswith(
        "5 rules are redundant. The first is this one: line 2 already bl"
    )
    meant = body.replace("/a/0", "/a/0 # robotrules: ignore[RR504]")
    assert only(meant, "redundant-rule").message.startswith("4 rules")
    assert not lint(meant, select=["unused-suppression"])


def test_a_rule_that_google_needs_is_not_redundant() -> None:
    """Google's parser distinguishes `/a%3Ab/c` from the paths that `/a:b` matches."""
    body = "User-agent: *\nDisallow: /a:b\nDisallow: {}\n"
    assert not lint(body.format("/a%3Ab/c"), select=["redundant-rule"])
    assert lint(body.format("/a:b/c"), select=["redundant-rule"])
    assert lint(body.format("/a:b/%3A"), select=["redundant-rule"])


def test_one_note_for_all_retired_crawlers() -> None:
    """Each name once."""
    body = "User-agent: anthropic-ai\nUser-agent: Claude-Web\nUser-agent: claude-web\nDisallow: /\n"
    note = only(body, "retired-crawler")
    assert "2 of the crawlers that the file names are retired" in note.message
    assert [repeated.line for repeated in note.related] == [2, 3]
    repeated = only("User-agent: Claude-Web\nDisallow: /\n" * 2, "retired-crawler")
    assert repeated.message.endswith(" 2 lines name it.")


def test_a_path_that_no_request_has() -> None:
    """The note says why the rule is dead, and suggests the path that clients send (AMB-46)."""
    note = only("User-agent: *\nDisallow: /a/../b\n", "dead-rule")
    assert note.message == (
        "'Disallow: /a/../b' has no effect for any crawler: crawlers resolve '.' and '..' before "
        "they request a URL. Write the resolved path."
    )
    assert note.fix
    assert note.fix.title == "Write '/b'"


def test_a_truncated_file_names_the_first_ignored_line() -> None:
    """As an editor counts lines."""
    line = b"Disallow: /page\n"
    body = b"User-agent: *\n" + line * (520_000 // len(line))
    message = only(body, "truncated").message
    first = 1 + body[:512_000].count(b"\n") + 1
    assert message == (
        "The file is longer than 512,000 bytes: crawlers may ignore everything from line "
        f"{first} on. Shorten it."
    )


def test_rules_that_were_not_checked() -> None:
    """The suggested command works: simplify has a larger budget."""
    rules = "".join(f"Disallow: /*a*b*c*{number}*d\n" for number in range(40))
    body = f"User-agent: *\n{rules}Disallow: /*a*b\n"
    (note,) = lint(body, select=["not-decided"], max_states=1)
    assert note.message.endswith("not checked for redundancy; 'robotrules simplify' checks them.")
    assert "(from line 2 on)" in note.message
    assert analysis.simplify(parse(body)).rules_after == 1


def test_a_cause_makes_profiles_differ_once_for_each_group() -> None:
    """Thousands of misspelt rules have one such note, and each its own note about the spelling."""
    group = "".join(f"Disalow: /{number}/\n" for number in range(100))
    body = f"User-agent: a\n{group}User-agent: b\n{group}"
    assert [note.line for note in lint(body, select=["profiles-differ"])] == [2, 103]
    assert len(lint(body, select=["typo"])) == 200
