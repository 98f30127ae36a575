"""Protego of `robotrules.compat`, beside the library Protego."""

from __future__ import annotations

import copy
import inspect
import pickle
from datetime import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

import robotrules
from robotrules.compat.protego import Protego, RequestRate, VisitTime

protego = pytest.importorskip("protego")

PATHS = st.sampled_from(
    ["/", "/a", "/a/", "/a/b", "/b*", "/*.gif", "/*/b", "/a/b$", "/a%2Fb", "/é"]
)
URLS = st.sampled_from(
    ["/", "/a", "/a/b", "/a/b/c", "/b", "/bc", "/x.gif", "/a%2fb", "/%C3%A9", "/a?b=1"]
)
RULES = st.lists(st.tuples(st.sampled_from(["Allow", "Disallow"]), PATHS), min_size=1, max_size=5)
GROUPS = st.lists(
    st.tuples(st.sampled_from(["*", "foo", "bar"]), RULES, st.integers(0, 30)), max_size=4
)


def test_the_methods_have_the_signatures_of_protego() -> None:
    """Every public method and property of the original exists, with its parameters."""
    for name, member in inspect.getmembers(protego.Protego):
        if name.startswith("_"):
            continue
        ours = getattr(Protego, name)
        if callable(member):
            theirs = list(inspect.signature(member).parameters)
            assert theirs == list(inspect.signature(ours).parameters)
        else:
            assert isinstance(ours, property)
    assert RequestRate._fields == protego.RequestRate._fields
    assert VisitTime._fields == protego.VisitTime._fields


@given(GROUPS, st.sampled_from(["foo", "bar/2.0 (x)", "baz", "*"]), URLS)
def test_files_by_the_grammar_have_the_answers_of_protego(
    groups: list[tuple[str, list[tuple[str, str]], int]], agent: str, url: str
) -> None:
    """Where the RFC leaves nothing open, nothing changes: verdicts and delays are equal."""
    # One group for each crawler: of several delays, Protego takes the last.
    lines, seen = [], set()
    for name, rules, delay in groups:
        lines += [f"User-agent: {name}", *(f"{key}: {path}" for key, path in rules)]
        lines += [] if name in seen else [f"Crawl-delay: {delay}"]
        seen.add(name)
    text = "\n".join([*lines, "Sitemap: https://example.com/s.xml"])
    # Protego also takes a final `$` literally; no URL here has one.
    ours, theirs = Protego.parse(text), protego.Protego.parse(text)
    assert ours.can_fetch(url, agent) == theirs.can_fetch(url, agent)
    assert ours.crawl_delay(agent) == theirs.crawl_delay(agent)
    assert list(ours.sitemaps) == list(theirs.sitemaps)


@given(st.text(), st.text())
def test_no_text_raises_and_the_answer_is_that_of_check(text: str, url: str) -> None:
    """The drop-in answers what `RobotsTxt.check()` answers for the product token."""
    ours = Protego.parse(text)
    assert ours.can_fetch(url, "foo/1.0") == bool(robotrules.parse(text).check(url, "foo"))
    ours.crawl_delay("foo")
    ours.request_rate("foo")
    ours.visit_time("foo")
    assert all(isinstance(sitemap, str) for sitemap in ours.sitemaps)
    assert ours.preferred_host is None or isinstance(ours.preferred_host, str)


def test_values() -> None:
    """Rates, times and hosts have Protego's types."""
    text = (
        "User-agent: *\nDisallow: /a\nRequest-rate: 1/10m 0600-0845\nVisit-time: 0200-0630\n"
        "Crawl-delay: 2\nHost: www.example.com\n"
    )
    for cls in (Protego, protego.Protego):
        parser = cls.parse(text)
        assert parser.request_rate("x") == (1, 600, time(6), time(8, 45))
        assert parser.visit_time("x") == (time(2), time(6, 30))
        assert (parser.crawl_delay("x"), type(parser.crawl_delay("x"))) == (2.0, float)
        assert parser.preferred_host == "www.example.com"
        assert cls.parse("").request_rate("x") is cls.parse("").visit_time("x") is None
    assert Protego().can_fetch("/", "x")


@pytest.mark.parametrize(
    "lines",
    [
        ["crawl delay 5", "REQUEST RATE 1/10s 1820-1940", "visit-time 0200 0630"],
        ["Crawl-delay 5", "Request-rate: 1/10s 1820-1940", "Visit time: 0200-0630"],
    ],
)
def test_other_records_without_a_colon(lines: list[str]) -> None:
    """Read as Protego reads them (RFC 9309 §2.2.4 permits it); groups do not change."""
    text = "\n".join(
        [
            "User-agent: foo",
            *lines,
            "Disallow: /a",
            "Sitemap https://example.com/s.xml",
            "host h.example",
        ]
    )
    for cls in (Protego, protego.Protego):
        parser = cls.parse(text)
        assert parser.crawl_delay("foo") == 5
        assert parser.request_rate("foo") == (1, 10, time(18, 20), time(19, 40))
        assert parser.visit_time("foo") == (time(2), time(6, 30))
        assert list(parser.sitemaps) == ["https://example.com/s.xml"]
        assert parser.preferred_host == "h.example"
        assert parser.crawl_delay("bar") is None
        assert not parser.can_fetch("/a", "foo")
    prose = "Sitemap index: see https://example.com/s.xml\nHost name: h.example"
    assert list(Protego.parse(prose).sitemaps) == []
    assert Protego.parse(prose).preferred_host is None
    assert Protego.parse(text).robots.body == text.encode(), "the file stays as written"


@pytest.mark.parametrize("end", ["\r\n", "\n", "\r"])
def test_line_ends(end: str) -> None:
    """CR, LF and CRLF end lines: the verdicts of a test of Protego that reads private counters."""
    lines = ["User-agent: foo", "Allow: /a", "User-agent: bar", "", "Disallow: /"]
    for text in (end.join(lines), end.join([*lines, ""])):
        parser = Protego.parse(text)
        assert parser.can_fetch("/a/b", "foo")
        assert not parser.can_fetch("/a/b", "bar")


def test_bytes_raise_and_files_can_be_copied() -> None:
    """As the original."""
    with pytest.raises(TypeError, match=r"Protego\.parse expects str, got bytes"):
        Protego.parse(b"")  # type: ignore[arg-type]
    parser = Protego.parse("User-agent: foo\nDisallow: /")
    for other in (copy.deepcopy(parser), pickle.loads(pickle.dumps(parser))):
        assert not other.can_fetch("/", "foo")
