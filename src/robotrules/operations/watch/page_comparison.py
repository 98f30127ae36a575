"""
Comparison of two looks at a page: status, redirects, media type, robots tags.

Pure functions. A page without an earlier look has no changes: its tags may be as its owner wants
them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from robotrules.json_results.crawler_names import join_some
from robotrules.operations.watch.events import EventKind
from robotrules.operations.watch.observations import PageObservation
from robotrules.tags.known_rules import EVERYONE

# Rules that take a page out of results.
HIDING = ("noindex", "none")
MOST_RULES = 6


class PageChange(NamedTuple):
    """A change of a page."""

    kind: EventKind
    level: str
    sentence: str
    details: Mapping[str, Any] = {}


def compare_pages(old: PageObservation | None, new: PageObservation) -> Iterator[PageChange]:
    """Yield the changes from one look at a page to the next; none fetched is a failure."""
    if old is None:
        return
    details: dict[str, Any]
    if new.outcome == "blocked":
        if old.outcome != "blocked":
            words = (
                f"The robots.txt disallows the page to this program ({new.response}), so it is not "
                "fetched, and its tags are unknown from now on."
            )
            yield PageChange(EventKind.PAGE_BLOCKED, "warning", words, {"reason": new.response})
        return
    if old.outcome == "blocked":
        words = f"The robots.txt allows the page again: {new.response}."
        yield PageChange(EventKind.PAGE_BLOCKED, "info", words, {"status": new.status})
        return
    if old.status != new.status:
        is_lost = not _is_ok(new) and _is_ok(old)
        words = f"The page has {new.response} now, before {old.response}."
        details = {"old": old.status, "new": new.status}
        yield PageChange(EventKind.STATUS_CHANGED, "error" if is_lost else "info", words, details)
    if old.final_url != new.final_url or len(old.redirects) != len(new.redirects):
        details = {
            "old": [one._asdict() for one in old.redirects],
            "new": [one._asdict() for one in new.redirects],
        }
        words, level = "The page is not redirected any more.", "info"
        if new.redirects:
            last = new.redirects[-1]
            again = "leads elsewhere now" if old.redirects else "is redirected now"
            words, level = f"The page {again}: {last.status} to {new.final_url}.", "warning"
        yield PageChange(EventKind.REDIRECT_CHANGED, level, words, details)
    if not (_is_ok(old) and _is_ok(new)):
        return
    if old.media_type != new.media_type:
        words = (
            f"The page has another media type: {new.media_type or 'none'}, before "
            f"{old.media_type or 'none'}."
        )
        details = {"old": old.media_type, "new": new.media_type}
        yield PageChange(EventKind.MEDIA_TYPE_CHANGED, "info", words, details)
    yield from _tags(old, new)


def _is_ok(page: PageObservation) -> bool:
    return page.status is not None and 200 <= page.status < 300


def _tags(old: PageObservation, new: PageObservation) -> Iterator[PageChange]:
    """Yield one change for each name whose rules change in the same way as for no other."""
    told: set[tuple[tuple[str, ...], tuple[str, ...]]] = set()
    for name in dict.fromkeys([EVERYONE, *old.tags, *new.tags]):
        before, now = (page.tags.get(name, page.tags.get(EVERYONE, {})) for page in (old, new))
        added = tuple(rule for rule in now if rule not in before)
        removed = tuple(rule for rule in before if rule not in now)
        if not (added or removed) or (added, removed) in told:
            continue
        told.add((added, removed))
        whom = "" if name == EVERYONE else f" for {name}"
        parts = []
        if added:
            sources = dict.fromkeys(now[rule] for rule in added)
            parts.append(f"{_some(added)} appeared{whom} (in {_some(tuple(sources))})")
        if removed:
            parts.append(f"{_some(removed)} is gone{whom}" if len(removed) == 1 else "")
            parts[-1] = parts[-1] or f"{_some(removed)} are gone{whom}"
        words, level = "; ".join(parts), "warning"
        if any(rule in HIDING for rule in added):
            words += ": search engines that obey it remove the page from their results"
            level = "error"
        elif any(rule in HIDING for rule in removed) and not any(one in HIDING for one in now):
            words += ": search engines may show the page"
        details = {
            "crawler": name,
            "added": {rule: now[rule] for rule in added},
            "removed": {rule: before[rule] for rule in removed},
        }
        yield PageChange(EventKind.PAGE_TAGS_CHANGED, level, f"{words}.", details)


def _some(names: tuple[str, ...]) -> str:
    return join_some(names, MOST_RULES)
