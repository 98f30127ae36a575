"""RobotsParser of robotspy."""

from __future__ import annotations

import inspect
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import robotrules
from robotrules.compat.robotspy import RobotFileParser, RobotsParser
from tests.compat.loopback import serving

robots = pytest.importorskip("robots")
FILE = "User-agent: foo\nDisallow: /a\nSitemap: https://example.com/s.xml\nno record\n"


class Local(RobotsParser):
    """A parser that may fetch from loopback."""

    allow_private = ("127.0.0.1",)


def test_line_ends_are_removed_before_the_origin_is_compared() -> None:
    """A line of a file with URLs is not another origin, and does not hide one."""
    parser = RobotsParser.from_string("User-agent: *\nAllow: /\n")
    parser.url = "https://a.example/robots.txt"
    for url, allowed in (("https://a.example/x\n", True), ("https://b.example\n", False)):
        assert parser.can_fetch("foo", url) is allowed
    assert not parser.can_fetch("foo", "https://b.ex\nample/x")


def test_the_methods_have_the_signatures_of_robotspy() -> None:
    """The methods that robotspy documents exist with its parameters; so does its other class."""
    for name in ("__init__", "from_string", "from_uri", "from_file", "is_agent_valid", "can_fetch"):
        theirs = inspect.signature(getattr(robots.RobotsParser, name)).parameters.values()
        ours = inspect.signature(getattr(RobotsParser, name)).parameters.values()
        assert [(p.name, p.default) for p in theirs] == [(p.name, p.default) for p in ours], name
    assert inspect.isclass(RobotFileParser)


def test_strings_and_files(tmp_path: Path) -> None:
    """Both give the same; a missing file is an error value."""
    path = tmp_path / "robots.txt"
    path.write_text(FILE)
    for parser in (RobotsParser.from_string(FILE), RobotsParser.from_file(str(path))):
        assert not parser.can_fetch("foo/1.0", "https://example.com/a")
        assert parser.can_fetch("bar", "/a")
        assert parser.sitemaps == ["https://example.com/s.xml"]
        assert [line for line, _ in parser.warnings] == ["line 4"]
        assert str(parser) == FILE
    missing = RobotsParser.from_file(str(tmp_path / "none"))
    assert missing.errors == [(str(tmp_path / "none"), "Error: No file found")]
    assert RobotsParser.from_string("").sitemaps is None
    assert RobotsParser.is_agent_valid("foo-bot")
    assert not RobotsParser.is_agent_valid("foo/1")


@pytest.mark.parametrize(
    ("status", "flags"),
    [(200, (False, False)), (403, (False, True)), (404, (True, False)), (503, (False, True))],
)
def test_from_uri(status: int, flags: tuple[bool, bool]) -> None:
    """Statuses set the flags; another origin is not allowed."""
    with serving(status, FILE.encode()) as (origin, _):
        parser = Local.from_uri(f"{origin}/robots.txt", timeout=10)
    assert (parser.allow_all, parser.disallow_all) == flags
    assert bool(parser.errors) == flags[1]
    assert parser.can_fetch("foo", f"{origin}/a") == flags[0]
    assert parser.can_fetch("foo", "https://other.example/b") == flags[0]
    assert bool(parser.timestamp) == (status == 200)
    assert parser.host in origin
    assert parser.path == "/robots.txt"
    with pytest.raises(ValueError, match="not an http or https URL: pass one"):
        Local.from_uri("example.com")


def test_a_refused_private_address_is_an_error(caplog: pytest.LogCaptureFixture) -> None:
    """
    The error names the attribute of the class, not an argument that `from_uri()` lacks.

    It is logged too: a program that does not read `errors` would see blocked URLs only.
    """
    with serving(200) as (origin, requested):
        parser = RobotsParser.from_uri(origin)
    assert requested == []
    assert parser.disallow_all
    ((_, text),) = parser.errors
    assert "set RobotsParser.allow_private = ['127.0.0.1']" in text
    assert text.startswith(f"{origin}/robots.txt: ")
    assert "allow_private=" not in text
    (record,) = caplog.records
    assert (record.name, record.levelname) == ("robotrules.compat.robotspy", "WARNING")
    assert record.getMessage().endswith(f"returns False for all URLs: {text}")


@given(st.text(), st.text())
def test_no_text_raises_and_the_answer_is_that_of_check(text: str, url: str) -> None:
    """The drop-in answers what `RobotsTxt.check()` answers for the product token."""
    parser = RobotsParser.from_string(text)
    compared = url.translate(dict.fromkeys(map(ord, "\r\n")))
    assert parser.can_fetch("foo", url) == bool(robotrules.parse(text).check(compared, "foo"))
    assert isinstance(parser.warnings, list)
