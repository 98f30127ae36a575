"""
Lint of a page: the arguments and the order of `lint_page`, and the texts of a `PageContext`.

The literate tests RR8xx.md cover the fields and elements of notes. These tests cover the arguments,
the parts that notes name, and both states of a page.
"""

from __future__ import annotations

import pytest

from robotrules import parse
from robotrules.errors import CheckError
from robotrules.linting import CHECKS, lint, lint_page
from robotrules.linting.check import PageCheck
from robotrules.linting.context import PageContext
from robotrules.linting.mentions import (
    describe_rules,
    find_carrier,
    find_rule_text,
    find_rules_in_force,
)
from robotrules.registries import Registries, Registry, TagRule
from robotrules.tags import usage_rules
from robotrules.tags.codes import Carrier, PageState, TagNote, TagSource
from robotrules.tags.rules import RuleStatus

URL = "https://example.com/page"
NOINDEX = '<head><meta name="robots" content="noindex"></head>'
NOTHING = "<head></head>"


def slugs(**given: object) -> list[str]:
    """Return the slugs of the notes on a page, in order."""
    return [note.slug for note in lint_page(URL, **given)]  # type: ignore[arg-type]


def page(**given: object) -> PageContext:
    """Return a page as checks see it."""
    return PageContext(usage_rules(**given))  # type: ignore[arg-type]


# --- What is looked at ----------------------------------------------------------------------------


def test_a_truncated_page() -> None:
    """Its head may continue after the part that was fetched."""

    headers = {"Content-Type": "text/html"}
    cut = {"headers": headers, "html": "<title>t</title>", "complete": False}
    assert slugs(**cut) == ["head-not-final"]
    assert slugs(**{**cut, "complete": True}) == []
    assert slugs(headers=headers, complete=False) == []


def test_a_page_without_tags_has_no_notes() -> None:
    """No tags, no arguments, or not HTML."""
    assert slugs() == []
    assert slugs(headers={"Content-Type": "text/html"}, html=NOTHING) == []
    assert slugs(headers={"Content-Type": "application/pdf"}, html="%PDF <meta") == []


def test_only_checks_of_pages_run_on_a_page() -> None:
    """Checks of files find nothing on a page, and checks of pages find nothing in a file."""
    pages = {check.slug for check in CHECKS if isinstance(check, PageCheck)}
    assert {"bad-field", "noindex-not-seen"} <= pages
    assert slugs(headers={"X-Robots-Tag": "noindex"}, select=["dead-rule"]) == []
    for check in CHECKS:
        assert (check.code[2] == "8") is isinstance(check, PageCheck)
    assert lint("Disallow: /\nX-Robots-Tag: noindx\n", select=["RR8"]) == []


def test_checks_are_selected_as_for_a_file() -> None:
    """By code, code prefix, or slug; an unknown name raises."""
    headers = {"X-Robots-Tag": "no-index"}
    assert slugs(headers=headers) == ["deprecated-field", "misspelt-rule"]
    assert slugs(headers=headers, ignore=["deprecated-field"]) == ["misspelt-rule"]
    assert slugs(headers=headers, select=["RR821"]) == ["misspelt-rule"]
    with pytest.raises(CheckError):
        lint_page(URL, headers=headers, select=["mispelt-rule"])


def test_notes_name_the_part_that_they_are_about() -> None:
    """A field line, an element, or the page; never a line of a robots.txt."""
    headers = b"X-Robots-Tag: nofollow\nX-Robots-Tag: no-index\n"
    html = '<meta charset="utf-8"><meta name="robots" content="noidnex">'
    robots = parse("User-agent: *\nDisallow: /page\n")
    notes = lint_page(URL, headers=headers, html=html, robots=robots)
    parts = {(note.slug, note.part) for note in notes}
    assert ("misspelt-rule", "X-Robots-Tag line 2") in parts
    assert ("misspelt-rule", "meta element 2") in parts
    assert ("tags-not-seen", "page") in parts
    assert all(note.line is None and note.column == 0 for note in notes)
    assert [note.part for note in notes] == sorted(note.part for note in notes)


def test_a_note_has_the_span_in_its_line() -> None:
    """Start and end are octets of the field line."""
    (note,) = lint_page(
        URL, headers=b"X-Robots-Tag: nofollow, no-index\n", select=["misspelt-rule"]
    )
    assert (note.start, note.end) == (10, 18)
    assert "'no-index'" in note.message
    assert "'noindex'" in note.message


def test_rules_of_a_named_crawler() -> None:
    """Rules for a crawler are examined if it is the product token."""
    html = '<meta name="examplebot" content="no-index">'
    assert slugs(html=html) == []
    assert slugs(html=html, product_token="ExampleBot") == ["misspelt-rule"]


def test_with_a_robots_txt() -> None:
    """A noindex on a blocked page is reported with the line that blocks it."""
    robots = parse("User-agent: *\nDisallow: /page\nAllow: /page/open\n")
    notes = lint_page(URL, html=NOINDEX, robots=robots, select=["noindex-not-seen"])
    assert ["line 2: 'Disallow: /page'" in note.message for note in notes] == [True]
    assert not lint_page(
        URL + "/open", html=NOINDEX, robots=robots, select=["noindex-not-seen", "tags-not-seen"]
    )
    assert "noindex-not-seen" not in slugs(html=NOINDEX)


def test_content_never_raises() -> None:
    """Any octets are accepted as a page."""
    for octets in (b"\x00\xff", b"Robots-Tag: \xff;\x00=\n", b": :\n\n", b"\xef\xbb\xbf<meta"):
        lint_page(URL, headers=octets, html=octets, robots=parse(octets))


# --- Two states of a page -------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("html", "dom", "expected"),
    [
        (NOTHING, NOINDEX, ["only-in-final-dom"]),
        (NOINDEX, NOTHING, ["only-in-initial-html"]),
        (NOINDEX, NOINDEX, []),
        (None, NOINDEX, []),
        (NOINDEX, None, []),
    ],
)
def test_a_rule_in_one_state_of_the_page_is_reported(
    html: str | None, dom: str | None, expected: list[str]
) -> None:
    """Only if both states are known; the note names the rule."""
    notes = lint_page(URL, html=html, dom=dom, select=["only-in-final-dom", "only-in-initial-html"])
    assert [note.slug for note in notes] == expected
    assert all("'noindex'" in note.message for note in notes)


def test_an_element_of_the_final_dom_has_its_own_part() -> None:
    """It may have another number than in the HTML that was sent."""
    (note,) = lint_page(URL, html=NOTHING, dom=NOINDEX, select=["only-in-final-dom"])
    assert note.part == "meta element 1 of the final DOM"


# --- Contradictions -------------------------------------------------------------------------------


def test_a_contradiction_is_reported_once() -> None:
    """However often a place repeats itself; Yandex is named where it differs."""
    html = '<meta name="robots" content="index, index, all"><meta name="robots" content="noindex">'
    notes = lint_page(URL, html=html, select=["contradicting-tags"])
    assert len(notes) == 1
    assert "crawlers other than Yandex obey" in notes[0].message
    header = {"X-Robots-Tag": "noindex"}
    found = lint_page(
        URL,
        headers=header,
        html='<meta name="robots" content="index">',
        select=["contradicting-tags"],
    )
    assert ["Yandex" in note.message for note in found] == [False]


def test_contradictions_of_a_hostile_page_are_limited() -> None:
    """Only the first ones are reported."""
    html = '<meta name="robots" content="noindex">' + '<meta name="robots" content="index">' * 500
    assert len(lint_page(URL, html=html, select=["contradicting-tags"])) == 20


# --- Page: what a note points at ------------------------------------------------------------------


def test_the_text_of_a_note_on_a_field_is_that_of_its_line() -> None:
    """A span of the line, or all of it; empty for other parts."""
    seen = page(headers=b"X-Robots-Tag: noindex\nX-Robots-Tag: max-snippet: x\n")
    whole = TagNote("bad-value", "error", TagSource(Carrier.X_ROBOTS_TAG, 2))
    assert seen.text(whole) == "max-snippet: x"
    assert seen.text(whole._replace(start=0, end=11)) == "max-snippet"
    assert seen.text(whole._replace(source=TagSource(Carrier.X_ROBOTS_TAG, 3))) == ""
    assert seen.text(whole._replace(source=TagSource(Carrier.X_ROBOTS_TAG))) == ""
    assert seen.text(whole._replace(source=None)) == ""


def test_the_text_of_a_note_on_an_element_is_that_of_its_mention() -> None:
    """A page does not keep its elements; the mention of a rule has the text."""
    seen = page(html='<meta name="robots" content="noindex, noidnex">')
    (note,) = seen.tag_notes("misspelt-rule")
    assert seen.text(note) == ""
    assert find_rule_text(seen, note) == "noidnex"
    assert find_rule_text(seen, note._replace(start=None)) == ""
    assert find_rule_text(seen, note, RuleStatus.IN_FORCE) == ""


def test_of_a_member_with_several_rules_the_odd_one_is_quoted() -> None:
    """A note on Robots-Tag points at the whole member."""
    seen = page(headers={"Robots-Tag": "*;noindex;shiny"})
    (note,) = seen.tag_notes("unknown-rule")
    assert find_rule_text(seen, note) == "*;noindex;shiny"
    assert find_rule_text(seen, note, RuleStatus.UNKNOWN) == "shiny"


def test_each_note_is_reported_once() -> None:
    """The notes of guidance are added to those of the tag readers."""
    from robotrules import guidance

    headers = {"X-Robots-Tag": "noindex"}
    robots = parse("User-agent: *\nDisallow: /\n")
    both = PageContext(
        usage_rules(headers=headers), guidance(URL, "*", robots=robots, headers=headers)
    )
    assert len(list(both.tag_notes("deprecated-field"))) == 1
    assert len(list(both.tag_notes("noindex-not-seen"))) == 1
    assert list(both.tag_notes("no-such-code")) == []


def test_words_of_other_carriers_are_known_with_their_values() -> None:
    """In any case, and with any value after `=` or `:`."""
    assert find_carrier("Disallow") == "robots.txt"
    assert find_carrier("crawl-delay: 5") == "robots.txt"
    assert find_carrier("train-ai=n") == "a Content-Usage field or record"
    assert find_carrier("noindex") is None


def test_a_word_that_a_registry_has_is_a_tag_rule() -> None:
    """Then it is not in the wrong carrier."""
    headers = {"X-Robots-Tag": "train-ai"}
    known = Registries(tag_rules=Registry(TagRule, [TagRule("train-ai", "for tests", "none")]))
    assert slugs(headers=headers, select=["RR828"]) == ["rule-in-wrong-carrier"]
    assert slugs(headers=headers, select=["RR828"], registries=known) == []


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("noindex", "'*;noindex'"),
        ("googlebot: noindex, nofollow", "'googlebot;noindex;nofollow'"),
        ("noindex, max-snippet:20", "'*;max-snippet=20'"),
        ("otherbot: max-snippet: 20", "'otherbot;max-snippet=20'"),
        ("otherbot: unavailable_after: 2030-01-01", None),
    ],
)
def test_the_old_syntax_is_translated_to_the_new_one(old: str, new: str | None) -> None:
    """Where that is simple."""
    notes = lint_page(URL, headers={"Robots-Tag": old}, select=["legacy-syntax"])
    assert notes
    assert new is None or any(new in note.message for note in notes)
    assert ("write" in notes[-1].message) is (new is not None)


def test_rules_in_force_by_carrier() -> None:
    """Only rules in force, with their texts; and those of one element for a message."""
    seen = page(headers={"X-Robots-Tag": "noindex, index"}, html=NOINDEX)
    assert find_rules_in_force(seen, Carrier.X_ROBOTS_TAG) == {("noindex", True): "noindex"}
    assert find_rules_in_force(seen, Carrier.ROBOTS_TAG) == {}
    element = TagSource(Carrier.META, None, 1, PageState.INITIAL)
    assert describe_rules(seen, TagNote("x", "info", element)) == "'noindex'"
