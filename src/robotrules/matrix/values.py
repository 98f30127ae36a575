"""
The values of a matrix: Column, Cell, MatrixRow, PurposeBand, Matrix.

All are immutable, and `as_dict()` returns them for JSON. A cell is a verdict on one path for one
crawler; a summary is about all URLs. The module does not evaluate rules, and does not render.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from itertools import groupby
from typing import Any, NamedTuple

from robotrules.octets import to_octets, to_text
from robotrules.registries.crawlers import CRAWLER_PURPOSES, KnownCrawler
from robotrules.robotstxt.verdict import GroupMatch, Verdict

# Increased when a key of `Matrix.as_dict()` changes meaning or is removed.
SCHEMA_VERSION = 1

# Summaries: how many of all URLs a crawler may fetch.
EVERYTHING, SOME, NOTHING, NOT_DECIDED = "everything", "some", "nothing", "not decided"
SUMMARIES = {
    EVERYTHING: "Every URL is allowed.",
    SOME: "Some URLs are allowed and some are disallowed.",
    NOTHING: "No URL is allowed, except /robots.txt itself.",
    NOT_DECIDED: "The summary was not decided within the state limit.",
}
# Bands in addition to those of the purposes that well-known crawlers have.
PURPOSES, NAMED = "purposes in the file", "named in the file"
PICKED, OTHERS = "asked for", "everyone else"
_BANDS = {
    PURPOSES: "Crawlers that the file addresses by purpose (User-Agent-Purpose).",
    NAMED: "Names in the file that are not in the list of well-known crawlers.",
    PICKED: "Requested names that are not in the list of well-known crawlers.",
    OTHERS: "Every crawler that no group names.",
}
_TITLES = {
    "ai-search": "AI search",
    "ai-training": "AI training",
    "seo": "SEO",
    "user-triggered": "User-triggered fetch",
    "preview": "Link previews",
    "ads": "Advertising",
    "feed": "Feeds",
    "in-house": "In-house",
}


class Column(NamedTuple):
    """A path that is shown for every crawler."""

    path: str
    line: int | None = None
    """The line of the rule that it shows; None for a path that was given, and for `/`."""

    def as_dict(self) -> dict[str, Any]:
        """Return it as plain values for JSON."""
        return self._asdict()


class Cell(NamedTuple):
    """The verdict on one path for one crawler."""

    path: str
    verdict: Verdict

    @property
    def allowed(self) -> bool:
        """Whether the rules allow the path."""
        return self.verdict.allowed

    def as_dict(self) -> dict[str, Any]:
        """Return it as plain values for JSON."""
        rule = self.verdict.rule
        return {
            "path": self.path,
            "allowed": self.allowed,
            "reason": self.verdict.reason.value,
            "line": rule.line if rule else None,
            "rule": str(rule) if rule else None,
        }


class MatrixRow(NamedTuple):
    """A crawler, or crawlers with the same purposes, with their verdicts."""

    product_token: str
    """`*` for crawlers without a name: everyone else, or all with a purpose."""
    purposes: tuple[str, ...]
    """The purposes of User-Agent-Purpose that select their groups."""
    known: KnownCrawler | None
    band: str
    """The band they are shown in: a purpose of `CRAWLER_PURPOSES`, or another band."""
    matched_by: GroupMatch
    """Why these groups apply."""
    by: str | None
    """The name or purpose that selected the groups; None if none did."""
    lines: tuple[int, ...]
    """The first lines of their groups."""
    summary: str
    """One of `SUMMARIES`: exact for all URLs, or not decided."""
    cells: tuple[Cell, ...]

    @property
    def name(self) -> str:
        """The name for people."""
        if self.purposes:
            return " and ".join(map(_text, self.purposes))
        return OTHERS if self.product_token == "*" else _text(self.product_token)

    @property
    def group(self) -> str:
        """The group they obey, in words."""
        at = f"line {self.lines[0]}" if len(self.lines) == 1 else f"lines {_listed(self.lines)}"
        if self.matched_by is GroupMatch.NONE:
            return "no group"
        if self.matched_by is GroupMatch.STAR:
            return f"the group for everyone ({at})"
        if self.matched_by is GroupMatch.PURPOSE:
            return f"the group of its purpose ({at})"
        if self.by is not None and self.by.lower() != self.product_token.lower():
            return f"the group of {_text(self.by)} ({at})"
        return f"its own group ({at})"

    def as_dict(self) -> dict[str, Any]:
        """Return it as plain values for JSON."""
        return {
            "name": self.name,
            "product_token": _text(self.product_token),
            "purposes": [_text(purpose) for purpose in self.purposes],
            "band": self.band,
            "known": self.known.as_dict() if self.known else None,
            "group": {
                "matched_by": self.matched_by.value,
                "by": None if self.by is None else _text(self.by),
                "lines": list(self.lines),
            },
            "summary": self.summary,
            "cells": [cell.as_dict() for cell in self.cells],
        }


class PurposeBand(NamedTuple):
    """Crawlers that are shown together."""

    name: str
    rows: tuple[MatrixRow, ...]

    @property
    def title(self) -> str:
        """The name as a heading."""
        return _TITLES.get(self.name) or self.name[0].upper() + self.name[1:]

    @property
    def sentence(self) -> str:
        """A description of the crawlers."""
        return CRAWLER_PURPOSES.get(self.name) or _BANDS[self.name]

    @property
    def counts(self) -> dict[str, int]:
        """The number of rows with each summary, in the order of `SUMMARIES`, including zeros."""
        counted = Counter(row.summary for row in self.rows)
        return {summary: counted[summary] for summary in SUMMARIES}


class Matrix(NamedTuple):
    """Which crawlers may fetch which paths, as one robots.txt says."""

    url: str | None
    """The URL or name of the file; None if unknown."""
    profile: str
    columns: tuple[Column, ...]
    rows: tuple[MatrixRow, ...]
    """In the order of display, band by band."""
    checked: str
    """The date of the list of well-known crawlers."""
    left_out: int = 0
    """The number of names in the file that are not shown, because there are too many."""

    @property
    def bands(self) -> tuple[PurposeBand, ...]:
        """The rows by purpose."""
        groups = groupby(self.rows, key=lambda row: row.band)
        return tuple(PurposeBand(name, tuple(members)) for name, members in groups)

    @property
    def counts(self) -> dict[str, int]:
        """The number of rows with each summary."""
        counted = Counter(row.summary for row in self.rows)
        return {summary: counted[summary] for summary in SUMMARIES}

    def as_dict(self) -> dict[str, Any]:
        """Return it as plain values for JSON."""
        return {
            "schema": SCHEMA_VERSION,
            "url": self.url,
            "profile": self.profile,
            "crawlers_checked": self.checked,
            "paths": [column.as_dict() for column in self.columns],
            "bands": [
                {"name": band.name, "title": band.title, "sentence": band.sentence}
                | {"counts": band.counts}
                for band in self.bands
            ],
            "crawlers": [row.as_dict() for row in self.rows],
            "counts": self.counts,
            "left_out": self.left_out,
        }


def band_order(band: str) -> int:
    """Return the position of a band."""
    return [*CRAWLER_PURPOSES, *_BANDS].index(band)


def _text(name: str) -> str:
    """Return a name as text; an octet that is not UTF-8 is shown as `\\xNN`."""
    return to_text(to_octets(name))


def _listed(lines: Iterable[int], most: int = 4) -> str:
    lines = list(lines)
    more = " …" if len(lines) > most else ""
    return ", ".join(map(str, lines[:most])) + more
