"""
The matrix of several hosts: what each crawler may fetch on each of them, side by side.

A cell has the summary about all URLs of a host, and the verdict on each path. The rows do not
depend on the files: names that only one file has would be blank elsewhere. The module does no I/O.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from robotrules.matrix import MAX_STATES, matrix
from robotrules.matrix.text import format_counts
from robotrules.matrix.values import NOT_DECIDED, NOTHING, Cell, Matrix, MatrixRow
from robotrules.registries.crawlers import KNOWN_CRAWLERS
from robotrules.robotstxt import RobotsTxt

__all__ = ["HostGrid", "HostGridRow", "HostMatrix", "HostOfMatrix", "host_of_matrix", "row_tokens"]

# Increased when a key of `HostMatrix.as_dict()` changes meaning or is removed.
SCHEMA_VERSION = 1
HOME = "/"
# Crawlers that are named in the headline.
FEW_NAMES = 4


class HostOfMatrix(NamedTuple):
    """One host: its matrix, or why there is none."""

    name: str
    matrix: Matrix | None
    """None: its rules are not known."""
    problem: str = ""
    """Why they are not known, or that there is no file; empty otherwise."""
    is_file: bool = False
    """Whether it is a file that was given, and not a host."""

    def as_dict(self) -> dict[str, Any]:
        """Return it as plain values for JSON."""
        return {
            "name": self.name,
            "problem": self.problem,
            "matrix": self.matrix.as_dict() if self.matrix else None,
        }


class HostCell(NamedTuple):
    """What one crawler may fetch on one host."""

    host: str
    row: MatrixRow | None
    """None: the rules of the host are not known."""

    @property
    def cells(self) -> tuple[Cell, ...]:
        """The verdicts on the paths."""
        return self.row.cells if self.row else ()


class HostGridRow(NamedTuple):
    """A line of the table."""

    name: str
    crawler: MatrixRow | None
    """None: the line is a host."""
    cells: tuple[HostCell, ...]


class HostGrid(NamedTuple):
    """The table: crawlers in lines and hosts in columns, or the other way round."""

    hosts_in_lines: bool
    columns: tuple[str, ...]
    rows: tuple[HostGridRow, ...]


class HostMatrix(NamedTuple):
    """Which crawlers may fetch which paths of several hosts."""

    hosts: tuple[HostOfMatrix, ...]
    paths: tuple[str, ...]
    profile: str

    @property
    def crawlers(self) -> tuple[MatrixRow, ...]:
        """The crawlers, as the first known host has them; the names are those of all hosts."""
        return next((host.matrix.rows for host in self.hosts if host.matrix), ())

    @property
    def headline(self) -> str:
        """On how many hosts each share of the crawlers may fetch anything, in a sentence."""
        known = [host.matrix for host in self.hosts if host.matrix]
        rows = self.crawlers
        unknown = len(self.hosts) - len(known)
        suffix = f" {unknown:,} could not be read." if unknown else ""
        if not known:
            return f"None of the {self.count_hosts(len(self.hosts))} could be read."
        if len(rows) == 1:
            counts = dict.fromkeys(known[0].counts, 0)
            for one in known:
                counts[one.rows[0].summary] += 1
            words = format_counts(counts).replace(" may fetch", "", 1)
            where = f"{self._preposition} {self.count_hosts(len(known))}"
            return f"What {rows[0].name} may fetch {where}: {words}.{suffix}"
        return f"{_share_out(self, known)}{suffix}"

    @property
    def noun(self) -> str:
        """What the hosts are called: `file` if all of them are files, else `host`."""
        return "file" if self.hosts and all(host.is_file for host in self.hosts) else "host"

    @property
    def _preposition(self) -> str:
        return "under" if self.noun == "file" else "on"

    def count_hosts(self, count: int) -> str:
        """Return a number of hosts, or of files, in words."""
        return f"{count:,} {self.noun}{'' if count == 1 else 's'}"

    def grid(self, *, hosts_in_lines: bool | None = None) -> HostGrid:
        """Return the table; by default, what there are more of is in lines."""
        crawlers = self.crawlers
        if hosts_in_lines is None:
            hosts_in_lines = len(self.hosts) > len(crawlers)
        by_host = [
            tuple(
                HostCell(host.name, host.matrix.rows[at] if host.matrix else None)
                for at in range(len(crawlers))
            )
            for host in self.hosts
        ]
        if hosts_in_lines:
            rows = [
                HostGridRow(host.name, None, cells)
                for host, cells in zip(self.hosts, by_host, strict=True)
            ]
            return HostGrid(True, tuple(row.name for row in crawlers), tuple(rows))
        lines = [
            HostGridRow(row.name, row, tuple(cells[at] for cells in by_host))
            for at, row in enumerate(crawlers)
        ]
        return HostGrid(False, tuple(host.name for host in self.hosts), tuple(lines))

    def as_dict(self) -> dict[str, Any]:
        """Return it as plain values for JSON."""
        return {
            "schema": SCHEMA_VERSION,
            "profile": self.profile,
            "crawlers_checked": KNOWN_CRAWLERS.checked,
            "paths": list(self.paths),
            "hosts": [host.as_dict() for host in self.hosts],
        }


def _share_out(made: HostMatrix, known: Sequence[Matrix]) -> str:
    """Return how many crawlers may fetch nothing on all hosts, on some and on none of them."""
    noun, on = made.noun, made._preposition
    every = {1: f"the {noun}", 2: f"both {noun}s"}.get(
        len(known), f"all {made.count_hosts(len(known))}"
    )
    rows = made.crawlers
    summaries = {row.name: [one.rows[at].summary for one in known] for at, row in enumerate(rows)}
    undecided = [name for name, found in summaries.items() if NOT_DECIDED in found]
    decided = {name: found for name, found in summaries.items() if NOT_DECIDED not in found}
    blocked = [name for name, found in decided.items() if set(found) == {NOTHING}]
    partly = [name for name, found in decided.items() if NOTHING in found and name not in blocked]
    free = len(decided) - len(blocked) - len(partly)
    where = f"{on.capitalize()} {every}"
    if free == len(rows):
        return f"{where}, {'both' if free == 2 else f'all {free:,}'} crawlers may fetch something."
    if len(blocked) == len(rows):
        return f"{where}, none of the {len(rows):,} crawlers may fetch anything."
    each = {1: "it", 2: "both"}.get(len(known), "each")
    parts = []
    if blocked:
        which = {1: f"the {noun}", 2: f"either {noun}"}.get(
            len(known), f"any of the {made.count_hosts(len(known))}"
        )
        parts.append(f"{_counted(blocked)} may fetch nothing {on} {which}")
    if partly:
        which = "one" if len(known) == 2 else "some"
        parts.append(f"{_counted(partly)} may fetch nothing {on} {which} of them")
    if free:
        parts.append(f"{free:,} may fetch something {on} {each}")
    if undecided:
        parts.append(f"for {_counted(undecided)} it was not decided {on} every {noun}")
    *first, last = parts
    said = f"{', '.join(first)}, and {last}" if first else last
    return f"Of {len(rows):,} crawlers, {said}."


def _counted(names: Sequence[str]) -> str:
    """Return a number of crawlers, with their names if they are few."""
    return f"{len(names):,} ({', '.join(names)})" if len(names) <= FEW_NAMES else f"{len(names):,}"


def row_tokens(
    crawlers: Sequence[str] = (), purposes: Sequence[str] = (), all_crawlers: bool = False
) -> tuple[str, ...]:
    """Return the product tokens of the rows: *crawlers*, or those that the other options select."""
    if crawlers:
        return tuple(dict.fromkeys(crawlers))
    found = [
        known.product_token
        for known in KNOWN_CRAWLERS
        if (known.status == "active" or all_crawlers)
        and (
            not set(purposes).isdisjoint(known.purposes)
            if purposes
            else all_crawlers or known.is_main
        )
    ]
    return (*found, "*")


def host_of_matrix(
    name: str,
    robots: RobotsTxt | None,
    tokens: Sequence[str],
    paths: Sequence[str] = (),
    *,
    problem: str = "",
    max_states: int = MAX_STATES,
    literal: bool = False,
    is_file: bool = False,
) -> HostOfMatrix:
    """Return the part of one host; *robots* is None if its rules are not known."""
    if robots is None:
        return HostOfMatrix(name, None, problem, is_file)
    found = matrix(
        robots,
        crawlers=tokens,
        paths=paths or [HOME],
        url=name,
        max_states=max_states,
        literal=literal,
    )
    return HostOfMatrix(name, found, problem, is_file)
