"""The sentence about the matrix of several hosts or files."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from robotrules import parse
from robotrules.matrix.hosts import HostMatrix, host_of_matrix
from robotrules.matrix.hosts_html import hosts_page
from robotrules.matrix.html_style import STYLE

NONE, OPEN = "User-agent: *\nDisallow: /\n", ""
GPTBOT = "User-agent: GPTBot\nDisallow: /\n"
UNDECIDED = "User-agent: GPTBot\nDisallow: /\nAllow: /*a*b*c$\n"
CRAWLERS = ("GPTBot", "CCBot", "Googlebot")


def made(
    bodies: Sequence[str], crawlers: Sequence[str] = CRAWLERS, *, is_file: bool = False
) -> HostMatrix:
    """Return the matrix of some bodies."""
    hosts = [
        host_of_matrix(f"h{at}", parse(body), crawlers, is_file=is_file, max_states=1)
        if body == UNDECIDED
        else host_of_matrix(f"h{at}", parse(body), crawlers, is_file=is_file)
        for at, body in enumerate(bodies)
    ]
    return HostMatrix(tuple(hosts), ("/",), "default")


@pytest.mark.parametrize(
    ("bodies", "said"),
    [
        ((OPEN, OPEN), "On both hosts, all 3 crawlers may fetch something."),
        ((NONE, NONE, NONE), "On all 3 hosts, none of the 3 crawlers may fetch anything."),
        (
            (GPTBOT, GPTBOT, OPEN),
            "Of 3 crawlers, 1 (GPTBot) may fetch nothing on some of them, and 2 may fetch "
            "something on each.",
        ),
        (
            (GPTBOT, NONE),
            "Of 3 crawlers, 1 (GPTBot) may fetch nothing on either host, and 2 (Googlebot, CCBot) "
            "may fetch nothing on one of them.",
        ),
        (
            (GPTBOT, GPTBOT, NONE),
            "Of 3 crawlers, 1 (GPTBot) may fetch nothing on any of the 3 hosts, and 2 (Googlebot, "
            "CCBot) may fetch nothing on some of them.",
        ),
        (
            (UNDECIDED, OPEN),
            "Of 3 crawlers, 2 may fetch something on both, and for 1 (GPTBot) it was not decided "
            "on every host.",
        ),
    ],
)
def test_headline(bodies: Sequence[str], said: str) -> None:
    """It says how many crawlers may fetch nothing everywhere and somewhere, with a few names."""
    assert made(bodies).headline == said


def test_hosts_that_are_not_known() -> None:
    """They are counted apart."""
    gone = host_of_matrix("x", None, CRAWLERS, problem="gone")
    found = made((GPTBOT,))
    found = found._replace(hosts=(*found.hosts, gone))
    assert found.headline.endswith(
        "on the host, and 2 may fetch something on it. 1 could not be read."
    )
    assert found._replace(hosts=(gone, gone)).headline == "None of the 2 hosts could be read."


def test_files() -> None:
    """Files are not called hosts, neither in the sentence nor on the page."""
    found = made((GPTBOT, OPEN), is_file=True)
    assert found.headline.startswith("Of 3 crawlers, 1 (GPTBot) may fetch nothing under one of")
    assert made((OPEN, OPEN), is_file=True).headline.startswith("Under both files, ")
    page = hosts_page(found)
    body = page[page.index("<body") :]
    assert "What 2 files ask of crawlers" in body
    assert "hosts ask" not in body
    mixed = HostMatrix((*found.hosts, *made((OPEN,)).hosts), ("/",), "default")
    assert mixed.noun == "host"


def test_short_headings_take_little_room() -> None:
    """Columns are as high as turned headings need; `/` is not turned."""
    assert ".matrix .path.short { height: auto; }" in STYLE
