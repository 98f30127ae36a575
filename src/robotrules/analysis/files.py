"""
Two files compared: for every crawler they can tell apart, what changes.

Crawlers that obey the same groups in both files are compared once. Beside the verdicts, what other
records say is compared by what it means (`statements`). Files that only look different come out
equal, and that is proved; files that only look alike come out with a URL that shows it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, NamedTuple

from robotrules.analysis.compare import MOST_REGIONS, difference, says_the_same
from robotrules.analysis.crawlers import (
    Crawler,
    crawlers,
    documented_crawlers,
    is_complete,
    rules_of,
    shown,
)
from robotrules.analysis.record_diff import RecordDifference, changed_statements, keys_of
from robotrules.analysis.solver import MAX_STATES, RULES_FOR_A_STATE, most_states, vetted_budget
from robotrules.analysis.values import Difference
from robotrules.errors import ProfileMismatchError
from robotrules.profile import DOCUMENT_RULES
from robotrules.robotstxt import RobotsTxt
from robotrules.robotstxt.ruleset import RuleSet
from robotrules.robotstxt.selection import choose_groups
from robotrules.robotstxt.verdict import GroupMatch

# Raised when a key of `FileDifference.as_dict()` changes meaning or goes away.
SCHEMA_VERSION = 1
Told = Callable[[int, int], None]
# What is counted for each kind of crawlers, in states: its rules are compiled, whatever they say.
A_KIND = 100
# And for each part of them that other records tell apart, beside what it takes to compare these.
A_READER = 10


class ObeyedGroups(NamedTuple):
    """Which groups of a file a crawler obeys, and why these."""

    matched_by: GroupMatch
    lines: tuple[int, ...]
    """Where each of the groups starts."""
    by: str = ""
    """The name that the groups are for, where it is not the crawler's own: its next one, by the
    registry of well-known crawlers. Empty: its own, or none."""

    def as_dict(self) -> dict[str, Any]:
        """Return it as plain values for JSON."""
        return {
            "matched_by": str(self.matched_by),
            "lines": list(self.lines),
            "by": self.by or None,
        }


class CrawlerChange(NamedTuple):
    """Crawlers that obey the same groups, and what changes for them."""

    crawlers: tuple[Crawler, ...]
    old: ObeyedGroups
    new: ObeyedGroups
    old_rules: RuleSet
    new_rules: RuleSet
    difference: Difference

    def as_dict(self) -> dict[str, Any]:
        """Return it as plain values for JSON."""
        return {
            "crawlers": [crawler.as_dict() for crawler in self.crawlers],
            "old": self.old.as_dict(),
            "new": self.new.as_dict(),
            **self.difference.as_dict(),
        }


class FileDifference(NamedTuple):
    """What two files say differently, to whom."""

    profile: str
    changes: tuple[CrawlerChange, ...]
    """Everybody, in the order of `crawlers()`; those for whom nothing changes too."""
    statements: tuple[RecordDifference, ...]
    """What other records say differently."""
    complete: bool
    """Whether everybody was asked: no file names too many, or tells too many apart."""

    @property
    def equal(self) -> bool | None:
        """True: proved to mean the same. None: no difference was found, not everything decided."""
        found = [change.difference.equal for change in self.changes]
        if False in found or any(statement.is_decided for statement in self.statements):
            return False
        return None if None in found or self.statements or not self.complete else True

    def as_dict(self) -> dict[str, Any]:
        """Return it as plain values for JSON; `docs/diff.schema.json` describes them."""
        return {
            "schema": SCHEMA_VERSION,
            "profile": self.profile,
            "equal": self.equal,
            "complete": self.complete,
            "changes": [change.as_dict() for change in self.changes],
            "statements": [statement.as_dict() for statement in self.statements],
        }


def compare(
    old: RobotsTxt,
    new: RobotsTxt,
    *,
    only: Sequence[Crawler] = (),
    literal: bool = True,
    most: int = MOST_REGIONS,
    budget: int = MAX_STATES,
    progress: Told | None = None,
) -> FileDifference:
    """
    Return what changes from one file to another: for whom, which URLs, and what beside.

    *only* names crawlers to compare for; without it they are all that the files can tell apart.
    These obey groups by their names alone, or, with *literal* False, well-known ones as the
    registry says that they do: AdsBot-Google obeys no group for `*`.
    *most* bounds the regions for each crawler, *budget* the states for each question. *progress* is
    told how many kinds of crawlers are done, and of how many.
    """
    vet_pair(old, new)
    # The same octets read by the same profile say the same, and are looked at once.
    same = old == new
    new = old if same else new
    everybody = crawlers if literal else documented_crawlers
    kinds = list(_kinds(old, new, only or everybody(*dict.fromkeys((old, new)))))
    keys = keys_of(old, new)
    changes: list[CrawlerChange] = []
    statements: list[RecordDifference] = []
    left = most_states(vetted_budget(budget))
    all_asked = True
    for done, (found, old_obeyed, new_obeyed) in enumerate(kinds):
        if progress:
            progress(done, len(kinds))
        first = found[0]
        rules = [rules_of(robots, first) for robots in (old, new)]
        named = tuple(found) if only else shown(found)
        # Each kind of crawlers costs at least its rules, and all together no more than one may.
        what = Difference((), False, 0)
        if left > 0:
            left -= sum(map(len, rules)) // RULES_FOR_A_STATE
            if same or says_the_same(*rules):
                what = Difference((), True, 0)
            else:
                what = difference(*rules, most=most, budget=min(budget, max(left, 1)))
                left -= what.states + A_KIND
        changes.append(CrawlerChange(named, old_obeyed, new_obeyed, rules[0], rules[1], what))
        for some in () if same else _told_alike(old, new, found):
            named = tuple(some) if only else shown(some)
            if left <= 0:
                all_asked = False
                break
            spent: list[int] = [A_READER]
            statements += changed_statements(
                old,
                new,
                some[0],
                named,
                budget=min(budget, max(left, 1)),
                keys=keys,
                spend=spent.append,
            )
            left -= sum(spent)
    if progress:
        progress(len(kinds), len(kinds))
    found_in_files = changed_statements(old, new, None, (), budget=budget)
    complete = all_asked and (bool(only) or is_complete(old, new))
    profile = old.profile.name
    together = _together([*found_in_files, *statements])
    return FileDifference(profile, tuple(changes), together, complete)


def vet_pair(old: object, new: object) -> None:
    """Refuse what cannot be compared."""
    for robots in (old, new):
        if not isinstance(robots, RobotsTxt):
            name = type(robots).__name__
            raise TypeError(f"a file is a RobotsTxt, not {name}: pass robotrules.parse(body)")
    assert isinstance(old, RobotsTxt)
    assert isinstance(new, RobotsTxt)
    if old.profile != new.profile:
        raise ProfileMismatchError(
            f"the files were read with the profiles {old.profile.name!r} and "
            f"{new.profile.name!r}: parse both with the same one"
        )


def _kinds(
    old: RobotsTxt, new: RobotsTxt, asked: Iterable[Crawler]
) -> Iterator[tuple[list[Crawler], ObeyedGroups, ObeyedGroups]]:
    """Yield crawlers that obey the same groups in both files, together."""
    kinds: dict[tuple[Any, ...], tuple[list[Crawler], ObeyedGroups, ObeyedGroups]] = {}
    starts = [[group.starts[0].line for group in robots.groups] for robots in (old, new)]
    for crawler in asked:
        obeyed: list[ObeyedGroups] = []
        for robots, lines in zip((old, new), starts, strict=True):
            if obeyed and new is old:
                obeyed.append(obeyed[0])
                break
            choice = choose_groups(robots, crawler.names, crawler.purposes)
            by, tokens = "", choice.matched_tokens
            if crawler.known and tokens and tokens != crawler.known.names[:1]:
                by = tokens[0]
            obeyed.append(
                ObeyedGroups(choice.matched_by, tuple(lines[at] for at in choice.indices), by)
            )
        # Who has no group on either side is in one kind, for whatever reason.
        key = tuple((found.lines, found.by) for found in obeyed)
        kinds.setdefault(key, ([], obeyed[0], obeyed[1]))[0].append(crawler)
    # Whoever is in no group last, with everyone else.
    yield from kinds.values()


def _told_alike(
    old: RobotsTxt, new: RobotsTxt, found: Sequence[Crawler]
) -> Iterable[Sequence[Crawler]]:
    """
    Return crawlers that obey the same groups, those together that other records see alike too.

    Where a record of another document parts user-agent lines, some of them read it and some do not
    (AMB-29).
    """
    files = [robots.grouped_for(name) for robots in (old, new) for name in DOCUMENT_RULES]
    files = [robots for robots in files if robots is not old and robots is not new]
    if not files or len(found) == 1:
        return [found]
    alike: dict[tuple[Any, ...], list[Crawler]] = {}
    for crawler in found:
        key = tuple(
            choose_groups(robots, crawler.names, crawler.purposes).indices for robots in files
        )
        alike.setdefault(key, []).append(crawler)
    return alike.values()


def _together(found: list[RecordDifference]) -> tuple[RecordDifference, ...]:
    """Return the same statements to several crawlers as one."""
    alike: dict[tuple[Any, ...], RecordDifference] = {}
    for one in found:
        key = one.record, one.removed, one.added
        before = alike.get(key)
        crawlers = (before.crawlers if before else ()) + one.crawlers
        alike[key] = one._replace(crawlers=tuple(dict.fromkeys(crawlers)))
    return tuple(alike.values())
