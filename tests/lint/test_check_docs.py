"""Check docs: the four parts of a check's docstring, and the examples in them."""

from __future__ import annotations

import pytest

from robotrules.linting import CHECKS, Check, find_check
from robotrules.linting.check_docs import PARTS, parts, sample


class Taught(Check):
    """
    What it finds:
        A thing. It goes on
        in the next line:

        - with a list

    Why it matters:
        It does.

    Example:
            User-agent: *
              Disallow: /a

            Allow: /b

    Instead:
        Write this, says `Example:` in a line:

            User-agent: *

        And more words.
    """


def test_the_four_parts() -> None:
    """Each by its heading, without the common indent."""
    documentation = parts(Taught())
    assert tuple(documentation) == PARTS
    assert (
        documentation["What it finds"] == "A thing. It goes on\nin the next line:\n\n- with a list"
    )
    assert documentation["Why it matters"] == "It does."
    assert documentation["Example"].startswith("    User-agent: *\n      Disallow: /a\n")
    assert documentation["Instead"].endswith("\n\nAnd more words.")


def test_an_example_is_the_indented_text() -> None:
    """As it would be in a file, with a line end and without the text around it."""
    documentation = parts(Taught())
    assert sample(documentation["Example"]) == "User-agent: *\n  Disallow: /a\n\nAllow: /b\n"
    assert sample(documentation["Instead"]) == "User-agent: *\n"
    assert sample(documentation["Why it matters"]) == ""
    assert sample("") == ""


def test_a_check_without_a_docstring_has_no_parts() -> None:
    """Python -OO strips docstrings; `robotrules rule` then prints no text, but does not fail."""

    class Stripped(Check):
        __doc__ = None

    assert parts(Stripped()) == {}


@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.slug)
def test_texts_are_readable(check: Check) -> None:
    """No part is empty, lines fit a page, and no text suggests that rules are access control."""
    documentation = parts(check)
    assert all(documentation[part].strip() for part in PARTS)
    for text in documentation.values():
        assert "\t" not in text
        assert all(len(line) <= 100 for line in text.splitlines())
        words = text.lower()
        assert not any(word in words for word in ("protected", "secured", "blocked from"))
    assert documentation["What it finds"].rstrip().endswith((".", "`", ":", ")"))


def test_find_returns_the_documented_check() -> None:
    """A check that is found is the one whose text is printed."""
    check = find_check("RR505")
    assert check is not None
    assert "/private/" in sample(parts(check)["Instead"])
