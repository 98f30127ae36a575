"""
Regroup: groups of a file that could be fewer.

User-agent lines that repeat one of their group, groups with the same rules, groups for the same
crawlers, groups that say what their crawlers are told without them. Merging is done for groups that
every profile reads alike, with the same rules to the octet: then nothing changes for anybody,
crawlers with several names included. It does not prove that: `simplify` does.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from typing import NamedTuple, TypeVar

from robotrules import extensions
from robotrules.analysis.crawlers import EVERYONE_ELSE, crawlers
from robotrules.analysis.rewrite import Draft, LineEdit
from robotrules.profile import Role
from robotrules.robotstxt import RobotsTxt
from robotrules.robotstxt.selection import choose_groups
from robotrules.robotstxt.values import Group, Record
from robotrules.robotstxt.verdict import GroupMatch

T = TypeVar("T")


class Regrouping(NamedTuple):
    """What can be done to a group, and why."""

    code: str
    lines: tuple[int, ...]
    """Lines of the group, or of what repeats."""
    because: tuple[int, ...]
    """Lines that make it unnecessary."""
    edit: LineEdit


def _file_scope() -> frozenset[str]:
    """Return the names of records that are of the file, wherever they stand."""
    return frozenset(one.key.lower() for one in extensions.ALL if one.scope == "file") - {
        "user-agent-purpose"
    }


class Groups:
    """The groups of a file as several profiles read it; the first is the one whose lines count."""

    def __init__(self, files: Sequence[RobotsTxt]) -> None:
        self.files = files
        self.all = files[0].groups
        shapes = [{_shape(group) for group in robots.groups} for robots in files[1:]]
        # A group that another document parts is several groups to its records (AMB-29).
        parted = [one.groups for robots in files for one in robots.group_structures]
        starts = [{_shape(group)[0] for group in groups} for groups in parted]
        self._steady = [
            all(shape in of for of in shapes) and all(shape[0] in of for of in starts)
            for shape in map(_shape, self.all)
        ]
        self._of_file = _file_scope()

    def steady(self) -> Iterator[Group]:
        """Yield the groups that every profile, and every document of a record, reads alike."""
        return (group for group in self.all if self._steady[group.index])

    def others(self, group: Group) -> list[Record]:
        """Return the records of a group that are neither rules nor of the file."""
        found = (record for record in group.records if record.role is Role.OTHER)
        return [record for record in found if record.key not in self._of_file]

    def lines(self, group: Group) -> list[int]:
        """Return the lines that go with a group."""
        other = {record.line for record in self.others(group)}
        return [r.line for r in group.records if r.role is not Role.OTHER or r.line in other]


def _shape(group: Group) -> tuple[frozenset[int], frozenset[int]]:
    starts = frozenset(record.line for record in group.starts)
    return starts, frozenset(r.line for r in group.records if r.role is Role.RULE)


def _names(group: Group) -> frozenset[tuple[str, bytes]]:
    return frozenset((record.key, record.value.lower()) for record in group.starts)


def _rules(group: Group) -> frozenset[tuple[str, bytes]]:
    return frozenset((r.key, r.value) for r in group.records if r.role is Role.RULE)


def repeated_user_agents(groups: Groups, draft: Draft) -> Iterator[Regrouping]:
    """Yield user-agent lines that repeat one of their group."""
    for group in groups.steady():
        seen: dict[tuple[str, bytes], int] = {}
        for record in group.starts:
            first = seen.setdefault((record.key, record.value.lower()), record.line)
            if first != record.line:
                lines = (record.line,)
                yield Regrouping("repeated-user-agent", lines, (first,), LineEdit(lines))


def groups_of_the_same_crawlers(groups: Groups, draft: Draft) -> Iterator[Regrouping]:
    """Yield groups whose user-agent lines an earlier one has: their rules can stand there."""
    first: dict[frozenset[tuple[str, bytes]], Group] = {}
    last: dict[int, int] = {}
    for group in groups.steady():
        into = first.setdefault(_names(group), group)
        # What other records come to depends on the group they are in.
        if into is group or groups.others(group):
            continue
        moved = [line for r in group.starts for line in draft.comments_above(r.line)]
        rules = [record for record in group.records if record.role is Role.RULE]
        moved += _with_comments(rules, draft)
        after = last.get(into.index) or max(_shape(into)[1])
        last[into.index] = moved[-1] if moved else after
        starts = tuple(record.line for record in group.starts)
        edit = LineEdit(starts, moved, after)
        yield Regrouping("split-group", tuple(groups.lines(group)), (into.starts[0].line,), edit)


def groups_with_the_same_rules(groups: Groups, draft: Draft) -> Iterator[Regrouping]:
    """Yield groups whose rules an earlier one has: their user-agent lines can stand there."""
    first: dict[object, Group] = {}
    last: dict[int, int] = {}
    for group in groups.steady():
        others = tuple((record.key, record.value) for record in groups.others(group))
        into = first.setdefault((_rules(group), others), group)
        if into is group:
            continue
        moved = _with_comments(group.starts, draft)
        after = last.get(into.index) or into.starts[-1].line
        last[into.index] = moved[-1]
        starts = {record.line for record in group.starts}
        taken = [line for line in groups.lines(group) if line not in starts]
        edit = LineEdit(taken, moved, after)
        because = (into.starts[0].line,)
        yield Regrouping("mergeable-groups", tuple(groups.lines(group)), because, edit)


def _with_comments(records: Sequence[Record], draft: Draft) -> list[int]:
    """Return the lines of records, each after the comments that stand right above it."""
    return [line for r in records for line in (*draft.comments_above(r.line), r.line)]


# --- Groups that say nothing new ------------------------------------------------------------------


def told_elsewhere(groups: Groups, last: Collection[int]) -> Iterator[Regrouping]:
    """Yield groups whose only rule could go; *last* has the lines of such rules."""
    for group in groups.all:
        rules = [record.line for record in group.records if record.role is Role.RULE]
        if len(rules) == 1 and rules[0] in last and not groups.others(group):
            lines = tuple(groups.lines(group))
            names = _names(group)
            because = [g.starts[0].line for g in groups.all if g is not group and names & _names(g)]
            yield Regrouping("repeated-group", lines, tuple(because), LineEdit(lines))


def same_as_star(groups: Groups) -> Iterator[Regrouping]:
    """Yield groups whose crawlers seem to be told the same without them, as far as samples tell."""
    robots = groups.files[0]
    star = robots.select_groups(EVERYONE_ELSE).indices
    because = tuple(groups.all[number].starts[0].line for number in star)
    everyone = robots.rules_for(EVERYONE_ELSE)
    named: dict[int, list[str]] = {}
    for crawler in crawlers(robots):
        choice = choose_groups(robots, crawler.product_token, crawler.purposes)
        for number in choice.indices if choice.matched_by is GroupMatch.TOKEN else ():
            named.setdefault(number, []).append(crawler.product_token)
    for group in groups.steady():
        if groups.others(group) or group.index in star or group.index not in named:
            continue
        rules = [robots.rules_for(name) for name in named[group.index]]
        samples = [_sample(rule.form) for one in (everyone, rules[0]) for rule in one.rules]
        expected = everyone.allows_many(samples)
        if all(one.allows_many(samples) == expected for one in rules):
            lines = tuple(groups.lines(group))
            yield Regrouping("same-as-star", lines, because, LineEdit(lines))


def _sample(form: str) -> str:
    return "/" + form.replace("*", "x").removesuffix("$").removeprefix("/")


def most_of(found: Sequence[T], holds: Callable[[Sequence[T]], bool]) -> list[T]:
    """Return as many as hold together, found by halves: all, or those of each half that do."""
    chosen: list[T] = []
    waiting = [list(found)] if found else []
    while waiting:
        some = waiting.pop()
        if holds([*chosen, *some]):
            chosen += some
        elif len(some) > 1:
            half = len(some) // 2
            waiting += [some[half:], some[:half]]
    return chosen
