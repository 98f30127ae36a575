"""
`robotrules matrix` with several sites: one table of crawlers and hosts.

Files are read and hosts are fetched concurrently; a host that cannot be reached has a column that
says so. Where columns do not fit on a line, the table is continued below.
"""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import TYPE_CHECKING, NamedTuple

from robotrules.cli.atomic_write import refuse_overwriting
from robotrules.cli.client import ClientOptions
from robotrules.cli.console import CliError, Output, quoted, report
from robotrules.cli.matrix import mark_texts, write_output
from robotrules.cli.origin_lookup import StoredCopies
from robotrules.cli.site_sources import GivenSite, take_sites
from robotrules.cli.text import cell_width, truncate
from robotrules.matrix.hosts import (
    HOME,
    HostCell,
    HostGridRow,
    HostMatrix,
    HostOfMatrix,
    host_of_matrix,
    row_tokens,
)
from robotrules.matrix.text import FOOTNOTE, TITLE, footnotes, may_not_obey
from robotrules.matrix.values import PurposeBand
from robotrules.octets import visible
from robotrules.operations.site_report.facts import SiteSource

if TYPE_CHECKING:
    from robotrules.client.origin_state import OriginState
    from robotrules.client.sync import Client

__all__ = ["HostsLines", "HostsOptions", "SiteTargets", "matrix_of_sites", "show_sites"]

SUMMARY = len("not decided")
GAP = "  "
LONGEST_NAME = 36
LONGEST_HEADING = 40
LONGEST_PROBLEM = 200
WIDTH = 100
WORDS = {True: "allowed", False: "disallowed"}
_STYLES = {"everything": "allowed", "nothing": "disallowed", "some": "warning"}


class HostsOptions(NamedTuple):
    """What the table is about."""

    crawlers: tuple[str, ...]
    purposes: tuple[str, ...]
    all_crawlers: bool
    paths: tuple[str, ...]
    max_states: int
    literal: bool


def matrix_of_sites(
    sites: Sequence[GivenSite], profile: str, client_options: ClientOptions, options: HostsOptions
) -> HostMatrix:
    """Read and fetch sites, and return their matrix."""
    tokens = row_tokens(options.crawlers, options.purposes, options.all_crawlers)
    paths = options.paths or (HOME,)

    stored = StoredCopies()

    def take(
        source: SiteSource, _: Client | None, origin_state: OriginState | None
    ) -> HostOfMatrix:
        """Return the part of a site; its file is not kept."""
        stored.add([origin_state])
        problem = source.problem if source.is_file else source.status
        return host_of_matrix(
            source.name,
            source.robots,
            tokens,
            paths,
            problem=problem,
            max_states=options.max_states,
            literal=options.literal,
            is_file=source.origin is None,
        )

    hosts = tuple(take_sites(sites, profile, client_options, take))
    if not client_options.refresh and (words := stored.sentence()):
        report(words, label="hint")
    return HostMatrix(hosts, paths, profile)


class SiteTargets(NamedTuple):
    """The outputs."""

    html: str | None
    svg: str | None
    title: str | None
    date: str | None
    as_json: bool


def show_sites(
    sites: Sequence[GivenSite],
    files: Sequence[str],
    profile: str,
    client_options: ClientOptions,
    options: HostsOptions,
    targets: SiteTargets,
) -> int:
    """Write the table of several sites, and return the exit code."""
    if not sites:
        raise CliError(f"{quoted(files[0])} has no origin: put one per line")
    for option, target in (("--html", targets.html), ("--svg", targets.svg)):
        if target is not None:
            refuse_overwriting(target, files, option)
    found = matrix_of_sites(sites, profile, client_options, options)
    title = visible(targets.title) if targets.title else None
    date = visible(targets.date) if targets.date else None
    if targets.html is not None:
        from robotrules.matrix.hosts_html import hosts_page

        write_output(hosts_page(found, title=title, date=date), targets.html)
    if targets.svg is not None:
        from robotrules.matrix.hosts_svg import hosts_picture

        write_output(hosts_picture(found, title=title, date=date), targets.svg)
    output = Output()
    if targets.as_json:
        output.json(found.as_dict())
    elif targets.html is None and targets.svg is None:
        output.lines(list(HostsLines(found, output, mark_texts()).lines()))
    output.flush()
    return 0


class HostsLines:
    """A matrix of hosts as lines of text."""

    def __init__(self, matrix: HostMatrix, output: Output, marks: dict[bool, str]) -> None:
        self._matrix = matrix
        self._grid = matrix.grid()
        self._paint = output.paint
        self._room = output.width if output.terminal else WIDTH
        self._marks = marks
        self._dagger = "†" if marks[True] == "✓" else "+"
        self._mark = max(map(cell_width, marks.values()))
        names = [cell_width(self._name(row)) for row in self._grid.rows]
        self._wide = min(max([*names, 7]), LONGEST_NAME)

    def lines(self) -> Iterator[str]:
        """Yield the lines."""
        hosts = self._matrix.hosts
        yield self._paint("heading", f"{TITLE}: {self._matrix.count_hosts(len(hosts))}")
        yield from textwrap.wrap(visible(self._matrix.headline), self._room)
        for start, end in self._blocks():
            yield ""
            yield from self._block(start, end)
        yield ""
        yield from self._notes()

    def _blocks(self) -> Iterator[tuple[int, int]]:
        """Yield the columns that fit on a line together."""
        start, taken = 0, 0
        for at in range(len(self._grid.columns)):
            width = self._column(at) + len(GAP)
            if at > start and len(GAP) + self._wide + taken + width > self._room:
                yield start, at
                start, taken = at, 0
            taken += width
        yield start, len(self._grid.columns)

    def _column(self, at: int) -> int:
        """Return the width of a column."""
        marks = len(self._matrix.paths) * (self._mark + 1)
        return max(cell_width(self._heading(at)), SUMMARY + marks)

    def _heading(self, at: int) -> str:
        return truncate(visible(self._grid.columns[at]), LONGEST_HEADING)

    def _block(self, start: int, end: int) -> Iterator[str]:
        corner = self._matrix.noun if self._grid.hosts_in_lines else "crawler"
        heads = [_padded(self._heading(at), self._column(at)) for at in range(start, end)]
        line = GAP.join([_padded(corner, self._wide), *heads])
        yield self._paint("faint", f"{GAP}{line}".rstrip())
        rows = self._grid.rows
        for band, members in groupby(rows, lambda row: row.crawler.band if row.crawler else ""):
            if band:
                yield self._paint("heading", PurposeBand(band, ()).title)
            for row in members:
                yield self._row(row, start, end)

    def _row(self, row: HostGridRow, start: int, end: int) -> str:
        name = _padded(truncate(self._name(row), LONGEST_NAME), self._wide)
        cells = []
        for at in range(start, end):
            text, width = self._cell(row.cells[at])
            cells.append(text + " " * (self._column(at) - width))
        return f"{GAP}{GAP.join([name, *cells])}".rstrip()

    def _cell(self, cell: HostCell) -> tuple[str, int]:
        """Return the text of a cell, and its width without colours."""
        if cell.row is None:
            return self._paint("faint", "not known"), len("not known")
        style = _STYLES.get(cell.row.summary, "faint")
        parts = [self._paint(style, _padded(cell.row.summary, SUMMARY))]
        for one in cell.cells:
            mark = _padded(self._marks[one.allowed], self._mark)
            parts.append(self._paint(WORDS[one.allowed], mark))
        return " ".join(parts), SUMMARY + len(cell.cells) * (self._mark + 1)

    def _name(self, row: HostGridRow) -> str:
        dagger = f" {self._dagger}" if row.crawler and may_not_obey(row.crawler) else ""
        return visible(row.name) + dagger

    def _notes(self) -> Iterator[str]:
        colon = "" if self._marks[True] == "✓" else ":"
        legend = [
            f"{self._paint(WORDS[yes], mark)}{colon} {WORDS[yes]}"
            for yes, mark in self._marks.items()
        ]
        paths = ", ".join(truncate(visible(path), LONGEST_HEADING) for path in self._matrix.paths)
        yield f"Each cell: all URLs, then {paths}. {GAP.join(legend)}"
        for host in self._matrix.hosts:
            if host.problem:
                problem = truncate(visible(host.problem), LONGEST_PROBLEM)
                yield f"{visible(host.name)}: {problem}"
        first = next((host.matrix for host in self._matrix.hosts if host.matrix), None)
        for words in (*(footnotes(first) if first else ()), FOOTNOTE):
            yield self._paint("faint", words.replace("†", self._dagger))


def _padded(text: str, wide: int) -> str:
    return text + " " * max(wide - cell_width(text), 0)
