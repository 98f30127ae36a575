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
        yield from _compare_content(old, new)
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
    yield from _compare_content(old, new)


def keep_content(old: PageObservation | None, new: PageObservation) -> PageObservation:
    """
    Return a look with the tags and the media type that were seen last, if it has none itself.

    A page that is gone or blocked has none, and when it comes back they are compared with these.
    """
    if old is None or new.tags or not old.tags:
        return new
    return new._replace(tags=old.tags, media_type=old.media_type)


def _compare_content(old: PageObservation, new: PageObservation) -> Iterator[PageChange]:
    """Yield the changes of media type and tags; *old* has those that were seen last."""
    if not old.tags or not _is_ok(new):
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


def _rules_for(page: PageObservation, name: str) -> Mapping[str, str]:
    return page.tags.get(name, page.tags.get(EVERYONE, {}))


def _tags(old: PageObservation, new: PageObservation) -> Iterator[PageChange]:
    """Yield one change for all names whose rules change in the same way."""
    alike: dict[tuple[tuple[str, ...], tuple[str, ...]], list[str]] = {}
    for name in dict.fromkeys([EVERYONE, *old.tags, *new.tags]):
        before, now = _rules_for(old, name), _rules_for(new, name)
        added = tuple(rule for rule in now if rule not in before)
        removed = tuple(rule for rule in before if rule not in now)
        if added or removed:
            alike.setdefault((added, removed), []).append(name)
    for (added, removed), names in alike.items():
        yield _tag_change(old, new, names, added, removed)


def _tag_change(
    old: PageObservation,
    new: PageObservation,
    names: list[str],
    added: tuple[str, ...],
    removed: tuple[str, ...],
) -> PageChange:
    """Return the change of *names*, all crawlers if `*` is among them."""
    name = names[0]
    before, now = _rules_for(old, name), _rules_for(new, name)
    whom = "" if name == EVERYONE else f" for {_some(tuple(names))}"
    parts = []
    if added:
        sources = dict.fromkeys(_rules_for(new, one)[rule] for one in names for rule in added)
        parts.append(f"{_some(added)} appeared{whom} (in {_some(tuple(sources))})")
    if removed:
        verb = "is" if len(removed) == 1 else "are"
        parts.append(f"{_some(removed)} {verb} gone{whom}")
    words, level = "; ".join(parts), "warning"
    still_hidden = any(rule in HIDING for one in names for rule in _rules_for(new, one))
    if any(rule in HIDING for rule in added):
        words += ": search engines that obey it remove the page from their results"
        level = "error"
    elif any(rule in HIDING for rule in removed) and not still_hidden:
        words += ": search engines may show the page"
    details = {
        "crawler": name,
        "crawlers": names,
        "added": {rule: now[rule] for rule in added},
        "removed": {rule: before[rule] for rule in removed},
    }
    return PageChange(EventKind.PAGE_TAGS_CHANGED, level, f"{words}.", details)


def _some(names: tuple[str, ...]) -> str:
    return join_some(names, MOST_RULES)
