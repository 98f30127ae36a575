"""
Observations: what one look at a robots.txt or at a page has seen, as plain values.

An observation is of an actual fetch. A fetch that failed is an observation without a file; it is
never treated as an empty file. Nothing is compared here.

Sections: robots.txt · sitemaps · pages · rows.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from robotrules.access import AccessState, Hop
from robotrules.cache import FetchRecord
from robotrules.client.auditing.sitemap_files import SitemapForm, read_sitemap
from robotrules.client.origin_state import OriginState
from robotrules.client.pages import FetchResult
from robotrules.errors import ProductTokenError
from robotrules.extensions.sitemap import sitemaps
from robotrules.http.media_types import parse_media_type
from robotrules.http.origins import origin_of, robots_url
from robotrules.json_results.access import describe_failure, describe_response
from robotrules.octets import visible
from robotrules.robotstxt import RobotsTxt, parse
from robotrules.robotstxt.verdict import Reason
from robotrules.tags import html_page, usage_rules
from robotrules.tags.html import Page
from robotrules.tags.known_rules import EVERYONE
from robotrules.tags.rules import RuleStatus, UsageRules, format_rule

# Limits on text of servers that is kept, and on what is read of one file or page.
MAX_KEPT_URL = 2_048
MAX_KEPT_VALUE = 200
MAX_SITEMAPS = 100
MAX_TAG_NAMES = 20
MAX_TAG_RULES = 50
# Meta elements that are evaluated for names one by one: of a page with thousands, fewer names.
MAX_TAG_WORK = 40_000
# Statuses that say nothing about a page, except that it is unavailable now.
BUSY_STATUSES = (408, 425, 429)


def cut(text: str, most: int = MAX_KEPT_VALUE) -> str:
    """Return text of others: printable, and cut after *most* characters."""
    shown = visible(text[: most + 1])
    return shown if len(shown) <= most else f"{shown[: most - 1]}…"


class RedirectSeen(NamedTuple):
    """A redirect."""

    url: str
    status: int
    location: str


def _redirects(hops: Sequence[Hop]) -> tuple[RedirectSeen, ...]:
    return tuple(
        RedirectSeen(cut(hop.url, MAX_KEPT_URL), hop.status, cut(hop.location, MAX_KEPT_URL))
        for hop in hops
    )


# --- robots.txt -----------------------------------------------------------------------------------


class SitemapSeen(NamedTuple):
    """A sitemap that a robots.txt lists."""

    url: str
    line: int
    blocked: bool
    """Whether the rules for everyone else disallow it; False if it is on another host."""
    readable: bool | None = None
    """Whether it was fetched and is a sitemap; None: it was not fetched, or a server failed."""
    trouble: str = ""
    """Why it cannot be read."""
    urls: int = 0
    """The number of URLs of the origin that it lists."""
    urls_blocked: int = 0
    """How many of these the rules disallow to everyone else."""
    example: str = ""
    """The first of these."""


class FileObservation(NamedTuple):
    """One look at a robots.txt."""

    origin: str
    at: float
    state: AccessState
    status: int | None
    response: str
    """The response, or why there was none: `status 503`."""
    url: str
    """The URL requested last."""
    redirects: tuple[RedirectSeen, ...]
    media_type: str | None
    digest: str | None
    size: int
    complete: bool
    """False: the file is longer than what a crawler reads."""
    may_store: bool
    """False: the response has `no-store`, so the body is kept in memory only."""
    body: bytes | None
    """The file; None: there is none, or it is not known any more."""
    sitemaps: tuple[SitemapSeen, ...] = ()

    @property
    def target(self) -> str:
        """The URL of the robots.txt."""
        return robots_url(self.origin)

    @property
    def failed(self) -> bool:
        """Whether the fetch failed: unreachable (RFC 9309 §2.3.1.4)."""
        return self.state is AccessState.UNREACHABLE

    @property
    def has_file(self) -> bool:
        """Whether there is a robots.txt."""
        return self.state is AccessState.SUCCESS

    def robots(self) -> RobotsTxt | None:
        """Return the parsed file, or the equivalent of none; None: its content is not known."""
        if not self.has_file:
            return parse(b"")
        return None if self.body is None else parse(self.body, complete=self.complete)


def observe_file(state: OriginState) -> FileObservation:
    """Return what a refresh of an origin has seen: its last fetch, not the copy that is in use."""
    entry = state.entry
    record = entry.last_failure or entry.last_success
    if record is None:
        raise ValueError(f"{state.origin} was never fetched: pass the state of a refresh")
    found = FileObservation(
        state.origin,
        record.at,
        record.state,
        record.status,
        cut(describe_response(record._replace(revalidated=False))),
        cut(record.url, MAX_KEPT_URL),
        _redirects(record.hops),
        _media_type(record),
        record.digest,
        record.size,
        record.complete,
        record.may_store,
        None,
    )
    if not found.has_file:
        return found._replace(digest=None, size=0)
    body = state.robots.body
    robots = parse(body, complete=record.complete)
    return found._replace(body=body, sitemaps=_sitemaps(robots, state.origin))


def _media_type(record: FetchRecord) -> str | None:
    named = parse_media_type(record.fields)
    return None if named is None else cut(named, 100)


# --- Sitemaps -------------------------------------------------------------------------------------


def _sitemaps(robots: RobotsTxt, origin: str) -> tuple[SitemapSeen, ...]:
    return tuple(
        SitemapSeen(
            cut(one.url, MAX_KEPT_URL),
            one.line,
            origin_of(one.url) == origin and not robots.check(one.url, EVERYONE).allowed,
        )
        for one in sitemaps(robots, robots_url(origin))[:MAX_SITEMAPS]
    )


def observe_sitemap(
    listed: SitemapSeen, page: FetchResult, robots: RobotsTxt, origin: str
) -> SitemapSeen:
    """Return what the fetch of a listed sitemap adds to it."""
    if page.status is None or page.status >= 500 or page.status in BUSY_STATUSES:
        return listed  # a server that fails says nothing about the sitemap
    if not page.ok:
        return listed._replace(readable=False, trouble=f"status {page.status}")
    file = read_sitemap(page.body, complete=page.complete)
    if file.form is SitemapForm.OTHER or (file.trouble and not file.urls):
        return listed._replace(readable=False, trouble=cut(file.trouble))
    if file.form is SitemapForm.INDEX:
        return listed._replace(readable=True)
    own = [url for url in file.urls if origin_of(url) == origin]
    allowed = robots.rules_for(EVERYONE).check_many(own)
    blocked = [url for url, verdict in zip(own, allowed, strict=True) if not verdict.allowed]
    return listed._replace(
        readable=True,
        urls=len(own),
        urls_blocked=len(blocked),
        example=cut(blocked[0], MAX_KEPT_URL) if blocked else "",
    )


# --- Pages ----------------------------------------------------------------------------------------


class PageObservation(NamedTuple):
    """One look at a page."""

    url: str
    at: float
    outcome: str
    """`seen`, `blocked` (the rules disallow it to this program, so it was not fetched), `failed`"""
    status: int | None = None
    response: str = ""
    final_url: str = ""
    redirects: tuple[RedirectSeen, ...] = ()
    media_type: str | None = None
    tags: Mapping[str, Mapping[str, str]] = {}
    """
    By product token, `*` for all crawlers: the rules in force, each with its source.

    Empty: the page was not seen. In a baseline, those that were seen last.
    """

    @property
    def target(self) -> str:
        """The URL of the page."""
        return self.url

    @property
    def origin(self) -> str:
        """The origin of the page."""
        return origin_of(self.url) or ""

    @property
    def failed(self) -> bool:
        """Whether nothing is known about the page, because it or its robots.txt is unreachable."""
        return self.outcome == "failed"


def observe_page(url: str, page: FetchResult, at: float) -> PageObservation:
    """Return what a fetch has seen; *at* is the time of the attempt."""
    final, redirects = cut(page.url, MAX_KEPT_URL), _redirects(page.hops)
    found = PageObservation(url, page.at or at, "seen", page.status, "", final, redirects)
    if page.failure_reason is not None:
        words = cut(describe_failure(page.failure_reason, page.detail))
        return found._replace(outcome="failed", response=words)
    if page.status is None:
        if page.verdict.reason is Reason.UNREACHABLE:
            return found._replace(outcome="failed", response="its robots.txt is unreachable")
        rule = page.verdict.rule
        words = f"line {rule.line}: {rule}" if rule else page.verdict.reason.sentence
        return found._replace(outcome="blocked", response=cut(words))
    words = f"status {page.status}"
    if page.status >= 500 or page.status in BUSY_STATUSES:
        return found._replace(outcome="failed", response=words)
    named = parse_media_type(page.fields)
    return found._replace(
        response=words,
        media_type=None if named is None else cut(named, 100),
        tags=_tags(page) if page.ok else {},
    )


def _tags(page: FetchResult) -> dict[str, dict[str, str]]:
    """Return the rules in force by product token; only names that the page has rules for."""
    # Parsed once, for all names; None: the fields say that it is not HTML.
    html = html_page(page.body, page.fields, complete=page.complete)
    everyone = _usage(page, html, EVERYONE)
    found = {EVERYONE: _rules(everyone)}
    most = MAX_TAG_WORK // max(1 if html is None else len(html.metas), 1)
    for name in everyone.others[: min(most, MAX_TAG_NAMES)]:
        try:
            rules = _rules(_usage(page, html, name))
        except ProductTokenError:
            continue  # not the name of a crawler
        if rules != found[EVERYONE]:
            found[cut(name, 64)] = rules
    return found


def _usage(page: FetchResult, html: Page | None, name: str) -> UsageRules:
    return usage_rules(
        headers=page.fields,
        html=page.body if html is None else html,
        product_token=name,
        url=page.url,
        complete=page.complete,
    )


def _rules(usage: UsageRules) -> dict[str, str]:
    found = {}
    for name, value in usage.values[:MAX_TAG_RULES]:
        sources = [
            str(mention.source.carrier)
            for mention in usage.mentions
            if mention.name == name and mention.standing is RuleStatus.IN_FORCE
        ]
        found[cut(format_rule(name, value))] = " and ".join(dict.fromkeys(sources))
    return found


# --- Rows -----------------------------------------------------------------------------------------

Observation = FileObservation | PageObservation


def observation_row(found: Observation) -> dict[str, Any]:
    """Return an observation as plain values for the state, without the body of a file."""
    values = found._asdict()
    if isinstance(found, FileObservation):
        values["body"] = None
        values["sitemaps"] = [one._asdict() for one in found.sitemaps]
    values["redirects"] = [one._asdict() for one in found.redirects]
    return {"what": "file" if isinstance(found, FileObservation) else "page", **values}


def parse_observation(row: Mapping[str, Any], body: bytes | None) -> Observation:
    """Return the observation of a row, with the body of its file."""
    values = json.loads(json.dumps(row))
    what = values.pop("what")
    values["redirects"] = tuple(RedirectSeen(**one) for one in values["redirects"])
    if what == "page":
        return PageObservation(**values)
    values["sitemaps"] = tuple(SitemapSeen(**one) for one in values["sitemaps"])
    values["state"] = AccessState(values["state"])
    return FileObservation(**{**values, "body": body})
