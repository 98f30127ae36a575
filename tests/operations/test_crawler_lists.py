"""Crawler lists of others: every form is read, hostile ones are refused, differences are found."""

from __future__ import annotations

import json
import time

import pytest

from robotrules.errors import RegistryError
from robotrules.json_results.crawlers import crawlers_values
from robotrules.operations.crawler_lists import (
    LARGEST_LIST,
    MOST_LISTED,
    compare_list,
    find_closest,
    read_crawler_list,
)
from robotrules.registries.crawlers import KNOWN_CRAWLERS

KNOWN = list(KNOWN_CRAWLERS)
AI = list(KNOWN_CRAWLERS.with_purposes(["ai-training"]))


def names(octets: bytes) -> list[str]:
    """Return the names of a list."""
    return [crawler.name for crawler in read_crawler_list(octets).crawlers]


@pytest.mark.parametrize(
    ("octets", "form"),
    [
        (b"GPTBot\n# a comment\n\nCCBot # another\r\n", "names"),
        (b"\xef\xbb\xbfGPTBot\rCCBot", "names"),
        (b"User-agent: GPTBot\nuser-AGENT : CCBot # x\nUser-agent: *\nDisallow: /", "robots.txt"),
        (b'["GPTBot", "CCBot", "gptbot", "*"]', "JSON"),
        (b'[{"name": "GPTBot"}, {"product_token": "CCBot", "purposes": "x"}]', "JSON"),
        (b'{"crawlers": [{"product_token": "GPTBot"}, "CCBot"]}', "robotrules"),
        (b'{"GPTBot": {"function": "x"}, "CCBot": 3}', "ai.robots.txt"),
    ],
)
def test_forms(octets: bytes, form: str) -> None:
    """Each name is read once, in the order of the list; the form is detected."""
    found = read_crawler_list(octets)
    assert [crawler.name for crawler in found.crawlers] == ["GPTBot", "CCBot"]
    assert (found.form, found.skipped) == (form, 0)


def test_entries_without_a_name_are_counted() -> None:
    """They are not compared."""
    found = read_crawler_list(b'["GPTBot", 3, null, {"x": 1}, "", " ", "' + b"x" * 65 + b'"]')
    assert len(found.crawlers) == 1
    assert found.skipped == 6


@pytest.mark.parametrize(
    ("octets", "words"),
    [
        (b"", "has no names of crawlers"),
        (b"[]", "has no names of crawlers"),
        (b"{}", ".* pass one name per line, a robots.txt, or JSON"),
        (b"GPTBot\n\xff", "is not UTF-8 at byte 7"),
        (b'["GPTBot"', "is not JSON: Expecting"),
        (b"[" * 100_000, "is not JSON: it cannot be parsed"),
        (b"[" + b"9" * 5_000 + b"]", "is not JSON: it cannot be parsed"),
        (b"a" * (LARGEST_LIST + 1), "has more than 4 MiB"),
        (b"\n".join(b"n%d" % n for n in range(MOST_LISTED + 1)), "has more than 20,000 names"),
    ],
    ids=range(9),
)
def test_what_is_not_a_list(octets: bytes, words: str) -> None:
    """The error names the file, and says what to pass."""
    with pytest.raises(RegistryError, match=f"the file {words}"):
        read_crawler_list(octets, "the file")


def test_our_own_list_has_no_difference() -> None:
    """Neither as JSON, nor as names, nor as a robots.txt."""
    own = json.dumps(crawlers_values()).encode()
    lines = "\n".join(crawler.product_token for crawler in KNOWN).encode()
    agents = "\n".join(f"User-agent: {crawler.written_as}" for crawler in KNOWN).encode()
    for octets in (own, lines, agents):
        assert compare_list(read_crawler_list(octets), KNOWN).same


def test_missing_and_additional() -> None:
    """Retired crawlers are not missed; crawlers beyond the filter are neither."""
    theirs = read_crawler_list(b"gptbot\nGooglebot\nFoobot\nGPT-Bot\nanthropic-ai")
    found = compare_list(theirs, AI)
    missing = {crawler.product_token for crawler in found.missing}
    active = {crawler.product_token for crawler in AI if crawler.status == "active"}
    assert missing == active - {"GPTBot"}
    assert [one.name for one in found.additional] == ["Foobot", "GPT-Bot"]
    assert [find_closest(one.name) for one in found.additional] == [None, "GPTBot"]
    assert (found.compared, found.same, found.differing) == (len(AI), False, ())


def test_purposes_that_differ() -> None:
    """A list differs if it says a purpose that the well-known crawler does not have."""
    theirs = read_crawler_list(
        json.dumps(
            {
                "GPTBot": {"function": "Scrapes data to train models"},
                "Applebot": {"function": "AI Search Crawlers"},
                "PerplexityBot": {"function": "AI Search Crawlers"},
                "CCBot": {"function": "Anything"},
                "Diffbot": {"function": "LLM " * 200},
            }
        ).encode()
    )
    found = {one.crawler.product_token: one for one in compare_list(theirs, KNOWN).differing}
    assert list(found) == ["Applebot", "Diffbot"]
    assert found["Applebot"].as_dict() == {
        "product_token": "Applebot",
        "purposes": ["search"],
        "listed_purposes": ["ai-search"],
        "listed_text": "AI Search Crawlers",
    }
    assert len(found["Diffbot"].listed.text) == 200
    ours = json.dumps([{"name": "GPTBot", "purposes": ["search", "x", 3]}]).encode()
    assert len(compare_list(read_crawler_list(ours), KNOWN).differing) == 1
    assert compare_list(read_crawler_list(ours), []).differing == ()


def test_a_large_list_takes_little_time() -> None:
    """20,000 names are read and compared in seconds; spelling is compared on demand."""
    octets = json.dumps([f"name-{number}" for number in range(MOST_LISTED)]).encode()
    started = time.monotonic()
    assert len(compare_list(read_crawler_list(octets), KNOWN).additional) == MOST_LISTED
    assert time.monotonic() - started < 10
