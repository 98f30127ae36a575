"""
The facts of a report: what crawlers may fetch on one host, by purpose, and what lint notes.

Everything is computed from a parsed robots.txt; nothing is fetched, and no sentence is made here.
Values are immutable, and `as_dict()` returns them for JSON.

Sections: values · from a robots.txt.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from robotrules.linting import LEVELS, LintNote, ServedResponse, find_check, lint
from robotrules.linting.check_docs import first_paragraph, parts, sample
from robotrules.linting.note import ROBOTS_TXT
from robotrules.matrix import MAX_STATES, Matrix, MatrixRow, matrix
from robotrules.matrix.values import EVERYTHING, NOT_DECIDED, NOTHING
from robotrules.octets import visible
from robotrules.registries.crawlers import CRAWLER_PURPOSES
from robotrules.robotstxt import RobotsTxt

if TYPE_CHECKING:
    from robotrules.operations.site_report.history import SiteChange
    from robotrules.operations.site_report.sitemap_coverage import SitemapCoverage

__all__ = [
    "CrawlerAccess",
    "HostFacts",
    "NoteGroup",
    "PurposeFacts",
    "SiteSource",
    "host_facts",
    "main_access",
]

HOME = "/"
# Lines that are quoted for each check, and the length of a quoted line.
MOST_LINES = 3
LONGEST_LINE = 160
# A crawler that collects for training, even if that is its second purpose, counts as one.
COUNTED_BY_ANY = ("ai-training",)


# --- Values ---------------------------------------------------------------------------------------


class SiteSource(NamedTuple):
    """A robots.txt to report on, or why there is none."""

    name: str
    """The name for people: the origin, or the name of the file."""
    robots: RobotsTxt | None = None
    """None: it could not be read, or every crawler that follows RFC 9309 waits for it."""
    origin: str | None = None
    status: str = ""
    """How it was read, in words: `status 200, fetched 12:00 UTC`."""
    problem: str = ""
    """Why there are no rules, in words; empty if there are."""
    is_file: bool = True
    """False: there is no file, and *robots* is the equivalent of that."""
    served: ServedResponse | None = None
    """How it was served, for lint; None if that is unknown."""


class CrawlerAccess(NamedTuple):
    """What one crawler may fetch."""

    name: str
    is_main: bool
    summary: str
    """Of all URLs: `everything`, `some`, `nothing` or `not decided`."""
    home: bool
    """Whether it may fetch the home page."""
    line: int | None = None
    """The line of the rule that decides about the home page; None if no rule matches."""

    def as_dict(self) -> dict[str, Any]:
        """Return it as plain values for JSON."""
        return self._asdict()


class PurposeFacts(NamedTuple):
    """What the well-known crawlers with one purpose may fetch."""

    purpose: str
    crawlers: tuple[CrawlerAccess, ...]
    """All that are active, the main ones first."""

    @property
    def main(self) -> tuple[CrawlerAccess, ...]:
        """The main crawlers."""
        return tuple(one for one in self.crawlers if one.is_main)

    def count(self, summary: str, *, main: bool = False) -> int:
        """Return the number of crawlers with a summary."""
        return sum(one.summary == summary for one in (self.main if main else self.crawlers))

    @property
    def blocked(self) -> str:
        """How many may fetch nothing: `all`, `some` or `none`; `not decided` if it is open."""
        nothing, undecided = self.count(NOTHING), self.count(NOT_DECIDED)
        if nothing == len(self.crawlers):
            return "all"
        if nothing + undecided == len(self.crawlers) or (undecided and not nothing):
            return NOT_DECIDED
        return "some" if nothing else "none"

    def as_dict(self) -> dict[str, Any]:
        """Return it as plain values for JSON."""
        return {
            "purpose": self.purpose,
            "blocked": self.blocked,
            "crawlers": [one.as_dict() for one in self.crawlers],
        }


class NoteGroup(NamedTuple):
    """The notes of one check on a file."""

    code: str
    slug: str
    level: str
    total: int
    message: str
    """The message of the first note."""
    why: str
    """Why it matters."""
    instead: str
    """What to write, in words; empty if *sample* shows it."""
    sample: str
    """What to write, as lines of a file."""
    fix: str
    """What `robotrules lint --fix` writes for the first note; empty if there is no fix."""
    lines: tuple[tuple[int, str], ...]
    """The numbers and contents of the first lines."""

    def as_dict(self) -> dict[str, Any]:
        """Return it as plain values for JSON."""
        lines = [{"line": number, "text": quoted} for number, quoted in self.lines]
        return {**self._asdict(), "lines": lines}


class HostFacts(NamedTuple):
    """What a report says about one host."""

    source: SiteSource
    purposes: tuple[PurposeFacts, ...] = ()
    whole: str | None = None
    """`everything` or `nothing`, if that is what every crawler may fetch; else None."""
    matrix: Matrix | None = None
    notes: tuple[NoteGroup, ...] = ()
    sitemaps: SitemapCoverage | None = None
    """None: not part of the report."""
    history: tuple[SiteChange, ...] | None = None
    """The latest change first; None: not part of the report."""
    history_words: str = ""
    """Why there is no history, or what it leaves out."""

    @property
    def name(self) -> str:
        """The name for people."""
        return self.source.name

    @property
    def is_known(self) -> bool:
        """Whether the rules are known."""
        return self.source.robots is not None

    def purpose(self, name: str) -> PurposeFacts | None:
        """Return the facts about a purpose; None if the rules are not known."""
        return next((one for one in self.purposes if one.purpose == name), None)

    def count_notes(self, level: str) -> int:
        """Return the number of notes of a level."""
        return sum(group.total for group in self.notes if group.level == level)

    def as_dict(self) -> dict[str, Any]:
        """Return it as plain values for JSON."""
        source, robots = self.source, self.source.robots
        return {
            "name": source.name,
            "origin": source.origin,
            "status": source.status,
            "problem": source.problem,
            "known": self.is_known,
            "size": len(robots.body) if robots is not None and source.is_file else None,
            "whole": self.whole,
            "purposes": [one.as_dict() for one in self.purposes],
            "matrix": self.matrix.as_dict() if self.matrix else None,
            "notes": [group.as_dict() for group in self.notes],
            "sitemaps": self.sitemaps.as_dict() if self.sitemaps else None,
            "history": None
            if self.history is None
            else [change.as_dict() for change in self.history],
            "history_words": self.history_words,
        }


# --- From a robots.txt ----------------------------------------------------------------------------


def host_facts(
    source: SiteSource,
    *,
    crawlers: Sequence[str] = (),
    purposes: Sequence[str] = (),
    paths: Sequence[str] = (),
    max_states: int = MAX_STATES,
) -> HostFacts:
    """
    Return the facts about one robots.txt.

    *crawlers*, *purposes* and *paths* select the rows and columns of the matrix; facts by purpose
    are about all well-known crawlers in any case.
    """
    robots = source.robots
    if robots is None:
        return HostFacts(source)
    everyone = matrix(robots, all_crawlers=True, paths=[HOME], max_states=max_states)
    summaries = {row.summary for row in everyone.rows}
    whole = summaries.pop() if len(summaries) == 1 and not everyone.left_out else None
    return HostFacts(
        source,
        purposes=_by_purpose(everyone.rows),
        whole=whole if whole in (EVERYTHING, NOTHING) else None,
        matrix=matrix(
            robots,
            crawlers=crawlers,
            purposes=purposes,
            paths=paths,
            url=source.name,
            max_states=max_states,
        ),
        notes=_note_groups(source, robots),
    )


def main_access(robots: RobotsTxt, max_states: int = MAX_STATES) -> dict[str, CrawlerAccess]:
    """Return what the main crawlers and everyone else may fetch, by name."""
    found = matrix(robots, paths=[HOME], max_states=max_states)
    rows = [
        row for row in found.rows if row.product_token == "*" or (row.known and row.known.is_main)
    ]
    return {row.name: _access(row) for row in rows if not row.purposes}


def _by_purpose(rows: Sequence[MatrixRow]) -> tuple[PurposeFacts, ...]:
    found: dict[str, list[CrawlerAccess]] = {purpose: [] for purpose in CRAWLER_PURPOSES}
    for row in rows:
        if row.known is None or row.known.status != "active":
            continue
        first, *others = row.known.purposes
        for purpose in (first, *(other for other in others if other in COUNTED_BY_ANY)):
            found[purpose].append(_access(row))
    return tuple(
        PurposeFacts(purpose, tuple(sorted(some, key=_order)))
        for purpose, some in found.items()
        if some
    )


def _order(one: CrawlerAccess) -> tuple[bool, str]:
    return not one.is_main, one.name.lower()


def _access(row: MatrixRow) -> CrawlerAccess:
    is_main = row.known is not None and row.known.is_main
    home = row.cells[0]
    return CrawlerAccess(row.name, is_main, row.summary, home.allowed, home.verdict.line)


def _note_groups(source: SiteSource, robots: RobotsTxt) -> tuple[NoteGroup, ...]:
    """Return the notes of lint by check, the most severe first."""
    notes = lint(robots, received=source.served)
    if not source.is_file:  # about the response, and not about an empty file
        notes = [note for note in notes if note.part != ROBOTS_TXT]
    by_check: dict[tuple[int, str], list[LintNote]] = {}
    for note in notes:
        by_check.setdefault((LEVELS.index(note.level), note.code), []).append(note)
    return tuple(_note_group(robots, by_check[key]) for key in sorted(by_check))


def _note_group(robots: RobotsTxt, notes: Sequence[LintNote]) -> NoteGroup:
    first = notes[0]
    check = find_check(first.code)
    texts = parts(check) if check is not None else {}
    instead, example = texts.get("Instead", ""), ""
    if instead.startswith(" "):
        instead, example = "", sample(instead)
    fix = next((note.fix.title for note in notes if note.fix), "")
    numbers = dict.fromkeys(note.line for note in notes if note.line is not None)
    return NoteGroup(
        first.code,
        first.slug,
        first.level,
        len(notes),
        visible(first.message),
        first_paragraph(texts.get("Why it matters", "")),
        first_paragraph(instead),
        example,
        visible(fix),
        tuple((number, _quoted(robots, number)) for number in list(numbers)[:MOST_LINES]),
    )


def _quoted(robots: RobotsTxt, number: int) -> str:
    octets = robots.lines[number - 1].text
    shown = visible(octets[: LONGEST_LINE + 1])
    return shown if len(shown) <= LONGEST_LINE else f"{shown[: LONGEST_LINE - 1]}…"
