"""Observations for tests, as plain values."""

from __future__ import annotations

import hashlib

from robotrules.access import AccessState
from robotrules.operations.watch.comparison import Baseline, advance
from robotrules.operations.watch.events import WatchEvent
from robotrules.operations.watch.observations import (
    FileObservation,
    Observation,
    PageObservation,
    RedirectSeen,
    SitemapSeen,
)

ORIGIN = "https://example.com"


def file(
    body: str | bytes | None,
    *,
    at: float = 1_000.0,
    status: int = 200,
    media_type: str | None = "text/plain",
    redirects: tuple[RedirectSeen, ...] = (),
    sitemaps: tuple[SitemapSeen, ...] = (),
    complete: bool = True,
    may_store: bool = True,
) -> FileObservation:
    """Return a look at a robots.txt; without a body, at a status."""
    octets = body.encode() if isinstance(body, str) else body
    state = AccessState.SUCCESS
    if octets is None:
        state = AccessState.UNREACHABLE if status >= 500 else AccessState.UNAVAILABLE
    return FileObservation(
        ORIGIN,
        at,
        state,
        status,
        f"status {status}",
        f"{ORIGIN}/robots.txt",
        redirects,
        media_type,
        None if octets is None else hashlib.sha256(octets).hexdigest(),
        0 if octets is None else len(octets),
        complete,
        may_store,
        octets,
        sitemaps,
    )


def page(
    *,
    outcome: str = "seen",
    status: int | None = 200,
    tags: dict[str, dict[str, str]] | None = None,
    redirects: tuple[RedirectSeen, ...] = (),
    final_url: str = f"{ORIGIN}/a",
    media_type: str | None = "text/html",
    response: str = "",
) -> PageObservation:
    """Return a look at a page; tags are known only if it was seen."""
    known = outcome == "seen" and status is not None and status < 300
    return PageObservation(
        f"{ORIGIN}/a",
        1_000.0,
        outcome,
        status,
        response or f"status {status}",
        final_url,
        redirects,
        media_type,
        (tags or {"*": {}}) if known else {},
    )


def looks(*seen: Observation, after: int = 2) -> tuple[Baseline, list[tuple[WatchEvent, ...]]]:
    """Return the last baseline, and the events of each look."""
    baseline, events = Baseline(), []
    for one in seen:
        baseline, told = advance(baseline, one, after=after)
        events.append(told)
    return baseline, events


def between(old: Observation, new: Observation) -> list[WatchEvent]:
    """Return the events from one look to the next."""
    return list(looks(old, new)[1][1])
