"""
Every check: its literate test, its docstring, its page in the documentation.

A check without a literate test, a literate test without a check, and a note that no test produces
fail.
"""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

import pytest

from robotrules import parse
from robotrules.extensions.codes import CODES
from robotrules.linting import CHECKS, LEVELS, Check, find_check, lint, lint_page
from robotrules.linting.check import PageCheck
from robotrules.linting.check_docs import PARTS, parts, sample
from robotrules.robotstxt.values import NOTES
from robotrules.tags.codes import CODES as TAG_CODES
from tests.lint.literate import (
    DOM,
    apply_fixes,
    blocks,
    notes_of,
    page_notes,
    read_marks,
    served,
    unescape,
)

HERE = Path(__file__).parent
PAGES = sorted(HERE.glob("RR*.md"))
# Checks whose example cannot be written in a docstring, and why.
NO_EXAMPLE: dict[str, str] = {
    "unregistered-purpose": "it takes a registry with purposes, and none is shipped",
    "type-mismatch": "it takes a registry with app directives, and none is shipped",
    "unregistered-application": "it takes a registry with applications, and none is shipped",
    "unregistered-directive": "it takes a registry with app directives, and none is shipped",
    "deprecated-directive": "it takes a registry with app directives, and none is shipped",
    "unseen-directives": "it takes a registry with applications, and none is shipped",
    "too-large": "it takes a thousand members",
    "too-many-redirects": "it takes six redirects",
    "field-cut": "it takes 16 KiB",
    "head-not-final": "it takes 2 MiB",
    "page-too-complex": "it takes hundreds of elements inside of each other",
    "scope-may-be-wider": "it needs joined field lines",
    "tag-not-access-control": "it takes the URL of the page",
    "not-decided": "it takes hundreds of rules",
    "notes-left-out": "it takes 10,001 notes",
    "too-many-rules": "it takes 2,049 rules",
    "long-rule": "it takes 1,025 octets in a line",
    "cut-line": "it takes a broken connection",
    "long-line": "it takes 16,664 octets",
    "near-limit": "it takes 450,000 octets",
    "truncated": "it takes 512,000 octets",
}


# Checks of what only profile google notes.
GOOGLE_ONLY = frozenset(
    {"control-kept", "cut-bom", "nul", "odd-whitespace", "prefix-key", "unused-record"}
)


# What readers note that no check passes on, and why.
NOT_PASSED_ON = {
    **dict.fromkeys(
        ("no-contact", "product-token-grammar", "product-token-not-sent", "purpose-not-sent"),
        "it is about a crawler's own configuration, and about no file",
    ),
    **dict.fromkeys(
        ("headers-not-read", "no-field-line", "not-html", "page-not-read", "tags-not-read"),
        "it is about what was given to be read, and not about what it says",
    ),
    "odd-product-token": "it is about who asks",
    "not-crawled": "a rule that disallows a page is none the worse for it",
}


def test_every_note_of_a_reader_has_a_check() -> None:
    """
    Lint reports every note of the parser and of the readers of records and tags, or says why not.
    """
    slugs = {check.slug for check in CHECKS}
    assert set(NOTES) <= slugs
    assert {*CODES, *TAG_CODES} - slugs == set(NOT_PASSED_ON)


def test_codes_and_slugs_are_unique_and_every_check_has_a_page() -> None:
    """Codes and slugs are unique, and each check has a literate test."""
    assert len({check.code for check in CHECKS}) == len(CHECKS)
    assert len({check.slug for check in CHECKS}) == len(CHECKS)
    assert [page.stem for page in PAGES] == [check.code for check in CHECKS]
    assert len(CHECKS) >= 40


@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.slug)
def test_every_check_has_its_attributes(check: Check) -> None:
    """Code by layer, level, one message, a reference, and a docstring with four parts."""
    assert re.fullmatch(r"RR[1-9]\d\d", check.code)
    assert re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", check.slug)
    assert check.level in LEVELS
    assert check.message.endswith((".", "?"))
    assert check.reference
    assert tuple(parts(check)) == PARTS
    assert all(parts(check).values())
    assert type(check).__module__.rsplit(".", 1)[1] == check.slug.replace("-", "_")
    assert find_check(check.code) is check
    assert find_check(check.slug) is check


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_literate_tests(page: Path) -> None:
    """Each block has exactly the notes that it marks; some block has notes, and some has none."""
    check = find_check(page.stem)
    assert check is not None
    title = page.read_text(encoding="utf-8").split("\n", 1)[0]
    assert title == f"# {check.code} {check.slug}"
    seen: list[bool] = []
    before = beside = None
    for block in blocks(page):
        where = f"{page.name}, line {block.line}"
        if block.name == "robots":
            body, promised = read_marks(block)
            before = block, body
            if "beside" in block.options:
                beside = body
                continue
            notes = notes_of(block, body, check.slug)
            actual = [(note.line, note.slug) for note in notes]
            assert Counter(actual) == Counter(promised), where
            own = [note for note in notes if note.slug == check.slug]
            assert check.has_fixes or not any(note.fix for note in own), where
            seen.append(check.slug in [slug for _, slug in promised])
        elif block.name == "fixed":
            assert before, where
            now = apply_fixes(*before, check.slug, unsafe="verdicts" in block.options)
            assert now == read_marks(block).body, where
        elif block.name == "page":
            expected = sorted(filter(None, block.options.get("notes", "").split(",")))
            assert (
                sorted(note.slug for note in page_notes(block, beside, check.slug)) == expected
            ), where
            seen.append(check.slug in expected)
        else:
            assert block.name in ("console", "text"), where
    assert True in seen, "no block has the note"
    assert False in seen, "no block is without it"


@pytest.mark.parametrize(
    "check",
    [check for check in CHECKS if check.slug not in NO_EXAMPLE],
    ids=lambda check: check.slug,
)
def test_the_example_has_the_note_and_the_alternative_does_not(check: Check) -> None:
    """The *Example* of a docstring has the note; the *Instead* does not."""
    documentation = parts(check)
    bad, good = sample(documentation["Example"]), sample(documentation["Instead"])
    assert bad, "the part has no indented example"
    assert unescape(bad.encode()).strip(), "there is nothing to see"
    assert check.slug in slugs(check, bad)
    assert not good or check.slug not in slugs(check, good)


def slugs(check: Check, text: str) -> list[str]:
    """
    Return the slugs of notes on a sample.

    It is a robots.txt; a response with one, which starts with `HTTP/`; or for a check of pages,
    field lines, an empty line and HTML, perhaps after a robots.txt and a line `---`.
    """
    octets = unescape(text.encode())
    if isinstance(check, PageCheck):
        octets, _, dom = octets.partition(DOM)
        robots, _, rest = octets.rpartition(b"---\n")
        fields, _, html = (b"", b"", rest) if rest.startswith(b"<") else rest.partition(b"\n\n")
        beside = parse(robots) if robots else None
        url = "https://example.com/page"
        notes = lint_page(
            url,
            headers=fields or None,
            html=html or None,
            dom=dom.decode() or None,
            robots=beside,
        )
    elif octets.startswith(b"HTTP/"):
        body, how = served(octets)
        notes = lint(body, received=how, select=[check.slug])
    else:
        profile = "google" if check.slug in GOOGLE_ONLY else "default"
        # Only where the checks that it names did run, a suppression is unused.
        select = () if check.slug == "unused-suppression" else [check.slug]
        notes = lint(octets, profile=profile, select=select)
    return [note.slug for note in notes]
