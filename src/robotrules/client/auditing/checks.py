"""
What an audit compares: each function takes parts that were fetched, and yields findings.

Sections: the robots.txt · its two schemes · the page · tags and preferences · sitemaps. None of
them fetches anything, and none changes a verdict.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from robotrules import extensions
from robotrules.access import AccessState, FailureReason
from robotrules.cache import EffectivePolicy, FetchRecord
from robotrules.client.auditing.canonical import Canonical
from robotrules.client.auditing.findings import Finding, finding
from robotrules.client.auditing.sitemap_files import SitemapForm, odd_media_type
from robotrules.client.origin_state import OriginState
from robotrules.client.pages import FetchResult
from robotrules.extensions.vocabulary import CATEGORIES, Preference, Statement, StatementSource
from robotrules.guide import Guidance
from robotrules.http.caching import response_freshness
from robotrules.http.media_types import parse_charset, parse_media_type
from robotrules.http.origins import authority_end
from robotrules.robotstxt import Tokens
from robotrules.robotstxt.verdict import Reason, Verdict
from robotrules.tags.known import LIFTS
from robotrules.tags.rules import Mention, RuleStatus, UsageRules

if TYPE_CHECKING:
    from robotrules.client.auditing import RedirectStep, SitemapListing

ROBOTS, PAGE = "robots.txt", "page"
# RFC 9309 §2.3: UTF-8, of which ASCII is a part.
UTF8 = ("utf-8", "utf8", "us-ascii", "ascii")
LOST = (FailureReason.LOOP, FailureReason.REDIRECTS, FailureReason.LOCATION)
DAY, SHORT = 86_400.0, 300.0
# What a sentence quotes of a long URL, and how many contradictions of tags are told.
LONGEST = 200
MAX_CONFLICTS = 20


# --- The robots.txt -------------------------------------------------------------------------------


def about_robots(held: OriginState) -> Iterator[Finding]:
    """Yield what is odd about a robots.txt and how it is served."""
    failed, fetch_record = held.entry.last_failure, held.fetch_record
    if failed is not None:
        code = "robots-lost" if failed.failure_reason in LOST else "robots-unreachable"
        yield finding(code, ROBOTS, why=_why(failed))
        if held.policy is EffectivePolicy.RULES:
            yield finding("robots-old-copy", ROBOTS)
    elif fetch_record is not None and fetch_record.state is AccessState.UNAVAILABLE:
        if fetch_record.failure_reason in LOST:
            yield finding("robots-lost", ROBOTS, why=_why(fetch_record))
        elif fetch_record.status in (401, 403):
            yield finding("robots-restricted", ROBOTS, status=fetch_record.status)
        else:
            yield finding("no-robots", ROBOTS, why=_why(fetch_record))
    elif fetch_record is not None:
        yield from _served(fetch_record)
    if held.policy is EffectivePolicy.RULES:
        for note in (*held.robots.notes, *extensions.notes(held.robots)):
            where = f"{ROBOTS}, line {note.line}" if note.line else ROBOTS
            yield Finding(note.code, note.level, note.message, where)


def _served(fetch_record: FetchRecord) -> Iterator[Finding]:
    if fetch_record.hops:
        yield finding("robots-redirected", ROBOTS, url=_short(fetch_record.url))
    named, charset = parse_media_type(fetch_record.fields), parse_charset(fetch_record.fields)
    if named != "text/plain":
        words = named or "nothing in particular"
        yield finding("robots-media-type", ROBOTS, type=_short(words))
    if charset is not None and charset.lower() not in UTF8:
        yield finding("robots-charset", ROBOTS, charset=_short(charset))
    said = response_freshness(fetch_record.fields)
    if not said.may_store or said.must_validate:
        yield finding("robots-short-lifetime", ROBOTS, time="a moment")
    elif said.reason in ("max-age", "expires") and said.lifetime is not None:
        if said.lifetime > DAY:
            yield finding("robots-long-lifetime", ROBOTS, time=_time(said.lifetime))
        elif said.lifetime < SHORT:
            yield finding("robots-short-lifetime", ROBOTS, time=_time(said.lifetime))


def _why(fetch_record: FetchRecord) -> str:
    if fetch_record.failure_reason is None or fetch_record.failure_reason is FailureReason.STATUS:
        return f"status {fetch_record.status}"
    return _words(fetch_record.failure_reason, fetch_record.detail)


def _words(trouble: FailureReason, detail: str) -> str:
    """Return a trouble in words, without the cure, which is not the site's to apply."""
    if trouble is FailureReason.REFUSED:
        detail = detail.partition("; ")[0]
    beside = f": {_short(detail)}" if detail and detail != trouble.sentence else ""
    return f"{trouble.sentence}{beside}"


def _time(seconds: float) -> str:
    size, unit = next(
        (one for one in ((DAY, "day"), (3_600.0, "hour"), (60.0, "minute")) if seconds >= one[0]),
        (1.0, "second"),
    )
    count = f"{round(seconds / size, 1):g}"
    return f"{count} {unit}{'' if count == '1' else 's'}"


def _short(text: str) -> str:
    return text if len(text) <= LONGEST else text[: LONGEST - 1] + "…"


def _said(verdict: Verdict) -> str:
    """Return what decided: a line, or the reason why there is none."""
    rule = verdict.rule
    return _short(f"line {rule.line}: {rule}") if rule else verdict.reason.sentence


# --- Its two schemes ------------------------------------------------------------------------------


def about_schemes(
    held: OriginState,
    other: OriginState | None,
    url: str,
    verdict: Verdict,
    asked: tuple[Tokens, Sequence[str]],
) -> Iterator[Finding]:
    """Yield whether http and https have different rules for one path (REP-2.3-06)."""
    if (
        other is None
        or other.state is AccessState.UNREACHABLE
        or held.state is AccessState.UNREACHABLE
    ):
        return  # what does not answer contradicts nobody; that this one does not is said
    if (held.fetch_record and held.fetch_record.digest) == (
        other.fetch_record and other.fetch_record.digest
    ):
        return
    there = other.check(other.origin + url[authority_end(url) :], *asked)
    if there.allowed == verdict.allowed:
        yield finding("schemes-differ", ROBOTS, origin=other.origin)
    else:
        word = "allowed" if there else "disallowed"
        yield finding("schemes-disagree", ROBOTS, origin=other.origin, word=word)


# --- The page -------------------------------------------------------------------------------------


def about_page(page: FetchResult, unseen: FetchResult | None, allowed: bool) -> Iterator[Finding]:
    """Yield how the page answers; *unseen* is what was read although it is disallowed."""
    if not page.verdict and page.status is None:
        # Nobody asked for it: the trouble is that of its robots.txt, and told there.
        page = page._replace(failure_reason=None)
    if page.hops and page.failure_reason is None:
        if page.verdict:
            yield finding("page-redirected", PAGE, url=_short(page.url))
        elif allowed:
            why = _said(page.verdict)
            yield finding("redirect-to-disallowed", PAGE, url=_short(page.url), why=why)
    last = unseen or page
    if last.failure_reason is not None:
        yield finding("page-unreachable", PAGE, why=_words(last.failure_reason, last.detail))
    elif last.status is not None and not last.ok:
        yield finding("page-status", PAGE, status=last.status)


# --- Tags and preferences -------------------------------------------------------------------------


def about_guidance(
    found: Guidance, links: Sequence[Canonical], rules: Mapping[str, Verdict]
) -> Iterator[Finding]:
    """Yield notes of the carriers, and where two of them contradict each other."""
    usage = found.usage or found.unseen
    # That nothing was read follows from what is said about the page, and that it is disallowed from
    # a robots.txt that cannot be read.
    told = {"tags-not-read"}
    if found.verdict is not None and found.verdict.reason is Reason.UNREACHABLE:
        told.add("not-crawled")
    for note in (*found.notes, *(usage.notes if usage else ())):
        if note.code not in told:
            where = f"{PAGE}, {note.source}" if note.source else PAGE
            yield Finding(note.code, note.level, note.message, where)
    for reserved in found.reservation.notes:
        yield Finding(reserved.code, reserved.level, reserved.message, PAGE)
    if usage is not None:
        yield from _tags_disagree(usage)
    yield from _usage_disagrees(found.preferences.statements)
    for link in links:
        if not rules[link.url]:
            why = _said(rules[link.url])
            where = f"{PAGE}, {link.carrier}"
            yield finding("canonical-disallowed", where, url=_short(link.url), why=why)
    targets = list(dict.fromkeys(link.url for link in links))
    if len(targets) > 1:
        named = " and ".join(map(_short, targets[:3]))
        yield finding("canonicals-differ", PAGE, urls=named)


def _tags_disagree(usage: UsageRules) -> Iterator[Finding]:
    """Yield rules that one place states and another takes back, or states otherwise."""
    told: set[tuple[str, str]] = set()
    pairs = (
        (strict, other)
        for name, value in usage.values
        for strict in usage.mentions_of(name)[:1]
        for other in usage.mentions
        if other.source != strict.source and _speaks_against(other, name, value)
    )
    for strict, other in pairs:
        places = str(strict.source), str(other.source)
        if places in told:
            continue
        told.add(places)
        yield finding(
            "tags-disagree",
            PAGE,
            one=strict.source,
            what=_short(strict.text),
            other=other.source,
            else_=_short(other.text),
        )
        if len(told) >= MAX_CONFLICTS:
            return


def _speaks_against(other: Mention, name: str, value: object) -> bool:
    if other.standing is RuleStatus.NO_EFFECT:
        return name in LIFTS.get(other.name, ()) or (other.name == name and other.value != value)
    in_force = other.standing is RuleStatus.IN_FORCE
    return in_force and other.name == name and other.value != value


def _usage_disagrees(statements: Sequence[Statement]) -> Iterator[Finding]:
    """Yield categories about which the robots.txt and the field of the page say two things."""
    opposite = {Preference.ALLOWED, Preference.DISALLOWED}
    ours = [one for one in statements if one.source is StatementSource.ROBOTS]
    theirs = [one for one in statements if one.source is StatementSource.FIELD]
    for category in CATEGORIES:
        for one in ours:
            for other in theirs:
                values = one.get(category), other.get(category)
                if set(values) == opposite:
                    yield finding(
                        "usage-disagrees",
                        f"{PAGE}, Content-Usage",
                        category=category,
                        one=f"{ROBOTS}, line {one.line}",
                        what=values[0],
                        other="the field",
                        else_=values[1],
                    )


# --- Sitemaps -------------------------------------------------------------------------------------


def about_sitemaps(
    listed: Sequence[SitemapListing], steps: Sequence[RedirectStep], found: Guidance
) -> Iterator[Finding]:
    """Yield what is odd about sitemaps, and what they list that should not be listed."""
    usage = found.usage or found.unseen
    noindex = usage is not None and usage.may_index is False
    verdicts = {step.url: step.verdict for step in steps}
    last = steps[-1].url
    for one in listed:
        where = f"sitemap {_short(one.url)}"
        yield from _about_file(one, one.page, where)
        for url in one.steps:
            if not verdicts[url]:
                yield finding("listed-and-disallowed", where, url=_short(url))
            elif url != last:
                yield finding("listed-and-redirected", where, url=_short(url))
            elif noindex:
                yield finding("listed-and-noindex", where, url=_short(url))
        if one.disallowed:
            count = f"{len(one.disallowed):,} URL{'s' if len(one.disallowed) > 1 else ''}"
            yield finding("lists-disallowed", where, count=count, url=_short(one.disallowed[0]))


def _about_file(one: SitemapListing, page: FetchResult, where: str) -> Iterator[Finding]:
    if not page.verdict:
        yield finding("sitemap-disallowed", where, why=_said(page.verdict))
    elif page.failure_reason is not None:
        yield finding("sitemap-unreachable", where, why=_words(page.failure_reason, page.detail))
    elif not page.ok:
        yield finding("sitemap-unreachable", where, why=f"status {page.status}")
    elif one.file is not None:
        if one.file.trouble:
            yield finding("sitemap-unreadable", where, why=_short(one.file.trouble))
        elif not one.file.complete:
            yield finding("sitemap-cut", where, count=f"{len(one.file.urls):,}")
        if odd := odd_media_type(page.fields, one.file):
            what = FORMS[one.file.form]
            yield finding("sitemap-media-type", where, type=_short(odd), what=what)


FORMS = {
    SitemapForm.URLSET: "XML",
    SitemapForm.INDEX: "XML",
    SitemapForm.FEED: "a feed",
    SitemapForm.TEXT: "a list of URLs",
}
