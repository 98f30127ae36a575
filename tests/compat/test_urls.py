"""URLs with CR or LF, which the originals remove."""

from __future__ import annotations

import urllib.robotparser
from typing import Any

import pytest

from robotrules.compat.protego import Protego
from robotrules.compat.robotparser import RobotFileParser
from robotrules.compat.robotspy import RobotsParser

BODY = "User-agent: *\nDisallow: /*.pdf$\nDisallow: /ab\n"
URLS = [
    "https://example.com/x.pdf\n",
    "https://example.com/x.pdf\r\n",
    "/a\nb",
    "/a\rb",
    b"https://example.com/x.pdf\n",
]


@pytest.mark.parametrize("url", URLS)
def test_line_ends_do_not_change_the_answer(url: Any) -> None:
    """A crawler that reads URLs from a file may pass lines; some HTTP clients strip them."""
    parser = RobotFileParser()
    parser.parse(BODY.splitlines())
    assert not parser.can_fetch("x", url)
    assert not Protego.parse(BODY).can_fetch(url, "x")
    assert not RobotsParser.from_string(BODY).can_fetch("x", url)


def test_urllib_removes_them() -> None:
    """The answer of the original to the URLs that it reads without wildcards."""
    parser = urllib.robotparser.RobotFileParser()
    parser.parse(["User-agent: *", "Disallow: /ab"])
    assert not parser.can_fetch("x", "/a\nb")


def test_a_tab_is_compared() -> None:
    """A pattern may have one: without it, the URL that the rule is about would be allowed."""
    parser = Protego.parse("User-agent: *\nDisallow: /a\tb")
    assert not parser.can_fetch("/a\tb", "x")
    assert not parser.can_fetch("/a%09b", "x")
    assert parser.can_fetch("/ab", "x")


@pytest.mark.parametrize("url", [None, 3])
def test_other_types_raise(url: Any) -> None:
    """With the message of `check()`."""
    with pytest.raises(TypeError, match="a URL is str or bytes"):
        Protego.parse(BODY).can_fetch(url, "x")
