"""
The values of a matrix: Column, Cell, Asked, Band, Matrix.

All are immutable and go to JSON with `as_dict()`. A cell is a verdict on one path for one crawler;
a summary is about all URLs there are. They do not know how either is found, nor how they are
shown.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from itertools import groupby
from typing import Any, NamedTuple

from robotrules.octets import to_octets, to_text
from robotrules.registries.crawlers import CRAWLER_PURPOSES, KnownCrawler
from robotrules.robotstxt.verdict import GroupMatch, Verdict

# Raised when a key of `Matrix.as_dict()` changes meaning or goes away.
SCHEMA_VERSION = 1

# What of all URLs a crawler is asked not to fetch, as a summary says it.
EVERYTHING, SOME, NOTHING, NOT_DECIDED = "everything", "some", "nothing", "not decided"
SUMMARIES = {
    EVERYTHING: "Every URL is allowed.",
    SOME: "Some URLs are allowed and some are disallowed.",
    NOTHING: "No URL is allowed, but for /robots.txt itself.",
    NOT_DECIDED: "Which of these it is was not decided within the budget.",
}
# Bands beside those of the purposes that well-known crawlers have.
PURPOSES, NAMED = "purposes in the file", "named in the file"
PICKED, OTHERS = "asked for", "everyone else"
_BANDS = {
    PURPOSES: "Crawlers that the file addresses by their purpose (User-Agent-Purpose).",
    NAMED: "Names that stand in the file and in no list of well-known crawlers.",
    PICKED: "Names that were asked for and stand in no list of well-known crawlers.",
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
    """A path that everybody is asked about."""

    path: str
    line: int | None = None
    """The line of the rule that it shows; None for one that was given, and for `/`."""

    def as_dict(self) -> dict[str, Any]:
        """Return it as plain values for JSON."""
        return self._asdict()


class Cell(NamedTuple):
    """What the file says about one path to one crawler."""

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
    """A crawler, or some that cannot be told apart, and what the file asks of them."""

    product_token: str
    """`*` for those who have no name: everyone else, or all with a purpose."""
    purposes: tuple[str, ...]
    """The purposes of User-Agent-Purpose by which they are asked."""
    known: KnownCrawler | None
    band: str
    """Where they are shown: a purpose of `CRAWLER_PURPOSES`, or one of the other bands."""
    matched_by: GroupMatch
    """Why the groups below are theirs."""
    by: str | None
    """The name or purpose that chose the groups; None where none did."""
    lines: tuple[int, ...]
    """The lines on which their groups start."""
    summary: str
    """One of `SUMMARIES`: exact for all URLs there are, or not decided."""
    cells: tuple[Cell, ...]

    @property
    def name(self) -> str:
        """What people call them."""
        if self.purposes:
            return " and ".join(map(_text, self.purposes))
        return OTHERS if self.product_token == "*" else _text(self.product_token)

    @property
    def group(self) -> str:
        """Whose group they obey, in words."""
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
    """Those who are shown together."""

    name: str
    rows: tuple[MatrixRow, ...]

    @property
    def title(self) -> str:
        """The name as a heading."""
        return _TITLES.get(self.name) or self.name[0].upper() + self.name[1:]

    @property
    def sentence(self) -> str:
        """Who they are."""
        return CRAWLER_PURPOSES.get(self.name) or _BANDS[self.name]

    @property
    def counts(self) -> dict[str, int]:
        """How many have each summary, in the order of `SUMMARIES`; none is left out."""
        counted = Counter(asked.summary for asked in self.rows)
        return {summary: counted[summary] for summary in SUMMARIES}


class Matrix(NamedTuple):
    """Who may fetch what, as one robots.txt asks it."""

    url: str | None
    """Where the file was found, or what it is called; None: nobody said."""
    profile: str
    columns: tuple[Column, ...]
    rows: tuple[MatrixRow, ...]
    """In the order in which they are shown, band by band."""
    checked: str
    """The day on which the list of well-known crawlers was compiled."""
    left_out: int = 0
    """How many names of the file are not shown, because there are too many."""

    @property
    def bands(self) -> tuple[PurposeBand, ...]:
        """Those who are asked, by what they are for."""
        groups = groupby(self.rows, key=lambda asked: asked.band)
        return tuple(PurposeBand(name, tuple(members)) for name, members in groups)

    @property
    def counts(self) -> dict[str, int]:
        """How many have each summary."""
        counted = Counter(asked.summary for asked in self.rows)
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
            "crawlers": [asked.as_dict() for asked in self.rows],
            "counts": self.counts,
            "left_out": self.left_out,
        }


def band_order(band: str) -> int:
    """Return where a band stands."""
    return [*CRAWLER_PURPOSES, *_BANDS].index(band)


def _text(name: str) -> str:
    """Return a name as text; an octet that is not UTF-8 shows as `\\xNN`."""
    return to_text(to_octets(name))


def _listed(lines: Iterable[int], most: int = 4) -> str:
    lines = list(lines)
    more = " …" if len(lines) > most else ""
    return ", ".join(map(str, lines[:most])) + more
