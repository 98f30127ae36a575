"""
One page of an audit: fetched at most once, and read as each of several crawlers reads it.

A page is requested if the rules allow it to one of the crawlers, or if the site is the caller's own
(*ignore_disallow*). What a blocked crawler does not see is kept apart from what it sees. Nothing is
judged here; see `checks`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

from robotrules.access import Hop
from robotrules.client.auditing.canonical import Canonical, canonicals
from robotrules.client.origin_state import OriginState
from robotrules.client.pages import MAX_BYTES, FetchResult, fetch_page, make_guidance
from robotrules.client.sync import Client
from robotrules.guide import Guidance
from robotrules.http.origins import robots_url
from robotrules.robotstxt import Tokens
from robotrules.robotstxt.verdict import Verdict

__all__ = ["AuditPageReader", "PageReading", "RedirectStep", "fetch_other_scheme"]

Crawler = tuple[Tokens, Sequence[str]]


def fetch_other_scheme(
    client: Client, origin: str, progress: Callable[[str], object]
) -> OriginState | None:
    """Return the robots.txt of the other scheme, http or https; None for an origin with a port."""
    scheme, _, authority = origin.partition("://")
    if ":" in authority.rpartition("]")[2]:
        return None
    other = f"{'http' if scheme == 'https' else 'https'}://{authority}"
    progress(robots_url(other))
    return client.refresh(other)


class RedirectStep(NamedTuple):
    """One URL of the redirect chain of the page."""

    url: str
    verdict: Verdict
    status: int | None
    """None: it was not requested, or there was no response."""

    def as_dict(self) -> dict[str, Any]:
        """Return it as plain values for JSON."""
        return {"url": self.url, "verdict": self.verdict.as_dict(), "status": self.status}


class PageReading(NamedTuple):
    """A page as one crawler reads it."""

    page: FetchResult
    """What the crawler gets: the last URL of the redirects, or the first that is blocked."""
    unseen: FetchResult | None
    """The content of a page that is blocked for the crawler; None: it was not read."""
    guidance: Guidance
    canonicals: tuple[Canonical, ...]
    steps: tuple[RedirectStep, ...]
    """The URL, and the targets of its redirects."""

    @property
    def content(self) -> FetchResult:
        """The last response, whether the crawler sees it or not."""
        return self.unseen or self.page


class AuditPageReader:
    """Reads pages for some crawlers."""

    def __init__(
        self,
        client: Client,
        crawlers: Sequence[Crawler],
        *,
        profile: str,
        ignore_disallow: bool,
        html: bool,
    ) -> None:
        """*profile* is for tags; *html*: whether the HTML of pages is read, or headers alone."""
        self._client = client
        self._crawlers = crawlers
        self._profile = profile
        self._ignore_disallow = ignore_disallow
        self._html = html

    def read(self, url: str) -> tuple[PageReading, ...]:
        """Fetch a page, and return it as each crawler reads it."""
        first, *others = self._crawlers
        page = self._client.fetch(url, *first) if not others else self._fetch(url)
        unseen = None
        blocked = not page.verdict and not any(self._client.check(page.url, *one) for one in others)
        if self._ignore_disallow and blocked and page.origin_state is not None:
            unseen = self._fetch(page.url, ignore_disallow=True)
        content = unseen or page
        links = self._canonicals(content) if content.ok else ()
        readings = []
        for crawler in self._crawlers:
            seen, missed = page, unseen
            if others:
                seen, missed = self._as_seen(page, unseen, crawler)
            guidance = self._guidance(seen, missed, crawler)
            steps = tuple(self._steps(seen, missed, crawler))
            readings.append(PageReading(seen, missed, guidance, links, steps))
        return tuple(readings)

    def _fetch(self, url: str, *, ignore_disallow: bool = False) -> FetchResult:
        """Fetch a page if one of the crawlers may, or despite the rules, at the rate limit."""
        client, ((tokens, purposes), *others) = self._client, self._crawlers
        return client._run_page(
            fetch_page(
                url,
                tokens,
                purposes,
                profile=client._cache_engine.profile.name,
                limit=MAX_BYTES,
                timeout=client._cache_engine.timeout,
                ignore_disallow=ignore_disallow,
                others=others,
            )
        )

    def _as_seen(
        self, page: FetchResult, unseen: FetchResult | None, crawler: Crawler
    ) -> tuple[FetchResult, FetchResult | None]:
        """Return what a crawler sees of a page that was read for several, and what it misses."""
        content = unseen or page
        hops = page.hops if unseen is None else (*page.hops, *unseen.hops)
        content = content._replace(hops=hops)
        for number, url in enumerate((*(hop.url for hop in hops), content.url)):
            state = self._client.lookup(url)
            if state is None:
                continue
            verdict = state.check(url, *crawler)
            if not verdict:
                seen = FetchResult(url, verdict, state, hops=hops[:number])
                return seen, content if content.status is not None else None
            if url == content.url:
                return content._replace(verdict=verdict), None
        return page, unseen

    def _canonicals(self, page: FetchResult) -> tuple[Canonical, ...]:
        return canonicals(page.url, page.fields, page.body if self._html else b"")

    def _steps(
        self, page: FetchResult, unseen: FetchResult | None, crawler: Crawler
    ) -> Iterator[RedirectStep]:
        missed = unseen.hops if unseen else ()
        # What was read for another crawler has the redirects of both.
        missed = missed[len(page.hops) :] if missed[: len(page.hops)] == page.hops else missed
        hops: tuple[Hop, ...] = (*page.hops, *missed)
        for hop in hops:
            yield RedirectStep(hop.url, self._client.check(hop.url, *crawler), hop.status)
        last = unseen or page
        if not hops or hops[-1].url != last.url:
            yield RedirectStep(last.url, self._client.check(last.url, *crawler), last.status)

    def _guidance(
        self, page: FetchResult, unseen: FetchResult | None, crawler: Crawler
    ) -> Guidance:
        tokens, purposes = crawler
        if unseen is not None:
            # The content of a disallowed page; the rules and the verdict are unchanged.
            page = page._replace(
                status=unseen.status,
                fields=unseen.fields,
                body=unseen.body,
                complete=unseen.complete,
                at=unseen.at,
            )
        return make_guidance(
            page, tokens, purposes, application=None, profile=self._profile, html=self._html
        )
