"""
The matrix: who may fetch what, well-known crawlers against the main paths of a site.

    import robotrules
    from robotrules.matrix import matrix
    found = matrix(robotrules.parse(body))
    [(asked.name, asked.summary) for asked in found.asked]

Every cell is the verdict that `RobotsTxt.check()` gives; every summary is about all URLs there are,
exact within a budget. What a file says is a request to crawlers and no access control. It does no
I/O, knows no clock, and draws nothing: `html` and `svg` do.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from robotrules.analysis.solver import IMPLICIT, Solver, vetted
from robotrules.errors import WrongWitnessError
from robotrules.matrix.crawler_selection import Choice, chosen, whom
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

# States that one question about all URLs may see. Real files need some hundreds.
MAX_STATES = 50_000
# So many questions may use all of theirs; after them nothing is decided any more.
QUESTIONS = 10
# Paths that a user may ask about at once.
MOST_GIVEN = 100


def matrix(
    robots: RobotsTxt,
    *,
    crawlers: Sequence[str] = (),
    purposes: Sequence[str] = (),
    all_crawlers: bool = False,
    paths: Sequence[str] = (),
    url: str | None = None,
    budget: int = MAX_STATES,
    literal: bool = False,
) -> Matrix:
    """
    Return who may fetch what, as a robots.txt asks it.

    Without *crawlers*, product tokens to pick, the main well-known ones are asked about, all that
    the file names, its purposes, and everyone else. *purposes* are those of well-known crawlers,
    and pick all who have one; *all_crawlers* picks all well-known ones. Without *paths* some are made
    from the rules. *url* is what the file is called. Well-known crawlers choose groups as their
    operators document it; *literal*: by their name alone.
    """
    for given, what in ((crawlers, "crawlers"), (purposes, "purposes"), (paths, "paths")):
        if isinstance(given, (str, bytes)):
            raise TypeError(f"{what} are a list of str, not one: pass [{given!r}]")
    if len(paths) > MOST_GIVEN:
        raise ValueError(f"{len(paths)} paths do not fit in one matrix: pass at most {MOST_GIVEN}")
    people, left_out = whom(robots, crawlers, purposes, all_crawlers)
    choices = [(one, chosen(robots, one, literal=literal)) for one in people]
    obeyed = Counter(choice.groups for _, choice in choices)
    # Crawlers that obey the same groups are told the same, so it is looked up once.
    rules = {
        choice.groups: _rules(robots, choice, one.purposes) for one, choice in reversed(choices)
    }
    asked_about = (
        tuple(map(Column, dict.fromkeys(paths)))
        if paths
        else columns([(rules[groups], count) for groups, count in obeyed.items()])
    )
    told = _Told(asked_about, budget)
    cells = {groups: told.cells(of) for groups, of in rules.items()}
    summaries = {groups: told.summary(of, cells[groups]) for groups, of in rules.items()}
    starts = [group.starts[0].line for group in robots.groups]
    asked = tuple(
        MatrixRow(
            one.product_token,
            one.purposes,
            one.known,
            one.band,
            choice.because,
            choice.by,
            tuple(starts[number] for number in choice.groups),
            summaries[choice.groups],
            cells[choice.groups],
        )
        for one, choice in choices
    )
    checked = KNOWN_CRAWLERS.checked
    return Matrix(url, robots.profile.name, asked_about, asked, checked, left_out)


def _rules(robots: RobotsTxt, choice: Choice, purposes: tuple[str, ...]) -> RuleSet:
    return robots.rules_for(choice.names, purposes)


class _Told:
    """What rule sets say about the columns, and about all URLs."""

    def __init__(self, asked_about: tuple[Column, ...], budget: int) -> None:
        self._columns = asked_about
        self._budget = budget
        self._left = budget * QUESTIONS

    def cells(self, rules: RuleSet) -> tuple[Cell, ...]:
        """Return the verdicts of a rule set on all columns."""
        verdicts = rules.check_many([url_of(column.path) for column in self._columns])
        return tuple(
            Cell(column.path, verdict)
            for column, verdict in zip(self._columns, verdicts, strict=True)
        )

    def summary(self, rules: RuleSet, cells: tuple[Cell, ...]) -> str:
        """Return what a rule set says about all URLs."""
        if not rules.count_usable():
            return EVERYTHING
        # Two columns that differ settle it. `/robots.txt` is always allowed, and tells nothing.
        seen = {cell.allowed for cell in cells if cell.verdict.reason is not Reason.IMPLICIT}
        if len(seen) == 2:
            return SOME
        if self._left < 1:
            return NOT_DECIDED
        solver = Solver(rules, budget=min(self._budget, self._left))
        disallowed, allowed = (_is_some(solver, says) for says in (False, True))
        self._left -= solver.states
        if disallowed is None or allowed is None:
            return NOT_DECIDED
        if disallowed and allowed:
            return SOME
        return NOTHING if disallowed else EVERYTHING


def _is_some(solver: Solver, says: bool) -> bool | None:
    """Tell whether any URL but /robots.txt is told so; None: not decided within the budget."""
    (side,) = solver.sides
    found = solver.seek_any(side.saying(says, side.of(IMPLICIT)))
    if not found.decided:
        return None
    if found.path is None:
        return False
    shown = vetted(found.path, [])
    if side.rules.check(shown.url).allowed != says:
        raise WrongWitnessError(f"{shown} is said to show what it does not: please report this")
    return True
