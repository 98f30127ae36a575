"""
The matrix: which crawlers may fetch which main paths of a site.

    import robotrules
    from robotrules.matrix import matrix
    found = matrix(robotrules.parse(body))
    [(row.name, row.summary) for row in found.rows]

Every cell is the verdict of `RobotsTxt.check()`; every summary is about all URLs, and exact within
the state limit. A robots.txt is a request to crawlers, not access control. The module does no I/O,
uses no clock, and does not render: `html` and `svg` do.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from robotrules.analysis.solver import IMPLICIT, Solver, to_witness
from robotrules.errors import WrongWitnessError
from robotrules.matrix.crawler_selection import GroupSelection, select_crawlers, select_groups
from robotrules.matrix.paths import columns, url_of
from robotrules.matrix.values import (
    EVERYTHING,
    NOT_DECIDED,
    NOTHING,
    SOME,
    SUMMARIES,
    Cell,
    Column,
    Matrix,
    MatrixRow,
    PurposeBand,
)
from robotrules.registries.crawlers import KNOWN_CRAWLERS
from robotrules.robotstxt import RobotsTxt
from robotrules.robotstxt.ruleset import RuleSet
from robotrules.robotstxt.verdict import Reason

__all__ = [
    "MAX_STATES",
    "SUMMARIES",
    "Cell",
    "Column",
    "Matrix",
    "MatrixRow",
    "PurposeBand",
    "matrix",
]

# The limit on the states of one query about all URLs. Real files need some hundreds.
MAX_STATES = 50_000
# So many queries may reach their limit; after them nothing is decided.
MAX_QUERIES = 10
# Paths that a caller may pass at once.
MAX_GIVEN = 100


def matrix(
    robots: RobotsTxt,
    *,
    crawlers: Sequence[str] = (),
    purposes: Sequence[str] = (),
    all_crawlers: bool = False,
    paths: Sequence[str] = (),
    url: str | None = None,
    max_states: int = MAX_STATES,
    literal: bool = False,
) -> Matrix:
    """
    Return which crawlers may fetch which paths, as a robots.txt says.

    *crawlers* selects product tokens; by default, the main well-known crawlers, all that the file
    names, its purposes, and everyone else. *purposes* are those of well-known crawlers, and select
    all crawlers that have one; *all_crawlers* selects all well-known ones. *paths* are by default
    derived from the rules. *url* is the name of the file. Well-known crawlers select groups as
    their operators document; with *literal*, by name alone.
    """
    for given, what in ((crawlers, "crawlers"), (purposes, "purposes"), (paths, "paths")):
        if isinstance(given, (str, bytes)):
            raise TypeError(f"{what} are a list of str, not one: pass [{given!r}]")
    if len(paths) > MAX_GIVEN:
        raise ValueError(f"{len(paths)} paths do not fit in one matrix: pass at most {MAX_GIVEN}")
    rows, left_out = select_crawlers(robots, crawlers, purposes, all_crawlers)
    selections = [(row, select_groups(robots, row, literal=literal)) for row in rows]
    obeyed = Counter(selection.groups for _, selection in selections)
    # Crawlers that obey the same groups have the same rules, which are evaluated once.
    rules = {
        selection.groups: _rules(robots, selection, row.purposes)
        for row, selection in reversed(selections)
    }
    shown_paths = (
        tuple(map(Column, dict.fromkeys(paths)))
        if paths
        else columns([(rules[groups], count) for groups, count in obeyed.items()])
    )
    evaluator = _Evaluator(shown_paths, max_states)
    cells = {groups: evaluator.cells(of) for groups, of in rules.items()}
    summaries = {groups: evaluator.summary(of, cells[groups]) for groups, of in rules.items()}
    starts = [group.starts[0].line for group in robots.groups]
    matrix_rows = tuple(
        MatrixRow(
            row.product_token,
            row.purposes,
            row.known,
            row.band,
            selection.matched_by,
            selection.by,
            tuple(starts[number] for number in selection.groups),
            summaries[selection.groups],
            cells[selection.groups],
        )
        for row, selection in selections
    )
    checked = KNOWN_CRAWLERS.checked
    return Matrix(url, robots.profile.name, shown_paths, matrix_rows, checked, left_out)


def _rules(robots: RobotsTxt, selection: GroupSelection, purposes: tuple[str, ...]) -> RuleSet:
    return robots.rules_for(selection.names, purposes)


class _Evaluator:
    """Evaluates rule sets for the columns, and for all URLs."""

    def __init__(self, shown_paths: tuple[Column, ...], max_states: int) -> None:
        self._columns = shown_paths
        self._max_states = max_states
        self._left = max_states * MAX_QUERIES

    def cells(self, rules: RuleSet) -> tuple[Cell, ...]:
        """Return the verdicts of a rule set on all columns."""
        verdicts = rules.check_many([url_of(column.path) for column in self._columns])
        return tuple(
            Cell(column.path, verdict)
            for column, verdict in zip(self._columns, verdicts, strict=True)
        )

    def summary(self, rules: RuleSet, cells: tuple[Cell, ...]) -> str:
        """Return the summary of a rule set for all URLs."""
        if not rules.count_usable():
            return EVERYTHING
        # Two columns that differ are a proof. `/robots.txt` is always allowed, and shows nothing.
        seen = {cell.allowed for cell in cells if cell.verdict.reason is not Reason.IMPLICIT}
        if len(seen) == 2:
            return SOME
        if self._left < 1:
            return NOT_DECIDED
        solver = Solver(rules, max_states=min(self._max_states, self._left))
        disallowed, allowed = (_has_verdict(solver, allow) for allow in (False, True))
        self._left -= solver.states
        if disallowed is None or allowed is None:
            return NOT_DECIDED
        if disallowed and allowed:
            return SOME
        return NOTHING if disallowed else EVERYTHING


def _has_verdict(solver: Solver, allow: bool) -> bool | None:
    """Return whether any URL but /robots.txt has this verdict; None: not decided."""
    (side,) = solver.sides
    found = solver.find_any_witness(side.with_verdict(allow, side.entries_of(IMPLICIT)))
    if not found.decided:
        return None
    if found.path is None:
        return False
    witness = to_witness(found.path)
    if side.rules.check(witness.url).allowed != allow:
        raise WrongWitnessError(f"{witness} does not have the verdict: please report this")
    return True
