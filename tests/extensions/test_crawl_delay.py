"""Crawl-delay: seconds of a group, and never a verdict (REC-crawl-delay-01 to -03, AMB-118)."""

from __future__ import annotations

from collections.abc import Callable
from math import isfinite

import pytest
from hypothesis import given
from hypothesis import strategies as st

import robotrules
from robotrules import RobotsTxt
from robotrules.extensions.crawl_delay import crawl_delay, notes

Read = Callable[..., RobotsTxt]


def seconds(robots: RobotsTxt, token: str, *, star: bool = False) -> float | None:
    """Return the delay of a crawler in seconds."""
    found = crawl_delay(robots, token, star=star)
    return found.seconds if found else None


def codes(robots: RobotsTxt) -> list[tuple[str, int | None]]:
    """Return codes and lines of what is noted."""
    return [(note.code, note.line) for note in notes(robots)]


class TestValue:
    """A non-negative decimal number of seconds (REC-crawl-delay-01)."""

    @pytest.mark.parametrize(
        ("value", "expected"),
        [
            ("0", 0.0),
            ("10", 10.0),
            ("0.5", 0.5),
            (".25", 0.25),
            ("5.", 5.0),
            ("007", 7.0),
            ("86400000", 86_400_000.0),
            ("2 # a comment", 2.0),
        ],
    )
    def test_good(self, read: Read, value: str, expected: float) -> None:
        """Digits of ASCII, and one dot among them."""
        robots = read(f"User-agent: *\nCrawl-delay: {value}")
        assert seconds(robots, "a") == expected
        assert codes(robots) == []

    @pytest.mark.parametrize(
        "value",
        [
            *("", "x", ".", "-1", "+1", "1e3", "inf", "nan", "Infinity", "0x10", "1_000"),
            *("0,5", "10s", "10 seconds", "1 2", "1.2.3", "٣", "１", "1\x00", "9" * 400),
        ],
    )
    def test_bad(self, read: Read, value: str) -> None:
        """Any other value is invalid, noted with its span, and does not hide a valid one."""
        robots = read(f"User-agent: *\nCrawl-delay: {value}\nCrawl-delay: 3")
        found = crawl_delay(robots, "a")
        assert found is not None
        assert (found.seconds, found.line) == (3.0, 3)
        (note,) = notes(robots)
        assert (note.code, note.level, note.line) == ("bad-crawl-delay", "error", 2)
        assert robots.body[note.start : note.end] == value.encode()
        assert seconds(read(f"User-agent: *\nCrawl-delay: {value}"), "a") is None

    @given(st.binary(max_size=30) | st.text("0123456789.-+e", max_size=30).map(str.encode))
    def test_any_octets(self, octets: bytes) -> None:
        """With any octets, the answer is None or a usable number."""
        robots = robotrules.parse(b"User-agent: *\nCrawl-delay: " + octets)
        found = crawl_delay(robots, "a")
        list(notes(robots))
        assert found is None or (isfinite(found.seconds) and found.seconds >= 0)

    @pytest.mark.parametrize("piece", [b"9", b"0", b"9.", b"\xff", b"\x00", b" 1"])
    def test_a_long_value(self, read: Read, piece: bytes) -> None:
        """A hundred thousand octets cost no more than their length."""
        robots = read(b"User-agent: *\nCrawl-delay: " + piece * (100_000 // len(piece)) + b"x")
        assert crawl_delay(robots, "a") is None
        assert codes(robots) == [("bad-crawl-delay", 2)]


class TestGroups:
    """It is looked up in the groups whose rules the crawler obeys (REC-crawl-delay-02)."""

    BODY = "User-agent: a\nDisallow: /x\nUser-agent: *\nDisallow: /y\nCrawl-delay: 10"

    def test_a_specific_group_excludes_the_star(self, read: Read) -> None:
        """As for rules; `star` has the value of the `*` group, as Bing uses it."""
        robots = read(self.BODY)
        assert seconds(robots, "a") is None
        assert seconds(robots, "a", star=True) == 10.0
        assert seconds(robots, "b") == 10.0
        offered, own = crawl_delay(robots, "a", star=True), crawl_delay(robots, "b", star=True)
        assert offered is not None
        assert own is not None
        assert (offered.star, own.star) == (True, False)

    def test_the_specific_value_comes_first(self, read: Read) -> None:
        """`star` has no effect for a crawler whose group has a value, smaller or not."""
        robots = read(self.BODY.replace("/x", "/x\nCrawl-delay: 2"))
        assert seconds(robots, "a", star=True) == 2.0

    def test_no_star_group(self, read: Read) -> None:
        """Without a value, the answer is None."""
        assert seconds(read("User-agent: a\nDisallow: /"), "a", star=True) is None
        assert seconds(read("User-agent: a\nCrawl-delay: 1"), "b", star=True) is None
        assert seconds(read("User-agent: *\nCrawl-delay: x"), "b", star=True) is None
        assert seconds(read(""), "a") is None

    def test_the_first_good_value_of_a_group(self, read: Read) -> None:
        """Later ones are kept as written, and noted."""
        robots = read("User-agent: a\nCrawl-delay: x\nCrawl-delay: 1\nCrawl-delay: 5")
        found = crawl_delay(robots, "a")
        assert found is not None
        assert (found.seconds, found.line) == (1.0, 3)
        assert [record.text for record in found.records] == ["x", "1", "5"]
        assert codes(robots) == [("bad-crawl-delay", 2), ("second-value", 4)]

    def test_the_largest_of_merged_groups(self, read: Read) -> None:
        """Groups for one crawler are one group, and the politest of their values counts."""
        body = "User-agent: a\nCrawl-delay: {}\nDisallow: /\nUser-agent: a\nCrawl-delay: {}\n"
        for values in ((1, 5), (5, 1)):
            robots = read(body.format(*values))
            assert seconds(robots, "a") == 5.0
            assert codes(robots) == []
            found = crawl_delay(robots, "a")
            assert found is not None
            assert len(found.records) == 2

    def test_names_and_purposes(self, read: Read) -> None:
        """Groups are chosen as for rules: by names in order, then by purposes."""
        robots = read(
            "User-agent: msnbot\nCrawl-delay: 7\nDisallow: /\n"
            "User-agent-purpose: EXAMPLE-PURPOSE-1\nCrawl-delay: 9\nDisallow: /\n"
            "User-agent: *\nCrawl-delay: 1\n"
        )
        found = crawl_delay(robots, ["bingbot", "msnbot"])
        assert found is not None
        assert found.seconds == 7.0
        found = crawl_delay(robots, "other", ["example-purpose-1"])
        assert found is not None
        assert found.seconds == 9.0

    def test_before_the_first_group(self, read: Read) -> None:
        """There it applies to no crawler, and is noted."""
        robots = read("Crawl-delay: 5\nUser-agent: *\nDisallow: /x")
        assert seconds(robots, "a", star=True) is None
        assert codes(robots) == [("record-outside-group", 1)]


class TestVerdict:
    """It has no effect on what is allowed, on grouping, or between user-agent lines."""

    @given(st.sampled_from(["0", "301", "999999999", "x", ""]), st.sampled_from(["/", "/x", "/y"]))
    def test_never_touched(self, value: str, url: str) -> None:
        """The same file without the record gives the same verdict (AMB-118)."""
        body = "User-agent: a\n{}User-agent: b\n{}Disallow: /x\n{}User-agent: *\nDisallow: /y"
        line = f"Crawl-delay: {value}\n"
        there = robotrules.parse(body.format(line, line, line))
        without = robotrules.parse(body.format("", "", ""))
        for token in ("a", "b", "c"):
            assert there.check(url, token).allowed == without.check(url, token).allowed

    def test_between_user_agent_lines(self, read: Read) -> None:
        """It does not separate user-agent lines, so it applies to both crawlers."""
        robots = read("User-agent: a\nCrawl-delay: 4\nUser-agent: b\nDisallow: /")
        assert seconds(robots, "a") == seconds(robots, "b") == 4.0

    def test_google(self, read: Read) -> None:
        """Profile google can read it too; that Google does not is noted elsewhere."""
        robots = read("User-agent: *\nCrawl-delay: 4", "google")
        assert seconds(robots, "Googlebot") == 4.0


def test_as_dict(read: Read) -> None:
    """A delay as plain values, what was written included."""
    found = crawl_delay(read("User-agent: *\nCrawl-delay: 1.50\nCrawl-delay: -"), "a")
    assert found is not None
    assert found.as_dict() == {
        "seconds": 1.5,
        "line": 2,
        "star": False,
        "records": [{"value": "1.50", "line": 2}, {"value": "-", "line": 3}],
    }
