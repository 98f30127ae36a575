"""Clean-param: irrelevant query parameters are removed (REC-clean-param-01)."""

from __future__ import annotations

import pickle
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

import robotrules
from robotrules import RobotsTxt
from robotrules.extensions.clean_param import clean_params, clean_url, notes

Read = Callable[..., RobotsTxt]


def codes(robots: RobotsTxt) -> list[tuple[str, int | None]]:
    """Return codes and lines of what is noted."""
    return [(note.code, note.line) for note in notes(robots)]


class TestDocumented:
    """What Yandex documents."""

    def test_under_its_path_only(self, read: Read) -> None:
        """Three addresses of one book become one; elsewhere the parameter stays."""
        robots = read("User-agent: Yandex\nClean-param: ref /some_dir/get_book.pl")
        site = "https://www.example.com/some_dir/get_book.pl"
        for number in (1, 2, 3):
            url = f"{site}?ref=site_{number}&book_id=123"
            assert clean_url(robots, url) == f"{site}?book_id=123"
        other = "https://www.example.com/other/get_book.pl?ref=site_1&book_id=123"
        assert clean_url(robots, other) == other

    @pytest.mark.parametrize(
        ("record", "url", "expected"),
        [
            ("s /forum/showthread.php", "/forum/showthread.php?s=68&t=8", "?t=8"),
            ("s /forum/showthread.php", "/forum/showthread.phpx/y?s=68&t=8", "?t=8"),
            ("s /forum/showthread.php", "/forum/x.php?s=68&t=8", "?s=68&t=8"),
            ("s&ref /forum*/showthread.php", "/forum_2/showthread.php?s=6&t=8&ref=13", "?t=8"),
            ("sid&sort /forum/*.php", "/forum/a/b.php?sid=1&id=2&sort=3", "?id=2"),
            ("someTrash&otherTrash", "/any?sometrash=1&someTrash=2&otherTrash=3", "?sometrash=1"),
            ("sid /Index.php", "/index.php?sid=1", "?sid=1"),
        ],
    )
    def test_examples(self, read: Read, record: str, url: str, expected: str) -> None:
        """A path is a prefix that may hold `*`; without one the record is for every page."""
        robots = read(f"Clean-param: {record}")
        assert clean_url(robots, url) == url.partition("?")[0] + expected

    def test_group_independent(self, read: Read) -> None:
        """It counts in whatever group, and before the first; several records add up."""
        robots = read(
            "Clean-param: a\nUser-agent: Yandex\nCLEAN-PARAM: b /x\nDisallow: /\n"
            "User-agent: *\nClean-param: c /x/y\nClean-param: d /x\n"
        )
        assert clean_url(robots, "/x/y?a=1&b=2&c=3&d=4&e=5") == "/x/y?e=5"
        assert clean_url(robots, "/x?a=1&b=2&c=3&d=4&e=5") == "/x?c=3&e=5"
        assert [found.line for found in clean_params(robots).records] == [1, 3, 6, 7]
        assert codes(robots) == []


class TestUrl:
    """All else of a URL stays as it is, to the octet."""

    @pytest.mark.parametrize(
        ("url", "expected"),
        [
            ("/p?a=1&x=%2f&b=2&y=Z", "/p?x=%2f&y=Z"),
            ("/p?y=1&a=1&x=2&y=3", "/p?y=1&x=2&y=3"),
            ("/p?a", "/p"),
            ("/p?a=", "/p"),
            ("/p?a=1&a=2&b", "/p"),
            ("/p?a=1#f?a=1", "/p#f?a=1"),
            ("/p?x=a#a=1", "/p?x=a#a=1"),
            ("/p#f?a=1", "/p#f?a=1"),
            ("/p?x=1&&a=2&&y", "/p?x=1&&&y"),
            ("/p?a=1&", "/p"),
            ("/p?", "/p?"),
            ("/p", "/p"),
            ("/p?x=?a=1", "/p?x=?a=1"),
            ("/p?x=1;a=2", "/p?x=1;a=2"),
            ("/p?%61=1&x=%C3%A9", "/p?x=%C3%A9"),
            ("/p?A=1", "/p?A=1"),
            ("/p?aa=1&ab=2", "/p?aa=1&ab=2"),
            ("/p?a=1=2=3&x=é ü", "/p?x=é ü"),
            ("https://e.example?a=1", "https://e.example"),
            ("https://e.example/p/a=1?a=1", "https://e.example/p/a=1"),
            ("", ""),
        ],
    )
    def test_cleaned(self, read: Read, url: str, expected: str) -> None:
        """Order, escapes, fragment and separators are kept; the `?` goes with the last one."""
        robots = read("Clean-param: a&b")
        assert clean_url(robots, url) == expected
        assert clean_url(robots, url.encode()) == expected.encode()

    def test_names_are_compared_without_escapes(self, read: Read) -> None:
        """`%D0%BA` and the letter are one name, however either is written."""
        robots = read("Clean-param: к&ids%5B%5D")
        assert clean_url(robots, "/?%D0%BA=1&x=1") == "/?x=1"
        assert clean_url(robots, "/?к=1&ids[]=2&ids%5b%5D=3&ids=4") == "/?ids=4"

    def test_octets_that_are_not_utf8(self, read: Read) -> None:
        """They are compared as octets, in the record and in the URL."""
        robots = read(b"Clean-param: \xff")
        assert clean_url(robots, b"/?\xff=1&\xfe=2") == b"/?\xfe=2"
        assert clean_url(robots, "/?%FF=1&%FE=2") == "/?%FE=2"

    def test_paths_are_compared_as_for_rules(self, read: Read) -> None:
        """In normal form, with dot segments removed, from the first octet; never the query."""
        robots = read("Clean-param: a /d%61ta/ \nClean-param: b data2/\nClean-param: c *.php$")
        assert clean_url(robots, "/data/x?a=1") == "/data/x"
        assert clean_url(robots, "/q/../data/x?a=1") == "/q/../data/x"
        assert clean_url(robots, "/q/data/x?a=1") == "/q/data/x?a=1"
        assert clean_url(robots, "/data2/x?b=1") == "/data2/x"
        assert clean_url(robots, "/x.php?c=1") == "/x.php"
        assert clean_url(robots, "/x?c=1&y=.php") == "/x?c=1&y=.php"

    def test_many(self, read: Read) -> None:
        """Compiled once, used often."""
        params = clean_params(read("Clean-param: a /x\nClean-param: b /x"))
        assert params.clean_many(["/x?a&b&c", "/y?a&b&c", "/x"]) == ["/x?c", "/y?a&b&c", "/x"]
        assert len(params) == 2
        assert repr(params) == "<CleanParams: 2 records, 2 parameters>"
        assert pickle.loads(pickle.dumps(params)).clean("/x?a=1") == "/x"

    def test_misuse(self, read: Read) -> None:
        """An invalid URL raises an error."""
        params = clean_params(read("Clean-param: a"))
        with pytest.raises(TypeError, match="not NoneType"):
            params.clean(None)  # type: ignore[type-var]
        with pytest.raises(TypeError, match=r"pass \['/x'\]"):
            params.clean_many("/x")


class TestBad:
    """A record that cannot be used is noted, and hides none beside it."""

    @pytest.mark.parametrize("value", ["", "&", "&&& /x"])
    def test_no_parameter(self, read: Read, value: str) -> None:
        """A record that names none."""
        robots = read(f"Clean-param: {value}\nClean-param: b")
        assert clean_url(robots, "/?a&b&=1") == "/?a&=1"
        (note,) = notes(robots)
        assert (note.code, note.level, note.line) == ("bad-clean-param", "error", 1)
        assert robots.body[note.start : note.end] == value.encode()

    @pytest.mark.parametrize(
        ("value", "path"), [("a /x /y", "/x /y"), ("a b c", "b c"), ("a  /x?id=", "/x?id=")]
    )
    def test_no_path(self, read: Read, value: str, path: str) -> None:
        """Two paths, or one with a query: what was meant is not guessed."""
        robots = read(f"Clean-param: {value}\nClean-param: z")
        assert clean_url(robots, "/x?id=1&a=1&z") == "/x?id=1&a=1"
        (note,) = notes(robots)
        assert (note.code, note.line) == ("unusable-path", 1)
        assert robots.body[note.start : note.end] == path.encode()

    def test_empty_names_beside_good_ones(self, read: Read) -> None:
        """They are left out."""
        (found,) = clean_params(read("Clean-param: &a&&b& x")).records
        assert found.as_dict() == {"parameters": ["a", "b"], "path": "/x", "line": 1}

    @given(st.binary(max_size=60), st.binary(max_size=60), st.text(max_size=60))
    def test_any_octets(self, octets: bytes, url: bytes, text: str) -> None:
        """With any file and any URL, the result is a URL."""
        robots = robotrules.parse(b"Clean-param: " + octets)
        list(notes(robots))
        assert len(clean_url(robots, url)) <= len(url)
        assert len(clean_url(robots, text)) <= len(text)

    @pytest.mark.parametrize("piece", [b"a", b"a&", b"&", b" a", b"%", b"\xff", b"*", b"a *"])
    def test_a_long_value(self, read: Read, piece: bytes) -> None:
        """A hundred thousand octets cost no more than their length."""
        robots = read(b"Clean-param: p /" + piece * (100_000 // len(piece)))
        assert clean_url(robots, "/a?q") == "/a?q"
        assert len(clean_params(robots)) + len(codes(robots)) == 1


NAMES = st.sampled_from(["a", "b", "c", "A", "%61", "é", ""])
PIECES = st.lists(st.tuples(NAMES, st.sampled_from(["", "=", "=1", "=a"])).map("".join), max_size=5)
PATHS = st.sampled_from(["", " /", " /x", " /x/*y", " *y", " /*", " y", " /x$"])
RECORDS = st.lists(st.tuples(st.lists(NAMES, max_size=3).map("&".join), PATHS).map("".join))
URLS = st.tuples(
    st.sampled_from(["", "/", "/x", "/x/zy", "https://e.example", "https://e.example/x/y"]),
    PIECES.map(lambda pieces: "?" + "&".join(pieces)),
    st.sampled_from(["", "#", "#a=1&b", "#?a"]),
).map("".join)


class TestLaws:
    """What holds for all records and all URLs."""

    @given(RECORDS, URLS)
    def test_idempotent(self, records: list[str], url: str) -> None:
        """Cleaning twice is cleaning once."""
        params = clean_params(robotrules.parse("".join(f"Clean-param: {r}\n" for r in records)))
        once = params.clean(url)
        assert params.clean(once) == once

    @given(RECORDS, URLS)
    def test_no_text_is_added(self, records: list[str], url: str) -> None:
        """The pieces of the query stay in their order; path and fragment are unchanged."""
        robots = robotrules.parse("".join(f"Clean-param: {record}\n" for record in records))
        cleaned = clean_url(robots, url)
        before, after = url.partition("#"), cleaned.partition("#")
        assert after[1:] == before[1:]
        assert after[0].partition("?")[0] == before[0].partition("?")[0]
        left = iter(before[0].partition("?")[2].split("&"))
        query = after[0].partition("?")[2]
        assert not query or all(piece in left for piece in query.split("&"))

    @given(RECORDS, RECORDS, URLS)
    def test_records_add_up(self, some: list[str], more: list[str], url: str) -> None:
        """Cleaning by two files, in either order, is cleaning by both in one."""
        one, two, both = (
            clean_params(robotrules.parse("".join(f"Clean-param: {r}\n" for r in records)))
            for records in (some, more, some + more)
        )
        assert two.clean(one.clean(url)) == one.clean(two.clean(url)) == both.clean(url)

    @given(RECORDS, URLS)
    def test_never_a_verdict(self, records: list[str], url: str) -> None:
        """The URL is judged as it is: with its parameters."""
        rules = "User-agent: *\nDisallow: /x?a\n"
        robots = robotrules.parse(rules + "".join(f"Clean-param: {r}\n" for r in records))
        verdict = robotrules.parse(rules).check(url, "bot")
        assert robots.check(url, "bot").allowed == verdict.allowed


def test_an_index_page_is_a_matter_of_allow(read: Read) -> None:
    """Profile google allows a directory with its index page (AMB-47), and cleans neither."""
    robots = read("Clean-param: ref /d/index.html", "google")
    assert clean_url(robots, "/d/?ref=1") == "/d/?ref=1"
    assert clean_url(robots, "/d/index.html?ref=1") == "/d/index.html"


@pytest.mark.parametrize("path", [b"http://e.example/x", b"/\x01x"])
def test_a_path_that_can_never_match(read: Read, path: bytes) -> None:
    """A URL, or an octet that no pattern can contain, has a note and no effect."""
    robots = read(b"Clean-param: ref " + path)
    assert [note.code for note in notes(robots)] == ["unusable-path"]
    assert clean_url(robots, "/x?ref=1") == "/x?ref=1"
