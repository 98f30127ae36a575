"""
Results of an audit of many pages: numbers, groups of findings, and all of it as plain values.

They are made by `site_audit`, and hold no content of pages.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from robotrules.cache import format_timestamp
from robotrules.client.auditing.findings import LEVELS, Finding
from robotrules.client.auditing.page_audit import PageAudit, PageOutcome
from robotrules.client.auditing.sitemap_reader import SitemapFetch

__all__ = ["FindingGroup", "SiteAudit", "SiteSummary"]

# Increased when a key of `SiteAudit.as_dict()` changes meaning or is removed.
SCHEMA_VERSION = 1
# Examples of a group of findings, and of URLs that were left out.
MAX_EXAMPLES = 5
# Findings of one level in the order of importance; the others follow, those of most pages first.
FIRST = (
    *("robots-unreachable", "robots-lost", "page-unreachable"),
    *("noindex-not-seen", "tags-disagree", "listed-and-noindex", "listed-and-disallowed"),
    *("noindex-and-canonical", "canonical-noindex", "canonical-disallowed", "canonical-missing"),
    *("canonical-not-http", "canonical-unreachable"),
    *("page-status", "listed-and-missing", "redirect-to-disallowed"),
    "redirect-unreachable",
    *("listed-and-redirected", "listed-and-canonical-elsewhere", "not-crawled"),
    *("crawlers-differ", "noindex", "not-listed", "canonical-elsewhere"),
)
# Findings about the canonical URL of a page, which is then shown beside the page.
ABOUT_CANONICALS = (
    *("canonical-disallowed", "canonical-elsewhere", "canonical-missing", "canonical-noindex"),
    *("canonical-redirected", "listed-and-canonical-elsewhere", "noindex-and-canonical"),
)


class FindingGroup(NamedTuple):
    """All findings with one code."""

    code: str
    level: str
    places: int
    """How many pages or files have it."""
    message: str
    """The sentence of the first one. Quoted text is untrusted."""
    examples: tuple[str, ...]
    """The first pages or files that have it."""
    of_pages: bool = True
    """Whether all of them are pages."""
    crawlers: tuple[str, ...] = ()
    """Those of several crawlers that this is about, if these are the same everywhere."""
    targets: tuple[str, ...] = ()
    """Of findings about canonical links, what each of the examples names; else empty."""

    def as_dict(self) -> dict[str, Any]:
        """Return it as plain values for JSON."""
        return {
            **self._asdict(),
            "examples": list(self.examples),
            "crawlers": list(self.crawlers),
            "targets": list(self.targets),
        }


class SiteSummary(NamedTuple):
    """An origin of audited pages: its robots.txt and its sitemaps."""

    origin: str
    robots: Mapping[str, Any]
    """How the robots.txt was obtained, as `OriginState.as_dict()` describes it."""
    sitemaps: tuple[SitemapFetch, ...]
    """The sitemap files, without their URLs."""
    sitemap_urls: int
    """How many URLs they list."""
    sitemaps_complete: bool
    """Whether all were read to the end."""

    def as_dict(self) -> dict[str, Any]:
        """Return it as plain values for JSON."""
        return {
            "origin": self.origin,
            "robots": dict(self.robots),
            "sitemaps": [
                {
                    "url": one.url,
                    "named_by": one.named_by,
                    "status": one.page.status,
                    "trouble": one.trouble,
                }
                for one in self.sitemaps
            ],
            "sitemap_urls": self.sitemap_urls,
            "sitemaps_complete": self.sitemaps_complete,
        }


class SiteAudit(NamedTuple):
    """The audit of many pages."""

    crawlers: tuple[str, ...]
    """The display names of the audited crawlers; `*`: crawlers without their own group."""
    purposes: tuple[str, ...]
    user_agent: str
    """The User-Agent of the audit."""
    began: float
    """When it began, in seconds since 1970."""
    ended: float
    pages: tuple[PageAudit, ...]
    """In the order of requests."""
    sites: tuple[SiteSummary, ...]
    findings: tuple[Finding, ...]
    """Those of robots.txt files and sitemaps; the others are at their pages."""
    skipped: int
    """How many inputs are not http or https URLs of a host."""
    not_audited: int | None = 0
    """How many pages were left out because of a limit or an interrupt; None: unknown."""
    interrupted: bool = False

    @property
    def is_partial(self) -> bool:
        """Whether pages are missing."""
        return self.interrupted or self.not_audited != 0

    @property
    def is_clean(self) -> bool:
        """Whether nothing worse than `info` was found."""
        found = (*self.findings, *(one for page in self.pages for one in page.findings))
        return all(one.level == "info" for one in found)

    def outcomes(self, crawler: int = 0) -> dict[PageOutcome, int]:
        """Return how many pages have each outcome, for one of the crawlers."""
        counts = Counter(page.answers[crawler].outcome for page in self.pages)
        return {outcome: counts[outcome] for outcome in PageOutcome}

    def count_unseen_noindex(self, crawler: int = 0) -> dict[PageOutcome, int]:
        """Return how many pages of each outcome say noindex, which the crawler cannot see."""
        answers = (page.answers[crawler] for page in self.pages)
        counts = Counter(one.outcome for one in answers if one.is_noindex_unseen)
        return {outcome: counts[outcome] for outcome in PageOutcome}

    def groups(self) -> list[FindingGroup]:
        """Return the findings by code: errors first, then what costs most visibility."""
        found: dict[str, dict[str, Finding]] = {}
        for where, one in self._all_findings():
            found.setdefault(one.code, {}).setdefault(where, one)
        targets = {page.url: " and ".join(page.canonicals) for page in self.pages}
        groups = [_make_group(code, places, targets) for code, places in found.items()]
        return sorted(groups, key=_importance)

    def _all_findings(self) -> Iterator[tuple[str, Finding]]:
        for one in self.findings:
            yield one.where, one
        for page in self.pages:
            for one in page.findings:
                yield page.url, one

    def as_dict(self) -> dict[str, Any]:
        """Return it as plain values for JSON; `docs/cli/audit.md` describes them."""
        return {
            "schema_version": SCHEMA_VERSION,
            "crawlers": list(self.crawlers),
            "purposes": list(self.purposes),
            "user_agent": self.user_agent,
            "began_at": format_timestamp(self.began),
            "ended_at": format_timestamp(self.ended),
            "partial": self.is_partial,
            "interrupted": self.interrupted,
            "not_audited": self.not_audited,
            "skipped": self.skipped,
            "summary": [self._summary(number) for number in range(len(self.crawlers))],
            "groups": [one.as_dict() for one in self.groups()],
            "sites": [one.as_dict() for one in self.sites],
            "findings": [one.as_dict() for one in self.findings],
            "pages": [one.as_dict() for one in self.pages],
        }

    def _summary(self, crawler: int) -> dict[str, Any]:
        return {
            "crawler": self.crawlers[crawler],
            "pages": len(self.pages),
            "outcomes": {str(name): count for name, count in self.outcomes(crawler).items()},
            "noindex_unseen": sum(self.count_unseen_noindex(crawler).values()),
        }


def _make_group(
    code: str, places: Mapping[str, Finding], targets: Mapping[str, str]
) -> FindingGroup:
    first = next(iter(places.values()))
    crawlers = {one.crawlers for one in places.values()}
    examples = tuple(places)[:MAX_EXAMPLES]
    return FindingGroup(
        code,
        first.level,
        len(places),
        first.message,
        examples,
        all(place != one.where for place, one in places.items()),
        crawlers.pop() if len(crawlers) == 1 else (),
        tuple(targets.get(place, "") for place in examples) if code in ABOUT_CANONICALS else (),
    )


def _importance(group: FindingGroup) -> tuple[int, int, int, str]:
    rank = FIRST.index(group.code) if group.code in FIRST else len(FIRST)
    return LEVELS.index(group.level), rank, -group.places, group.code
