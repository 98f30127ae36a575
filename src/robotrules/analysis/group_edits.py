"""
Group edits: groups of a file that can be merged or removed.

Repeated user-agent lines of a group, groups with the same rules, groups for the same crawlers, and
groups without effect. Only groups that every profile reads in the same way, with the same rules
octet for octet, are merged: then nothing changes for any crawler, including those with several
names. The module does not prove that: `simplify` does.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from typing import NamedTuple, TypeVar

from robotrules import extensions
from robotrules.analysis.crawlers import EVERYONE_ELSE, crawlers
from robotrules.analysis.line_edits import Draft, LineEdit
from robotrules.profile import Role
from robotrules.robotstxt import RobotsTxt
from robotrules.robotstxt.selection import choose_groups
from robotrules.robotstxt.values import Group, Record
from robotrules.robotstxt.verdict import GroupMatch

T = TypeVar("T")


class GroupEdit(NamedTuple):
    """An edit of a group, with the reason."""

    code: str
    lines: tuple[int, ...]
    """Lines of the group, or the repeated lines."""
    reason_lines: tuple[int, ...]
    """Lines that make them unnecessary."""
    edit: LineEdit


def _file_scope() -> frozenset[str]:
    """Return the names of records that apply to the whole file, wherever they are."""
    return frozenset(ext.key.lower() for ext in extensions.ALL if ext.scope == "file") - {
        "user-agent-purpose"
    }


class Groups:
    """The groups of a file under several profiles; line numbers are those of the first."""

    def __init__(self, files: Sequence[RobotsTxt]) -> None:
        self.files = files
        self.all = files[0].groups
        shapes = [{_shape(group) for group in robots.groups} for robots in files[1:]]
        # A group that another document splits is several groups to its records (AMB-29).
        structures = [grouped.groups for robots in files for grouped in robots.group_structures]
        starts = [{_shape(group)[0] for group in groups} for groups in structures]
        self._stable = [
            all(shape in of for of in shapes) and all(shape[0] in of for of in starts)
            for shape in map(_shape, self.all)
        ]
        self._of_file = _file_scope()

    def stable(self) -> Iterator[Group]:
        """Yield the groups that every profile and every document reads in the same way."""
        return (group for group in self.all if self._stable[group.index])

    def others(self, group: Group) -> list[Record]:
        """Return the records of a group that are neither rules nor records of the file."""
        found = (record for record in group.records if record.role is Role.OTHER)
        return [record for record in found if record.key not in self._of_file]

    def lines(self, group: Group) -> list[int]:
        """Return the lines that belong to a group."""
        other = {record.line for record in self.others(group)}
        return [r.line for r in group.records if r.role is not Role.OTHER or r.line in other]


def _shape(group: Group) -> tuple[frozenset[int], frozenset[int]]:
    starts = frozenset(record.line for record in group.starts)
    return starts, frozenset(r.line for r in group.records if r.role is Role.RULE)


def _names(group: Group) -> frozenset[tuple[str, bytes]]:
    return frozenset((record.key, record.value.lower()) for record in group.starts)


def _rules(group: Group) -> frozenset[tuple[str, bytes]]:
    return frozenset((r.key, r.value) for r in group.records if r.role is Role.RULE)


def repeated_user_agents(groups: Groups, draft: Draft) -> Iterator[GroupEdit]:
    """Yield user-agent lines that repeat a line of their group."""
    for group in groups.stable():
        seen: dict[tuple[str, bytes], int] = {}
        for record in group.starts:
            first = seen.setdefault((record.key, record.value.lower()), record.line)
            if first != record.line:
                lines = (record.line,)
                yield GroupEdit("repeated-user-agent", lines, (first,), LineEdit(lines))


def split_groups(groups: Groups, draft: Draft) -> Iterator[GroupEdit]:
    """Yield groups with the user-agent lines of an earlier group: their rules move there."""
    first: dict[frozenset[tuple[str, bytes]], Group] = {}
    last: dict[int, int] = {}
    for group in groups.stable():
        into = first.setdefault(_names(group), group)
        # The meaning of other records depends on their group.
        if into is group or groups.others(group):
            continue
        moved = [line for r in group.starts for line in draft.comments_above(r.line)]
        rules = [record for record in group.records if record.role is Role.RULE]
        moved += _with_comments(rules, draft)
        after = last.get(into.index) or max(_shape(into)[1])
        last[into.index] = moved[-1] if moved else after
        starts = tuple(record.line for record in group.starts)
        edit = LineEdit(starts, moved, after)
        yield GroupEdit("split-group", tuple(groups.lines(group)), (into.starts[0].line,), edit)


def mergeable_groups(groups: Groups, draft: Draft) -> Iterator[GroupEdit]:
    """Yield groups with the rules of an earlier group: their user-agent lines move there."""
    first: dict[object, Group] = {}
    last: dict[int, int] = {}
    for group in groups.stable():
        others = tuple((record.key, record.value) for record in groups.others(group))
        into = first.setdefault((_rules(group), others), group)
        if into is group:
            continue
        moved = _with_comments(group.starts, draft)
        after = last.get(into.index) or into.starts[-1].line
        last[into.index] = moved[-1]
        starts = {record.line for record in group.starts}
        removed = [line for line in groups.lines(group) if line not in starts]
        edit = LineEdit(removed, moved, after)
        reason_lines = (into.starts[0].line,)
        yield GroupEdit("mergeable-groups", tuple(groups.lines(group)), reason_lines, edit)


def _with_comments(records: Sequence[Record], draft: Draft) -> list[int]:
    """Return the lines of records, each after the comments directly above it."""
    return [line for r in records for line in (*draft.comments_above(r.line), r.line)]


# --- Groups without effect ------------------------------------------------------------------------


def redundant_groups(groups: Groups, last: Collection[int]) -> Iterator[GroupEdit]:
    """Yield groups whose only rule is redundant; *last* has the lines of such rules."""
    for group in groups.all:
        rules = [record.line for record in group.records if record.role is Role.RULE]
        if len(rules) == 1 and rules[0] in last and not groups.others(group):
            lines = tuple(groups.lines(group))
            names = _names(group)
            same = [g.starts[0].line for g in groups.all if g is not group and names & _names(g)]
            yield GroupEdit("repeated-group", lines, tuple(same), LineEdit(lines))


def groups_same_as_star(groups: Groups) -> Iterator[GroupEdit]:
    """Yield groups with the same verdicts as those of `*` on sample paths."""
    robots = groups.files[0]
    star = choose_groups(robots, EVERYONE_ELSE).indices
    reason_lines = tuple(groups.all[number].starts[0].line for number in star)
    everyone = robots.rules_for(EVERYONE_ELSE)
    named: dict[int, list[str]] = {}
    for crawler in crawlers(robots):
        choice = choose_groups(robots, crawler.product_token, crawler.purposes)
        for number in choice.indices if choice.matched_by is GroupMatch.TOKEN else ():
            named.setdefault(number, []).append(crawler.product_token)
    for group in groups.stable():
        if groups.others(group) or group.index in star or group.index not in named:
            continue
        rules = [robots.rules_for(name) for name in named[group.index]]
        samples = [_sample(rule.form) for some in (everyone, rules[0]) for rule in some.rules]
        expected = everyone.allows_many(samples)
        if all(some.allows_many(samples) == expected for some in rules):
            lines = tuple(groups.lines(group))
            yield GroupEdit("same-as-star", lines, reason_lines, LineEdit(lines))


def _sample(form: str) -> str:
    return "/" + form.replace("*", "x").removesuffix("$").removeprefix("/")


def find_valid_subset(items: Sequence[T], holds: Callable[[Sequence[T]], bool]) -> list[T]:
    """Return a large subset for which *holds* is true, found by bisection."""
    chosen: list[T] = []
    waiting = [list(items)] if items else []
    while waiting:
        some = waiting.pop()
        if holds([*chosen, *some]):
            chosen += some
        elif len(some) > 1:
            half = len(some) // 2
            waiting += [some[half:], some[:half]]
    return chosen
