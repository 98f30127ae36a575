"""Hover: what stands there, in words, and nothing that is not so."""

from __future__ import annotations

import re

import pytest

import robotrules
from robotrules.lsp import hover as module
from robotrules.lsp.document import OpenDocument
from robotrules.lsp.hover import hover
from robotrules.lsp.records import RECORDS
from robotrules.registries.crawlers import KNOWN_CRAWLERS
from tests.lsp.samples import REGISTRIES, note


def words(text: str, about: str, profile: str = "default") -> str:
    """Return the words at the first place of a part of a text."""
    document = OpenDocument(text, profile=profile, registries=REGISTRIES)
    found = hover(document, document.octets.index(about.encode()))
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
    """A sentence, URLs of both sorts, whom it is for, how specific it is, where that is written."""
    said = words(RULES, "/*/print$")
    assert said.startswith("**Disallow** `/*/print$` for `ExampleBot`, `OtherBot`")
    assert "Matches every URL that ends with '/print'" in said
    matches, misses = said.partition("Matches:")[2].split("Misses:")
    rules = robotrules.parse(RULES).rules_for("ExampleBot")
    urls = [line.split("`")[1] for line in matches.splitlines() if line.startswith("- ")]
    assert urls
    assert not any(rules.allows(url) for url in urls)
    assert "`https://example.com/print`: the same '/' cannot count twice" in misses
    assert "**9 octets**" in said
    assert "rfc9309#section-2.2.2" in said


def test_a_rule_that_decides_shows_a_url() -> None:
    """A shortest one, and that rule decides it."""
    said = words(RULES, "/shop*")
    assert "It decides `https://example.com/shop`, for example." in said


def test_a_dead_rule_says_who_decides_instead() -> None:
    """Proved, and with the line."""
    said = words(RULES, "Allow: /shop\n")
    assert "**It decides nothing**" in said
    assert "decided by line 3, `Disallow: /shop*`." in said


def test_a_rule_is_dead_only_if_it_is_for_everybody_it_is_for() -> None:
    """Two crawlers may share a group and not what decides there."""
    text = "User-agent: a\nUser-agent: b\nAllow: /x\n\nUser-agent: a\nDisallow: /x*\n"
    assert "It decides `https://example.com/x`" in words(text, "/x\n")
    both = text.replace("\n\nUser-agent: a", "\n\nUser-agent: a\nUser-agent: b")
    assert "It decides nothing" in words(both, "/x\n")


def test_a_pattern_that_matches_nothing() -> None:
    """No URL has dot segments when it is compared."""
    said = words("User-agent: *\nDisallow: /a/../b\n", "/a/")
    assert "Matches no URL at all." in said
    assert "no URL matches its pattern" in said


def test_an_empty_rule() -> None:
    """It asks for nothing, which many do not expect."""
    assert "allows everything" in words("User-agent: *\nDisallow:\n", "Disallow")
    assert "says nothing" in words("User-agent: *\nAllow:\n", "Allow")


def test_a_rule_for_nobody() -> None:
    """Before the first user-agent line nobody is asked."""
    assert "it is for nobody" in words("Disallow: /x\n", "Disallow")


def test_the_name_of_a_rule_says_what_rules_do() -> None:
    """On the name there is a sentence about all such records."""
    assert "Asks crawlers not to fetch" in words(RULES, "Disallow: /shop*")
    assert "Asks crawlers not to fetch" not in words(RULES, "/shop*")


def test_what_is_not_decided_is_not_claimed(monkeypatch: pytest.MonkeyPatch) -> None:
    """With a budget of nothing there is no answer, and with too many rules no question."""
    monkeypatch.setattr(module, "BUDGET", 1)
    assert "was not decided in a moment" in words(RULES, "/shop*")
    monkeypatch.setattr(module, "MOST_RULES", 2)
    assert "There are 3 rules" in words(RULES, "/shop*")


def test_purposes_have_rules_too() -> None:
    """A rule of a purpose group decides for whoever has the purpose."""
    text = "User-Agent-Purpose: EXAMPLE-PURPOSE-1\nDisallow: /x\n"
    assert "It decides `https://example.com/x`" in words(text, "/x")


# --- Crawlers -------------------------------------------------------------------------------------


def test_a_known_crawler_is_introduced() -> None:
    """Who runs it, what for, where that is documented, and which groups it obeys."""
    known = KNOWN_CRAWLERS.get("GPTBot")
    assert known is not None
    text = "User-agent: gptbot\nDisallow: /a\n\nUser-agent: GPTBot/1.1\nCrawl-delay: 3\nAllow: /b\n"
    for about in ("gptbot", "GPTBot/"):
        said = words(text, about)
        assert said.startswith(f"**`GPTBot`** of {known.operator}")
        assert known.purposes[0] in said
        assert known.documentation in said
        assert "2 groups, which count as one, at lines 1-2 and lines 4-6: 2 rules" in said
        assert "wait 3 seconds between requests (line 5)" in said


def test_a_crawler_with_several_names() -> None:
    """Where no group names it, it obeys those of another."""
    known = next(one for one in KNOWN_CRAWLERS if one.also and one.status == "active")
    said = words(f"User-agent: {known.product_token}\nDisallow: /a\n", known.product_token)
    assert f"it obeys those of `{known.also[0]}`" in said


def test_a_name_that_nobody_knows() -> None:
    """It is a crawler all the same; a slip of the pen is asked about."""
    assert "not among the crawlers that robotrules knows" in words("User-agent: Xyzzy\n", "Xyzzy")
    assert "Was `Googlebot` of Google meant?" in words("User-agent: Gogglebot\n", "Gogglebot")


def test_everyone_else() -> None:
    """The star, with or without text behind it."""
    for line in ("User-agent: *", "User-agent: * all"):
        assert words(f"{line}\nDisallow: /\n", "*").startswith("**Everyone**")


def test_a_line_without_a_name_and_a_name_that_is_none() -> None:
    """Both are for nobody; profile strict says what a name is."""
    assert "its group is for nobody" in words("User-agent:\n", "User-agent")
    assert "letters" in words("User-agent: M12\nDisallow: /\n", "M12", "strict")


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
    ("about", "said"),
    [
        ("2.5", "Please wait **2.5 seconds** between two requests: that is 34,560 in a day"),
        ("5/1m", "**5 requests** in 60 seconds from 1700-1259 UTC: one every 12 seconds"),
        ("2200", "`2200-0559`, in UTC"),
        ("sid", "`sid`, `ref` change nothing on a page below `/forum/`"),
        ("https://shop.example\n", "The preferred host is `https://shop.example`"),
        ("/img/", "URLs that match `/img/`:\n\n- training AI models **is disallowed**"),
        ("/img/", "- search applications **is left open**"),
        ("ai-train", "- training AI models: **no**\n- search results: **yes**"),
        ("/news/", "- `examplesearch`: `widgets=?1` (registered; Whether to show widgets.)"),
        ("/news/", "`teaser=200` (deprecated; The size of a teaser.)"),
        ("/news/", "- `other`: `x=?1` (unregistered)"),
        ("EXAMPLE", "`EXAMPLE-PURPOSE-1`: Fetches for examples."),
        ("Noindex", "No crawler that is known reads it"),
        ("Frobnicate", "**`frobnicate`**"),
        ("Sitemap", "The sitemap is `https://shop.example/sitemap.xml`."),
        ("Sitemap", "<https://www.sitemaps.org/protocol.html>"),
        ("Crawl-delay", "It is for `*`, `EXAMPLE-PURPOSE-1`."),
        ("Crawl-delay", "\n\nReference: Bing, Yandex until 2018"),
    ],
)
def test_what_a_record_says(about: str, said: str) -> None:
    """What the record means, and its value as its reader reads it."""
    assert said in words(OTHERS, about)


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("Crawl-delay: soon", "not a number of seconds"),
        ("Request-rate: often", "not a request rate"),
        ("Sitemap: mailto:x", "not a URL"),
        ("Sitemap: /s.xml", "this one is relative"),
        ("Content-Usage: train-ai=", "not a valid Structured Field"),
        ("App-Directives: ;;", "not a valid Structured Field"),
    ],
)
def test_a_value_that_cannot_be_used_says_why(line: str, said: str) -> None:
    """In the words of its note."""
    assert said in words(f"User-agent: *\n{line}\n", line.split(":")[0])


def test_a_record_for_nobody() -> None:
    """A record of a group that stands in none."""
    assert "it is for nobody" in words("Crawl-delay: 2\n", "Crawl")


# --- Elsewhere ------------------------------------------------------------------------------------


def test_comments_and_empty_lines_say_nothing() -> None:
    """Nor does what is no record."""
    for text, offset in (("# hi", 1), ("\n\n", 1), ("hello", 2), ("Disallow: /x # y", 15), ("", 0)):
        assert hover(OpenDocument(text), offset) is None


def test_a_note_teaches() -> None:
    """On the span of a note stands what its check finds."""
    text = "User-agent: *\nhello\nDisallow: x\n"
    found = [note(text, "hello"), note(text, "x\n", code="RR505", slug="pattern-start")]
    document = OpenDocument(text)
    alone = hover(document, text.index("hello") + 1, found)
    assert alone is not None
    assert alone.markdown == "---\n\n**RR999 made-up**"
    beside = hover(document, text.index("x\n"), found)
    assert beside is not None
    assert beside.markdown.startswith("**Disallow** `x`")
    taught = beside.markdown.partition("**RR505 pattern-start**: ")[2]
    assert len(taught) > 20
    assert "Why it matters" not in taught


EVIL = "<img src=x>[a](https://evil.example/)`*_b_"


@pytest.mark.parametrize(
    "line", [f"{name}: {EVIL}" for name in (*"abc", *RECORDS)] + [f"{EVIL}: x"]
)
def test_nothing_of_a_file_becomes_markdown(line: str) -> None:
    """Whatever stands in a file stands in a code span or is escaped (CommonMark §2.4, §6.1)."""
    text = f"User-agent: *\n{line.replace(': <', ': /<')}\n"
    said = words(text, "<img")
    bare = re.sub(r"(?<!`)(`+)(?!`)(.+?)(?<!`)\1(?!`)", "", said)
    bare = re.sub(r"\\[^\w\s]", "", bare)
    assert "<img" not in bare
    assert "](https://evil" not in bare
    assert "_b_" not in bare


@pytest.mark.parametrize("sign", ["*", "x", "é", "\\"])
def test_hostile_patterns_have_answers(sign: str) -> None:
    """Half a mebibyte in a line is answered like any other."""
    text = f"User-agent: *\nDisallow: /{sign * 200_000}\nUser-agent: {sign * 200_000}\n"
    document = OpenDocument(text)
    for at in (16, 30, len(document.octets) - 5):
        found = hover(document, at)
        assert found is None or len(found.markdown) < 20_000
