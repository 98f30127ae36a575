"""
Removable rules: the rules of a file that can be removed without changing a verdict.

A rule belongs to a group, and several crawlers may obey the group, some of them together with other
groups. A rule is removable if it is redundant for each of these crawlers under each profile. Rules
are removed one at a time, the most specific first. A crawler with several product tokens is checked
under each token alone: how a profile combines several tokens (AMB-30, `merge_tokens`) is not
considered. The module does not use other lines, and does not rewrite the file.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import NamedTuple

from robotrules.analysis.crawlers import crawlers
from robotrules.analysis.redundancy import RedundancyChecker
from robotrules.analysis.rules import find_covers
from robotrules.analysis.solver import IMPLICIT, SearchResult, Solver, to_witness
from robotrules.analysis.values import Witness
from robotrules.errors import WrongWitnessError
from robotrules.profile import Role
from robotrules.robotstxt import RobotsTxt
from robotrules.robotstxt.internals import compile_groups, get_document
from robotrules.robotstxt.selection import choose_groups
from robotrules.robotstxt.values import Rule

# Of the classes of crawlers that obey a rule, so many contribute to the reason; all are checked.
MAX_EXPLAINED = 8


class RemainingRules(RedundancyChecker):
    """Crawlers that obey the same groups under a profile, with the rules that remain for them."""

    def __init__(self, view: ProfileView, groups: Sequence[int]) -> None:
        own = [at for group in (None, *groups) for at in view.by_group.get(group, ())]
        super().__init__(view.solver, {at: view.entries[at] for at in sorted(own)})


class ProfileView:
    """A file as one profile reads it: its rules, and the crawlers that obey them."""

    def __init__(self, robots: RobotsTxt, max_states: int, max_total: int | None = None) -> None:
        """*max_total* limits the states of all queries together."""
        self.robots = robots
        compiled = compile_groups(robots, list(range(get_document(robots).group_count())))
        self.rules = compiled.rules
        self.solver = Solver(compiled, max_states=max_states, max_total=max_total)
        self.entries = self.solver.sides[0].entries
        self.by_line = {rule.line: number for number, rule in enumerate(self.rules)}
        groups = {record.line: record.group for record in robots.records}
        self.groups_of = [groups[rule.line] for rule in self.rules]
        self._own: dict[int, list[int]] = {}
        self.by_group: dict[int | None, list[int]] = {}
        """The entries of each group's rules; under None, `/robots.txt` itself."""
        for at, entry in self.entries.items():
            self._own.setdefault(entry.rule, []).append(at)
            group = None if entry.rule == IMPLICIT else self.groups_of[entry.rule]
            self.by_group.setdefault(group, []).append(at)
        # A group without rules would be merged with the one that follows it (§2.1).
        self._rule_counts: dict[int | None, int] = {}
        for record in robots.records:
            if record.role is Role.RULE:
                self._rule_counts[record.group] = self._rule_counts.get(record.group, 0) + 1
        self._add_classes()

    def _add_classes(self) -> None:
        selections: dict[tuple[int, ...], None] = {}
        for crawler in crawlers(self.robots):
            choice = choose_groups(self.robots, crawler.product_token, crawler.purposes)
            selections[choice.indices] = None
        self._classes: dict[int | None, list[RemainingRules]] = {}
        for groups in selections:
            crawler_class = RemainingRules(self, groups)
            for group in groups:
                self._classes.setdefault(group, []).append(crawler_class)

    def own(self, line: int) -> list[int]:
        """Return the entries of the rule of a line; empty if it cannot match or is not a rule."""
        return self._own.get(self.by_line.get(line, -1), [])

    def classes(self, line: int) -> list[RemainingRules]:
        """Return the classes of crawlers that obey the rule of a line."""
        number = self.by_line.get(line)
        return [] if number is None else self._classes.get(self.groups_of[number], [])

    def is_last(self, line: int) -> bool:
        """Return whether the rule of a line is the last one of its group."""
        number = self.by_line.get(line)
        return number is not None and self._rule_counts[self.groups_of[number]] == 1

    def remove(self, line: int) -> None:
        """Remove the rule of a line."""
        if (number := self.by_line.get(line)) is not None:
            for crawler_class in self.classes(line):
                crawler_class.drop(self.own(line))
            self._rule_counts[self.groups_of[number]] -= 1

    def verify_witness(self, path: bytes, line: int) -> Witness:
        """Return a path that a rule decides, after the matcher confirmed that the rule matches."""
        witness = to_witness(path)
        found, matches = self.solver.sides[0].rules.find_matches(witness.url)
        if found != path or self.by_line[line] not in {number for number, _ in matches}:
            raise WrongWitnessError(f"{witness} does not match line {line}: please report this")
        return witness


class RemovableRule(NamedTuple):
    """A rule that can be removed, with the reason."""

    line: int
    code: str
    reason_lines: tuple[int, ...]
    """Lines of the rules that make it unnecessary."""
    witness: Witness | None
    """A shortest URL that it decides."""


class KeptRule(NamedTuple):
    """A rule that can be removed under one profile, but not under another."""

    line: int
    profile: str
    witness: Witness


class RuleFacts:
    """Results about rules that hold while the file shrinks, by line of the original file."""

    def __init__(self) -> None:
        self.numbers: Sequence[int] = ()
        """For each line of the current file, its number in the original file."""
        self.undecided: set[int] = set()
        self._needed_for: dict[tuple[str, int], set[bytes]] = {}

    def needed_for(self, profile: str, line: int) -> set[bytes]:
        """Return paths that needed a rule: while one of them still does, the rule stays."""
        return self._needed_for.setdefault((profile, self.numbers[line - 1]), set())

    def is_undecided(self, line: int) -> bool:
        """Return whether a query about a rule was undecided; it is not repeated."""
        return self.numbers[line - 1] in self.undecided

    def give_up(self, line: int) -> None:
        """Record that a query about a rule was undecided."""
        self.undecided.add(self.numbers[line - 1])


class GreedyRemoval:
    """Greedy removal of rules, until none is removable. Reasons are those of the first view."""

    def __init__(
        self, views: Sequence[ProfileView], lines: Iterable[int], known: RuleFacts
    ) -> None:
        """*lines* are the candidates."""
        self._views, self._known = views, known
        self._left = dict.fromkeys(self._ordered(lines))
        self.last: set[int] = set()
        """Rules that would be removable if they were not the last of their group."""
        self.kept: dict[int, KeptRule] = {}
        # For the current rule: the results for the classes of the first view; or, if each class
        # obeys a duplicate of the rule, the lines of the duplicates.
        self._answers: list[tuple[RemainingRules, SearchResult]] = []
        self._duplicates: list[int] = []

    def _ordered(self, lines: Iterable[int]) -> list[int]:
        """Return the most specific rules first; of equal ones, the later line first."""
        main = self._views[0]

        def order(line: int) -> tuple[int, int]:
            """Return the sort key."""
            number = main.by_line.get(line)
            octets = main.rules[number].octets if number is not None else 0
            return -octets, -line

        return sorted(lines, key=order)

    def run(self, on_checked: Callable[[], None]) -> Iterator[RemovableRule]:
        """Yield the rules that are removed; call *on_checked* for each candidate."""
        first = again = True
        while again:
            again = False
            for line in list(self._left):
                if self._is_removable(line):
                    yield self._reason(line)
                    for view in self._views:
                        view.remove(line)
                    del self._left[line]
                    again = True
                if first:
                    on_checked()
            first = False

    def _is_removable(self, line: int) -> bool:
        self.last.discard(line)
        self.kept.pop(line, None)
        self._answers = []
        self._duplicates = []
        if self._known.is_undecided(line):
            return False
        if self._has_duplicates(line):
            return not any(view.is_last(line) for view in self._views)
        for view in self._views:
            own = view.own(line)
            needed_for = self._known.needed_for(view.robots.profile.name, line)
            for crawler_class in view.classes(line) if own else ():
                path = next((p for p in needed_for if crawler_class.still_changes(own, p)), None)
                if path is None:
                    found = crawler_class.find_changed_path(own)
                    path = found.path
                    if not found.decided:
                        self._known.give_up(line)
                        return False
                    if view is self._views[0]:
                        self._answers.append((crawler_class, found))
                if path is not None:
                    needed_for.add(path)
                    if view is not self._views[0]:
                        name = view.robots.profile.name
                        self.kept[line] = KeptRule(line, name, view.verify_witness(path, line))
                    return False
        if any(view.is_last(line) for view in self._views):
            self.last.add(line)
            return False
        return True

    def _has_duplicates(self, line: int) -> bool:
        """Return whether every crawler that obeys a rule also obeys a duplicate of it."""
        for view in self._views:
            own = view.own(line)
            for crawler_class in view.classes(line) if own else ():
                duplicate = crawler_class.find_duplicate(own)
                if duplicate is None or duplicate == IMPLICIT:
                    return False
                if view is self._views[0]:
                    self._duplicates.append(view.rules[duplicate].line)
        return bool(self._duplicates)

    def _reason(self, line: int) -> RemovableRule:
        view = self._views[0]
        number = view.by_line.get(line)
        if number is None:
            return RemovableRule(line, "outside-group", (), None)
        own, answers = view.own(line), self._answers[:MAX_EXPLAINED]
        if not view.rules[number].pattern:
            return RemovableRule(line, "empty-rule", (), None)
        if self._duplicates:
            lines = sorted(set(self._duplicates[:MAX_EXPLAINED]))
            return RemovableRule(line, "repeated-rule", tuple(lines), None)
        if not own or not answers:
            return RemovableRule(line, "nobodys-rule" if own else "unusable-rule", (), None)
        found = [crawler_class.find_duplicate(own) for crawler_class, _ in answers]
        duplicates = [number for number in found if number is not None and number != IMPLICIT]
        if len(duplicates) == len(answers):
            lines = sorted({view.rules[number].line for number in duplicates})
            return RemovableRule(line, "repeated-rule", tuple(lines), None)
        covering: set[int] = set()
        instead: set[int] = set()
        dead, witness = True, None
        for crawler_class, answer in answers:
            decided = crawler_class.find_decided_path(own)
            if decided.decided and decided.path is None:
                side = view.solver.sides[0]
                numbers = find_covers(view.solver, side, own, decided.rejecting[0])
                covering.update(view.rules[number].line for number in numbers)
                continue
            dead = False
            if decided.path is not None:
                witness = witness or view.verify_witness(decided.path, line)
            deciding = (at for at in answer.rejecting[1] if view.entries[at].rule != IMPLICIT)
            instead.update(map(self._line_of, deciding))
        if dead:
            return RemovableRule(line, "dead-rule", tuple(sorted(covering)), None)
        return RemovableRule(line, "redundant-rule", tuple(sorted(instead)), witness)

    def _line_of(self, at: int) -> int:
        view = self._views[0]
        return view.rules[view.entries[at].rule].line


def rule_lines(robots: RobotsTxt) -> dict[int, Rule | None]:
    """Return the lines that are rules; None for a rule before the first user-agent line."""
    found: dict[int, Rule | None] = {r.line: None for r in robots.records if r.is_rule}
    found.update((rule.line, rule) for group in robots.groups for rule in group.rules)
    return found
