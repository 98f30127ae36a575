"""
Audit of many pages: one robots.txt of each origin, one reading of its sitemaps, each page once.

    with Client("ExampleBot/1.0 (+https://example.com/bot)") as client:
        auditor = SiteAuditor(client, ["Googlebot"])
        for page in auditor.pages(["https://example.com/", "https://example.com/prices"]):
            print(page.url, page.answer.outcome)
        result = auditor.result()

Pages are requested one after the other at the rate limit of their origin, and yielded as they are
read, without content: an audit may end at any page, and the result is that of the pages until then.
What needs other pages, such as a canonical page that says noindex, is added by `result()`. After
some failures in a row an origin is not asked any more.

Sections: the auditor · what needs other pages. The results are in `site_results`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

from robotrules.cache import EffectivePolicy
from robotrules.client.auditing.checks import (
    check_robots,
    check_schemes,
    check_sitemap_file,
    shorten,
)
from robotrules.client.auditing.findings import LEVELS, Finding, finding
from robotrules.client.auditing.page_audit import (
    MAX_URL_LENGTH,
    IndexingAnswer,
    PageAudit,
    PageOutcome,
    make_page_audit,
)
from robotrules.client.auditing.page_reader import AuditPageReader, fetch_other_scheme
from robotrules.client.auditing.site_results import SiteAudit, SiteSummary
from robotrules.client.auditing.sitemap_reader import (
    MAX_SITEMAP_URLS,
    SitemapFetch,
    SitemapSet,
    read_sitemaps,
)
from robotrules.client.origin_state import OriginState
from robotrules.client.pages import FetchResult
from robotrules.client.rate_limiter import Delay, find_retry_delay
from robotrules.client.sync import Client
from robotrules.http.origins import origin_of, robots_url
from robotrules.robotstxt import Tokens, normalize_path
from robotrules.robotstxt.verdict import Reason, Verdict
from robotrules.tags.known_rules import EVERYONE
from robotrules.tags.profile import find_tag_profile

__all__ = ["MAX_SITE_SITEMAPS", "SiteAuditor", "listed_pages"]

# Sitemap files of one origin, those of indexes included.
MAX_SITE_SITEMAPS = 50
# Failures in a row after which an origin is not asked any more: each may take the whole timeout.
GIVE_UP_AFTER = 5
# Seconds that a site may ask to wait (Retry-After); if it asks for more, it is given up.
MAX_WAIT = 300.0
# Origins of canonical links whose robots.txt is fetched although none of their pages is audited.
MAX_OTHER_ORIGINS = 20
# Origins whose robots.txt of the other scheme, http or https, is compared.
MAX_OTHER_SCHEMES = 20
# Findings on a listed page, with those that state a part of the same fact.
INCLUDES = {
    "listed-and-disallowed": ("not-crawled",),
    "listed-and-missing": ("page-status",),
    "noindex-not-seen": ("not-crawled",),
    "listed-and-canonical-elsewhere": ("canonical-elsewhere",),
}


# --- The auditor ----------------------------------------------------------------------------------


class SiteAuditor:
    """Audits pages one by one, and keeps what it found; for one thread."""

    def __init__(
        self,
        client: Client,
        crawlers: Sequence[Tokens] = (),
        purposes: Sequence[str] = (),
        *,
        names: Sequence[str] | None = None,
        profile: str = "default",
        ignore_disallow: bool = False,
        max_sitemaps: int = MAX_SITE_SITEMAPS,
        html: bool = True,
        progress: Callable[[str], object] | None = None,
    ) -> None:
        """
        *crawlers* are the product tokens of each crawler; none: all that no group names.

        *names* are their display names. *max_sitemaps* files are read of each origin, 0 for none.
        The other arguments are those of `audit()`.
        """
        if isinstance(crawlers, str):
            raise TypeError("crawlers is a string: pass a list of product tokens, such as ['Bot']")
        find_tag_profile(profile)
        tokens: list[Tokens] = list(crawlers) or [EVERYONE]
        self._client = client
        self._purposes = tuple(purposes)
        self._crawlers = [(one, self._purposes) for one in tokens]
        self._names = tuple(names or (_display_name(one) for one in tokens))
        if len(self._names) != len(tokens):
            raise ValueError(f"{len(self._names)} names for {len(tokens)} crawlers: pass one each")
        self._reader = AuditPageReader(
            client, self._crawlers, profile=profile, ignore_disallow=ignore_disallow, html=html
        )
        self._max_sitemaps = max_sitemaps
        self._progress = progress or _report_nothing
        self._began = client._clock()
        self._pages: list[PageAudit] = []
        self._seen: set[str] = set()
        self._skipped = 0
        self._sites: dict[str, SiteSummary] = {}
        self._findings: dict[Finding, None] = {}
        # Of each listed URL, a sitemap that lists it; and what is known of URLs that are missing.
        self._listed: dict[str, str] = {}
        self._given: SitemapSet | None = None
        # Of findings that a sitemap lists blocked URLs: the origin, the sitemap and how many.
        self._lists_blocked: dict[Finding, tuple[str, str, int]] = {}
        self._failures: Counter[str] = Counter()
        self._given_up: dict[str, str] = {}
        self._other_origins: set[str] = set()
        self._refreshed: set[str] = set()
        self._others: dict[str, tuple[OriginState, OriginState | None]] = {}

    def sitemaps(self, urls: Iterable[str]) -> SitemapSet:
        """Read some sitemaps, in place of those that robots.txt files name; return them."""
        named = list(urls)
        for origin in dict.fromkeys(map(origin_of, named)):
            if origin is not None:
                self._state(origin)
        self._given = read = read_sitemaps(
            self._client,
            named,
            *self._crawlers[0],
            max_files=max(self._max_sitemaps, 1),
            progress=self._progress,
        )
        self._remember(read)
        for one in read.files:
            state = self._client.lookup(one.url)
            if state is not None:
                self._find_in_sitemaps(state, (one,))
        self._find_not_read(read, "sitemaps")
        return read

    def robots_sitemaps(self, url: str) -> SitemapSet | None:
        """Return the sitemaps that the robots.txt of a URL names; None: it has no robots.txt."""
        origin = origin_of(url)
        return None if origin is None else self._site(origin)

    def robots_state(self, url: str) -> OriginState | None:
        """Return the robots.txt of the origin of a URL, and how it was fetched."""
        origin = origin_of(url)
        return None if origin is None else self._state(origin)

    def delay(self, url: str) -> Delay | None:
        """Return the interval between requests to the site of a URL; None: it has no robots.txt."""
        origin = origin_of(url)
        return None if origin is None else self._client.delay_for(self._state(origin))

    def pages(self, urls: Iterable[str]) -> Iterator[PageAudit]:
        """Yield the audit of each page, as it is read; a URL that was audited is left out."""
        for url in urls:
            key = _key(url, self._client) if len(url) <= MAX_URL_LENGTH else None
            if key is None:
                self._skipped += 1
                continue
            if key in self._seen:
                continue
            self._seen.add(key)
            page = self._audit(url, key)
            self._pages.append(page)
            yield page

    def add(self, page: PageAudit) -> bool:
        """Take over a page of an earlier audit of the same crawlers; return whether it fits."""
        key = _key(page.url, self._client)
        names = tuple(one.crawler for one in page.answers)
        if key is None or key in self._seen or names != self._names:
            return False
        self._seen.add(key)
        self._pages.append(page)
        return True

    def is_known(self, url: str) -> bool:
        """Whether a URL was audited, or was taken over."""
        return _key(url, self._client) in self._seen

    def result(self, *, not_audited: int | None = 0, interrupted: bool = False) -> SiteAudit:
        """Return the audit of all pages until now, with what needs other pages."""
        given = self._given.files if self._given is not None else ()
        for url in (*(page.url for page in self._pages), *map(_sitemap_source, given)):
            origin = origin_of(url)
            if origin is not None and origin not in self._sites and not interrupted:
                self._site(origin)
        pages = tuple(self._compared())
        told = self._told_at_pages(pages)
        findings = [one for one in self._findings if one not in told]
        return SiteAudit(
            self._names,
            self._purposes,
            self._client.user_agent,
            self._began,
            self._client._clock(),
            pages,
            tuple(map(self._with_given, self._sites.values())),
            tuple(sorted(findings, key=lambda one: LEVELS.index(one.level))),
            self._skipped,
            not_audited,
            interrupted,
        )

    # --- Origins ----------------------------------------------------------------------------------

    def _state(self, origin: str) -> OriginState:
        """Return the robots.txt of an origin; the first time it is fetched, not cached."""
        state = None
        if origin in self._refreshed:
            state = self._client.lookup(origin)
        if state is None:
            self._refreshed.add(origin)
            self._progress(robots_url(origin))
            state = self._client.refresh(origin)
        assert state is not None
        return state

    def _site(self, origin: str) -> SitemapSet:
        """Fetch the robots.txt and the sitemaps of an origin, at most once; return these."""
        if origin in self._sites:
            return SitemapSet((), 0, False)
        state = self._state(origin)
        for one in check_robots(state):
            self._findings[one._replace(where=_at(one.where, origin))] = None
        if len(self._others) < MAX_OTHER_SCHEMES:
            self._others[origin] = state, fetch_other_scheme(self._client, origin, self._progress)
        room = max(MAX_SITEMAP_URLS - len(self._listed), 0)
        read = SitemapSet((), 0, False)
        if self._given is None and self._max_sitemaps:
            read = read_sitemaps(
                self._client,
                state,
                *self._crawlers[0],
                max_files=self._max_sitemaps,
                max_urls=room,
                progress=self._progress,
            )
            self._remember(read)
            self._find_in_sitemaps(state, read.files)
            self._find_not_read(read, _at("robots.txt", origin))
            if state.policy is EffectivePolicy.RULES and not read.files and not read.not_read:
                one = finding("no-sitemap", _at("robots.txt", origin))
                self._findings[one] = None
        self._sites[origin] = SiteSummary(
            origin,
            state.as_dict(),
            tuple(_without_urls(one) for one in read.files),
            sum(len(one.urls) for one in read.files),
            read.is_complete,
        )
        return read

    def _with_given(self, site: SiteSummary) -> SiteSummary:
        """Return a site with those of the sitemaps of `sitemaps()` that are its own."""
        if self._given is None:
            return site
        files = [one for one in self._given.files if origin_of(_sitemap_source(one)) == site.origin]
        read = SitemapSet(tuple(files), self._given.not_read, self._given.is_cut)
        return site._replace(
            sitemaps=(*site.sitemaps, *map(_without_urls, files)),
            sitemap_urls=site.sitemap_urls + sum(len(one.urls) for one in files),
            sitemaps_complete=site.sitemaps_complete and (read.is_complete or not files),
        )

    def _told_at_pages(self, pages: Iterable[PageAudit]) -> set[Finding]:
        """Return the findings on sitemaps whose blocked URLs all have findings of their own."""
        listed: Counter[tuple[str | None, str | None]] = Counter()
        for page in pages:
            if any(one.code == "listed-and-disallowed" for one in page.findings):
                listed[origin_of(page.url), page.sitemap] += 1
        return {
            one
            for one, (origin, sitemap, count) in self._lists_blocked.items()
            if listed[origin, sitemap] >= count
        }

    def _remember(self, read: SitemapSet) -> None:
        for one in read.files:
            for url in one.urls:
                key = _key(url, self._client)
                if key is not None:
                    self._listed.setdefault(key, one.url)

    def _find_in_sitemaps(self, state: OriginState, files: Iterable[SitemapFetch]) -> None:
        """Find what is wrong with sitemap files, and whether they list blocked URLs."""
        for one in files:
            where = f"sitemap {shorten(one.url)}"
            for found in check_sitemap_file(one, one.page, where):
                self._findings[found] = None
            ours = [url for url in one.urls if origin_of(url) == state.origin]
            verdicts = state.check_many(ours, *self._crawlers[0])
            blocked = [url for url, verdict in zip(ours, verdicts, strict=True) if not verdict]
            if blocked:
                count = f"{len(blocked):,} URL{'s' if len(blocked) > 1 else ''}"
                found = finding("lists-disallowed", where, count=count, url=shorten(blocked[0]))
                self._findings[found] = None
                distinct = len({_key(url, self._client) for url in blocked})
                self._lists_blocked[found] = state.origin, one.url, distinct

    def _find_not_read(self, read: SitemapSet, where: str) -> None:
        if read.not_read and self._max_sitemaps:
            most, count = f"{self._max_sitemaps:,}", f"{read.not_read:,}"
            self._findings[finding("sitemaps-not-read", where, most=most, count=count)] = None

    # --- Pages ------------------------------------------------------------------------------------

    def _audit(self, url: str, key: str) -> PageAudit:
        origin = origin_of(url)
        assert origin is not None
        self._site(origin)
        if origin in self._given_up:
            return self._skip(url, self._given_up[origin])
        self._progress(url)
        readings = self._reader.read(url)
        rules = [self._check_canonicals(reading.canonicals) for reading in readings[:1]]
        for number in range(1, len(readings)):
            rules.append(
                {one: self._client.check(one, *self._crawlers[number]) for one in rules[0]}
            )
        page = make_page_audit(url, readings, self._names, rules)
        if origin in self._others:
            verdict = readings[0].steps[0].verdict
            crawler = self._crawlers[0]
            for one in check_schemes(*self._others[origin], url, verdict, crawler):
                if one.code == "schemes-disagree":
                    self._findings[one._replace(where=_at(one.where, origin))] = None
        self._count_failure(origin, readings[0].content)
        return page

    def _count_failure(self, origin: str, content: FetchResult) -> None:
        """Count failures in a row of an origin, and give it up after some."""
        status = content.status
        no_response = status is None and content.failure_reason is not None
        if status is None and not no_response:
            return  # blocked, so not requested
        if content.verdict.reason is Reason.UNREACHABLE:
            return  # of an unreachable robots.txt, no page is requested
        if status is not None and status < 500 and status != 429:
            self._failures[origin] = 0
            return
        self._failures[origin] += 1
        now = self._client._clock()
        wait = find_retry_delay(status, content.fields, now) if status is not None else None
        if self._failures[origin] >= GIVE_UP_AFTER:
            self._given_up[origin] = f"{GIVE_UP_AFTER} requests to its site failed in a row"
        elif wait is not None and wait > MAX_WAIT:
            self._given_up[origin] = f"its site asks to wait for {wait:,.0f} s"

    def _skip(self, url: str, why: str) -> PageAudit:
        """Return the audit of a page that is not requested, because its site fails."""
        answers = []
        for name, crawler in zip(self._names, self._crawlers, strict=True):
            verdict = self._client.check(url, *crawler)
            rule = verdict.rule
            reason = f"line {rule.line}: {rule}" if rule else verdict.reason.sentence
            outcome = PageOutcome.UNKNOWN if verdict else PageOutcome.BLOCKED
            answers.append(IndexingAnswer(name, verdict.allowed, shorten(reason), outcome))
        found = finding("page-skipped", "page", why=why)
        return PageAudit(url, url, None, "not requested", None, (), (), tuple(answers), (found,))

    def _check_canonicals(self, links: Sequence[Any]) -> dict[str, Verdict]:
        """Return verdicts on canonical URLs; few origins are asked only for these."""
        rules: dict[str, Verdict] = {}
        for link in links:
            origin = origin_of(link.url)
            if origin is None or origin in self._sites or origin in self._other_origins:
                pass
            elif len(self._other_origins) < MAX_OTHER_ORIGINS:
                self._other_origins.add(origin)
            else:
                continue
            rules[link.url] = self._client.check(link.url, *self._crawlers[0])
        return rules

    # --- What needs other pages -------------------------------------------------------------------

    def _compared(self) -> Iterator[PageAudit]:
        """Yield the pages with the findings that need sitemaps and other pages."""
        by_key: dict[str, PageAudit] = {}
        for page in self._pages:
            key = _key(page.url, self._client)
            if key is not None:
                by_key[key] = page
        for key, page in by_key.items():
            sitemap = self._listed.get(key)
            in_sitemap = True if sitemap else self._is_missing(page)
            page = page._replace(sitemap=sitemap, in_sitemap=in_sitemap)
            page = _without_those_of_target(
                page, by_key.get(_key(page.final_url, self._client) or "")
            )
            more = [*self._compare_canonical(page, key, by_key), *_compare_sitemap(page)]
            yield _without_repetitions(page, more)

    def _is_missing(self, page: PageAudit) -> bool | None:
        """Return False if all sitemaps were read and there is one, else None."""
        if self._given is not None:
            return False if self._given.is_complete and self._given.files else None
        site = self._sites.get(origin_of(page.url) or "")
        return False if site and site.sitemaps and site.sitemaps_complete else None

    def _compare_canonical(
        self, page: PageAudit, key: str, by_key: Mapping[str, PageAudit]
    ) -> Iterator[Finding]:
        target = page.canonical
        if target is None or page.status is None:
            return
        named = _key(target, self._client)
        final = _key(page.final_url, self._client)
        if named is None or named in (key, final):
            return
        url = shorten(target)
        outcome = page.answer.outcome
        if outcome is PageOutcome.NOINDEX:
            yield finding("noindex-and-canonical", "page, canonical", url=url)
        elif outcome is PageOutcome.INDEXABLE:
            yield finding("canonical-elsewhere", "page, canonical", url=url)
            if page.in_sitemap:
                where = f"sitemap {shorten(page.sitemap or '')}"
                yield finding(
                    "listed-and-canonical-elsewhere",
                    where,
                    url=shorten(page.url),
                    canonical=url,
                )
        other = by_key.get(named)
        if other is None:
            return
        if other.answer.outcome is PageOutcome.NOINDEX:
            yield finding("canonical-noindex", "page, canonical", url=url)
        elif other.answer.outcome is PageOutcome.REDIRECTED:
            to = shorten(other.final_url)
            yield finding("canonical-redirected", "page, canonical", url=url, target=to)
        elif other.status is not None and other.status >= 400:
            yield finding("canonical-missing", "page, canonical", url=url, status=other.status)


def _without_those_of_target(page: PageAudit, target: PageAudit | None) -> PageAudit:
    """Return a page that redirects without the findings that its target has, too."""
    if target is None or not page.redirects or target.url == page.url:
        return page
    known = {(one.code, one.message) for one in target.findings}
    kept = tuple(one for one in page.findings if (one.code, one.message) not in known)
    return page._replace(findings=kept)


def _without_repetitions(page: PageAudit, more: Sequence[Finding]) -> PageAudit:
    """Return a page with more findings, without those that one of these includes."""
    codes = {one.code for one in (*page.findings, *more)}
    included = {code for wider in codes for code in INCLUDES.get(wider, ())}
    # What is about other crawlers only is not included: sitemaps are compared for the first one.
    first = page.answer.crawler
    kept = tuple(
        one
        for one in page.findings
        if one.code not in included or (one.crawlers and first not in one.crawlers)
    )
    more = [one for one in more if one.code not in included]
    return page._replace(findings=kept).with_findings(more)


def _compare_sitemap(page: PageAudit) -> Iterator[Finding]:
    """Yield what a sitemap and a page say against each other."""
    url, answer = shorten(page.url), page.answer
    if page.in_sitemap:
        where = f"sitemap {shorten(page.sitemap or '')}"
        if not answer.allowed and answer.outcome is PageOutcome.BLOCKED:
            yield finding("listed-and-disallowed", where, url=url)
        elif answer.outcome is PageOutcome.NOINDEX:
            yield finding("listed-and-noindex", where, url=url)
        elif page.status is not None and page.status >= 400:
            yield finding("listed-and-missing", where, url=url, status=page.status)
        elif answer.outcome is PageOutcome.REDIRECTED:
            yield finding("listed-and-redirected", where, url=url)
    elif page.in_sitemap is False and answer.outcome is PageOutcome.INDEXABLE:
        if page.canonical is None or page.canonical == page.url:
            yield finding("not-listed", "page")


def _key(url: str, client: Client) -> str | None:
    """Return a URL as rules compare it (RFC 9309 §2.2.2), for lookups; None: no origin."""
    origin = origin_of(url)
    if origin is None:
        return None
    return f"{origin}{normalize_path(url, profile=client._cache_engine.profile)}"


def _at(where: str, origin: str) -> str:
    """Return a place in a robots.txt with the origin, because there may be several."""
    return f"{origin}/{where}" if where.startswith("robots.txt") else f"{where} of {origin}"


def _sitemap_source(one: SitemapFetch) -> str:
    """Return the URL that was given: that of a file, or of the index that lists it."""
    return one.url if origin_of(one.named_by) is None else one.named_by


def _without_urls(one: SitemapFetch) -> SitemapFetch:
    return one if one.file is None else one._replace(file=one.file._replace(urls=()))


def _display_name(tokens: Tokens) -> str:
    return tokens if isinstance(tokens, str) else ", ".join(tokens)


def _report_nothing(url: str) -> None:
    """Report nothing."""


def listed_pages(read: SitemapSet, hosts: Iterable[str] = ()) -> tuple[list[str], int]:
    """
    Return the pages of some sitemaps that are of the host of their sitemap, or of *hosts*.

    And how many are of other hosts: a sitemap must not decide which sites are asked.
    """
    known = set(hosts)
    found: dict[str, None] = {}
    elsewhere = 0
    for one in read.files:
        host = _host(one.url)
        for url in one.urls:
            if _host(url) in (host, *known):
                found[url] = None
            else:
                elsewhere += 1
    return list(found), elsewhere


def _host(url: str) -> str:
    return (origin_of(url) or "").partition("://")[2]
