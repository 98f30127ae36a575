"""Host: the mirror a site prefers, without any effect (REC-host-01)."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

import robotrules
from robotrules import RobotsTxt
from robotrules.extensions.host import notes, preferred_host

Read = Callable[..., RobotsTxt]


class TestValue:
    """A host, where need be with scheme and port; the syntax is looked at loosely."""

    @pytest.mark.parametrize(
        ("value", "host", "port", "scheme"),
        [
            ("www.e.example", "www.e.example", None, None),
            ("WWW.E.Example", "www.e.example", None, None),
            ("e.example:8080", "e.example", 8080, None),
            ("https://e.example", "e.example", None, "https"),
            ("HTTP://e.example:81/", "e.example", 81, "http"),
            ("e.example.", "e.example", None, None),
            ("my_host.e.example", "my_host.e.example", None, None),
            ("пример.example", "пример.example", None, None),
            ("localhost", "localhost", None, None),
        ],
    )
    def test_good(
        self, read: Read, value: str, host: str, port: int | None, scheme: str | None
    ) -> None:
        """Names are without case, so it is given in lower case."""
        robots = read(f"User-agent: Yandex\nDisallow:\nHost: {value} # ours")
        found = preferred_host(robots)
        assert found is not None
        assert (found.host, found.port, found.scheme, found.line) == (host, port, scheme, 3)
        assert found.as_dict() == {"host": host, "port": port, "scheme": scheme, "line": 3}
        assert list(notes(robots)) == []

    def test_as_text(self, read: Read) -> None:
        """As text it is what was written, in lower case."""
        assert str(preferred_host(read("Host: HTTPS://E.example:8443"))) == "https://e.example:8443"
        assert str(preferred_host(read("Host: e.example"))) == "e.example"

    @pytest.mark.parametrize(
        "value",
        [
            *("", ".", "e..example", ".e.example", "e.example:0", "e.example:70000", "e.example:x"),
            *("e.example/page", "ftp://e.example", "a b", "a, b", "[::1]", "user@e.example"),
            *("e.example:123456", "https://", "*.e.example", "e.example\x00", "a" * 254, "é\udce9"),
        ],
    )
    def test_bad(self, read: Read, value: str) -> None:
        """An invalid host is noted, and does not count as the first."""
        robots = read(f"Host: {value}\nHost: good.example")
        found = preferred_host(robots)
        assert found is not None
        assert found.host == "good.example"
        (note,) = notes(robots)
        assert (note.code, note.level, note.line) == ("bad-host", "error", 1)

    @given(st.binary(max_size=40))
    def test_any_octets(self, octets: bytes) -> None:
        """With any octets, it is a host or a note."""
        robots = robotrules.parse(b"Host: " + octets)
        found = preferred_host(robots)
        assert found is None or found.as_dict()["host"]
        list(notes(robots))

    @pytest.mark.parametrize("piece", [b"a", b"a.", b"9", b":1", b"\xff", b"\x00"])
    def test_a_long_value(self, read: Read, piece: bytes) -> None:
        """A hundred thousand octets are not a host."""
        robots = read(b"Host: " + piece * (100_000 // len(piece)))
        assert preferred_host(robots) is None
        assert [note.code for note in notes(robots)] == ["bad-host"]


class TestFile:
    """It belongs to no group, and the first good one counts."""

    def test_the_first_counts(self, read: Read) -> None:
        """In any group; the others are noted."""
        robots = read(
            "User-agent: a\nHost: one.example\nDisallow: /\nUser-agent: *\nHost: two.example\n"
            "Host: one.example"
        )
        found = preferred_host(robots)
        assert found is not None
        assert found.host == "one.example"
        assert [(note.code, note.level, note.line) for note in notes(robots)] == [
            ("second-value", "info", 5),
            ("second-value", "info", 6),
        ]

    def test_none(self, read: Read) -> None:
        """A file without one prefers none."""
        assert preferred_host(read("User-agent: *\nDisallow: /")) is None

    def test_never_a_verdict(self, read: Read) -> None:
        """The verdict on a URL of another host is the same."""
        robots = read("Host: e.example\nUser-agent: *\nDisallow: /x")
        assert robots.check("https://other.example/", "a")
        assert not robots.check("https://other.example/x", "a")
