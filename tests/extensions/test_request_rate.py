"""Request-rate: requests in a period, all day or in a window (REC-request-rate-01)."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, time
from math import isfinite
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import robotrules
from robotrules import RobotsTxt
from robotrules.extensions.request_rate import RequestRate, notes, request_rates

Read = Callable[..., RobotsTxt]


def one(robots: RobotsTxt) -> RequestRate:
    """Return the only rate of a file with one `*` group."""
    (found,) = request_rates(robots, "a")
    return found


class TestValue:
    """`n/m[s|m|h|d] [HHMM-HHMM]`."""

    @pytest.mark.parametrize(
        ("value", "requests", "period", "seconds"),
        [
            ("1/10m", 1, 600, 600.0),
            ("1/5", 1, 5, 5.0),
            ("10/60s", 10, 60, 6.0),
            ("20/1h", 20, 3_600, 180.0),
            ("100/1d", 100, 86_400, 864.0),
            ("4/1", 4, 1, 0.25),
            ("1/2M", 1, 120, 120.0),
            ("999999999/999999999d", 999_999_999, 999_999_999 * 86_400, 86_400.0),
        ],
    )
    def test_all_day(
        self, read: Read, value: str, requests: int, period: int, seconds: float
    ) -> None:
        """Seconds are the unit where none is written; without a window it always applies."""
        robots = read(f"User-agent: *\nRequest-rate: {value}")
        rate = one(robots)
        assert (rate.requests, rate.period, rate.seconds, rate.window) == (
            requests,
            period,
            seconds,
            None,
        )
        assert rate.applies(time(3))
        assert list(notes(robots)) == []

    def test_in_a_window(self, read: Read) -> None:
        """One per 600 seconds from 13:00 to 16:59 UTC."""
        rate = one(read("User-agent: *\nRequest-rate: 1/10m\t1300-1659"))
        assert rate.seconds == 600.0
        assert rate.applies(time(13))
        assert rate.applies(time(16, 59, 59))
        assert not rate.applies(time(17))
        assert rate.applies(datetime(2024, 5, 1, 14, tzinfo=UTC))
        assert rate.as_dict() == {
            "requests": 1,
            "period": 600,
            "seconds": 600.0,
            "window": {"start": "13:00", "end": "16:59"},
            "line": 2,
        }

    @pytest.mark.parametrize(
        "value",
        [
            *(
                "",
                "1",
                "1/",
                "/1",
                "0/1",
                "1/0",
                "-1/1",
                "1/-1",
                "1.5/1",
                "1/1w",
                "1 / 10",
                "1/1 m",
            ),
            *("1/10m 1300", "1/10m 2500-2600", "1/10m1300-1659", "1/10m 1300-1659 x", "١/١"),
            *("1/10m 1300-1659 1700-1800", "1/9999999999", "9" * 5_000 + "/1"),
        ],
    )
    def test_malformed(self, read: Read, value: str) -> None:
        """An invalid rate is noted, and does not hide a valid one."""
        robots = read(f"User-agent: *\nRequest-rate: {value}\nRequest-rate: 1/7")
        assert one(robots).seconds == 7.0
        (note,) = notes(robots)
        assert (note.code, note.level, note.line) == ("bad-request-rate", "error", 2)
        assert robots.body[note.start : note.end] == value.encode()

    @given(st.binary(max_size=30) | st.text("0123456789/smhd- ", max_size=20).map(str.encode))
    def test_any_octets(self, octets: bytes) -> None:
        """With any octets, a rate is a positive number of seconds."""
        robots = robotrules.parse(b"User-agent: *\nRequest-rate: " + octets)
        rates = request_rates(robots, "a")
        for rate in rates:
            assert isfinite(rate.seconds)
            assert rate.seconds > 0
            assert rate.as_dict()
        # Each record is a rate or a note, and not both.
        written = [record for record in robots.records if record.key == "request-rate"]
        bad = [note.line or 0 for note in notes(robots) if note.code == "bad-request-rate"]
        assert sorted([*bad, *(rate.line for rate in rates)]) == [one.line for one in written]

    @given(
        *(st.integers(1, 999), st.integers(1, 999), st.sampled_from(["", *"smhdSMHD"])),
        st.none() | st.tuples(*[st.tuples(st.integers(0, 23), st.integers(0, 59))] * 2),
    )
    def test_any_rate(
        self, requests: int, period: int, unit: str, hours: tuple[Any, Any] | None
    ) -> None:
        """What is written as one is read as one, whatever its numbers."""
        window = "" if hours is None else " {:02}{:02}-{:02}{:02}".format(*hours[0], *hours[1])
        body = f"User-agent: *\nRequest-rate: {requests}/{period}{unit}{window}"
        (rate,) = request_rates(robotrules.parse(body), "a")
        seconds = {"s": 1, "m": 60, "h": 3_600, "d": 86_400, "": 1}[unit.lower()]
        assert (rate.requests, rate.period) == (requests, period * seconds)
        assert rate.seconds == period * seconds / requests
        assert (rate.window is None) == (hours is None)
        if hours is not None:
            first, last = time(*hours[0]), time(*hours[1])
            assert rate.applies(first)
            assert rate.applies(last)
            # Outside of its window it does not apply; one over midnight has its day in between.
            for moment in (time(hour, minute) for hour in range(24) for minute in (0, 29, 59)):
                inside = first <= moment <= last if first <= last else not last < moment < first
                assert rate.applies(moment) == inside

    @pytest.mark.parametrize("piece", [b"1/1", b"9", b"1/1 ", b"\xff", b"\x00", b"/"])
    def test_a_long_value(self, read: Read, piece: bytes) -> None:
        """A hundred thousand octets are not a rate."""
        robots = read(b"User-agent: *\nRequest-rate: " + piece * (100_000 // len(piece)))
        assert request_rates(robots, "a") == ()
        assert [note.code for note in notes(robots)] == ["bad-request-rate"]


class TestGroups:
    """The rates of the groups whose rules a crawler obeys."""

    BODY = (
        "User-agent: a\nRequest-rate: 1/10m 1300-1659\nRequest-rate: 1/20m 1700-0459\n"
        "Request-rate: 5/1m  0500-1259\nDisallow: /x\n"
        "User-agent: *\nRequest-rate: 1/3\n"
    )

    def test_one_for_each_time(self, read: Read) -> None:
        """Windows side by side leave no minute of the day without a rate, and none with two."""
        rates = request_rates(read(self.BODY), "a")
        assert [rate.line for rate in rates] == [2, 3, 4]
        for hour in range(24):
            for minute in (0, 30, 59):
                assert sum(rate.applies(time(hour, minute)) for rate in rates) == 1
        assert [rate.seconds for rate in rates if rate.applies(time(2))] == [1_200.0]

    def test_other_crawlers(self, read: Read) -> None:
        """A crawler without a group has the rates of the `*` group."""
        assert [rate.seconds for rate in request_rates(read(self.BODY), "b")] == [3.0]
        assert request_rates(read(""), "b") == ()

    def test_purposes(self, read: Read) -> None:
        """A group that is chosen by purpose counts."""
        robots = read("User-agent-purpose: EXAMPLE-PURPOSE-1\nRequest-rate: 1/2\nDisallow: /")
        assert request_rates(robots, "a") == ()
        assert len(request_rates(robots, "a", ["EXAMPLE-PURPOSE-1"])) == 1

    def test_before_the_first_group(self, read: Read) -> None:
        """There it applies to no crawler, and is noted."""
        robots = read("Request-rate: 1/2\nUser-agent: *\nDisallow: /x")
        assert request_rates(robots, "a") == ()
        assert [note.code for note in notes(robots)] == ["record-outside-group"]

    def test_never_a_verdict(self, read: Read) -> None:
        """No rate, however small, disallows anything."""
        assert read("User-agent: *\nRequest-rate: 1/999999999d").check("/", "a")
