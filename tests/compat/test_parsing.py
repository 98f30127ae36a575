"""Large texts: supplied text is read up to 16 MiB, what a drop-in fetches up to 500 KiB."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

import pytest

from robotrules.compat.parsing import MAX_BYTES, parse_supplied
from robotrules.compat.protego import Protego
from robotrules.compat.reppy.robots import Agent, Robots
from robotrules.compat.robotparser import RobotFileParser
from robotrules.compat.robotspy import RobotsParser
from tests.compat.loopback import serving

URL = "https://example.com/robots.txt"
LATE = "\nUser-agent: *\nDisallow: /late\nCrawl-delay: 7\n"
COMMENT = "# 32 characters, and a line end.\n"

Check = Callable[[str], bool]


def check_robotparser(text: str) -> Check:
    """Parse lines with urllib's methods."""
    parser = RobotFileParser()
    parser.parse(text.splitlines())
    assert parser.crawl_delay("x") in (7, None)
    return lambda path: parser.can_fetch("x", path)


def check_protego(text: str) -> Check:
    """Parse with Protego's methods."""
    parser = Protego.parse(text)
    assert parser.crawl_delay("x") in (7, None)
    return lambda path: parser.can_fetch(path, "x")


def check_robotspy(text: str) -> Check:
    """Parse with robotspy's methods."""
    parser = RobotsParser.from_string(text)
    return lambda path: parser.can_fetch("x", path)


def check_reppy(text: str) -> Check:
    """Parse with reppy's methods."""
    robots = Robots.parse(URL, text)
    assert Agent.from_robots(robots, "x").allow("/b").allowed("/late") == robots.allowed(
        "/late", "x"
    )
    return lambda path: robots.allowed(path, "x")


DROP_INS = [check_robotparser, check_protego, check_robotspy, check_reppy]


@pytest.mark.parametrize("parse", DROP_INS)
@pytest.mark.parametrize("before", [600 * 1024, 15 * 1024 * 1024])
def test_a_rule_after_500_kib_applies(parse: Callable[[str], Check], before: int) -> None:
    """The originals read it; ignoring it would be laxer."""
    check = parse(COMMENT * (before // len(COMMENT)) + LATE)
    assert not check("/late")
    assert check("/other")


@pytest.mark.parametrize("parse", DROP_INS)
def test_lines_after_16_mib_are_ignored(parse: Callable[[str], Check]) -> None:
    """A text of 20 MiB takes time in proportion to its length."""
    lines = 20 * 1024 * 1024 // len(COMMENT)
    times = []
    for part in (8, 1):
        text = "User-agent: *\nDisallow: /early\n" + COMMENT * (lines // part) + LATE
        assert (len(text) > MAX_BYTES) == (part == 1)
        began = time.perf_counter()
        check = parse(text)
        assert not check("/early")
        assert check("/late") == (part == 1)
        times.append(time.perf_counter() - began)
    # Eight times the text: time in its square would be 64 times.
    assert times[1] < 30 * times[0] + 0.5


def test_other_records_of_protego_are_read_from_the_whole_text() -> None:
    """Without a colon too, which is a second parse."""
    parser = Protego.parse(
        COMMENT * 20_000 + "User-agent: *\nCrawl delay 5\nSitemap https://a.b/s\n"
    )
    assert parser.crawl_delay("x") == 5
    assert list(parser.sitemaps) == ["https://a.b/s"]


def test_the_default_entry_of_a_large_group() -> None:
    """The first valid delay counts, also after 500 KiB of invalid ones."""
    parser = RobotFileParser()
    parser.parse(["User-agent: *", *["Crawl-delay: x"] * 60_000, "Crawl-delay: 3"])
    assert parser.default_entry is not None
    assert parser.default_entry.delay == 3


def test_files_and_octets(tmp_path: Path) -> None:
    """`from_file()` of robotspy and `Robots.parse()` of reppy read octets."""
    body = (COMMENT * 20_000 + LATE).encode()
    path = tmp_path / "robots.txt"
    path.write_bytes(body)
    assert not RobotsParser.from_file(str(path)).can_fetch("x", "/late")
    assert not Robots.parse(URL, body).allowed("/late", "x")
    assert not parse_supplied(bytearray(body)).check("/late", "x")


@pytest.mark.parametrize("length", [127_999, 128_000, 128_001, 200_000, 512_000])
@pytest.mark.parametrize("character", ["x", "\U0001f600", "\udcff"])
def test_no_character_makes_a_text_longer_than_the_limit(length: int, character: str) -> None:
    """A text is measured in characters, of which each is at most four octets."""
    text = "#" + character * (length - 1 - len(LATE)) + LATE
    assert len(text) == length
    assert not parse_supplied(text).check("/late", "x")


@pytest.mark.parametrize("value", [None, 1, Path("robots.txt"), ["User-agent: *"]])
def test_other_types_raise(value: object) -> None:
    """With the text of `robotrules.parse()`, which names the fix."""
    with pytest.raises(TypeError, match=r"a robots\.txt is bytes or str"):
        parse_supplied(value)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match=r"a robots\.txt is bytes or str"):
        RobotsParser.from_string(value)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match=r"a robots\.txt is bytes or str"):
        Robots.parse(URL, value)  # type: ignore[arg-type]


@pytest.mark.parametrize("cut_line", [False, True])
def test_a_fetched_file_is_read_up_to_500_kib(
    cut_line: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """RFC 9309 §2.5, also by `read()`, which passes its lines to `parse()`."""
    for cls in (RobotFileParser, RobotsParser, Robots):
        monkeypatch.setattr(cls, "allow_private", ["127.0.0.1"])
    # The limit is inside a line: it is completed if it is short, and dropped if it is not.
    long_line = "Disallow: /" + "y" * 30_000 if cut_line else COMMENT
    start = "User-agent: *\nDisallow: /early\n" + COMMENT * (511_900 // len(COMMENT))
    with serving(200, (start + long_line + "\n" + COMMENT * 10 + LATE).encode()) as (origin, _):
        parser = RobotFileParser(origin)
        parser.read()
        spy = RobotsParser.from_uri(origin)
        robots = Robots.fetch(origin)
    checks: list[Check] = [
        lambda path: parser.can_fetch("x", path),
        lambda path: spy.can_fetch("x", path),
        lambda path: robots.allowed(path, "x"),
        lambda path: robots.agent("x").allow("/b").allowed(path),
    ]
    for check in checks:
        assert not check("/early")
        assert check("/late")
        assert check("/" + "y" * 30_000)
