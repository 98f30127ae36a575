"""
RobotsParser with the methods of robotspy 0.13 (the module `robots`), answering by RFC 9309.

    from robotrules.compat.robotspy import RobotsParser

`RobotFileParser` of robotspy is that of `robotrules.compat.robotparser`. `from_uri()` fetches with
`robotrules.Client`, `from_file()` reads a file; everything else has no I/O.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Iterable
from pathlib import Path
from typing import Self
from urllib.parse import urlsplit

from robotrules.cache import EffectivePolicy
from robotrules.compat.fetching import USER_AGENT, describe_failure, fetch_state
from robotrules.compat.parsing import EMPTY, parse_supplied
from robotrules.compat.robotparser import RequestRate, RobotFileParser
from robotrules.compat.urls import without_line_ends
from robotrules.compat.user_agents import ChecksByUserAgent
from robotrules.http.origins import origin_of
from robotrules.robotstxt import RobotsTxt
from robotrules.robotstxt.tokens import is_product_token

__all__ = ["RequestRate", "RobotFileParser", "RobotsParser"]

logger = logging.getLogger(__name__)


class RobotsParser:
    """A parsed robots.txt; make it with `from_string()`, `from_uri()` or `from_file()`."""

    user_agent: str = USER_AGENT
    """The User-Agent header that `from_uri()` sends; set it in a subclass."""
    allow_private: Iterable[str] = ()
    """Private hosts, addresses and networks that `from_uri()` may connect to."""

    def __init__(self, url: str = "") -> None:
        """Make an empty file, which allows everything; *url* is the URL of the robots.txt."""
        self.url = url
        self.disallow_all = False
        self.allow_all = False
        self.timeout: float = 5
        self.timestamp: float = 0.0
        self.errors: list[tuple[str, str]] = []
        self._checks = ChecksByUserAgent(EMPTY)

    @classmethod
    def from_string(cls, robotstxt: str) -> Self:
        """Parse the text of a robots.txt, up to 16 MiB. Never raises on content."""
        parser = cls()
        parser._checks = ChecksByUserAgent(parse_supplied(robotstxt))
        return parser

    @classmethod
    def from_uri(cls, uri: str, timeout: float = 5) -> Self:
        """
        Fetch the robots.txt of the origin of *uri*, and parse it.

        401, 403 and an unreachable file set `disallow_all`, other 4xx `allow_all`; `errors` says
        why. For an unreachable file a warning is logged too.
        """
        parser = cls(uri)
        parser.timeout = timeout
        state = fetch_state(
            uri, user_agent=cls.user_agent, allow_private=cls.allow_private, timeout=timeout
        )
        if state is None:
            raise ValueError(
                f"{uri!r} is not an http or https URL: pass one, such as "
                "'https://example.com/robots.txt', or read a local file with from_file()"
            )
        parser.allow_all = state.policy is EffectivePolicy.ALLOW
        parser.disallow_all = state.policy is EffectivePolicy.DISALLOW
        if state.policy is EffectivePolicy.RULES:
            parser.timestamp = time.time()
            parser._checks = ChecksByUserAgent(state.robots)
        elif parser.disallow_all and (record := state.fetch_record) is not None:
            detail = describe_failure(record, cls.__name__)
            parser.errors.append((str(record.status or ""), detail))
            if not record.usable:
                logger.warning(
                    "robots.txt was not read, so can_fetch() returns False for all URLs: %s", detail
                )
        return parser

    @classmethod
    def from_file(cls, filename: str) -> Self:
        """Parse a local file, up to 16 MiB; a file that does not exist is in `errors`."""
        parser = cls()
        try:
            parser._checks = ChecksByUserAgent(parse_supplied(Path(filename).read_bytes()))
        except FileNotFoundError:
            parser.errors.append((filename, "Error: No file found"))
        return parser

    @staticmethod
    def is_agent_valid(useragent: str) -> bool:
        """Tell whether a name is a product token by the grammar (RFC 9309 §2.2.1)."""
        return is_product_token(useragent)

    @property
    def robots(self) -> RobotsTxt:
        """The file as a `robotrules.RobotsTxt`, which also gives reasons. Not in robotspy."""
        return self._checks.robots

    @property
    def host(self) -> str:
        """The host of `url`."""
        return urlsplit(self.url)[1]

    @property
    def path(self) -> str:
        """The path of `url`."""
        return urlsplit(self.url)[2]

    @property
    def warnings(self) -> list[tuple[str, str]]:
        """What is unusual about the file: the line, and a text."""
        return [(f"line {note.line}", note.message) for note in self.robots.notes]

    @property
    def sitemaps(self) -> list[str] | None:
        """The URLs of the sitemaps, or None if there is none."""
        return [sitemap.url for sitemap in self.robots.sitemaps] or None

    def can_fetch(self, useragent: str, url: str) -> bool:
        """Tell whether a crawler may fetch *url*; False for another origin than that of `url`."""
        if self.allow_all:
            return True
        if self.disallow_all:
            return False
        asked = without_line_ends(url)
        own = origin_of(self.url) if self.url else None
        if own is not None and origin_of(asked) not in (own, None):
            return False
        return self._checks[useragent](asked)

    def __str__(self) -> str:
        return self.robots.body.decode("utf-8", "backslashreplace")
