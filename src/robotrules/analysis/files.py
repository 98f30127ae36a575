"""
Comparison of two files: what changes, for every crawler that they can distinguish.

Crawlers that obey the same groups in both files are compared once. Besides the verdicts, other
records are compared by their meaning (`record_diff`). Files that are written differently and mean
the same are proved equal; for files that differ, the result has a URL that shows it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, NamedTuple

from robotrules.analysis.compare import MAX_REGIONS, difference, have_same_rules
from robotrules.analysis.crawlers import (
    Crawler,
    crawlers,
    displayed_crawlers,
    documented_crawlers,
    is_complete,
    rules_of,
)
from robotrules.analysis.record_diff import RecordDifference, diff_records, record_keys
from robotrules.analysis.solver import (
    MAX_STATES,
    RULES_PER_STATE,
    total_state_limit,
    validate_max_states,
)
from robotrules.analysis.values import Difference
from robotrules.errors import ProfileMismatchError
from robotrules.profile import DOCUMENT_RULES
from robotrules.robotstxt import RobotsTxt
from robotrules.robotstxt.ruleset import RuleSet
from robotrules.robotstxt.selection import choose_groups
from robotrules.robotstxt.verdict import GroupMatch

# Increased when a key of `FileDifference.as_dict()` changes meaning or is removed.
SCHEMA_VERSION = 1
ProgressCallback = Callable[[int, int], None]
# States counted for each class of crawlers that obey the same groups, for compiling their rules.
STATES_PER_CLASS = 100
# States counted for each part of a class that other records distinguish, besides the comparison.
STATES_PER_READER = 10


class ObeyedGroups(NamedTuple):
    """The groups of a file that a crawler obeys, and why it obeys these."""

    matched_by: GroupMatch
    lines: tuple[int, ...]
    """The first line of each group."""
    by: str = ""
    """The name that selects the groups, if it is not the crawler's own: the next name that the
    registry of well-known crawlers has for it. Empty: its own name, or none."""

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
    """All changes between two files, by crawler."""

    profile: str
    changes: tuple[CrawlerChange, ...]
    """All crawlers, in the order of `crawlers()`, including those for which nothing changes."""
    statements: tuple[RecordDifference, ...]
    """Changes of other records."""
    complete: bool
    """Whether all crawlers were compared: no file exceeds the limits on names and states."""

    @property
    def equal(self) -> bool | None:
        """True: proved equal. None: no difference was found, but not everything was decided."""
        found = [change.difference.equal for change in self.changes]
        if False in found or any(statement.is_decided for statement in self.statements):
            return False
        return None if None in found or self.statements or not self.complete else True

    def as_dict(self) -> dict[str, Any]:
        """Return it as plain values for JSON; `diff.schema.json` describes them."""
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
    max_regions: int = MAX_REGIONS,
    max_states: int = MAX_STATES,
    progress: ProgressCallback | None = None,
) -> FileDifference:
    """
    Return what changes from one file to another: for which crawlers, URLs and other records.

    *only* lists crawlers to compare for; by default, all that the files can distinguish. Crawlers
    select groups by name alone; with *literal* False, well-known crawlers select them as the
    registry says: AdsBot-Google obeys no group for `*`. *max_regions* limits the regions for each
    class of crawlers, *max_states* the states for each query. *progress* is called with the number
    of classes that are done, and their total.
    """
    check_pair(old, new)
    # The same octets read by the same profile mean the same, and are analysed once.
    same = old == new
    new = old if same else new
    list_crawlers = crawlers if literal else documented_crawlers
    selected = only or list_crawlers(*dict.fromkeys((old, new)))
    classes = list(_crawler_classes(old, new, selected))
    keys = record_keys(old, new)
    changes: list[CrawlerChange] = []
    statements: list[RecordDifference] = []
    left = total_state_limit(validate_max_states(max_states))
    all_compared = True
    for done, (members, old_obeyed, new_obeyed) in enumerate(classes):
        if progress:
            progress(done, len(classes))
        rules = [rules_of(robots, members[0]) for robots in (old, new)]
        named = tuple(members) if only else displayed_crawlers(members)
        # Each class counts at least its rules; all classes share one limit.
        found = Difference((), False, 0)
        if left > 0:
            left -= sum(map(len, rules)) // RULES_PER_STATE
            if same or have_same_rules(*rules):
                found = Difference((), True, 0)
            else:
                found = difference(
                    *rules, max_regions=max_regions, max_states=min(max_states, max(left, 1))
                )
                left -= found.states + STATES_PER_CLASS
        changes.append(CrawlerChange(named, old_obeyed, new_obeyed, rules[0], rules[1], found))
        for some in () if same else _split_by_record_groups(old, new, members):
            named = tuple(some) if only else displayed_crawlers(some)
            if left <= 0:
                all_compared = False
                break
            spent: list[int] = [STATES_PER_READER]
            statements += diff_records(
                old,
                new,
                some[0],
                named,
                max_states=min(max_states, max(left, 1)),
                keys=keys,
                spend=spent.append,
            )
            left -= sum(spent)
    if progress:
        progress(len(classes), len(classes))
    of_file = diff_records(old, new, None, (), max_states=max_states)
    complete = all_compared and (bool(only) or is_complete(old, new))
    merged = _merge_crawlers([*of_file, *statements])
    return FileDifference(old.profile.name, tuple(changes), merged, complete)


def check_pair(old: object, new: object) -> None:
    """Raise an exception for files that cannot be compared."""
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


def _crawler_classes(
    old: RobotsTxt, new: RobotsTxt, selected: Iterable[Crawler]
) -> Iterator[tuple[list[Crawler], ObeyedGroups, ObeyedGroups]]:
    """Yield the classes of crawlers that obey the same groups in both files."""
    classes: dict[tuple[Any, ...], tuple[list[Crawler], ObeyedGroups, ObeyedGroups]] = {}
    starts = [[group.starts[0].line for group in robots.groups] for robots in (old, new)]
    for crawler in selected:
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
        # Crawlers without a group in both files are one class, for whatever reason.
        key = tuple((groups.lines, groups.by) for groups in obeyed)
        classes.setdefault(key, ([], obeyed[0], obeyed[1]))[0].append(crawler)
    # Crawlers without a group are last, with everyone else.
    yield from classes.values()


def _split_by_record_groups(
    old: RobotsTxt, new: RobotsTxt, members: Sequence[Crawler]
) -> Iterable[Sequence[Crawler]]:
    """
    Split a class of crawlers by the groups that other records are read over.

    If a record of another document separates user-agent lines, some of the crawlers obey it and
    some do not (AMB-29).
    """
    files = [robots.grouped_for(name) for robots in (old, new) for name in DOCUMENT_RULES]
    files = [robots for robots in files if robots is not old and robots is not new]
    if not files or len(members) == 1:
        return [members]
    alike: dict[tuple[Any, ...], list[Crawler]] = {}
    for crawler in members:
        key = tuple(
            choose_groups(robots, crawler.names, crawler.purposes).indices for robots in files
        )
        alike.setdefault(key, []).append(crawler)
    return alike.values()


def _merge_crawlers(differences: list[RecordDifference]) -> tuple[RecordDifference, ...]:
    """Return equal differences for several crawlers as one."""
    merged: dict[tuple[Any, ...], RecordDifference] = {}
    for found in differences:
        key = found.record, found.removed, found.added
        before = merged.get(key)
        crawlers = (before.crawlers if before else ()) + found.crawlers
        merged[key] = found._replace(crawlers=tuple(dict.fromkeys(crawlers)))
    return tuple(merged.values())
