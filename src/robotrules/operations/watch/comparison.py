"""
Comparison: a baseline and an observation to the next baseline and the events in between.

Pure functions: no clock, no network, no state. The same baseline and observation always give the
same events with the same ids, so a comparison that is repeated after a crash tells nothing new.

A fetch that fails changes nothing in the baseline but the count of failures. After *after* failures
in a row `unreachable` is told once, and `reachable` when a fetch succeeds again; a change that
happened meanwhile is told then.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from robotrules.cache import format_timestamp
from robotrules.operations.watch.events import EventKind, WatchEvent, make_event
from robotrules.operations.watch.meaning import describe_meaning, describe_text_change
from robotrules.operations.watch.observations import (
    FileObservation,
    Observation,
    PageObservation,
    RedirectSeen,
    SitemapSeen,
)
from robotrules.operations.watch.page_comparison import compare_pages, keep_content
from robotrules.profile import DEFAULT

# RFC 9309 §2.5: crawlers read at least this many bytes, and may ignore the rest.
SIZE_LIMIT = DEFAULT.max_bytes
NEAR_LIMIT = SIZE_LIMIT * 9 // 10
# The default of --after.
AFTER = 2
# Sitemaps of which changes are told at a time.
MOST_SITEMAPS = 20


class Baseline(NamedTuple):
    """What is known about a target, and what was told about it."""

    observation: Observation | None = None
    """The last look that did not fail."""
    failures: int = 0
    """The number of failed fetches since then."""
    failing_since: float = 0.0
    told_unreachable: bool = False
    revision: int = 0
    """The number of looks with events so far."""
    seen_at: float = 0.0
    """The time of the last attempt."""
    response: str = ""
    """The last response, or why there was none."""


class Change(NamedTuple):
    """An event without the part that all events of a look share."""

    kind: EventKind
    level: str
    sentence: str
    details: Mapping[str, Any] = {}
    target: str = ""
    """The URL that it is about, if not the target itself."""


def advance(
    baseline: Baseline,
    seen: Observation,
    *,
    after: int = AFTER,
    crawlers: Sequence[str] = (),
) -> tuple[Baseline, tuple[WatchEvent, ...]]:
    """
    Return the next baseline of a target, and the events.

    *after* is the number of failures in a row after which a target counts as unreachable;
    *crawlers* are product tokens that are reported besides the well-known ones.
    """
    if seen.failed:
        found, changes = _fail(baseline, seen, after)
    else:
        found, changes = _succeed(baseline, seen, crawlers)
    found = found._replace(seen_at=seen.at, response=seen.response)
    if not changes:
        return found, ()
    found = found._replace(revision=baseline.revision + 1)
    before = baseline.observation
    digests = (_digest(before), _digest(before) if seen.failed else _digest(seen))
    events = (
        make_event(
            change.kind,
            change.level,
            change.sentence,
            at=seen.at,
            origin=seen.origin,
            target=change.target or seen.target,
            revision=found.revision,
            details=change.details,
            digests=digests,
        )
        for change in changes
    )
    return found, tuple(events)


def _digest(seen: Observation | None) -> str | None:
    return seen.digest if isinstance(seen, FileObservation) else None


# --- Failures -------------------------------------------------------------------------------------


def _fail(baseline: Baseline, seen: Observation, after: int) -> tuple[Baseline, list[Change]]:
    found = baseline._replace(
        failures=baseline.failures + 1,
        failing_since=baseline.failing_since if baseline.failures else seen.at,
    )
    if found.told_unreachable or found.failures < after:
        return found, []
    times = "once" if found.failures == 1 else f"{found.failures} times in a row"
    details = {
        "failures": found.failures,
        "failing_since": format_timestamp(found.failing_since),
        "response": seen.response,
        "status": seen.status,
    }
    if isinstance(seen, FileObservation):
        words = (
            f"The robots.txt is unreachable: {seen.response}, {times}. Crawlers must assume that "
            "everything is disallowed (RFC 9309 §2.3.1.4); some use their last copy for a while."
        )
    else:
        words = f"The page is unreachable: {seen.response}, {times}."
    change = Change(EventKind.UNREACHABLE, "error", words, details)
    return found._replace(told_unreachable=True), [change]


def _succeed(
    baseline: Baseline, seen: Observation, crawlers: Sequence[str]
) -> tuple[Baseline, list[Change]]:
    changes = []
    if baseline.told_unreachable:
        what = "robots.txt" if isinstance(seen, FileObservation) else "page"
        since = format_timestamp(baseline.failing_since)
        count = baseline.failures
        fetches = "1 failed fetch" if count == 1 else f"{count:,} failed fetches"
        changes.append(
            Change(
                EventKind.REACHABLE,
                "info",
                f"The {what} is reachable again, after {fetches}: {seen.response}.",
                {"failures": baseline.failures, "failing_since": since, "response": seen.response},
            )
        )
    before = baseline.observation
    found = baseline._replace(
        observation=seen, failures=0, failing_since=0.0, told_unreachable=False
    )
    if isinstance(seen, PageObservation):
        old_page = before if isinstance(before, PageObservation) else None
        changes += [Change(*one) for one in compare_pages(old_page, seen)]
        return found._replace(observation=keep_content(old_page, seen)), changes
    old = before if isinstance(before, FileObservation) else None
    kept = seen._replace(sitemaps=tuple(_merge(old, one) for one in seen.sitemaps))
    changes += _compare_files(old, kept, crawlers)
    return found._replace(observation=kept), changes


# --- robots.txt -----------------------------------------------------------------------------------


def _compare_files(
    old: FileObservation | None, new: FileObservation, crawlers: Sequence[str]
) -> Iterator[Change]:
    """Yield the changes; without an old one, only what is wrong with the file."""
    is_html, was_html = _is_html(new), old is not None and _is_html(old)
    meaning: Mapping[str, Any] = {}
    if old is not None:
        for change in _content(old, new, crawlers):
            if is_html and not was_html:
                meaning = change.details  # told below
            else:
                yield change
        yield from compare_redirects(old.redirects, new.redirects, "robots.txt")
        if old.has_file and new.has_file and old.media_type != new.media_type:
            words = (
                f"The robots.txt has another media type: {new.media_type or 'none'}, before "
                f"{old.media_type or 'none'}"
            )
            advice = "." if new.media_type == "text/plain" else "; it should be text/plain (§2.3)."
            details = {"old": old.media_type, "new": new.media_type}
            level = "info" if new.media_type == "text/plain" else "warning"
            yield Change(EventKind.MEDIA_TYPE_CHANGED, level, words + advice, details)
    if is_html and not was_html:
        yield Change(
            EventKind.HTML_PAGE,
            "error",
            "The robots.txt is an HTML page: crawlers find no rules in it and may fetch "
            f"everything ({new.response}, {new.media_type or 'no media type'}).",
            {**meaning, "media_type": new.media_type},
        )
    elif was_html and new.has_file and not is_html:
        yield Change(EventKind.HTML_PAGE, "info", "The robots.txt is no HTML page any more.")
    yield from _size(old, new)
    yield from _sitemaps(old, new)


def _content(
    old: FileObservation, new: FileObservation, crawlers: Sequence[str]
) -> Iterator[Change]:
    """Yield the change of meaning, or of the text or status alone."""
    if not old.has_file and not new.has_file:
        if old.status != new.status:
            yield Change(
                EventKind.STATUS_CHANGED,
                "info",
                f"There is no robots.txt, now {new.response}, before {old.response}: everything "
                "stays allowed (RFC 9309 §2.3.1.3).",
                {"old": old.status, "new": new.status},
            )
        return
    if old.has_file and new.has_file and old.digest == new.digest:
        return
    sizes = {"old_size": old.size, "new_size": new.size}
    before, now = old.robots(), new.robots()
    if before is None or now is None:
        words = (
            f"The robots.txt changed ({old.size:,} to {new.size:,} bytes). What changes for "
            "crawlers is not known: it is sent with no-store, so the old file was not kept."
        )
        yield Change(EventKind.NOT_COMPARED, "warning", words, sizes)
        return
    meaning = describe_meaning(before, now, crawlers)
    details = {**meaning.details, **sizes}
    if not new.has_file:
        details["status"] = new.status
        words = (
            f"There is no robots.txt any more ({new.response}): every crawler may fetch everything "
            "(RFC 9309 §2.3.1.3)"
        )
        if meaning.example:
            words += f", also what was disallowed, such as {meaning.example}."
        else:
            words += ", as before."
        level = "error" if meaning.example else "warning"
        yield Change(EventKind.FILE_VANISHED, level, words, details)
    elif not old.has_file:
        details["status"] = old.status
        words = (
            f"There is a robots.txt now ({new.size:,} bytes; before: {old.response}). "
            f"{meaning.sentence or 'It allows everything.'}"
        )
        level = meaning.level if meaning.sentence else "info"
        yield Change(EventKind.FILE_APPEARED, level, words, details)
    elif meaning.kind is EventKind.TEXT_CHANGED:
        words = describe_text_change(before, now)
        yield Change(EventKind.TEXT_CHANGED, "info", words, details)
    else:
        yield Change(meaning.kind, meaning.level, meaning.sentence, details)


def compare_redirects(
    old: Sequence[RedirectSeen], new: Sequence[RedirectSeen], what: str
) -> Iterator[Change]:
    """Yield a change if a robots.txt or page is redirected otherwise than before."""
    if tuple(old) == tuple(new):
        return
    details = {
        "old": [one._asdict() for one in old],
        "new": [one._asdict() for one in new],
    }
    if not new:
        words, level = f"The {what} is not redirected any more.", "info"
    else:
        last = new[-1]
        again = "leads elsewhere now" if old else "is redirected now"
        words, level = f"The {what} {again}: {last.status} to {last.location}.", "warning"
    yield Change(EventKind.REDIRECT_CHANGED, level, words, details)


def _is_html(seen: FileObservation) -> bool:
    robots = seen.robots() if seen.has_file else None
    return robots is not None and any(note.code == "looks-like-html" for note in robots.notes)


def _size(old: FileObservation | None, new: FileObservation) -> Iterator[Change]:
    """Yield a change if the file enters or leaves the neighbourhood of the size limit."""
    before = _size_class(old) if old is not None else "fits"
    now = _size_class(new)
    if before == now or not new.has_file:
        return
    details = {"size": new.size, "limit": SIZE_LIMIT, "class": now}
    count = f"{new.size:,}" if new.complete else f"more than {SIZE_LIMIT:,}"
    if now == "over":
        words = (
            f"The robots.txt has {count} bytes: crawlers may ignore everything after "
            f"{SIZE_LIMIT:,} (500 KiB, RFC 9309 §2.5)."
        )
        yield Change(EventKind.SIZE, "error", words, details)
    elif now == "near":
        words = f"The robots.txt has {count} bytes, close to the {SIZE_LIMIT:,} that crawlers read."
        yield Change(EventKind.SIZE, "warning", words, details)
    else:
        words = f"The robots.txt has {count} bytes, and is no longer close to the limit."
        yield Change(EventKind.SIZE, "info", words, details)


def _size_class(seen: FileObservation) -> str:
    if not seen.complete or seen.size > SIZE_LIMIT:
        return "over"
    return "near" if seen.size > NEAR_LIMIT else "fits"


# --- Sitemaps -------------------------------------------------------------------------------------


def _merge(old: FileObservation | None, new: SitemapSeen) -> SitemapSeen:
    """Return a sitemap with what an earlier look knows about its content, if this one does not."""
    known = {one.url: one for one in old.sitemaps}.get(new.url) if old is not None else None
    if known is None or new.readable is not None:
        return new
    return known._replace(line=new.line, blocked=new.blocked)


def _sitemaps(old: FileObservation | None, new: FileObservation) -> Iterator[Change]:
    before = {one.url: one for one in old.sitemaps} if old is not None else {}
    changes = [
        change
        for one in new.sitemaps
        for change in _sitemap(before.get(one.url, SitemapSeen(one.url, 0, False)), one)
    ]
    yield from changes[:MOST_SITEMAPS]


def _sitemap(old: SitemapSeen, new: SitemapSeen) -> Iterator[Change]:
    details: dict[str, Any] = {"line": new.line}
    if new.blocked and not old.blocked:
        words = f"The robots.txt disallows a sitemap that it lists in line {new.line}."
        yield Change(EventKind.SITEMAP_BLOCKED, "warning", words, details, new.url)
    elif old.blocked and not new.blocked:
        words = "The robots.txt does not disallow this sitemap any more."
        yield Change(EventKind.SITEMAP_BLOCKED, "info", words, details, new.url)
    if new.readable is False and old.readable is not False:
        words = f"The sitemap cannot be read: {new.trouble}."
        yield Change(EventKind.SITEMAP_LOST, "error", words, details, new.url)
    elif new.readable and old.readable is False:
        words = f"The sitemap can be read again, with {new.urls:,} URLs of this origin."
        yield Change(EventKind.SITEMAP_LOST, "info", words, details, new.url)
    if new.readable and bool(new.urls_blocked) != bool(old.urls_blocked):
        details = {**details, "urls": new.urls, "blocked": new.urls_blocked, "example": new.example}
        if new.urls_blocked:
            words = (
                f"The sitemap lists {new.urls_blocked:,} of {new.urls:,} URLs that the robots.txt "
                f"disallows, such as {new.example}."
            )
            yield Change(EventKind.SITEMAP_LISTS_BLOCKED, "warning", words, details, new.url)
        else:
            words = "The sitemap lists no URL that the robots.txt disallows any more."
            yield Change(EventKind.SITEMAP_LISTS_BLOCKED, "info", words, details, new.url)
