"""
RobotFileParser with the methods of Python's `urllib.robotparser`, answering by RFC 9309.

    from robotrules.compat.robotparser import RobotFileParser

The signatures and return types are those of the standard library; the answers do not depend on the
Python version. `docs/compat/robotparser.md` lists every answer that differs.
`read()` fetches with `robotrules.Client`; everything else has no I/O.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Iterable
from typing import NamedTuple
from urllib.parse import urlsplit
from urllib.robotparser import RequestRate as RequestRate

from robotrules.cache import EffectivePolicy
from robotrules.compat.fetching import USER_AGENT, describe_failure, fetch_state
from robotrules.compat.parsing import EMPTY, parse_supplied
from robotrules.compat.urls import without_line_ends
from robotrules.compat.user_agents import ChecksByUserAgent, crawler_name
from robotrules.robotstxt import RobotsTxt
from robotrules.robotstxt.ruleset import URL
from robotrules.robotstxt.values import Group

__all__ = ["RequestRate", "RobotFileParser"]

logger = logging.getLogger(__name__)

_ROBOTS_TXT_PATHS = ("", "/", "/robots.txt")


class RobotFileParser:
    """A robots.txt, read from lines or from its URL, and the queries of `urllib.robotparser`."""

    user_agent: str = USER_AGENT
    """The User-Agent header that `read()` sends; set it in a subclass or on an instance."""
    allow_private: Iterable[str] = ()
    """Private hosts, addresses and networks that `read()` may connect to, such as `localhost`."""

    failure_detail: str = ""
    """Why the last `read()` got no file, such as `…/robots.txt: status 503`. Not in urllib."""

    _checks: ChecksByUserAgent

    def __init__(self, url: str = "") -> None:
        """Make an empty parser; *url* is the URL of a robots.txt for `read()`."""
        self.disallow_all = False
        self.allow_all = False
        self.set_url(url)
        self.last_checked: float = 0
        self._checks = ChecksByUserAgent(EMPTY)

    # --- Reading --------------------------------------------------------------------------------

    def set_url(self, url: str) -> None:
        """Set the URL of the robots.txt that `read()` fetches."""
        self.url = url
        self.host, self.path = urlsplit(url)[1:3]

    def read(self) -> None:
        """
        Fetch the robots.txt of the origin of `url`, and parse it.

        401 and 403 set `disallow_all`, other 4xx set `allow_all` (RFC 9309 §2.3.1.3). If the file
        is unreachable (5xx, 429, timeout, no connection, an address that is refused),
        `disallow_all` is set (§2.3.1.4) and a warning is logged: network failures do not raise.
        """
        if self.host and self.path not in _ROBOTS_TXT_PATHS:
            raise ValueError(
                f"{self.url!r} is not the URL of a robots.txt, which is at /robots.txt (RFC 9309 "
                "§2.3): pass the lines of another file to parse()"
            )
        state = fetch_state(self.url, user_agent=self.user_agent, allow_private=self.allow_private)
        if state is None:
            raise ValueError(
                f"{self.url!r} is not an http or https URL: set one, such as "
                "'https://example.com/robots.txt', or pass the lines of a local file to parse()"
            )
        self.allow_all = state.policy is EffectivePolicy.ALLOW
        self.disallow_all = state.policy is EffectivePolicy.DISALLOW
        self.failure_detail = ""
        if state.policy is not EffectivePolicy.RULES and state.fetch_record is not None:
            self.failure_detail = describe_failure(state.fetch_record, type(self).__name__)
            if not state.fetch_record.usable:
                # urllib raises, or leaves the parser unread. Without a warning a crawler would stop
                # without a reason.
                logger.warning(
                    "robots.txt was not read, so can_fetch() returns False for all URLs: %s",
                    self.failure_detail,
                )
        if state.policy is EffectivePolicy.RULES:
            # The lines that were read: a fetch ends after 500 KiB, and the lines end with it.
            lines = state.robots.lines
            self.parse([line.text.decode("utf-8", "surrogateescape") for line in lines])

    def parse(self, lines: Iterable[str]) -> None:
        """
        Parse the lines of a robots.txt; they replace lines that were parsed before.

        A line may have its line end or not. The whole text as one str is accepted too. Lines after
        16 MiB are ignored.
        """
        if isinstance(lines, (str, bytes)):
            text = lines
        else:
            text = "\n".join([_without_line_end(line) for line in lines])
        self._checks = ChecksByUserAgent(parse_supplied(text))
        self.modified()

    def mtime(self) -> float:
        """Return when the file was last parsed, in seconds since 1970; 0: not yet."""
        return self.last_checked

    def modified(self) -> None:
        """Set the time of the last parse to now."""
        self.last_checked = time.time()

    # --- Queries --------------------------------------------------------------------------------

    def can_fetch(self, useragent: str, url: URL) -> bool:
        """
        Tell whether a crawler may fetch *url*; False until a file was read or parsed.

        *useragent* is a product token or a User-Agent header.
        """
        if self.disallow_all:
            return False
        if self.allow_all:
            return True
        if not self.last_checked:
            return False
        return self._checks[useragent](without_line_ends(url))

    def crawl_delay(self, useragent: str) -> float | None:
        """Return the Crawl-delay of a crawler in seconds, or None; whole seconds are an int."""
        if not self.mtime():
            return None
        return _read_delay(self.robots, crawler_name(useragent))

    def request_rate(self, useragent: str) -> RequestRate | None:
        """Return the Request-rate of a crawler, the slowest of several; or None."""
        if not self.mtime():
            return None
        return _read_rate(self.robots, crawler_name(useragent))

    def site_maps(self) -> list[str] | None:
        """Return the URLs of the sitemaps, or None if there is none."""
        return self.sitemaps or None

    # --- Content --------------------------------------------------------------------------------

    @property
    def robots(self) -> RobotsTxt:
        """
        The file as a `robotrules.RobotsTxt`, which also gives reasons. Not in urllib.

        If `read()` got no file, it has no rules, and `failure_detail` is the reason.
        """
        return self._checks.robots

    @property
    def sitemaps(self) -> list[str]:
        """The URLs of the sitemaps in the order of the file, each once."""
        return [sitemap.url for sitemap in self.robots.sitemaps]

    @property
    def entries(self) -> list[AgentEntry]:
        """The groups that name crawlers, as written; several may apply to one crawler."""
        groups = self.robots.groups
        return [_make_entry([group]) for group in groups if "*" not in group.user_agents]

    @property
    def default_entry(self) -> AgentEntry | None:
        """The groups for `*`, merged; None if there is none."""
        groups = [group for group in self.robots.groups if "*" in group.user_agents]
        return _make_entry(groups) if groups else None

    def __str__(self) -> str:
        default = self.default_entry
        entries = [*self.entries, default] if default else self.entries
        return "\n\n".join(map(str, entries))


class RuleLine(NamedTuple):
    """A rule of an entry."""

    path: str
    allowance: bool

    def __str__(self) -> str:
        return f"{'Allow' if self.allowance else 'Disallow'}: {self.path}"


class AgentEntry(NamedTuple):
    """User-agent lines and their rules, with the names of urllib's `Entry`. Read-only."""

    useragents: list[str]
    rulelines: list[RuleLine]
    delay: float | None
    req_rate: RequestRate | None

    def __str__(self) -> str:
        lines = [f"User-agent: {agent}" for agent in self.useragents]
        if self.delay is not None:
            lines.append(f"Crawl-delay: {self.delay}")
        if self.req_rate is not None:
            lines.append(f"Request-rate: {self.req_rate.requests}/{self.req_rate.seconds}")
        return "\n".join([*lines, *map(str, self.rulelines)])


def _without_line_end(line: str) -> str:
    if not isinstance(line, str):
        raise TypeError(
            f"a line is a str, not {type(line).__name__}: pass body.decode('utf-8').splitlines()"
        )
    return line.removesuffix("\n").removesuffix("\r")


def _make_entry(groups: list[Group]) -> AgentEntry:
    agents = [agent for group in groups for agent in group.user_agents]
    rules = [RuleLine(rule.pattern, rule.allow) for group in groups for rule in group.rules]
    # The readers answer for a crawler; an entry has the records of its groups alone.
    others = [
        b"%s: %s" % (record.key.encode(), record.value)
        for group in groups
        for record in group.records
        if record.key in ("crawl-delay", "request-rate")
    ]
    alone = parse_supplied(b"\n".join([b"User-agent: *", *others]))
    delay, rate = _read_delay(alone, "*"), _read_rate(alone, "*")
    return AgentEntry(list(dict.fromkeys(agents)), rules, delay, rate)


def _read_delay(robots: RobotsTxt, name: str) -> float | None:
    delay = robots.crawl_delay(name)
    if delay is None:
        return None
    return int(delay.seconds) if delay.seconds.is_integer() else delay.seconds


def _read_rate(robots: RobotsTxt, name: str) -> RequestRate | None:
    rate = robots.request_rate(name)
    return None if rate is None else RequestRate(rate.requests, rate.period)
