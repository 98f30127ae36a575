"""Sentences about a matrix: right for one, for some and for all."""

from __future__ import annotations

from typing import Any

import pytest

from robotrules import parse
from robotrules.matrix import matrix
from robotrules.matrix.text import format_counts, headline

BODY = """\
User-agent: none
Disallow: /

User-agent: all
Allow: /

User-agent: some
User-agent: few
Disallow: /x
"""
# Too hard for a budget of one state.
HARD = "User-agent: hard\nUser-agent: harder\nDisallow: /\nAllow: /*a*b*c$\n"


@pytest.mark.parametrize(
    ("crawlers", "words"),
    [
        (["none"], "none may fetch nothing."),
        (["some"], "some may fetch some URLs."),
        (["*"], "Everyone else may fetch everything."),
        (["some", "few"], "Both shown here may fetch some URLs."),
        (["*", "a", "b"], "All 3 shown here may fetch everything."),
        (["all", "none"], "Of the 2 shown here, 1 may fetch everything and 1 nothing."),
        (["some", "few", "none"], "Of the 3 shown here, 2 may fetch some URLs and 1 nothing."),
        (
            ["some", "few", "none", "all", "*"],
            "Of the 5 shown here, 2 may fetch everything, 2 some URLs and 1 nothing.",
        ),
        (["hard"], "It was not decided what hard may fetch."),
        (["hard", "harder"], "It was not decided what both shown here may fetch."),
        (
            ["hard", "*"],
            "Of the 2 shown here, 1 may fetch everything and for 1 it was not decided.",
        ),
    ],
)
def test_headline(crawlers: list[str], words: str) -> None:
    """How much of the site crawlers may fetch; a single one is named."""
    how: dict[str, Any] = {"max_states": 1} if "hard" in crawlers else {}
    found = matrix(parse(HARD if how else BODY), crawlers=crawlers, paths=["/"], **how)
    assert headline(found) == words


def test_a_name_in_a_headline_has_no_control_characters() -> None:
    """It may come from an untrusted file."""
    found = matrix(parse("User-Agent-Purpose: p\x1b[31m\u202e\nDisallow: /"))
    one = found._replace(rows=tuple(a for a in found.rows if a.purposes))
    assert headline(one).startswith("p\\x1b[31m\\u202e may fetch ")


def test_counts() -> None:
    """Of a band, in words."""
    counts = {"everything": 1, "some": 0, "nothing": 2_000, "not decided": 3}
    assert format_counts(counts) == "1 may fetch everything, 2,000 nothing, 3 not decided"
    assert format_counts({"some": 1}) == "1 may fetch some URLs"
    assert format_counts({"not decided": 1}) == "1 not decided"
