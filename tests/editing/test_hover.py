"""Hover: the text for each record, and that its statements are true."""

from __future__ import annotations

import re

import pytest

import robotrules
from robotrules.editing import hover as module
from robotrules.editing.document import OpenDocument
from robotrules.editing.hover import render_hover
from robotrules.editing.record_info import RECORDS
from robotrules.registries.crawlers import KNOWN_CRAWLERS
from tests.lsp.samples import REGISTRIES, note


def hover_text(text: str, about: str, profile: str = "default") -> str:
    """Return the hover text at the first occurrence of *about*."""
    document = OpenDocument(text, profile=profile, registries=REGISTRIES)
    found = render_hover(document, document.octets.index(about.encode()))
    assert found is not None
    return found.markdown


# --- Rules ----------------------------------------------------------------------------------------

RULES = """\
User-agent: ExampleBot
User-agent: OtherBot
Disallow: /shop*
Allow: /shop
Disallow: /*/print$

User-agent: *
Disallow: /
"""


def test_a_rule_says_what_it_matches_and_misses() -> None:
    """A sentence, example URLs, its crawlers, its length, and the reference."""
    text_shown = hover_text(RULES, "/*/print$")
    assert text_shown.startswith("**Disallow** `/*/print$` for `ExampleBot`, `OtherBot`")
    assert "Matches every URL that ends with '/print'" in text_shown
    matches, misses = text_shown.partition("Matches:")[2].split("Does not match:")
    rules = robotrules.parse(RULES).rules_for("ExampleBot")
    urls = [line.split("`")[1] for line in matches.splitlines() if line.startswith("- ")]
    assert urls
    assert not any(rules.allows(url) for url in urls)
    assert "`https://example.com/print`: the same '/' cannot count twice" in misses
    assert "**9 bytes**" in text_shown
    assert "rfc9309#section-2.2.2" in text_shown


def test_a_rule_with_an_effect_shows_a_url() -> None:
    """A shortest URL that the rule decides."""
    text_shown = hover_text(RULES, "/shop*")
    assert "It decides `https://example.com/shop`, for example." in text_shown


def test_a_dead_rule_names_the_deciding_rule() -> None:
    """With its line."""
    text_shown = hover_text(RULES, "Allow: /shop\n")
    assert "**It has no effect**" in text_shown
    assert "decided by line 3, `Disallow: /shop*`." in text_shown


def test_a_rule_is_dead_only_if_it_is_for_all_its_crawlers() -> None:
    """Two crawlers may share a group and differ in their other groups."""
    text = "User-agent: a\nUser-agent: b\nAllow: /x\n\nUser-agent: a\nDisallow: /x*\n"
    assert "It decides `https://example.com/x`" in hover_text(text, "/x\n")
    both = text.replace("\n\nUser-agent: a", "\n\nUser-agent: a\nUser-agent: b")
    assert "It has no effect" in hover_text(both, "/x\n")


def test_a_pattern_that_matches_nothing() -> None:
    """Dot segments are removed from URLs before they are compared."""
    text_shown = hover_text("User-agent: *\nDisallow: /a/../b\n", "/a/")
    assert "Matches no URL at all." in text_shown
    assert "no URL matches its pattern" in text_shown


def test_an_empty_rule() -> None:
    """Many authors expect an empty Disallow to block everything."""
    assert "An empty Disallow blocks nothing" in hover_text(
        "User-agent: *\nDisallow:\n", "Disallow"
    )
    assert "An empty Allow has no effect" in hover_text("User-agent: *\nAllow:\n", "Allow")


def test_a_rule_outside_a_group() -> None:
    """Before the first user-agent line it applies to no crawler."""
    assert "it applies to no crawler" in hover_text("Disallow: /x\n", "Disallow")


def test_the_name_of_a_rule_has_the_general_description() -> None:
    """The value has only the text about this rule."""
    assert "Asks crawlers not to fetch" in hover_text(RULES, "Disallow: /shop*")
    assert "Asks crawlers not to fetch" not in hover_text(RULES, "/shop*")


def test_an_undecided_question_is_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    """With no budget left, and for too many rules."""
    monkeypatch.setattr(module, "MAX_STATES", 1)
    assert "was not decided in the time for a hover" in hover_text(RULES, "/shop*")
    monkeypatch.setattr(module, "MAX_RULES", 2)
    assert "There are 3 rules" in hover_text(RULES, "/shop*")


def test_purposes_have_rules_too() -> None:
    """A rule of a purpose group has an effect for crawlers with that purpose."""
    text = "User-Agent-Purpose: EXAMPLE-PURPOSE-1\nDisallow: /x\n"
    assert "It decides `https://example.com/x`" in hover_text(text, "/x")


# --- Crawlers -------------------------------------------------------------------------------------


def test_a_known_crawler_is_described() -> None:
    """Its operator, purposes and documentation, and which groups it obeys."""
    known = KNOWN_CRAWLERS.get("GPTBot")
    assert known is not None
    text = "User-agent: gptbot\nDisallow: /a\n\nUser-agent: GPTBot/1.1\nCrawl-delay: 3\nAllow: /b\n"
    for about in ("gptbot", "GPTBot/"):
        text_shown = hover_text(text, about)
        assert text_shown.startswith(f"**`GPTBot`** ({known.operator})")
        assert known.purposes[0] in text_shown
        assert known.documentation in text_shown
        assert "2 groups, combined into one, at lines 1-2 and lines 4-6: 2 rules" in text_shown
        assert "Crawl-delay: 3 seconds between requests (line 5)" in text_shown


def test_a_crawler_with_several_names() -> None:
    """If no group names it, it obeys the groups of another name."""
    known = next(one for one in KNOWN_CRAWLERS if one.also and one.status == "active")
    text_shown = hover_text(
        f"User-agent: {known.product_token}\nDisallow: /a\n", known.product_token
    )
    assert f"it obeys the groups for `{known.also[0]}`" in text_shown


def test_an_unknown_name() -> None:
    """It is valid; a similar known name is suggested."""
    unknown = "robotrules does not know a crawler of this name"
    assert unknown in hover_text("User-agent: Xyzzy\n", "Xyzzy")
    assert "Did you mean `Googlebot` (Google)?" in hover_text(
        "User-agent: Gogglebot\n", "Gogglebot"
    )


def test_the_star() -> None:
    """With or without text after it."""
    for line in ("User-agent: *", "User-agent: * all"):
        assert hover_text(f"{line}\nDisallow: /\n", "*").startswith("**All crawlers**")


def test_a_missing_and_an_invalid_name() -> None:
    """Both apply to no crawler; profile strict says which names are valid."""
    assert "its group applies to no crawler" in hover_text("User-agent:\n", "User-agent")
    assert "letters" in hover_text("User-agent: M12\nDisallow: /\n", "M12", "strict")


# --- Other records --------------------------------------------------------------------------------

OTHERS = """\
User-agent: *
Crawl-delay: 2.5
Request-rate: 5/1m 1700-1259
Visit-time: 2200-0559
Clean-param: sid&ref /forum/
Host: https://shop.example
Content-Usage: /img/ train-ai=n
Content-Signal: ai-train=no, search=yes
App-Directives: /news/ examplesearch;widgets;teaser=200, other;x
User-Agent-Purpose: EXAMPLE-PURPOSE-1
Noindex: /old/
Frobnicate: /x
Sitemap: https://shop.example/sitemap.xml
"""


@pytest.mark.parametrize(
    ("about", "expected"),
    [
        ("2.5", "to wait **2.5 seconds** between two requests: at most 34,560 requests per day"),
        ("5/1m", "**5 requests** in 60 seconds from 1700-1259 UTC: one every 12 seconds"),
        ("2200", "only during `2200-0559`, in UTC"),
        ("sid", "`sid`, `ref` do not change a page below `/forum/`"),
        ("https://shop.example\n", "The preferred host is `https://shop.example`"),
        ("/img/", "URLs that match `/img/`:\n\n- training AI models **is disallowed**"),
        ("/img/", "- search applications **has no stated preference**"),
        ("ai-train", "- training AI models: **no**\n- search results: **yes**"),
        ("/news/", "- `examplesearch`: `widgets=?1` (registered; Whether to show widgets.)"),
        ("/news/", "`teaser=200` (deprecated; The size of a teaser.)"),
        ("/news/", "- `other`: `x=?1` (unregistered)"),
        ("EXAMPLE", "`EXAMPLE-PURPOSE-1`: Fetches for examples."),
        ("Noindex", "No known crawler reads it"),
        ("Frobnicate", "**`frobnicate`**"),
        ("Sitemap", "The sitemap is `https://shop.example/sitemap.xml`."),
        ("Sitemap", "<https://www.sitemaps.org/protocol.html>"),
        ("Crawl-delay", "It applies to `*`, `EXAMPLE-PURPOSE-1`."),
        ("Crawl-delay", "\n\nReference: Bing, Yandex until 2018"),
    ],
)
def test_the_value_of_a_record(about: str, expected: str) -> None:
    """As the reader of the extension parses it."""
    assert expected in hover_text(OTHERS, about)


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("Crawl-delay: soon", "not a number of seconds"),
        ("Request-rate: often", "not a request rate"),
        ("Sitemap: mailto:x", "not a URL"),
        ("Sitemap: /s.xml", "this one is relative"),
        ("Content-Usage: train-ai=", "not a valid Structured Field"),
        ("App-Directives: ;;", "not a valid Structured Field"),
    ],
)
def test_an_invalid_value_is_explained(line: str, expected: str) -> None:
    """With the message of the note."""
    assert expected in hover_text(f"User-agent: *\n{line}\n", line.split(":")[0])


def test_an_extension_outside_a_group() -> None:
    """A group record before the first user-agent line."""
    assert "it applies to no crawler" in hover_text("Crawl-delay: 2\n", "Crawl")


# --- Elsewhere ------------------------------------------------------------------------------------


def test_comments_and_empty_lines_have_no_hover() -> None:
    """Nor do lines that are not records."""
    for text, offset in (("# hi", 1), ("\n\n", 1), ("hello", 2), ("Disallow: /x # y", 15), ("", 0)):
        assert render_hover(OpenDocument(text), offset) is None


def test_a_note_adds_the_summary_of_its_check() -> None:
    """Inside the range of the note."""
    text = "User-agent: *\nhello\nDisallow: x\n"
    found = [note(text, "hello"), note(text, "x\n", code="RR505", slug="pattern-start")]
    document = OpenDocument(text)
    alone = render_hover(document, text.index("hello") + 1, found)
    assert alone is not None
    assert alone.markdown == "---\n\n**RR999 invented**"
    beside = render_hover(document, text.index("x\n"), found)
    assert beside is not None
    assert beside.markdown.startswith("**Disallow** `x`")
    summary = beside.markdown.partition("**RR505 pattern-start**: ")[2]
    assert len(summary) > 20
    assert "Why it matters" not in summary


EVIL = "<img src=x>[a](https://evil.example/)`*_b_"


@pytest.mark.parametrize(
    "line", [f"{name}: {EVIL}" for name in (*"abc", *RECORDS)] + [f"{EVIL}: x"]
)
def test_quoted_text_is_not_interpreted_as_markdown(line: str) -> None:
    """It is in a code span or escaped (CommonMark §2.4, §6.1)."""
    text = f"User-agent: *\n{line.replace(': <', ': /<')}\n"
    text_shown = hover_text(text, "<img")
    bare = re.sub(r"(?<!`)(`+)(?!`)(.+?)(?<!`)\1(?!`)", "", text_shown)
    bare = re.sub(r"\\[^\w\s]", "", bare)
    assert "<img" not in bare
    assert "](https://evil" not in bare
    assert "_b_" not in bare


@pytest.mark.parametrize("char", ["*", "x", "é", "\\"])
def test_hostile_patterns_have_a_bounded_hover(char: str) -> None:
    """Lines of 200,000 characters."""
    text = f"User-agent: *\nDisallow: /{char * 200_000}\nUser-agent: {char * 200_000}\n"
    document = OpenDocument(text)
    for at in (16, 30, len(document.octets) - 5):
        found = render_hover(document, at)
        assert found is None or len(found.markdown) < 20_000
