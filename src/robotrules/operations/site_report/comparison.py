"""
The comparison of a few sites: what crawlers may fetch on each by purpose, and where they differ.

The purposes count the known crawlers of `facts`. For two or three sites, the matrix of each is made
with the same crawlers and the paths of all, so that verdicts on a path stand side by side. Verdicts
are on these paths only; `robotrules diff` proves all differences of two files.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from robotrules.matrix import MAX_STATES, matrix
from robotrules.matrix.hosts import row_tokens
from robotrules.matrix.values import Matrix
from robotrules.operations.site_report.facts import HostFacts, PurposeFacts

__all__ = [
    "MOST_COMPARED",
    "CrawlerDifference",
    "PurposeComparison",
    "SiteComparison",
    "compare_sites",
]

# Sites side by side by purpose, and sites whose differences are listed.
MOST_COMPARED, MOST_DETAILED = 6, 3
# Paths that are compared: those of the matrices of the sites.
MOST_PATHS = 12


class PurposeComparison(NamedTuple):
    """The crawlers with one purpose on each site."""

    purpose: str
    sites: tuple[PurposeFacts | None, ...]
    """None: the rules of the site are not known."""

    @property
    def differs(self) -> bool:
        """Whether the known sites differ for one of the crawlers."""
        known = {
            tuple((one.name, one.summary, one.home) for one in facts.crawlers)
            for facts in self.sites
            if facts is not None
        }
        return len(known) > 1


class CrawlerDifference(NamedTuple):
    """Crawlers that do not get the same on all sites, all of them in the same way."""

    crawlers: tuple[str, ...]
    summaries: tuple[str, ...]
    """Of all URLs, on each known site."""
    paths: tuple[tuple[str, tuple[bool, ...]], ...]
    """The paths on which the verdicts differ, with the verdict on each known site."""


class SiteComparison(NamedTuple):
    """What crawlers may fetch on a few sites, side by side."""

    names: tuple[str, ...]
    purposes: tuple[PurposeComparison, ...]
    known: tuple[str, ...]
    """The names of the sites whose rules are known."""
    paths: tuple[str, ...] = ()
    """The paths that were compared; empty: there are too many sites for that."""
    differences: tuple[CrawlerDifference, ...] = ()
    alike: int = 0
    """How many crawlers get the same on all known sites, as far as that was compared."""


def compare_sites(
    hosts: Sequence[HostFacts], crawlers: Sequence[str] = (), purposes: Sequence[str] = ()
) -> SiteComparison | None:
    """
    Return the comparison of some sites; None if they are too many, or fewer than two are known.

    *crawlers* and *purposes* select whose differences are listed, as in `matrix()`.
    """
    known = [host for host in hosts if host.source.robots is not None]
    if len(hosts) > MOST_COMPARED or len(known) < 2:
        return None
    found = SiteComparison(
        tuple(host.name for host in hosts),
        tuple(
            PurposeComparison(facts.purpose, tuple(host.purpose(facts.purpose) for host in hosts))
            for facts in known[0].purposes
        ),
        tuple(host.name for host in known),
    )
    if len(known) > MOST_DETAILED:
        return found
    paths = _common_paths(known)
    tokens = row_tokens(crawlers, purposes)
    matrices = [
        matrix(host.source.robots, crawlers=tokens, paths=paths, max_states=MAX_STATES)
        for host in known
        if host.source.robots is not None
    ]
    rows = list(_compare_rows(matrices))
    groups: dict[CrawlerDifference, list[str]] = {}
    for row in rows:
        if row.paths or len(set(row.summaries)) > 1:
            groups.setdefault(row._replace(crawlers=()), []).append(row.crawlers[0])
    differences = [row._replace(crawlers=tuple(names)) for row, names in groups.items()]
    differing = sum(len(one.crawlers) for one in differences)
    return found._replace(
        paths=tuple(paths), differences=tuple(differences), alike=len(rows) - differing
    )


def _common_paths(hosts: Sequence[HostFacts]) -> list[str]:
    """Return the paths of the matrices of some sites, taken from each in turn."""
    found: dict[str, None] = {}
    columns = [
        [column.path for column in host.matrix.columns] for host in hosts if host.matrix is not None
    ]
    for at in range(max(map(len, columns), default=0)):
        for paths in columns:
            if at < len(paths) and len(found) < MOST_PATHS:
                found[paths[at]] = None
    return list(found)


def _compare_rows(matrices: Sequence[Matrix]) -> Iterator[CrawlerDifference]:
    """Yield what each crawler gets, with the paths on which the sites differ."""
    for row, *others in zip(*(one.rows for one in matrices), strict=True):
        rows = (row, *others)
        verdicts = (
            (cell.path, tuple(one.cells[at].allowed for one in rows))
            for at, cell in enumerate(row.cells)
        )
        yield CrawlerDifference(
            (row.name,),
            tuple(one.summary for one in rows),
            tuple((path, found) for path, found in verdicts if len(set(found)) > 1),
        )
