"""
Well-known crawlers: every entry is complete, none occurs twice, and names are found.

The content of entries is reviewed by hand; these tests check that they can be used.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections import Counter
from datetime import date
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from robotrules import parse
from robotrules.registries.crawlers import (
    CRAWLER_PURPOSES,
    CRAWLER_STATUSES,
    KNOWN_CRAWLERS,
    LONGEST_NAME,
    OBEYS,
    KnownCrawler,
    KnownCrawlers,
)
from tests.crawler_headers import HEADERS

ROOT = Path(__file__).parents[1]
KNOWN = list(KNOWN_CRAWLERS)


@pytest.mark.parametrize("crawler", KNOWN, ids=lambda crawler: crawler.product_token)
def test_an_entry_is_whole(crawler: KnownCrawler) -> None:
    """Every field has a value that its sentence allows."""
    assert crawler.product_token == crawler.product_token.strip() != ""
    assert crawler.product_token.isascii()
    assert crawler.operator == crawler.operator.strip() != ""
    assert crawler.purposes
    assert set(crawler.purposes) <= set(CRAWLER_PURPOSES)
    assert len(set(crawler.purposes)) == len(crawler.purposes)
    assert crawler.status in CRAWLER_STATUSES
    assert crawler.obeys in OBEYS
    assert date.fromisoformat(crawler.checked) <= date.fromisoformat(KNOWN_CRAWLERS.checked)
    assert crawler.remarks == crawler.remarks.strip()
    assert not crawler.remarks or crawler.remarks.endswith(".")
    assert all(name in KNOWN_CRAWLERS for name in crawler.also)
    assert crawler.product_token not in crawler.also
    assert len(crawler.product_token) <= LONGEST_NAME


@pytest.mark.parametrize("crawler", KNOWN, ids=lambda crawler: crawler.product_token)
def test_an_entry_has_a_source_or_a_remark(crawler: KnownCrawler) -> None:
    """A page of the operator, over https; without one, the remarks state that."""
    if not crawler.documentation:
        assert "publishes no page" in crawler.remarks
        return
    parts = urlsplit(crawler.documentation)
    assert parts.scheme == "https"
    assert "." in parts.netloc
    assert not re.search(r"[\s<>\"]", crawler.documentation)


def test_entries_are_unique_and_sorted() -> None:
    """Without regard to case, as files name crawlers."""
    names = [crawler.product_token.lower() for crawler in KNOWN]
    assert names == sorted(names)
    assert max(Counter(names).values()) == 1


def test_there_are_enough_and_every_purpose_has_one() -> None:
    """The list is worth looking at; a purpose without a crawler would be an empty chapter."""
    assert len(KNOWN_CRAWLERS) >= 80
    assert {crawler.purposes[0] for crawler in KNOWN} == set(CRAWLER_PURPOSES)
    assert 25 <= sum(crawler.is_main for crawler in KNOWN) <= 35
    assert all(crawler.status == "active" for crawler in KNOWN if crawler.is_main)
    for sentence in CRAWLER_PURPOSES.values():
        assert re.fullmatch(r"[A-Z].*\.", sentence)


def test_crawlers_that_ignore_robots_txt_have_a_remark() -> None:
    """Readers of `no` or `partly` need the reason."""
    assert [c.product_token for c in KNOWN if c.obeys in ("no", "partly") and not c.remarks] == []


def test_controls_do_not_fetch() -> None:
    """They are tokens for robots.txt alone."""
    controls = {crawler.product_token for crawler in KNOWN if crawler.is_control}
    assert controls == {"Applebot-Extended", "Google-Extended", "Webzio-Extended"}


def test_names_outside_the_grammar_and_what_is_read_of_them() -> None:
    """Computed from the name: what RFC 9309 §2.2.1 leaves of it."""
    odd = {crawler.product_token: crawler.read_as for crawler in KNOWN if not crawler.is_valid}
    assert odd == {
        "360Spider": "",
        "AI2Bot": "AI",
        "archive.org_bot": "archive",
        "MJ12bot": "MJ",
        "peer39_crawler": "peer",
        "Screaming Frog SEO Spider": "Screaming",
        "Sogou web spider": "Sogou",
        "W3C-checklink": "W",
    }


@pytest.mark.parametrize("crawler", KNOWN, ids=lambda crawler: crawler.product_token)
def test_a_strict_parser_agrees_with_read_as(crawler: KnownCrawler) -> None:
    """The engine decides: a group of that name is for `read_as`, or for no crawler."""
    robots = parse(f"User-agent: {crawler.product_token}\nDisallow: /", "strict")
    if crawler.read_as:
        assert not robots.check("/", crawler.read_as)
    assert robots.check("/", "Somebody-Else")


class TestLookingUp:
    """By name, whatever its case."""

    def test_found(self) -> None:
        """Files write names as they like."""
        assert KNOWN_CRAWLERS.get("gptBOT") is KNOWN_CRAWLERS.get("GPTBot")
        assert "GPTBOT" in KNOWN_CRAWLERS
        assert "Nobody" not in KNOWN_CRAWLERS
        assert KNOWN_CRAWLERS.get("*") is None

    def test_fall_back(self) -> None:
        """As Bing, Apple and Google document it."""
        names = {c.product_token: c.names for c in KNOWN}
        assert names["bingbot"] == ("bingbot", "msnbot")
        assert names["Applebot"] == ("Applebot", "Googlebot")
        assert names["Googlebot-News"] == ("Googlebot-News", "Googlebot")

    def test_retired(self) -> None:
        """Names that files still have."""
        retired = {crawler.product_token for crawler in KNOWN if crawler.status == "retired"}
        assert {"msnbot", "anthropic-ai", "Claude-Web"} <= retired

    def test_read_on_first_use(self) -> None:
        """Importing does not read the file."""
        fresh = KnownCrawlers()
        assert vars(fresh) == {}
        assert len(fresh) == len(KNOWN)
        assert repr(fresh) == f"<KnownCrawlers: {len(KNOWN)}, checked {KNOWN_CRAWLERS.checked}>"

    def test_source(self) -> None:
        """Where the facts come from, and when they were looked up."""
        assert "operators document" in KNOWN_CRAWLERS.source
        assert date.fromisoformat(KNOWN_CRAWLERS.checked)

    def test_json(self) -> None:
        """With what is computed."""
        crawler = KNOWN_CRAWLERS.get("MJ12bot")
        assert crawler is not None
        values = json.loads(json.dumps(crawler.as_dict()))
        assert (values["is_valid"], values["read_as"], values["purposes"]) == (False, "MJ", ["seo"])


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("Googelbot", "Googlebot"),
        ("googlbot", "Googlebot"),
        ("Goooglebot", "Googlebot"),
        ("Google bot", "Googlebot"),
        ("GPT-Bot", "GPTBot"),
        ("GPTBto", "GPTBot"),
        ("ClaudBot", "ClaudeBot"),
        ("Claude_User", "Claude-User"),
        ("metaexternalagent", "meta-externalagent"),
        ("Google-CloudVertextBot", "Google-CloudVertexBot"),
        (" PerplexityBots ", "PerplexityBot"),
        ("GTPBot", "GPTBot"),
        ("CCBto", "CCBot"),
        ("Slrup", "Slurp"),
        ("Google-Extend", "Google-Extended"),
        ("Applebot-Extende", "Applebot-Extended"),
    ],
)
def test_a_slip_of_the_pen_is_seen(written: str, meant: str) -> None:
    """Letters wrong, missing, too many or swapped, or the name parted otherwise."""
    found = KNOWN_CRAWLERS.closest(written)
    assert found is not None
    assert found.product_token == meant


@pytest.mark.parametrize(
    "written",
    [
        *("GPTBot", "gptbot", "", " ", "*", "ExampleBot", "Roverbot", "SpankBot", "discobot"),
        *("MSRBOT", "factbot", "SemrushBot-SI", "Googlebot-Mobile", "pingbot", "x" * 1000),
        # Real names of two letters and `bot` are as close to others; endings of a family too.
        *("GPBot", "GMbot", "AIBOT", "CBot", "SemrushBot-AB", "SemrushBot-AS", "Yeit"),
    ],
)
def test_names_without_suggestion(written: str) -> None:
    """Known names, names of others, and names that are not similar to any."""
    assert KNOWN_CRAWLERS.closest(written) is None


def test_no_suggestion_between_two() -> None:
    """A name equally similar to two crawlers has no suggestion."""
    fresh = KnownCrawlers()
    one = KNOWN[0]
    vars(fresh)["_data"] = (one.checked, "", {"onecrawlera": one, "onecrawlerb": one})
    assert fresh.closest("onecrawlerc") is None
    vars(fresh)["_data"] = (one.checked, "", {"onecrawlera": one, "twocrawlerb": one})
    assert fresh.closest("onecrawlerc") is one


def test_the_page_matches_the_list() -> None:
    """docs/crawlers.md is generated from the list."""
    script = ROOT / "scripts" / "crawlers_page.py"
    ran = subprocess.run([sys.executable, str(script), "--check"], capture_output=True, text=True)
    assert (ran.returncode, ran.stdout) == (0, "")


@pytest.mark.parametrize("header", HEADERS)
def test_a_name_after_like_is_not_claimed(header: str) -> None:
    """Nobody is taken for a crawler because its header says that it is like it."""
    found = KNOWN_CRAWLERS.find_in_header(header)
    assert (found.product_token if found else "") == HEADERS[header]
