"""Misuse of a RobotsTxt and of rule sets: the error states what to pass."""

from __future__ import annotations

import io
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any
from urllib.parse import urlparse, urlsplit

import httpx
import pytest

import robotrules
from robotrules import RobotsTxt, parse
from robotrules.http.origins import origin_of
from tests.file_samples import GROUPS

Read = Callable[..., RobotsTxt]


class TestMisuseOfArguments:
    """The error uses names that users know, and states what to pass."""

    def test_the_entry_of_a_registry(self, read: Read) -> None:
        """A `KnownCrawler` is a tuple and not a list of names: `.names` is."""
        robots: Any = read(GROUPS)
        entry = robotrules.crawler("Googlebot-News")
        assert entry is not None
        words = r"not KnownCrawler: pass its \.names$"
        for ask in (lambda name: robots.check("/", name), robots.rules_for, robots.crawl_delay):
            with pytest.raises(TypeError, match=words):
                ask(entry)
        assert robots.check("/", entry.names).allowed

    def test_arguments_of_check(self, read: Read) -> None:
        """The engine's class has the name of the public one in errors."""
        check: Any = read("").check
        for ask in (check, partial(check, user_agent="a")):
            with pytest.raises(TypeError, match=r"^RobotsTxt\.check\(\) "):
                ask("/")

    def test_what_is_not_a_body(self, tmp_path: Path) -> None:
        """A path and an open file are read by the caller; an HTTP client has a response."""
        wrong: list[tuple[Any, str]] = [
            (tmp_path, f"{type(tmp_path).__name__}; pass path.read_bytes()"),
            (io.BytesIO(), "BytesIO; pass file.read()"),
            (5, "int; pass response.content"),
        ]
        for body, words in wrong:
            with pytest.raises(TypeError) as told:
                parse(body)
            assert str(told.value) == f"a robots.txt is bytes or str, not {words}"


class TestMisuseOfUrls:
    """A URL that is neither text nor octets raises a TypeError with a fix."""

    @pytest.mark.parametrize("url", [None, 1, bytearray(b"/"), memoryview(b"/"), ["/"], object()])
    def test_one_url(self, read: Read, url: Any) -> None:
        """Every method for one URL states what a URL is."""
        robots = read(GROUPS)
        rules = robots.rules_for("a")
        asks: list[Callable[[Any], Any]] = [
            rules.allows,
            rules.check,
            rules.tied_rules,
            rules.matches,
            lambda url: robots.check(url, "a"),
            lambda url: robots.explain(url, "a"),
            lambda url: rules.allows_many([url]),
            lambda url: rules.check_many(["/", url]),
        ]
        for ask in asks:
            with pytest.raises(TypeError, match=r"a URL is str or bytes, not \w+: (?!pass str)"):
                ask(url)

    @pytest.mark.parametrize(
        ("url", "cure"),
        [
            (None, "not NoneType: None is not a URL; leave it out"),
            (urlsplit("/a"), "not SplitResult: pass url.geturl()"),
            (urlparse(b"/a"), "not ParseResultBytes: pass url.geturl()"),
            (httpx.URL("https://example.com/a"), "not URL: pass str(url)"),
            (bytearray(b"/a"), "not bytearray: pass bytes(url)"),
            (memoryview(b"/a"), "not memoryview: pass bytes(url)"),
            (httpx.URL, "not type: pass the URL as text, such as 'https://example.com/'"),
            (5, "not int: pass the URL as text, such as 'https://example.com/'"),
        ],
    )
    def test_the_fix(self, read: Read, url: Any, cure: str) -> None:
        """The suggested argument is a URL: `str(None)` and `str()` of a SplitResult are not."""
        rules = read(GROUPS).rules_for("a")
        asks: list[Callable[[Any], Any]] = [rules.check, origin_of]
        if not hasattr(url, "host"):  # guidance takes URL classes
            asks.append(lambda url: robotrules.guidance(url, "a"))
        for ask in asks:
            with pytest.raises(TypeError) as raised:
                ask(url)
            assert str(raised.value) == f"a URL is str or bytes, {cure}"

    @pytest.mark.parametrize("place", [0, 1, 7, 127, 128, 129, 300])
    @pytest.mark.parametrize("odd", [None, 1.5])
    def test_one_of_a_batch(self, read: Read, place: int, odd: Any) -> None:
        """In a batch of any size, of text or of octets, the error has the position."""
        rules = read(GROUPS).rules_for("a")
        for usual in ("/x", b"/x", "/a\nb"):
            urls: list[Any] = [usual] * 301
            urls[place] = odd
            words = rf"urls\[{place}\]: a URL is str or bytes, not {type(odd).__name__}"
            for ask in (rules.allows_many, rules.check_many):
                for given in (urls, iter(urls), urls[: place + 1]):
                    with pytest.raises(TypeError, match=words):
                        ask(given)

    def test_one_far_on_in_a_batch(self, read: Read) -> None:
        """Places count over the whole batch, and not over a part of it."""
        urls: list[Any] = ["/x"] * 150_000
        urls[140_001] = None
        rules = read(GROUPS).rules_for("a")
        for given in (urls, iter(urls)):
            with pytest.raises(TypeError, match=r"urls\[140001\]"):
                rules.allows_many(given)
