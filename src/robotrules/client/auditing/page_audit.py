"""
One page of an audit of many: what became of it, for each crawler, and its findings.

A `PageAudit` is small, so that an audit of many thousand pages keeps all of them: it has the
answers and no content. It is made from what `page_reader` read and the checks of `audit()`;
`site_audit` adds what needs other pages.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from enum import StrEnum
from typing import Any, NamedTuple

from robotrules.client.auditing.canonical import Canonical
from robotrules.client.auditing.checks import (
    check_guidance,
    check_page,
    name_crawlers,
    shorten,
    without_advice,
)
from robotrules.client.auditing.findings import LEVELS, Finding, finding
from robotrules.client.auditing.page_reader import PageReading
from robotrules.http.media_types import parse_media_type
from robotrules.robotstxt.verdict import Reason, Verdict
from robotrules.tags.rules import UsageRules

__all__ = ["IndexingAnswer", "PageAudit", "PageOutcome", "make_page_audit"]

# Kept of a page: more is in an audit of this page alone.
MAX_FINDINGS = 40
MAX_SOURCES = 5
MAX_CANONICALS = 3
# Longer than servers accept; the URLs of all pages are kept.
MAX_URL_LENGTH = 8192
REDIRECTS = (301, 302, 303, 307, 308)


class PageOutcome(StrEnum):
    """What a crawler gets from a URL; each page has one."""

    INDEXABLE = "indexable"
    """It is read, and nothing that was read forbids indexing."""
    NOINDEX = "noindex"
    """It is read, and says noindex."""
    BLOCKED = "blocked"
    """The robots.txt disallows the URL, so its content is not read."""
    REDIRECTED = "redirected"
    """It leads to another URL, which is indexed instead."""
    MISSING = "missing"
    """It responds with a status of 400 to 499."""
    FAILED = "failed"
    """There is no page: a server error, no response, a redirect loop, no robots.txt in reach."""
    UNKNOWN = "unknown"
    """It was not requested, or not read to its end."""


class IndexingAnswer(NamedTuple):
    """What one crawler gets from a page."""

    crawler: str
    allowed: bool
    """Whether the rules allow the URL itself."""
    reason: str
    """The line of the robots.txt that decides, or another reason."""
    outcome: PageOutcome
    noindex: tuple[str, ...] = ()
    """Where the page says noindex, whether the crawler sees it or not."""

    @property
    def indexable(self) -> bool | None:
        """Whether the URL may be indexed with its content; None: unknown."""
        if self.outcome is PageOutcome.INDEXABLE:
            return True
        unclear = (PageOutcome.BLOCKED, PageOutcome.FAILED, PageOutcome.UNKNOWN)
        return None if self.outcome in unclear else False

    @property
    def is_noindex_unseen(self) -> bool:
        """Whether the page says noindex, and the crawler cannot know."""
        return bool(self.noindex) and self.outcome is not PageOutcome.NOINDEX and not self.allowed

    def as_dict(self) -> dict[str, Any]:
        """Return it as plain values for JSON."""
        return {
            "crawler": self.crawler,
            "allowed": self.allowed,
            "reason": self.reason,
            "outcome": str(self.outcome),
            "indexable": self.indexable,
            "noindex": list(self.noindex),
            "noindex_seen": self.outcome is PageOutcome.NOINDEX if self.noindex else None,
        }


class PageAudit(NamedTuple):
    """One page of an audit."""

    url: str
    final_url: str
    """The URL that was requested last, or the first that is blocked."""
    status: int | None
    """The status of the last response; None: there is none."""
    failure: str
    """Why there is no response; empty if there is one."""
    media_type: str | None
    redirects: tuple[int, ...]
    """The status of each redirect."""
    canonicals: tuple[str, ...]
    answers: tuple[IndexingAnswer, ...]
    """One for each crawler, in order."""
    findings: tuple[Finding, ...]
    """Errors first."""
    sitemap: str | None = None
    """A sitemap that lists the URL."""
    in_sitemap: bool | None = None
    """None: not all sitemaps were read, and none that was read lists it."""

    @property
    def answer(self) -> IndexingAnswer:
        """The answer for the first crawler."""
        return self.answers[0]

    @property
    def canonical(self) -> str | None:
        """The canonical URL that the page names; None: none, or several."""
        return self.canonicals[0] if len(self.canonicals) == 1 else None

    @property
    def level(self) -> str:
        """The level of its worst finding; empty: it has none."""
        return self.findings[0].level if self.findings else ""

    @property
    def first_status(self) -> int | None:
        """The status of the URL itself; `status` is that of the last URL of its redirects."""
        return self.redirects[0] if self.redirects else self.status

    def with_findings(self, more: Sequence[Finding]) -> PageAudit:
        """Return it with more findings, each kept once and errors first."""
        found = sorted(
            dict.fromkeys((*self.findings, *more)), key=lambda one: LEVELS.index(one.level)
        )
        return self._replace(findings=tuple(found[:MAX_FINDINGS]))

    def as_dict(self) -> dict[str, Any]:
        """Return it as plain values for JSON; `docs/cli/audit.md` describes them."""
        return {
            "url": self.url,
            "final_url": self.final_url,
            "status": self.status,
            "failure": self.failure,
            "media_type": self.media_type,
            "redirects": list(self.redirects),
            "canonicals": list(self.canonicals),
            "in_sitemap": self.in_sitemap,
            "sitemap": self.sitemap,
            "answers": [one.as_dict() for one in self.answers],
            "findings": [one.as_dict() for one in self.findings],
        }

    @classmethod
    def from_dict(cls, value: Mapping[str, Any]) -> PageAudit:
        """Return it from the values of `as_dict()`; raises ValueError if they are not."""
        try:
            answers = tuple(
                IndexingAnswer(
                    str(one["crawler"]),
                    bool(one["allowed"]),
                    str(one["reason"]),
                    PageOutcome(one["outcome"]),
                    tuple(map(str, one["noindex"])),
                )
                for one in value["answers"]
            )
            findings = tuple(
                Finding(
                    str(one["code"]),
                    str(one["level"]),
                    str(one["message"]),
                    str(one["where"]),
                    tuple(map(str, one.get("crawlers", ()))),
                )
                for one in value["findings"]
            )
            if not answers or any(one.level not in LEVELS for one in findings):
                raise ValueError("no answer, or an unknown level")
            status, named = value["status"], value["media_type"]
            return cls(
                str(value["url"]),
                str(value["final_url"]),
                None if status is None else int(status),
                str(value["failure"]),
                None if named is None else str(named),
                tuple(map(int, value["redirects"])),
                tuple(map(str, value["canonicals"])),
                answers,
                findings,
            )
        except (KeyError, TypeError, AttributeError) as error:
            raise ValueError(f"not a page of an audit: {error}") from None


def make_page_audit(
    url: str,
    readings: Sequence[PageReading],
    crawlers: Sequence[str],
    rules: Sequence[Mapping[str, Verdict]],
) -> PageAudit:
    """
    Return the audit of a page from what each crawler reads of it.

    *crawlers* are display names; *rules* has a mapping from canonical URLs to verdicts for each
    crawler, of those that were checked.
    """
    content = readings[0].content
    for reading in readings:  # what was read for one of them
        if content.status is None:
            content = reading.content
    answers = tuple(
        _answer(url, reading, name) for reading, name in zip(readings, crawlers, strict=True)
    )
    found: dict[Finding, list[str]] = {}
    for number, reading in enumerate(readings):
        checked = tuple(one for one in reading.canonicals if one.url in rules[number])
        # Of several crawlers, the finding names those that it is about.
        who = name_crawlers(crawlers) if len(crawlers) == 1 else "the crawler"
        for one in dict.fromkeys(_check(reading, checked, rules[number], answers[number], who)):
            found.setdefault(one, []).append(crawlers[number])
    findings = [
        one if len(names) == len(crawlers) else one._replace(crawlers=tuple(names))
        for one, names in found.items()
    ]
    if len({answer.outcome for answer in answers}) > 1:
        words = "; ".join(f"{answer.crawler}: {answer.outcome}" for answer in answers)
        findings.append(finding("crawlers-differ", "page", answers=words))
    statuses = [step.status for step in readings[0].steps if step.status is not None]
    failure = ""
    if content.status is None and content.failure_reason is not None:
        detail = without_advice(content.failure_reason, content.detail)
        failure = shorten(detail or content.failure_reason.sentence)
    elif content.failure_reason is not None:
        failure = content.failure_reason.sentence
    links = dict.fromkeys(shorten(link.url) for link in readings[0].canonicals)
    page = PageAudit(
        url,
        content.url[:MAX_URL_LENGTH],
        content.status,
        failure,
        parse_media_type(content.fields),
        tuple(status for status in statuses if status in REDIRECTS),
        tuple(links)[:MAX_CANONICALS],
        answers,
        (),
    )
    return page.with_findings(findings)


def _answer(url: str, reading: PageReading, crawler: str) -> IndexingAnswer:
    first = reading.steps[0]
    rule = first.verdict.rule
    reason = f"line {rule.line}: {rule}" if rule else first.verdict.reason.sentence
    usage = reading.guidance.usage or reading.guidance.unseen
    return IndexingAnswer(
        crawler,
        first.verdict.allowed,
        shorten(reason),
        _outcome(url, reading, first.verdict),
        tuple(_noindex_sources(usage)) if usage else (),
    )


def _outcome(url: str, reading: PageReading, verdict: Verdict) -> PageOutcome:
    page = reading.page
    if not verdict:
        lost = verdict.reason in (Reason.UNREACHABLE, Reason.NO_ORIGIN)
        return PageOutcome.FAILED if lost else PageOutcome.BLOCKED
    if page.failure_reason is not None:
        return PageOutcome.FAILED
    if page.status is not None and not page.ok and page.status >= 400:
        return PageOutcome.MISSING if page.status < 500 else PageOutcome.FAILED
    if page.hops:
        return PageOutcome.REDIRECTED
    if not page.ok:
        return PageOutcome.UNKNOWN
    return {
        True: PageOutcome.INDEXABLE,
        False: PageOutcome.NOINDEX,
        None: PageOutcome.UNKNOWN,
    }[reading.guidance.may_index]


def _noindex_sources(usage: UsageRules) -> Iterator[str]:
    for mention in usage.mentions_of("noindex")[:MAX_SOURCES]:
        yield shorten(f"{mention.source}: {mention.text}")


def _check(
    reading: PageReading,
    checked: tuple[Canonical, ...],
    rules: Mapping[str, Verdict],
    answer: IndexingAnswer,
    who: str,
) -> Iterator[Finding]:
    """Yield what one crawler has to do with this page alone."""
    yield from check_page(reading.page, reading.unseen, answer.allowed)
    yield from check_guidance(reading.guidance, checked, rules, who)
    if answer.outcome is PageOutcome.NOINDEX:
        yield finding("noindex", "page", why="; ".join(answer.noindex))
