"""
Statements scoped by a path: the longest pattern counts, ties count together, also in a batch.

The content of a statement does not matter here, so they are words. Path patterns match as
those of allow and disallow do: `tests/test_ruleset.py` and the vectors are about that.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from types import ModuleType

import pytest
from hypothesis import given
from hypothesis import strategies as st

import robotrules
from robotrules import RobotsTxt, Role
from robotrules._engine import pure
from robotrules.extensions.scoped import ScopedSet, is_usable, split
from robotrules.robotstxt.values import Record
from tests.conftest import find_engine

Read = Callable[..., RobotsTxt]
Entries = Sequence[tuple[bytes | None, str]]


def record(value: bytes, start: int = 20) -> Record:
    """Return a record with a value."""
    end = start + len(value)
    return Record("x", value, 1, Role.OTHER, 0, start, end, 0, 1, start + 1)


class TestSplit:
    """`[path] statement` (draft-ietf-aipref-attach-05 §3.2, draft-nottingham-plan-b §2)."""

    @pytest.mark.parametrize(
        ("value", "path", "statement"),
        [
            (b"a;b", None, b"a;b"),
            (b"/a/ a;b", b"/a/", b"a;b"),
            (b"/a/\ta;b", b"/a/", b"a;b"),
            (b"/a/ \t a;b, c", b"/a/", b"a;b, c"),
            (b"/ a", b"/", b"a"),
            (b"/a", b"/a", b""),
            (b"", None, b""),
            (b"*x a;b", None, b"*x a;b"),
            (b"a /b c", None, b"a /b c"),
            (b"/a%20b c", b"/a%20b", b"c"),
            ("/ツ c".encode(), "/ツ".encode(), b"c"),
        ],
    )
    def test_parts(self, value: bytes, path: bytes | None, statement: bytes) -> None:
        """Only a leading `/` starts a path, which ends at a space or tab (AMB-103, AMB-112)."""
        assert split(record(value))[:2] == (path, statement)

    def test_the_statement_has_its_place(self, read: Read) -> None:
        """Its start is an offset into the file, so notes can point at it."""
        robots = read("X: /a/   b;c  # more\n")
        scoped = split(robots.records[0])
        assert robots.body[scoped.start : scoped.start + len(scoped.statement)] == b"b;c"

    @given(st.binary(max_size=20))
    def test_no_text_is_lost(self, value: bytes) -> None:
        """Path, whitespace and statement give the value again."""
        path, statement, start = split(record(value))
        gap = value[len(path or b"") : start - 20]
        assert (path or b"") + gap + statement == value
        assert gap.strip(b" \t") == b""


class TestAt:
    """The statements of the longest pattern that matches."""

    def test_the_most_octets(self, read: Read) -> None:
        """A longer pattern replaces a shorter one, without inheritance."""
        found = ScopedSet([(b"/a", "short"), (b"/a/b", "long")], read(""))
        assert found.at("/a/b/c") == ("long",)
        assert found.at("/a/c") == ("short",)
        assert found.at("/c") == ()

    def test_without_a_path(self, read: Read) -> None:
        """A statement without a path covers every path that no pattern matches, however short."""
        found = ScopedSet([(None, "any"), (b"/a", "a"), (None, "also")], read(""))
        assert found.at("/b") == ("any", "also")
        assert found.at("/a") == ("a",)
        assert ScopedSet([(None, "any"), (b"/", "root")], read("")).at("/b") == ("root",)

    def test_octets_are_those_of_the_encoded_path(self, read: Read) -> None:
        """`/ツ` has 10 octets: `/%E3%83%84` (APP-2.1-06)."""
        found = ScopedSet([("/ツ".encode(), "ten"), (b"/*34567890", "also ten")], read(""))
        assert found.at("/ツ34567890") == ("ten", "also ten")
        found = ScopedSet([("/ツ".encode(), "ten"), (b"/*3456789", "nine")], read(""))
        assert found.at("/ツ3456789") == ("ten",)

    def test_paths_that_are_compared_alike_are_one(self, read: Read) -> None:
        """However they are escaped, in the order of the file (AMB-105)."""
        entries = [(b"/%61b", "first"), (b"/c", "other"), (b"/ab", "second"), (b"/a%62", "third")]
        assert ScopedSet(entries, read("")).at("/ab") == ("first", "second", "third")

    def test_ties_are_in_the_order_of_the_file(self, read: Read) -> None:
        """Different patterns of as many octets count together."""
        entries = [(b"/*b", "first"), (b"/a$", "end"), (b"/ab", "second"), (b"/*b", "third")]
        found = ScopedSet(entries, read(""))
        assert found.at("/ab") == ("first", "second", "third")
        assert found.at("/a") == ("end",)
        assert found.at("/xb") == ("first", "third")

    def test_robots_txt_is_a_path_like_any_other(self, read: Read) -> None:
        """That it is always allowed (AMB-45) does not affect its statements."""
        found = ScopedSet([(None, "any"), (b"/r", "r")], read(""))
        assert found.at("/robots.txt") == ("r",)
        assert found.at_many(["/robots.txt"]) == [("r",)]

    def test_a_whole_url(self, read: Read) -> None:
        """Scheme, authority and fragment do not count, octets may be bytes."""
        found = ScopedSet([(b"/a?b=", "query")], read(""))
        assert found.at("https://example.com/a?b=1#f") == ("query",)
        assert found.at(b"https://example.com/a?b=1") == ("query",)

    def test_no_statements(self, read: Read) -> None:
        """A set without statements gives an empty answer."""
        found: ScopedSet[str, tuple[str, ...]] = ScopedSet([], read(""))
        assert found.at("/") == ()
        assert found.at_many(["/", "/robots.txt"]) == [(), ()]
        assert found.at_many([]) == []

    def test_an_answer_is_made_once(self, read: Read) -> None:
        """What is made of the statements is shared by all URLs that they count for."""
        made: list[tuple[str, ...]] = []
        found = ScopedSet([(None, "a"), (b"/b", "b"), (b"/*c", "c")], read(""), made.append)
        found.at_many(["/", "/b", "/b/1", "/x", "/c", "/dc"] * 3)
        assert sorted(made) == [("a",), ("b",), ("c",)]


class TestOddPaths:
    """A path that a profile cannot use hides no path that it can."""

    def test_a_control_character(self, read: Read) -> None:
        """It makes a path unusable (AMB-05), and not one that is compared alike."""
        found = ScopedSet([(b"/\x01", "bad"), (b"/%01", "good")], read(""))
        assert found.at("/%01") == ("good",)
        assert found.at_many(["/%01"]) == [("good",)]

    def test_octets_that_are_not_utf8(self, read: Read) -> None:
        """Profile strict does not use them, the others do (AMB-06)."""
        entries = [(b"/\xff", "raw"), (b"/%FF", "escaped")]
        assert ScopedSet(entries, read("", "strict")).at("/%ff") == ("escaped",)
        assert ScopedSet(entries, read("")).at("/%ff") == ("raw", "escaped")

    @pytest.mark.parametrize(
        ("path", "profile", "usable"),
        [
            (b"/a", "strict", True),
            (b"/\xff", "strict", False),
            (b"/\xff", "default", True),
            (b"/\x01", "default", False),
            (b"/\x01", "google", True),
            ("/é".encode(), "strict", True),
            (b"a", "default", False),
            (b"", "default", False),
        ],
    )
    def test_what_is_usable(self, read: Read, path: bytes, profile: str, usable: bool) -> None:
        """As for allow and disallow."""
        assert is_usable(path, read("", profile)) is usable

    def test_index_pages(self, read: Read) -> None:
        """That google allows the directory of an index page is about Allow alone (AMB-47)."""
        found = ScopedSet([(b"/d/index.html", "page"), (b"/d/*", "all")], read("", "google"))
        assert found.at("/d/") == ("all",)
        assert found.at_many(["/d/", "/d/index.html"]) == [("all",), ("page",)]


class TestAtMany:
    """A batch answers as single questions do."""

    def test_one_url_is_not_a_batch(self, read: Read) -> None:
        """A str is not many URLs, and the error states what to pass."""
        for url in ("/a", b"/a"):
            with pytest.raises(TypeError, match=r"pass \[url\]"):
                ScopedSet([(None, "any")], read("")).at_many(url)  # type: ignore[arg-type]

    def test_any_iterable(self, read: Read) -> None:
        """A generator is read once."""
        found = ScopedSet([(None, "any"), (b"/a", "a")], read(""))
        assert found.at_many(url for url in ("/a", "/b")) == [("a",), ("any",)]

    def test_plain_patterns_of_one_length_cross_once(self, read: Read) -> None:
        """Two patterns without a wildcard cannot tie, so the engine's answer is complete."""
        found = ScopedSet([(b"/a", "a"), (b"/b", "b"), (b"/c$", "c"), (b"/d*", "d")], read(""))
        assert found.at_many(["/a", "/b", "/e"]) == [("a",), ("b",), ()]
        assert not found._unsettled
        assert found.at_many(["/c", "/d"]) == [("c",), ("d",)]
        assert found._unsettled

    def test_thousands_of_patterns(self, read: Read) -> None:
        """Large sets are matched with an index, which changes no answer."""
        entries = [(f"/{number:04}".encode(), str(number)) for number in range(2000)]
        found = ScopedSet(entries, read(""))
        urls = [f"/{number:04}/x" for number in range(0, 2400, 7)]
        assert found.at_many(urls) == [found.at(url) for url in urls]


PATHS = st.text(st.sampled_from("ab/*$?=%261\x01é"), max_size=6).map(lambda s: f"/{s}".encode())
URLS = st.text(st.sampled_from("ab/?=&%261é"), max_size=7).map("/".__add__)


class TestProperties:
    """What holds for all patterns, URLs, profiles and both engines."""

    @given(
        st.lists(st.none() | PATHS, max_size=8),
        st.lists(st.sampled_from(["/robots.txt", "/a/index.html", "/a/"]) | URLS, max_size=8),
        st.sampled_from(["default", "strict", "google"]),
    )
    def test_a_batch_equals_single_questions(
        self, paths: list[bytes | None], urls: list[str], profile: str
    ) -> None:
        """`at_many(urls)` is `[at(url) for url in urls]`, and engines agree."""
        answers = []
        for engine in (pure, find_engine("native")):
            found = made(paths, profile, engine)
            batch = found.at_many(urls)
            assert batch == [found.at(url) for url in urls]
            answers.append(batch)
        assert answers[0] == answers[1]

    @given(st.lists(PATHS, min_size=1, max_size=8), URLS)
    def test_the_same_octets_for_all_that_count(self, paths: list[bytes], url: str) -> None:
        """All that count match alone, have as many octets, and no longer one matches."""
        counted = {int(word) for word in made(paths, "default", pure).at(url)}
        octets = {}
        for at, path in enumerate(paths):
            alone = robotrules.RuleSet.from_patterns([path], engine=pure)
            if alone.tied_rules(url):
                octets[at] = alone.rules[0].octets
        most = max(octets.values(), default=None)
        assert counted == {at for at, count in octets.items() if count == most}


def made(
    paths: Sequence[bytes | None], profile: str, engine: ModuleType
) -> ScopedSet[str, tuple[str, ...]]:
    """Return a set whose statements are the positions of their paths."""
    robots = robotrules.parse("", profile, engine=engine)
    return ScopedSet([(path, str(at)) for at, path in enumerate(paths)], robots)
