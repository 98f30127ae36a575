"""Guidance: one answer over all carriers, each part with its source, and what none sees alone."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from robotrules import Guidance, ProductTokenError, RobotsTxt, guidance
from robotrules.guide import TagsSeen

Read = Callable[..., RobotsTxt]

ROBOTS = """\
User-agent: *
Disallow: /private/
Content-Usage: train-ai=n
App-Directives: examplesearch;widgets=?0

User-agent-purpose: EXAMPLE-TRAINING
Disallow: /
"""
NOINDEX = "<!doctype html><head><meta name=robots content=noindex></head><p>x"
URL = "https://example.com/a"


def codes(found: Guidance) -> list[str]:
    return [one.code for one in found.notes]


def test_all_carriers_in_one_answer(read: Read) -> None:
    """Verdict, usage rules, app directives, preferences and reservation, each with its source."""
    found = guidance(
        URL,
        "ExampleBot",
        robots=read(ROBOTS),
        headers=[
            ("Robots-Tag", "*;max-snippet=20"),
            ("Content-Usage", "search=y"),
            ("tdm-reservation", "1"),
            ("tdm-policy", "https://example.com/policy"),
        ],
        html=NOINDEX,
        dom="<meta name=robots content=nofollow>",
        application="examplesearch",
        received=datetime(2026, 1, 1, tzinfo=UTC),
        recrawl_interval=timedelta(days=7),
    )
    assert found.may_crawl is True
    assert found.verdict is not None
    assert found.verdict.reason == "no-match"
    assert found.tags is TagsSeen.READ
    assert found.usage is not None
    assert set(found.usage.rules) == {"max-snippet", "noindex", "nofollow"}
    assert found.usage.fresh_until == datetime(2026, 1, 8, tzinfo=UTC)
    assert (found.may_index, found.may_snippet, found.may_follow) == (False, True, False)
    assert found.unseen is None
    assert found.app_directives is not None
    assert found.app_directives.get("widgets") is False
    assert found.preferences.get("train-ai") == "disallowed"
    assert found.preferences.get("search") == "allowed"
    assert found.reservation.reserved is True
    assert found.reservation.policy == "https://example.com/policy"
    assert codes(found) == []
    assert str(found).splitlines() == [
        "https://example.com/a for ExampleBot",
        "  crawl                  yes         no rule matches",
        "  index                  no          meta element 1: noindex",
        "  snippet                yes         nothing that was read says otherwise",
        "  follow links           no          meta element 1 of the final DOM: nofollow",
        "  max-snippet            20          Robots-Tag line 1: max-snippet=20",
        "  train-ai               disallowed  line 3: Content-Usage: train-ai=n",
        "  search                 allowed     field: search=y",
        "  examplesearch;widgets  ?0          line 4",
        "  text and data mining   reserved    field",
        "                                     https://example.com/policy",
    ]


def test_a_page_that_may_not_be_crawled_says_noindex_to_nobody(read: Read) -> None:
    """AMB-119, XRT-18: the tags are unknown, which is neither permitted nor forbidden."""
    found = guidance(
        "https://example.com/private/a",
        "ExampleBot",
        robots=read(ROBOTS),
        headers={"Content-Usage": "search=n", "tdm-reservation": "1"},
        html=NOINDEX,
    )
    assert found.may_crawl is False
    assert found.tags is TagsSeen.NOT_CRAWLED
    assert found.usage is None
    assert (found.may_index, found.may_snippet, found.may_follow) == (None, None, None)
    assert found.unseen is not None
    assert found.unseen.rules == {"noindex": True}
    assert codes(found) == ["not-crawled", "noindex-not-seen"]
    assert not found.preferences.applicable
    assert found.preferences.get("search") == "unknown"
    assert found.reservation.reserved is None
    assert "noindex to nobody" in str(found)


def test_what_else_is_not_seen(read: Read) -> None:
    robots = read(ROBOTS)
    other = guidance("/private/", "a", robots=robots, headers={"Robots-Tag": "*;nosnippet"})
    assert codes(other) == ["not-crawled", "tags-not-seen"]
    nothing = guidance("/private/", "a", robots=robots, headers={})
    assert codes(nothing) == ["not-crawled"]
    assert guidance("/private/", "a", robots=robots).unseen is None


def test_what_is_not_given_is_not_known(read: Read) -> None:
    """Without a page its tags are unknown; without a robots.txt the crawl is."""
    found = guidance(URL, "ExampleBot", robots=read(ROBOTS))
    assert found.tags is TagsSeen.NOT_FETCHED
    assert found.may_index is None
    assert codes(found) == ["tags-not-read"]
    alone = guidance(URL, "ExampleBot", headers={"Robots-Tag": "*;noindex"})
    assert alone.verdict is None
    assert alone.may_crawl is None
    assert alone.may_index is False
    assert str(alone).splitlines()[1] == "  crawl         unknown  no robots.txt was given"
    assert (alone.tags, codes(alone)) == (TagsSeen.PARTLY, ["page-not-read"])
    page = guidance(URL, "ExampleBot", html=NOINDEX)
    assert (page.tags, codes(page)) == (TagsSeen.PARTLY, ["headers-not-read"])
    other = guidance(URL, "ExampleBot", headers={"Content-Type": "application/pdf"})
    assert (other.tags, codes(other), other.may_index) == (TagsSeen.READ, [], True)


def test_purposes_choose_groups(read: Read) -> None:
    found = guidance(URL, "ExampleBot", robots=read(ROBOTS), purposes=["EXAMPLE-TRAINING"])
    assert found.may_crawl is False
    assert found.purposes == ("EXAMPLE-TRAINING",)


def test_an_agreement_comes_first(read: Read) -> None:
    found = guidance(URL, "ExampleBot", robots=read(ROBOTS), agreement={"train-ai": "allowed"})
    assert found.preferences.get("train-ai") == "allowed"
    assert "agreement" in str(found)


def test_tdmrep_is_read_although_the_page_is_not(read: Read) -> None:
    """The file is another resource (TDM-02); the later carriers were not seen."""
    tdmrep = json.dumps([{"location": "/", "tdm-reservation": 1}])
    for path, expected in (("/private/x", True), ("/x", False)):
        found = guidance(
            f"https://example.com{path}",
            "a",
            robots=read(ROBOTS),
            tdmrep=tdmrep,
            headers={"tdm-reservation": "0"},
        )
        assert found.reservation.reserved is expected


def test_metas_reserve_too(read: Read) -> None:
    """TDM-03: the element supersedes the field."""
    html = '<meta name="tdm-reservation" content="0"><p>x'
    found = guidance(URL, "a", headers={"tdm-reservation": "1"}, html=html)
    assert found.reservation.reserved is False


def test_the_profile_of_the_file_is_that_of_the_tags(read: Read) -> None:
    html = "<body><meta name=robots content=noindex>"
    robots = read("User-agent: *\nAllow: /", "google")
    assert guidance(URL, "googlebot", robots=robots, html=html).may_index is False
    assert guidance(URL, "googlebot", robots=robots, html=html, profile="default").may_index


def test_what_is_no_html_is_not_read() -> None:
    """A stream of another media type is not touched."""

    def chunks() -> Iterator[bytes]:
        raise AssertionError("read")
        yield b""

    found = guidance(URL, "a", headers={"Content-Type": "image/png"}, html=chunks())
    assert found.usage is not None
    assert [one.code for one in found.usage.notes] == ["not-html"]


def test_a_page_is_read_once_and_no_further_than_its_head() -> None:
    def chunks() -> Iterator[bytes]:
        yield NOINDEX.encode() + b"<p>" * 9000
        yield b"<p>"
        raise AssertionError("read on")

    assert guidance(URL, "a", html=chunks()).may_index is False


def test_bytes_and_several_tokens(read: Read) -> None:
    found = guidance(b"https://example.com/private/", ["x", "ExampleBot"], robots=read(ROBOTS))
    assert found.product_tokens == ("x", "ExampleBot")
    assert found.url == "https://example.com/private/"
    assert json.loads(json.dumps(found.as_dict()))["may_crawl"] is False


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        ({"robots": ROBOTS}, "pass robotrules.parse"),
        ({"headers": 5}, "headers are a mapping"),
        ({"html": 5}, "HTML comes as bytes"),
        ({"application": "a b"}, "no application identifier"),
        ({"profile": "altavista"}, "there is no tag profile"),
        ({"received": datetime(2026, 1, 1), "headers": {}}, "has no zone"),
    ],
)
def test_misuse(wrong: dict[str, Any], words: str) -> None:
    with pytest.raises((TypeError, ValueError), match=words):
        guidance(URL, "a", **wrong)


def test_the_name_is_the_function() -> None:
    """`robotrules.guidance` is the function, also after its module was imported."""
    import robotrules.guide

    assert robotrules.guidance is robotrules.guide.guidance


def test_a_url_of_a_library_and_what_is_none() -> None:
    import httpx

    assert guidance(httpx.URL("https://example.com/a"), "a").url == "https://example.com/a"  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="url is str or bytes"):
        guidance(5, "a")  # type: ignore[arg-type]
    for wrong in (5, ""):
        with pytest.raises((TypeError, ProductTokenError), match="product_token"):
            guidance(URL, wrong)  # type: ignore[arg-type]


def test_a_final_dom_alone_is_not_all() -> None:
    """RTG-4-04: the state after scripts is not the only source."""
    found = guidance(URL, "a", headers={"Content-Type": "text/html"}, dom=NOINDEX)
    assert (found.tags, codes(found)) == (TagsSeen.PARTLY, ["page-not-read"])


@pytest.mark.parametrize("name", ["ExampleBot/1.0", "ExampleBot ", "a,b", ["ExampleBot", "a b"]])
def test_a_header_is_no_name(read: Read, name: Any) -> None:
    """With a robots.txt and without one; profile google takes the leading name (AMB-22)."""
    for robots in (read(""), None):
        with pytest.raises(ProductTokenError, match="not a product token"):
            guidance("https://example.com/", name, robots=robots)
    assert guidance("https://example.com/", name, robots=read("", "google")).verdict
    assert guidance("https://example.com/", name, profile="google").verdict is None


def test_swapped_arguments(read: Read) -> None:
    """The URL comes first."""
    for robots in (read(""), None):
        with pytest.raises(ProductTokenError, match="pass the URL first"):
            guidance("ExampleBot", "https://example.com/", robots=robots)
