"""
Checks of an audit: each function compares fetched parts, and yields findings.

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
from robotrules.tags.known_rules import LIFTS
from robotrules.tags.rules import Mention, RuleStatus, UsageRules

if TYPE_CHECKING:
    from robotrules.client.auditing import SitemapListing
    from robotrules.client.auditing.page_reader import RedirectStep
    from robotrules.client.auditing.sitemap_reader import SitemapFetch

ROBOTS, PAGE = "robots.txt", "page"
# RFC 9309 §2.3: UTF-8, of which ASCII is a part.
UTF8 = ("utf-8", "utf8", "us-ascii", "ascii")
BROKEN_REDIRECTS = (FailureReason.LOOP, FailureReason.REDIRECTS, FailureReason.LOCATION)
DAY, SHORT = 86_400.0, 300.0
# Maximum length of a quoted URL, and maximum number of reported conflicts.
MAX_QUOTE = 200
MAX_CONFLICTS = 20


# --- The robots.txt -------------------------------------------------------------------------------


def check_robots(state: OriginState) -> Iterator[Finding]:
    """Yield findings on a robots.txt and how it is served."""
    failed, fetch_record = state.entry.last_failure, state.fetch_record
    if failed is not None:
        code = "robots-lost" if failed.failure_reason in BROKEN_REDIRECTS else "robots-unreachable"
        yield finding(code, ROBOTS, why=_describe_failure(failed))
        if state.policy is EffectivePolicy.RULES:
            yield finding("robots-old-copy", ROBOTS)
    elif fetch_record is not None and fetch_record.state is AccessState.UNAVAILABLE:
        if fetch_record.failure_reason in BROKEN_REDIRECTS:
            yield finding("robots-lost", ROBOTS, why=_describe_failure(fetch_record))
        elif fetch_record.status in (401, 403):
            yield finding("robots-restricted", ROBOTS, status=fetch_record.status)
        else:
            yield finding("no-robots", ROBOTS, why=_describe_failure(fetch_record))
    elif fetch_record is not None:
        yield from _check_response(fetch_record)
    if state.policy is EffectivePolicy.RULES:
        for note in (*state.robots.notes, *extensions.notes(state.robots)):
            where = f"{ROBOTS}, line {note.line}" if note.line else ROBOTS
            yield Finding(note.code, note.level, note.message, where)


def _check_response(fetch_record: FetchRecord) -> Iterator[Finding]:
    if fetch_record.hops:
        yield finding("robots-redirected", ROBOTS, url=shorten(fetch_record.url))
    named, charset = parse_media_type(fetch_record.fields), parse_charset(fetch_record.fields)
    if named != "text/plain":
        words = named or "nothing in particular"
        yield finding("robots-media-type", ROBOTS, type=shorten(words))
    if charset is not None and charset.lower() not in UTF8:
        yield finding("robots-charset", ROBOTS, charset=shorten(charset))
    said = response_freshness(fetch_record.fields)
    if not said.may_store or said.must_validate:
        yield finding("robots-short-lifetime", ROBOTS, time="a moment")
    elif said.reason in ("max-age", "expires") and said.lifetime is not None:
        if said.lifetime > DAY:
            yield finding("robots-long-lifetime", ROBOTS, time=_format_duration(said.lifetime))
        elif said.lifetime < SHORT:
            yield finding("robots-short-lifetime", ROBOTS, time=_format_duration(said.lifetime))


def _describe_failure(fetch_record: FetchRecord) -> str:
    if fetch_record.failure_reason is None or fetch_record.failure_reason is FailureReason.STATUS:
        return f"status {fetch_record.status}"
    return _describe(fetch_record.failure_reason, fetch_record.detail)


def without_advice(reason: FailureReason, detail: str) -> str:
    """Return the detail of a failure without the hint for the client's configuration."""
    return detail.partition("; ")[0] if reason is FailureReason.REFUSED else detail


def _describe(reason: FailureReason, detail: str) -> str:
    """Return a failure in words, without the hint for the client's configuration."""
    detail = without_advice(reason, detail)
    beside = f": {shorten(detail)}" if detail and detail != reason.sentence else ""
    return f"{reason.sentence}{beside}"


def _format_duration(seconds: float) -> str:
    size, unit = next(
        (one for one in ((DAY, "day"), (3_600.0, "hour"), (60.0, "minute")) if seconds >= one[0]),
        (1.0, "second"),
    )
    count = f"{round(seconds / size, 1):g}"
    return f"{count} {unit}{'' if count == '1' else 's'}"


def shorten(text: str) -> str:
    """Return a quotation of limited length."""
    return text if len(text) <= MAX_QUOTE else text[: MAX_QUOTE - 1] + "…"


def name_crawlers(names: Sequence[str]) -> str:
    """Return the names of crawlers for a sentence."""
    shown = ["crawlers that no group names" if name == "*" else name for name in names]
    return f"{', '.join(shown[:-1])} and {shown[-1]}" if len(shown) > 1 else shown[0]


def _describe_reason(verdict: Verdict) -> str:
    """Return what decided the verdict: a line, or another reason."""
    rule = verdict.rule
    return shorten(f"line {rule.line}: {rule}") if rule else verdict.reason.sentence


# --- Its two schemes ------------------------------------------------------------------------------


def check_schemes(
    state: OriginState,
    other: OriginState | None,
    url: str,
    verdict: Verdict,
    asked: tuple[Tokens, Sequence[str]],
) -> Iterator[Finding]:
    """Yield findings on http and https with different rules for one path (REP-2.3-06)."""
    if (
        other is None
        or other.state is AccessState.UNREACHABLE
        or state.state is AccessState.UNREACHABLE
    ):
        return  # no response, no contradiction; the failure itself is reported
    if (state.fetch_record and state.fetch_record.digest) == (
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


def check_page(page: FetchResult, unseen: FetchResult | None, allowed: bool) -> Iterator[Finding]:
    """Yield findings on the page; *unseen* is the content of a disallowed page."""
    lost = page.failure_reason, page.detail
    if not page.verdict and page.status is None:
        # Not requested: the failure is that of its robots.txt, and reported there.
        page = page._replace(failure_reason=None)
    if page.hops and page.failure_reason is None:
        if page.verdict:
            yield finding("page-redirected", PAGE, url=shorten(page.url))
        elif allowed:
            yield _stopped_redirect(page, *lost)
    last = unseen or page
    if last.failure_reason is not None:
        yield finding("page-unreachable", PAGE, why=_describe(last.failure_reason, last.detail))
    elif last.status is not None and not last.ok:
        yield finding("page-status", PAGE, status=last.status)


def _stopped_redirect(page: FetchResult, lost: FailureReason | None, detail: str) -> Finding:
    """Return why a redirect is not followed: by rules, or because there are none to read."""
    url = shorten(page.url)
    if page.verdict.reason is Reason.UNREACHABLE:
        why = _describe(lost, detail) if lost else page.verdict.reason.sentence
        return finding("redirect-unreachable", PAGE, url=url, why=why)
    why = _describe_reason(page.verdict)
    return finding("redirect-to-disallowed", PAGE, url=url, why=why)


# --- Tags and preferences -------------------------------------------------------------------------


def check_guidance(
    found: Guidance,
    links: Sequence[Canonical],
    rules: Mapping[str, Verdict],
    who: str = "the crawler",
) -> Iterator[Finding]:
    """Yield the notes of carriers, and conflicts between two of them; *who* is the crawler."""
    usage = found.usage or found.unseen
    # Notes that follow from other findings are omitted: that nothing was read from the page, and
    # that it is disallowed because of an unreadable robots.txt.
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
        yield from _compare_tags(usage)
    yield from _compare_usage(found.preferences.statements)
    for link in links:
        verdict, where = rules[link.url], f"{PAGE}, {link.carrier}"
        if verdict.reason is Reason.NO_ORIGIN:
            yield finding("canonical-not-http", where, url=shorten(link.url))
        elif verdict.reason is Reason.UNREACHABLE:
            yield finding("canonical-unreachable", where, url=shorten(link.url))
        elif not verdict:
            why = _describe_reason(verdict)
            url = shorten(link.url)
            yield finding("canonical-disallowed", where, url=url, why=why, who=who)
    targets = list(dict.fromkeys(link.url for link in links))
    if len(targets) > 1:
        named = " and ".join(map(shorten, targets[:3]))
        yield finding("canonicals-differ", PAGE, urls=named)


def _compare_tags(usage: UsageRules) -> Iterator[Finding]:
    """Yield rules that two places state differently."""
    told: set[tuple[str, str]] = set()
    pairs = (
        (strict, other)
        for name, value in usage.values
        for strict in usage.mentions_of(name)[:1]
        for other in usage.mentions
        if other.source != strict.source and _contradicts(other, name, value)
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
            what=shorten(strict.text),
            other=other.source,
            else_=shorten(other.text),
        )
        if len(told) >= MAX_CONFLICTS:
            return


def _contradicts(other: Mention, name: str, value: object) -> bool:
    if other.standing is RuleStatus.NO_EFFECT:
        return name in LIFTS.get(other.name, ()) or (other.name == name and other.value != value)
    in_force = other.standing is RuleStatus.IN_FORCE
    return in_force and other.name == name and other.value != value


def _compare_usage(statements: Sequence[Statement]) -> Iterator[Finding]:
    """Yield categories on which the robots.txt and the field of the page differ."""
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


def check_sitemaps(
    listed: Sequence[SitemapListing], steps: Sequence[RedirectStep], found: Guidance
) -> Iterator[Finding]:
    """Yield findings on sitemaps, and on URLs that they should not list."""
    usage = found.usage or found.unseen
    noindex = usage is not None and usage.may_index is False
    verdicts = {step.url: step.verdict for step in steps}
    last = steps[-1].url
    for one in listed:
        where = f"sitemap {shorten(one.url)}"
        yield from check_sitemap_file(one, one.page, where)
        for url in one.steps:
            if not verdicts[url]:
                yield finding("listed-and-disallowed", where, url=shorten(url))
            elif url != last:
                yield finding("listed-and-redirected", where, url=shorten(url))
            elif noindex:
                yield finding("listed-and-noindex", where, url=shorten(url))
        if one.disallowed:
            count = f"{len(one.disallowed):,} URL{'s' if len(one.disallowed) > 1 else ''}"
            yield finding("lists-disallowed", where, count=count, url=shorten(one.disallowed[0]))


def check_sitemap_file(
    one: SitemapListing | SitemapFetch, page: FetchResult, where: str
) -> Iterator[Finding]:
    """Yield findings on how a sitemap is served, and whether it can be read."""
    if not page.verdict:
        yield finding("sitemap-disallowed", where, why=_describe_reason(page.verdict))
    elif page.failure_reason is not None:
        yield finding("sitemap-unreachable", where, why=_describe(page.failure_reason, page.detail))
    elif not page.ok:
        yield finding("sitemap-unreachable", where, why=f"status {page.status}")
    elif one.file is not None:
        if one.file.trouble:
            yield finding("sitemap-unreadable", where, why=shorten(one.file.trouble))
        elif not one.file.complete:
            yield finding("sitemap-cut", where, count=f"{len(one.file.urls):,}")
        if odd := odd_media_type(page.fields, one.file):
            what = FORMS[one.file.form]
            yield finding("sitemap-media-type", where, type=shorten(odd), what=what)


FORMS = {
    SitemapForm.URLSET: "XML",
    SitemapForm.INDEX: "XML",
    SitemapForm.FEED: "a feed",
    SitemapForm.TEXT: "a list of URLs",
}
