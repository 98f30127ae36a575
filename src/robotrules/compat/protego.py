"""
Protego with the methods of the library Protego 0.7 (Scrapy's default parser), by RFC 9309.

    from robotrules.compat.protego import Protego

`docs/compat/protego.md` lists every answer that differs. There is no I/O.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import time
from functools import cached_property
from typing import NamedTuple, Self

from robotrules.compat.parsing import EMPTY, parse_supplied
from robotrules.compat.urls import without_line_ends
from robotrules.compat.user_agents import ChecksByUserAgent, crawler_name
from robotrules.extensions.host import preferred_host
from robotrules.extensions.visit_time import visit_times
from robotrules.robotstxt import RobotsTxt

__all__ = ["Protego", "RequestRate", "VisitTime"]


# In functional form, so that the public classes of the package have unique names: `RequestRate` and
# `VisitTime` of `robotrules.extensions` have other fields.
RequestRate = NamedTuple(  # noqa: UP014
    "RequestRate",
    [
        ("requests", int),
        ("seconds", int),
        ("start_time", time | None),
        ("end_time", time | None),
    ],
)
RequestRate.__doc__ = "A number of requests in a number of seconds, all day or in a time window."
VisitTime = NamedTuple("VisitTime", [("start_time", time), ("end_time", time)])  # noqa: UP014
VisitTime.__doc__ = "A part of every day in UTC."


# Other records that Protego reads without a colon, or with a space in the name. RFC 9309 §2.2.4
# permits leniency with other records; User-agent, Allow and Disallow are left as they are.
_LENIENT_RECORD = re.compile(
    rb"(?<![^\r\n])[ \t]*(?:(crawl|request|visit)[- ](delay|rate|time)(?:[ \t]*:|[ \t])"
    rb"|(sitemap|site-map)[ \t]+(?=https?://)|(host)[ \t]+(?=[^\s:]+[ \t]*(?:[\r\n]|\Z)))",
    re.IGNORECASE,
)
_SPACED_WINDOW = re.compile(rb"(?<![^\r\n])(Visit-time: *[0-9]{4})[ \t]+(?=[0-9]{4})")


class Protego:
    """A parsed robots.txt; make it with `Protego.parse()`."""

    def __init__(self) -> None:
        """Make an empty file, which allows everything."""
        self._checks = ChecksByUserAgent(EMPTY)

    @classmethod
    def parse(cls, content: str) -> Self:
        """Parse the text of a robots.txt, up to 16 MiB. Never raises on content."""
        if not isinstance(content, str):
            raise TypeError(
                f"Protego.parse expects str, got {type(content).__name__}: pass "
                "response.text, or use robotrules.parse(), which reads bytes"
            )
        parser = cls()
        parser._checks = ChecksByUserAgent(parse_supplied(content))
        return parser

    @property
    def robots(self) -> RobotsTxt:
        """The file as a `robotrules.RobotsTxt`, which also gives reasons. Not in Protego."""
        return self._checks.robots

    @cached_property
    def _other_records(self) -> RobotsTxt:
        """
        The file that delays, rates, times, sitemaps and the host are read from.

        Only other records are changed, which have no effect on groups and rules.
        """
        body = self.robots.body
        repaired = _SPACED_WINDOW.sub(rb"\1-", _LENIENT_RECORD.sub(_repair_record, body))
        return self.robots if repaired == body else parse_supplied(repaired)

    def can_fetch(self, url: str, user_agent: str) -> bool:
        """Tell whether a crawler, given by product token or User-Agent header, may fetch *url*."""
        return self._checks[user_agent](without_line_ends(url))

    def crawl_delay(self, user_agent: str) -> float | None:
        """Return the Crawl-delay of a crawler in seconds, or None."""
        delay = self._other_records.crawl_delay(crawler_name(user_agent))
        return None if delay is None else delay.seconds

    def request_rate(self, user_agent: str) -> RequestRate | None:
        """Return the Request-rate of a crawler, the slowest of several; or None."""
        rate = self._other_records.request_rate(crawler_name(user_agent))
        if rate is None:
            return None
        return RequestRate(rate.requests, rate.period, *(rate.window or (None, None)))

    def visit_time(self, user_agent: str) -> VisitTime | None:
        """Return the Visit-time of a crawler, the last of several; or None."""
        windows = visit_times(self._other_records, crawler_name(user_agent))
        return VisitTime(*windows[-1].window) if windows else None

    @property
    def sitemaps(self) -> Iterator[str]:
        """The URLs of the sitemaps in the order of the file, each once."""
        return (sitemap.url for sitemap in self._other_records.sitemaps)

    @property
    def preferred_host(self) -> str | None:
        """The host of the first valid Host record, or None."""
        host = preferred_host(self._other_records)
        return None if host is None else host.record.text


def _repair_record(match: re.Match[bytes]) -> bytes:
    """Return the name of a record as it is defined, with a colon."""
    first, second, sitemap, host = match.groups()
    if first:
        return b"%s-%s: " % (first.capitalize(), second.lower())
    return b"Sitemap: " if sitemap else b"Host: " if host else match[0]
