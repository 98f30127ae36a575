"""Visit-time: windows of the day in UTC (REC-visit-time-01)."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, time, timedelta, timezone

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

import robotrules
from robotrules import RobotsTxt
from robotrules.extensions.visit_time import TimeWindow, notes, read_window, visit_times

Read = Callable[..., RobotsTxt]
minutes = st.builds(time, st.integers(0, 23), st.integers(0, 59))


class TestWindow:
    """`HHMM-HHMM`, from one minute to another, both included."""

    @pytest.mark.parametrize(
        ("value", "inside", "outside"),
        [
            (b"0600-0845", ["06:00", "07:30", "08:45", "08:45:59"], ["05:59:59", "08:46", "20:00"]),
            (b"1700-0459", ["17:00", "23:59", "00:00", "04:59"], ["05:00", "16:59", "12:00"]),
            (b"0000-2359", ["00:00", "12:00", "23:59:59"], []),
            (b"1200-2400", ["12:00", "23:59:59"], ["00:00", "11:59"]),
            (b"0600-0600", ["06:00", "06:00:30"], ["05:59", "06:01"]),
        ],
    )
    def test_contains(self, value: bytes, inside: list[str], outside: list[str]) -> None:
        """A window that ends before it starts crosses midnight."""
        window = read_window(value)
        assert window is not None
        for text in inside:
            assert window.contains(time.fromisoformat(text)), text
        for text in outside:
            assert not window.contains(time.fromisoformat(text)), text

    @given(minutes, minutes, minutes)
    def test_side_by_side(self, first: time, second: time, at: time) -> None:
        """A window and the one from its end to its start share only the two ends."""
        assume(first != second)
        one, other = TimeWindow(first, second), TimeWindow(second, first)
        both = one.contains(at) and other.contains(at)
        assert one.contains(at) or other.contains(at)
        assert both == (at in (first, second))

    @given(minutes, minutes)
    def test_round_trip(self, start: time, end: time) -> None:
        """A window is written as it is read."""
        assert read_window(str(TimeWindow(start, end)).encode()) == TimeWindow(start, end)

    def test_zones(self) -> None:
        """A datetime is converted to UTC; a time of another zone raises an error."""
        window = TimeWindow(time(6), time(8, 45))
        east = timezone(timedelta(hours=5))
        assert window.contains(datetime(2024, 5, 1, 12, 0, tzinfo=east))
        assert not window.contains(datetime(2024, 5, 1, 7, 0, tzinfo=east))
        assert window.contains(datetime(2024, 5, 1, 7, 0))
        assert window.contains(time(7, tzinfo=UTC))
        with pytest.raises(ValueError, match="pass a datetime"):
            window.contains(time(7, tzinfo=east))
        with pytest.raises(TypeError, match="not str"):
            window.contains("0700")  # type: ignore[arg-type]


class TestRecords:
    """The windows of the groups whose rules a crawler obeys."""

    def test_in_order(self, read: Read) -> None:
        """All of them, in the order of the file, of this crawler's groups only."""
        robots = read(
            "User-agent: a\nVisit-time: 0600-0845\nVISIT-TIME: 2200-0100\nDisallow: /x\n"
            "User-agent: *\nVisit-time: 1200-1300"
        )
        assert [str(found.window) for found in visit_times(robots, "a")] == [
            "0600-0845",
            "2200-0100",
        ]
        assert [found.line for found in visit_times(robots, "b")] == [6]
        (noon,) = visit_times(robots, "b")
        assert noon.contains(time(12, 30))
        assert noon.as_dict() == {"start": "12:00", "end": "13:00", "line": 6}
        assert list(notes(robots)) == []

    def test_purposes(self, read: Read) -> None:
        """A group that is chosen by purpose counts."""
        robots = read("User-agent-purpose: EXAMPLE-PURPOSE-1\nVisit-time: 0100-0200\nDisallow: /")
        assert visit_times(robots, "a") == ()
        assert len(visit_times(robots, "a", ["EXAMPLE-PURPOSE-1"])) == 1

    @pytest.mark.parametrize(
        "value",
        [
            *("", "0600", "0600-", "-0845", "600-845", "06:00-08:45", "0600 - 0845", "0660-0845"),
            *("2400-0100", "0600-2401", "2500-0100", "0600-0845 UTC", "٠٦٠٠-٠٨٤٥", "0600–0845"),
        ],
    )
    def test_malformed(self, read: Read, value: str) -> None:
        """An invalid window is noted, and does not hide a valid one."""
        robots = read(f"User-agent: a\nVisit-time: {value}\nVisit-time: 0100-0200")
        assert [found.line for found in visit_times(robots, "a")] == [3]
        (note,) = notes(robots)
        assert (note.code, note.level, note.line) == ("bad-visit-time", "error", 2)
        assert robots.body[note.start : note.end] == value.encode()

    def test_before_the_first_group(self, read: Read) -> None:
        """There it applies to no crawler, and is noted."""
        robots = read("Visit-time: 0100-0200\nUser-agent: *\nDisallow: /x")
        assert visit_times(robots, "a") == ()
        assert [note.code for note in notes(robots)] == ["record-outside-group"]

    @given(st.binary(max_size=30) | st.text("0123456789- ", max_size=12).map(str.encode))
    def test_any_octets(self, octets: bytes) -> None:
        """With any octets, it is a window or a note."""
        robots = robotrules.parse(b"User-agent: *\nVisit-time: " + octets)
        assert all(found.as_dict() for found in visit_times(robots, "a"))
        list(notes(robots))

    @pytest.mark.parametrize("piece", [b"0600-0845", b"0", b"-", b"\xff", b"\x00"])
    def test_a_long_value(self, read: Read, piece: bytes) -> None:
        """A hundred thousand octets are not a window."""
        robots = read(b"User-agent: *\nVisit-time: " + piece * (100_000 // len(piece)))
        assert visit_times(robots, "a") == ()
        assert [note.code for note in notes(robots)] == ["bad-visit-time"]

    def test_never_a_verdict(self, read: Read) -> None:
        """No window, however small, disallows anything."""
        robots = read("User-agent: *\nVisit-time: 0000-0000")
        assert robots.check("/", "a")
