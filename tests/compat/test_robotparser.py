"""RobotFileParser of `robotrules.compat`, beside that of the standard library."""

from __future__ import annotations

import copy
import inspect
import pickle
import urllib.robotparser
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier

import pytest
from hypothesis import given
from hypothesis import strategies as st

import robotrules
from robotrules.compat.robotparser import RequestRate, RobotFileParser
from tests.compat.loopback import serving

FILE = """\
User-agent: *
Crawl-delay: 1
Request-rate: 3/15
Disallow: /a/ # comment
Sitemap: https://example.com/s.xml

User-agent: foo
User-agent: bar
Allow: /a/b
Disallow: /a
Crawl-delay: 1.5
"""


def parsed(text: str) -> RobotFileParser:
    """Return a parser of a file."""
    parser = RobotFileParser()
    parser.parse(text.splitlines())
    return parser


class Local(RobotFileParser):
    """A parser that may fetch from loopback."""

    allow_private = ("127.0.0.1",)
    user_agent = "LocalBot/1.0"


def test_the_methods_have_the_signatures_of_urllib() -> None:
    """Every public method of the original exists, with its parameters and defaults."""
    original = urllib.robotparser.RobotFileParser
    for name, member in inspect.getmembers(original, inspect.isfunction):
        if name.startswith("_") and name not in ("__init__", "__str__"):
            continue
        theirs = inspect.signature(member).parameters.values()
        ours = inspect.signature(getattr(RobotFileParser, name)).parameters.values()
        assert [(p.name, p.default) for p in theirs] == [(p.name, p.default) for p in ours], name
    for attribute in vars(original("http://example.com/robots.txt")):
        if not attribute.startswith("_"):
            assert hasattr(RobotFileParser("http://example.com/robots.txt"), attribute)


def test_nothing_is_allowed_before_a_file_was_read() -> None:
    """As in urllib; `modified()` counts as reading."""
    parser = RobotFileParser()
    assert not parser.can_fetch("foo", "/")
    assert parser.crawl_delay("foo") is None
    assert parser.request_rate("foo") is None
    assert parser.mtime() == 0
    parser.modified()
    assert parser.can_fetch("foo", "/")
    assert parser.mtime() > 0


def test_values() -> None:
    """Delays, rates and sitemaps have urllib's types and meaning."""
    parser = parsed(FILE)
    assert (parser.crawl_delay("other"), type(parser.crawl_delay("other"))) == (1, int)
    assert parser.crawl_delay("foo/2.0") == 1.5
    assert parser.request_rate("other") == RequestRate(3, 15)
    assert isinstance(parser.request_rate("other"), urllib.robotparser.RequestRate)
    assert parser.request_rate("foo") is None
    assert parser.site_maps() == parser.sitemaps == ["https://example.com/s.xml"]
    assert parsed("").site_maps() is None
    assert [entry.useragents for entry in parser.entries] == [["foo", "bar"]]
    assert parser.entries[0].rulelines == [("/a/b", True), ("/a", False)]
    assert parser.default_entry is not None
    assert parser.default_entry.delay == 1
    assert str(parser).endswith("User-agent: *\nCrawl-delay: 1\nRequest-rate: 3/15\nDisallow: /a/")
    assert parsed("").default_entry is None


def test_lines_in_all_forms() -> None:
    """Lines with and without line ends, an iterator, and the whole text give the same."""
    lines = ["User-agent: *", "Disallow: /a"]
    for given_lines in (lines, [f"{line}\r\n" for line in lines], iter(lines), "\n".join(lines)):
        parser = RobotFileParser()
        parser.parse(given_lines)
        assert not parser.can_fetch("x", "/a")
        assert parser.can_fetch("x", "/b")
    with pytest.raises(TypeError, match="a line is a str"):
        parser.parse([b"User-agent: *"])  # type: ignore[list-item]
    parser.parse([])
    assert parser.can_fetch("x", "/a"), "a second file replaces the first"


@given(
    st.lists(st.text()),
    st.sampled_from(["foo", "foo/1.0 (x)", "Mozilla/5.0 (compatible; foo/1)"]),
    st.text(),
)
def test_no_text_raises_and_the_answer_is_that_of_check(
    lines: list[str], agent: str, url: str
) -> None:
    """The drop-in answers what `RobotsTxt.check()` answers for the product token."""
    parser = RobotFileParser()
    parser.parse(lines)
    native = robotrules.parse(
        "\n".join(line.removesuffix("\n").removesuffix("\r") for line in lines)
    )
    compared = url.translate(dict.fromkeys(map(ord, "\r\n")))
    assert parser.can_fetch(agent, url) == bool(native.check(compared, "foo"))
    assert isinstance(str(parser), str)
    parser.crawl_delay(agent)
    parser.request_rate(agent)
    parser.site_maps()


def test_it_can_be_copied_pickled_and_subclassed() -> None:
    """As the original."""
    parser = parsed(FILE)
    parser.can_fetch("foo", "/")
    for other in (copy.copy(parser), copy.deepcopy(parser), pickle.loads(pickle.dumps(parser))):
        assert not other.can_fetch("foo", "/a/c")
        assert other.can_fetch("foo", "/a/b")
        assert other.mtime() == parser.mtime()


@pytest.mark.parametrize(
    ("status", "flags", "allowed"),
    [
        (200, (False, False), False),
        (401, (False, True), False),
        (403, (False, True), False),
        (404, (True, False), True),
        (410, (True, False), True),
        (429, (False, True), False),
        (500, (False, True), False),
        (503, (False, True), False),
    ],
)
def test_read(status: int, flags: tuple[bool, bool], allowed: bool) -> None:
    """Statuses set the flags of urllib; an unreachable file disallows everything."""
    with serving(status, b"User-agent: *\nDisallow: /") as (origin, requested):
        parser = Local(f"{origin}/robots.txt")
        parser.read()
    assert requested == [("/robots.txt", "LocalBot/1.0")]
    assert (parser.allow_all, parser.disallow_all) == flags
    assert parser.can_fetch("foo", f"{origin}/a") == allowed
    assert bool(parser.mtime()) == (status == 200)


def test_read_of_a_redirect_loop(
    caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Blocked in both; here a warning says why."""
    monkeypatch.setenv("no_proxy", "*")  # urllib uses the proxies of the environment
    with serving(302, fields={"Location": "/robots.txt"}) as (origin, _):
        for parser in (Local(origin), urllib.robotparser.RobotFileParser(f"{origin}/robots.txt")):
            parser.read()
            assert not parser.can_fetch("x", "/")
    assert len(caplog.records) == 1


def test_threads_share_a_parser() -> None:
    """Twenty threads check with more user agents than are cached, while lines are parsed again."""
    parser = parsed("User-agent: *\nDisallow: /a")
    barrier = Barrier(20)

    def check(thread: int) -> list[bool]:
        barrier.wait()
        answers = []
        for number in range(400):
            if thread == 0 and number % 50 == 0:
                parser.parse(["User-agent: *", "Disallow: /a", f"Disallow: /c{number}"])
            agent = f"bot-{number}/1.{thread}"
            answers += [parser.can_fetch(agent, "/a"), parser.can_fetch(agent, "/b")]
        return answers

    with ThreadPoolExecutor(20) as pool:
        for answers in pool.map(check, range(20)):
            assert answers == [False, True] * 400


def test_parsers_that_have_read_nothing_share_no_answers() -> None:
    """They share an immutable file: parsing in one does not change another."""
    first, second = RobotFileParser(), RobotFileParser()
    first.parse(["User-agent: *", "Disallow: /"])
    second.modified()
    assert not first.can_fetch("x", "/")
    assert second.can_fetch("x", "/")


def test_read_again_after_a_failure() -> None:
    """A failure does not stay: urllib's flags did. Subclasses see the lines in `parse()`."""
    seen: list[list[str]] = []

    class Recording(Local):
        def parse(self, lines: object) -> None:
            seen.append(list(lines))  # type: ignore[call-overload]
            super().parse(seen[-1])

    parser = Recording("http://127.0.0.1:9/robots.txt")
    parser.read()  # no connection: does not raise
    assert parser.disallow_all
    with serving(200, b"User-agent: *\r\nDisallow: /\xe9\n") as (origin, _):
        parser.set_url(origin)
        parser.read()
    assert not parser.disallow_all
    assert seen[0][:2] == ["User-agent: *", "Disallow: /\udce9"]
    assert not parser.can_fetch("x", "/%E9")


def test_private_addresses_are_refused_by_default(caplog: pytest.LogCaptureFixture) -> None:
    """`allow_private` is the way to permit them; a warning says so, once for a `read()`."""
    with serving(200, b"") as (origin, requested):
        parser = RobotFileParser(f"{origin}/robots.txt")
        parser.read()
    assert requested == []
    assert not parser.can_fetch("x", "/")
    fix = "to allow it, set RobotFileParser.allow_private = ['127.0.0.1']"
    (record,) = caplog.records
    assert (record.name, record.levelname) == ("robotrules.compat.robotparser", "WARNING")
    assert "can_fetch() returns False for all URLs" in record.getMessage()
    assert record.getMessage().endswith(parser.failure_detail)
    assert parser.failure_detail.startswith(f"{origin}/robots.txt: 127.0.0.1 is loopback")
    assert parser.failure_detail.endswith(fix)


def test_allow_private_of_an_instance() -> None:
    """It needs no subclass, and other parsers keep theirs."""
    parser = RobotFileParser()
    parser.allow_private = ["127.0.0.1"]
    with serving(200, b"User-agent: *") as (origin, _):
        parser.set_url(f"{origin}/robots.txt")
        parser.read()
    assert parser.can_fetch("x", "/")
    assert RobotFileParser().allow_private == ()


@pytest.mark.parametrize(
    ("status", "detail"),
    [
        (200, ""),
        (404, "status 404"),
        (401, "status 401"),
        (429, "status 429"),
        (503, "status 503"),
    ],
)
def test_why_there_is_no_file(status: int, detail: str, caplog: pytest.LogCaptureFixture) -> None:
    """
    `failure_detail` says what the server answered, until the next `read()`.

    A warning is logged if the file is unreachable, and not for 401, which urllib takes as we do.
    """
    parser = Local("http://127.0.0.1:9/robots.txt")
    parser.read()
    assert parser.failure_detail.startswith("http://127.0.0.1:9/robots.txt: ")
    assert [record.getMessage() for record in caplog.records] == [
        f"robots.txt was not read, so can_fetch() returns False for all URLs: "
        f"{parser.failure_detail}"
    ]
    caplog.clear()
    with serving(status, b"User-agent: *\n") as (origin, _):
        parser.set_url(f"{origin}/robots.txt")
        parser.read()
        assert parser.failure_detail == (detail and f"{origin}/robots.txt: {detail}")
    assert len(caplog.records) == (status in (429, 503))


@pytest.mark.parametrize(
    ("url", "text"),
    [
        ("", "is not an http or https URL: set one"),
        ("ftp://example.com/robots.txt", "is not an http or https URL: set one"),
        ("example.com/a", "is not an http or https URL: set one"),
        ("file:///tmp/a.txt", r"pass the lines of a local file to parse\(\)"),
        ("http://example.com/a.txt", r"pass the lines of another file to parse\(\)"),
    ],
)
def test_read_of_another_url_raises(url: str, text: str) -> None:
    """Rules are at /robots.txt of an http or https origin (RFC 9309 §2.3)."""
    with pytest.raises(ValueError, match=text):
        RobotFileParser(url).read()
