"""The notes of lint on one robots.txt, for commands and the service."""

from __future__ import annotations

from collections.abc import Sequence

from robotrules.http.origins import origin_of, robots_url
from robotrules.linting import LintNote, ServedResponse, lint
from robotrules.robotstxt import RobotsTxt

__all__ = ["notes_on"]


def notes_on(
    robots: RobotsTxt,
    *,
    select: Sequence[str],
    ignore: Sequence[str],
    url: str | None,
    max_states: int,
) -> list[LintNote]:
    """Return the notes on a file; *url* is where it is served, for checks that need it."""
    received = ServedResponse(url=robots_url(origin_of(url) or "")) if url else None
    return lint(robots, select=select, ignore=ignore, received=received, max_states=max_states)
