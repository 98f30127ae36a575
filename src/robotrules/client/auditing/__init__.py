"""
Audit: one live page with all that speaks about it, and where those contradict each other.

`audit(client, url)` asks for the robots.txt, the page, the sitemaps that the robots.txt names, and
the robots.txt of the other scheme; then it looks at them side by side. What a carrier alone has to
say is in its notes, which are passed on. A page that the rules disallow is not fetched, unless the
site is the caller's own. How the parts are compared is in `checks`. `SiteAuditor` audits many pages
of a site.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from robotrules.cache import EffectivePolicy, format_timestamp
from robotrules.client.auditing.canonical import Canonical
from robotrules.client.auditing.checks import (
    check_guidance,
    check_page,
    check_robots,
    check_schemes,
    check_sitemaps,
    name_crawlers,
)
from robotrules.client.auditing.findings import LEVELS, Finding, finding
from robotrules.client.auditing.page_audit import IndexingAnswer, PageAudit, PageOutcome
from robotrules.client.auditing.page_reader import AuditPageReader, RedirectStep, fetch_other_scheme
from robotrules.client.auditing.site_audit import SiteAuditor
from robotrules.client.auditing.site_results import FindingGroup, SiteAudit, SiteSummary
from robotrules.client.auditing.sitemap_files import MAX_URLS, SitemapFile, SitemapForm
from robotrules.client.auditing.sitemap_reader import (
    MAX_SITEMAPS,
    SitemapFetch,
    SitemapSet,
    read_sitemaps,
)
from robotrules.client.origin_state import OriginState
from robotrules.client.pages import FetchResult
from robotrules.client.sync import Client
from robotrules.guide import Guidance
from robotrules.http.media_types import parse_media_type
from robotrules.http.origins import origin_of, robots_url
from robotrules.robotstxt import Tokens, normalize_path
from robotrules.robotstxt.verdict import Verdict
from robotrules.tags.known_rules import EVERYONE
from robotrules.tags.profile import find_tag_profile

# Increased when a key of `Audit.as_dict()` changes meaning or is removed.
SCHEMA_VERSION = 1


class SitemapListing(NamedTuple):
    """A sitemap file: where it is listed, how it was fetched, and its content."""

    url: str
    named_by: str
    """`robots.txt, line 3`, or the sitemap index that lists it."""
    page: FetchResult
    file: SitemapFile | None
    """None: there is no content."""
    steps: tuple[str, ...] = ()
    """The URLs of the redirect chain of the page that it lists."""
    disallowed: tuple[str, ...] = ()
    """Other listed URLs that the rules of the page's origin disallow."""

    @property
    def lists_page(self) -> bool | None:
        """Whether it lists the page; None: it is not a completely read list of pages."""
        if self.steps:
            return True
        file = self.file
        whole = file is not None and file.complete and not file.trouble
        return (
            False
            if whole and file and file.form not in (SitemapForm.INDEX, SitemapForm.OTHER)
            else None
        )

    @property
    def is_index(self) -> bool:
        """Whether it is a list of sitemaps."""
        return self.file is not None and self.file.form is SitemapForm.INDEX

    def as_dict(self) -> dict[str, Any]:
        """Return it as plain values for JSON."""
        page, file = self.page, self.file
        return {
            "url": self.url,
            "named_by": self.named_by,
            "allowed": page.verdict.allowed,
            "status": page.status,
            "failure_reason": str(page.failure_reason) if page.failure_reason else None,
            "media_type": parse_media_type(page.fields),
            "form": str(file.form) if file else None,
            "gzipped": file.gzipped if file else None,
            "urls": len(file.urls) if file else None,
            "complete": file.complete if file else None,
            "lists_page": self.lists_page,
            "disallowed": len(self.disallowed),
        }


class Audit(NamedTuple):
    """The audit of one live page."""

    url: str
    product_tokens: tuple[str, ...]
    """The audited crawlers; `*` alone: every crawler without its own group."""
    purposes: tuple[str, ...]
    user_agent: str
    """The User-Agent of the audit."""
    origin_state: OriginState
    """The robots.txt of the URL, and how it was fetched."""
    verdict: Verdict
    """The verdict on the URL itself."""
    steps: tuple[RedirectStep, ...]
    """The URL, and the targets of its redirects."""
    page: FetchResult
    """The last of the chain."""
    guidance: Guidance
    """The guidance of all carriers for the last URL."""
    canonicals: tuple[Canonical, ...]
    sitemaps: tuple[SitemapListing, ...]
    other_scheme: OriginState | None
    """The robots.txt of the other scheme, http or https; None: not applicable."""
    findings: tuple[Finding, ...]
    """Errors first."""

    @property
    def is_clean(self) -> bool:
        """Whether nothing worse than `info` was found."""
        return all(one.level == "info" for one in self.findings)

    def count(self, level: str) -> int:
        """Return how many findings have a level."""
        return sum(one.level == level for one in self.findings)

    def __str__(self) -> str:
        head = f"{self.url} for {', '.join(self.product_tokens)}: {self.verdict}"
        return "\n".join([head, *(f"  {one}" for one in self.findings)])

    def as_dict(self) -> dict[str, Any]:
        """Return it as plain values for JSON; `docs/cli/audit.md` describes them."""
        fetch_record = self.origin_state.entry.last_failure or self.origin_state.fetch_record
        return {
            "schema_version": SCHEMA_VERSION,
            "url": self.url,
            "product_tokens": list(self.product_tokens),
            "purposes": list(self.purposes),
            "user_agent": self.user_agent,
            "asked_at": format_timestamp(fetch_record.at) if fetch_record else None,
            "allowed": self.verdict.allowed,
            "verdict": self.verdict.as_dict(),
            "robots": self.origin_state.as_dict(),
            "steps": [step.as_dict() for step in self.steps],
            "page": {
                "url": self.page.url,
                "status": self.page.status,
                "media_type": parse_media_type(self.page.fields),
                "octets": len(self.page.body),
                "complete": self.page.complete,
                "failure_reason": str(self.page.failure_reason)
                if self.page.failure_reason
                else None,
                "detail": self.page.detail,
            },
            "guidance": self.guidance.as_dict(),
            "canonicals": [one.as_dict() for one in self.canonicals],
            "sitemaps": [one.as_dict() for one in self.sitemaps],
            "other_scheme": self.other_scheme.as_dict() if self.other_scheme else None,
            "findings": [one.as_dict() for one in self.findings],
            "counts": {level: self.count(level) for level in LEVELS},
        }


def audit(
    client: Client,
    url: str,
    product_token: Tokens | None = None,
    purposes: Sequence[str] = (),
    *,
    profile: str = "default",
    ignore_disallow: bool = False,
    max_sitemaps: int = MAX_SITEMAPS,
    progress: Callable[[str], object] | None = None,
    html: bool = True,
) -> Audit:
    """
    Audit one live page, for one crawler or for all crawlers without their own group.

    The robots.txt is fetched now, even if it is cached. *profile* applies to tags.
    *ignore_disallow*: the site is yours, so a page that the rules disallow is read once all the
    same, to see what no crawler sees. *progress* is told each URL before it is asked for. *html*:
    whether the page's HTML is read; without it, headers alone speak for the page.
    """
    tokens: Tokens = EVERYONE if product_token is None else product_token
    find_tag_profile(profile)
    origin = origin_of(url)
    if origin is None:
        raise ValueError(f"{url!r} has no robots.txt: pass an http or https URL")
    return _Auditor(client, tokens, tuple(purposes), progress or _report_nothing, html).audit(
        url, origin, profile, ignore_disallow, max_sitemaps
    )


def _report_nothing(url: str) -> None:
    """Report nothing."""


class _Auditor:
    """Fetches the parts, in the order in which they are needed."""

    def __init__(
        self,
        client: Client,
        tokens: Tokens,
        purposes: tuple[str, ...],
        progress: Callable[[str], object],
        html: bool,
    ) -> None:
        self._client = client
        self._asked = tokens, purposes
        self._progress = progress
        self._html = html

    def audit(
        self, url: str, origin: str, profile: str, ignore_disallow: bool, max_sitemaps: int
    ) -> Audit:
        """Fetch everything, then compare."""
        client, (tokens, purposes) = self._client, self._asked
        self._progress(robots_url(origin))
        state = client.refresh(url)
        assert state is not None
        self._progress(url)
        reader = AuditPageReader(
            client,
            [self._asked],
            profile=profile,
            ignore_disallow=ignore_disallow,
            html=self._html,
        )
        [reading] = reader.read(url)
        page, unseen, found, links, steps = reading
        other = fetch_other_scheme(client, origin, self._progress)
        read = read_sitemaps(
            client,
            state,
            *self._asked,
            max_files=max_sitemaps,
            max_urls=max_sitemaps * MAX_URLS,
            keep_bodies=True,
            progress=self._progress,
        )
        listed = [self._compare_listing(one, state, steps) for one in read.files]
        left = read.not_read
        rules = {one.url: client.check(one.url, *self._asked) for one in links}
        verdict = state.check(url, *self._asked)
        names = (tokens,) if isinstance(tokens, str) else tuple(tokens)
        findings = [
            *check_robots(state),
            *check_schemes(state, other, url, verdict, self._asked),
            *check_page(page, unseen, bool(verdict)),
            *check_guidance(found, links, rules, name_crawlers(names)),
            *check_sitemaps(listed, steps, found),
        ]
        if left and max_sitemaps:
            most = f"{max_sitemaps:,}"
            findings.append(
                finding("sitemaps-not-read", "robots.txt", most=most, count=f"{left:,}")
            )
        if state.policy is EffectivePolicy.RULES and not listed and not left:
            findings.append(finding("no-sitemap", "robots.txt"))
        return Audit(
            url=url,
            product_tokens=names,
            purposes=purposes,
            user_agent=client.user_agent,
            origin_state=state,
            verdict=verdict,
            steps=steps,
            page=reading.content,
            guidance=found,
            canonicals=links,
            sitemaps=tuple(listed),
            other_scheme=other,
            findings=tuple(sorted(findings, key=lambda one: LEVELS.index(one.level))),
        )

    def _compare_listing(
        self, fetched: SitemapFetch, state: OriginState, steps: Sequence[RedirectStep]
    ) -> SitemapListing:
        """Return a sitemap with what it lists of the page, and of blocked URLs."""
        listed = SitemapListing(*fetched)
        if not fetched.urls:
            return listed
        ours = [one for one in fetched.urls if origin_of(one) == state.origin]
        # URLs are compared as rules compare them (RFC 9309 §2.2.2).
        parsing = state.robots.profile
        forms = {normalize_path(one, profile=parsing) for one in ours}
        ways = {normalize_path(step.url, profile=parsing): step.url for step in reversed(steps)}
        ways = {form: url for form, url in ways.items() if origin_of(url) == state.origin}
        others = [one for one in ours if normalize_path(one, profile=parsing) not in ways]
        verdicts = state.check_many(others, *self._asked)
        return listed._replace(
            steps=tuple(url for form, url in ways.items() if form in forms),
            disallowed=tuple(
                one for one, verdict in zip(others, verdicts, strict=True) if not verdict
            ),
        )


__all__ = [
    "MAX_SITEMAPS",
    "SCHEMA_VERSION",
    "Audit",
    "Finding",
    "FindingGroup",
    "IndexingAnswer",
    "PageAudit",
    "PageOutcome",
    "RedirectStep",
    "SiteAudit",
    "SiteAuditor",
    "SiteSummary",
    "SitemapFetch",
    "SitemapListing",
    "SitemapSet",
    "audit",
    "read_sitemaps",
]
