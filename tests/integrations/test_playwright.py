"""
The Playwright example: its route handler on loopback sites.

The same tests run with the stand-in of the example and in a real browser: the Chromium that the
environment variable CHROMIUM names, or `chromium` on the PATH.
"""

from __future__ import annotations

import asyncio
import importlib
import os
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.integrations.contract import client_options
from tests.integrations.loopback_site import LATENESS, Answer, LoopbackSite

EXAMPLES = Path(__file__).parents[2] / "examples"
HTML = (("Content-Type", "text/html"),)
ROBOTS = "User-agent: ExampleBot\nDisallow: /private\n"
# The browser resolves no names, and so connects to no other machine.
LOOPBACK_ONLY = "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1"


@pytest.fixture(scope="module")
def example() -> Iterator[Any]:
    """The example as a module."""
    sys.path.insert(0, str(EXAMPLES))
    yield importlib.import_module("playwright_pages")
    sys.path.remove(str(EXAMPLES))


@pytest.fixture
def site() -> Iterator[LoopbackSite]:
    """A site that disallows `/private` to ExampleBot."""
    with LoopbackSite(ROBOTS) as site:
        yield site


@pytest.fixture(params=["stand-in", "chromium"])
def visit(example: Any, request: pytest.FixtureRequest) -> Any:
    """Visit URLs; return the texts that the example writes."""
    chromium = os.environ.get("CHROMIUM") or shutil.which("chromium")
    if request.param == "chromium" and not chromium:
        pytest.skip("no Chromium: CHROMIUM is not set, and there is none on PATH")

    def run(*urls: str, **options: Any) -> list[str]:
        texts: list[str] = []
        options = {"write": texts.append, **client_options(**options)}
        if request.param == "chromium":
            browser = {"executable_path": chromium, "args": [LOOPBACK_ONLY]}
            asyncio.run(example.browse(list(urls), browser, **options))
        else:
            page = example.StandInPage(example.AGENT, example.Error)
            asyncio.run(example.show(page, list(urls), **options))
        return texts

    return run


def requested(site: LoopbackSite) -> list[str]:
    """Return the requested paths, without the icon that a browser asks for."""
    return [path for path in site.paths if path != "/favicon.ico"]


def test_disallowed_pages_are_not_requested(visit: Any, site: LoopbackSite) -> None:
    """A disallowed navigation is aborted, with the verdict."""
    page, reason = visit(site.url("/private/a"))
    assert page == f"{site.url('/private/a')}\n  no page"
    assert reason.endswith("disallowed by line 2: Disallow: /private")
    assert requested(site) == []


def test_an_unreachable_robots_txt(visit: Any) -> None:
    """Without an answer about robots.txt, no page is requested (RFC 9309 §2.3.1.4)."""
    with LoopbackSite(Answer(503)) as site:
        assert "unreachable" in visit(site.url("/a"))[1]
        assert requested(site) == []


def test_redirects_are_checked(visit: Any, site: LoopbackSite) -> None:
    """Each target of a redirect is checked, and the page is the last one."""
    site.answers |= {
        "/1": Answer(302, headers=(("Location", "/2"),)),
        "/2": Answer(301, headers=(("Location", "/page"),)),
        "/page": Answer(200, b"<title>x</title>", HTML),
        "/3": Answer(302, headers=(("Location", "/4"),)),
        "/4": Answer(302, headers=(("Location", "/private"),)),
    }
    found, no_page, reason = visit(site.url("/1"), site.url("/3"))
    assert found.startswith(f"{site.url('/page')} for ExampleBot")
    assert no_page == f"{site.url('/3')}\n  no page"
    assert site.url("/private") in reason
    assert requested(site) == ["/1", "/2", "/page", "/3", "/4"]


def test_subresources(visit: Any, site: LoopbackSite) -> None:
    """What a page loads is checked, and so are its redirects and frames."""
    page = b"<title>x</title>" + b"".join(
        b"<img src=%s>" % path for path in (b"/a.png", b"/private/b.png", b"/c.png")
    )
    site.answers |= {
        "/page": Answer(200, page + b"<iframe src=/private/frame></iframe>", HTML),
        "/c.png": Answer(302, headers=(("Location", "/private/c.png"),)),
    }
    _, *reasons = visit(site.url("/page"))
    blocked = sorted(reason.split(": ")[1].removeprefix(site.origin) for reason in reasons)
    assert blocked == ["/private/b.png", "/private/c.png", "/private/frame"]
    assert sorted(requested(site)) == ["/a.png", "/c.png", "/page"]


def test_tag_rules_of_a_page(visit: Any, site: LoopbackSite) -> None:
    """Header field and meta element are read for the crawler's name."""
    fields = (*HTML, ("Robots-Tag", "ExampleBot;nosnippet"))
    meta = b"<!doctype html><meta name=robots content=noindex><title>x</title>"
    site.answers["/page"] = Answer(200, meta, fields)
    (found,) = visit(site.url("/page"))
    lines = [" ".join(line.split()[:2]) for line in found.splitlines()]
    assert {"crawl yes", "index no", "snippet no"} <= set(lines)


def test_slots(visit: Any, site: LoopbackSite) -> None:
    """Documents wait for the slot of their origin, also after a Retry-After."""
    site.answers["/busy"] = Answer(503, b"<title>x</title>", (*HTML, ("Retry-After", "1")))
    visit(site.url("/a"), site.url("/busy"), site.url("/b"), min_delay=0.3)
    first, second, third = site.times("/a", "/busy", "/b")
    assert second - first >= 0.3 - LATENESS
    assert third - second >= 1.0 - LATENESS


def test_the_crawler_sends_its_name(visit: Any, site: LoopbackSite) -> None:
    """Pages are requested under the name whose rules apply (RFC 9309 §2.2.1)."""
    visit(site.url("/a"))
    agents = {request.headers["User-Agent"] for request in site.seen}
    assert agents == {"ExampleBot/1.0 (+https://example.com/bot)"}
