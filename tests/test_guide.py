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
        "  snippet                yes         nothing that was read forbids it",
        "  follow links           no          meta element 1 of the final DOM: nofollow",
        "  max-snippet            20          Robots-Tag line 1: max-snippet=20",
        "  train-ai               disallowed  line 3: Content-Usage: train-ai=n",
        "  search                 allowed     field: search=y",
        "  examplesearch;widgets  ?0          line 4",
        "  text and data mining   reserved    field",
        "                                     https://example.com/policy",
    ]


def test_noindex_on_a_disallowed_page(read: Read) -> None:
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
    assert "Crawlers do not see the noindex" in str(found)


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


def test_other_media_types_are_not_read() -> None:
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
        ({"headers": 5}, "headers must be a mapping"),
        ({"html": 5}, "HTML comes as bytes"),
        ({"application": "a b"}, "not an application identifier"),
        ({"profile": "altavista"}, "unknown tag profile"),
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


def test_library_urls_and_invalid_urls() -> None:
    import httpx

    assert guidance(httpx.URL("https://example.com/a"), "a").url == "https://example.com/a"  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="a URL is str or bytes"):
        guidance(5, "a")  # type: ignore[arg-type]
    for wrong in (5, ""):
        with pytest.raises((TypeError, ProductTokenError), match="product_token"):
            guidance(URL, wrong)  # type: ignore[arg-type]


def test_a_final_dom_alone_is_not_all() -> None:
    """RTG-4-04: the state after scripts is not the only source."""
    found = guidance(URL, "a", headers={"Content-Type": "text/html"}, dom=NOINDEX)
    assert (found.tags, codes(found)) == (TagsSeen.PARTLY, ["page-not-read"])


MIB = 1024 * 1024
META = "<meta name=robots content=noindex>"
LONG_HEAD = f"<style>{'x' * (2 * MIB)}</style>{META}"
TEXT_HTML = {"Content-Type": "text/html"}


def test_a_head_that_was_not_read_to_its_end() -> None:
    """What no rule forbids is unknown there, and not permitted."""
    found = guidance(URL, "a", headers=TEXT_HTML, html=LONG_HEAD)
    assert (found.tags, codes(found)) == (TagsSeen.PARTLY, ["page-not-read"])
    assert (found.may_index, found.may_snippet, found.may_follow) == (None, None, None)
    assert found.usage is not None
    assert not found.usage.complete
    unknown = ("unknown", ("not all of the page was read",))
    said = {one.subject: one[1:] for one in found.answers()}
    assert [said[name] for name in ("index", "snippet", "follow links")] == [unknown] * 3
    told = found.as_dict()
    assert (told["may_index"], told["usage"]["may_index"]) == (None, None)


def test_what_was_read_of_it_forbids() -> None:
    """A rule before the limit counts as ever."""
    found = guidance(URL, "a", headers=TEXT_HTML, html=META + LONG_HEAD)
    assert (found.may_index, found.may_snippet) == (False, None)
    said = {one.subject: one.answer for one in found.answers()}
    assert (said["index"], said["snippet"]) == ("no", "unknown")


@pytest.mark.parametrize(
    ("html", "complete", "may_index"),
    [
        ("<title>t</title>", True, True),
        ("<title>t</title>", False, None),
        ("<title>t</title><p>text<p>more", False, True),
        ("", False, None),
        (META, False, False),
        ("<title>t</title><meta name=robots content=noind", False, None),
        ("<title>t</title><meta name=robots content=noind", True, True),
        (None, True, True),
        (None, False, None),
    ],
)
def test_a_page_that_was_cut(html: str | None, complete: bool, may_index: bool | None) -> None:
    """Its head is known if it is over before the cut."""
    found = guidance(URL, "a", headers=TEXT_HTML, html=html, complete=complete)
    assert found.may_index is may_index
    assert found.usage is not None
    assert found.usage.may_index is may_index
    if may_index is None:
        assert "head-not-final" in [one.code for one in found.usage.notes]
    for state in ("google", "default"):
        again = guidance(URL, "a", headers=TEXT_HTML, html=html, complete=complete, profile=state)
        assert again.may_index is not True or complete or state == "default"


def test_no_page_that_could_be_cut() -> None:
    """Content that is not HTML has no head."""
    found = guidance(URL, "a", headers={"Content-Type": "text/plain"}, complete=False)
    assert (found.tags, found.may_index) == (TagsSeen.READ, True)


def test_text_and_data_mining_in_the_body() -> None:
    """An element of the body makes no reservation, whatever its content (TDM-03)."""
    meta = '<meta name="tdm-reservation" content="1">'
    page = guidance(URL, "a", headers=TEXT_HTML, html=f"<title>t</title>{meta}<p>x")
    assert (page.reservation.reserved, page.reservation.carrier) == (True, "meta")
    for body in (f"<p>x{meta}", f"<body>{meta}<p>x", f"<title>t</title></head><p>{meta}"):
        for profile in ("default", "google"):
            found = guidance(URL, "a", headers=TEXT_HTML, html=body, profile=profile)
            assert found.reservation.reserved is None


@pytest.mark.parametrize("name", ["ExampleBot/1.0", "ExampleBot ", "a,b", ["ExampleBot", "a b"]])
def test_a_header_instead_of_a_name(read: Read, name: Any) -> None:
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
