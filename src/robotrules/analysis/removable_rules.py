"""
Spare rules: which rules of a file can go without changing a verdict for anybody.

A rule stands in a group, and a group may be obeyed by several crawlers, by some of them together
with other groups. A rule can go if it can for each of them, under each profile that is asked for.
Rules go one after another, the most specific first. A crawler with several product tokens is asked
as each of them: what a profile makes of several at once (AMB-30, `merge_tokens`) is not looked at.
It does not know lines that are no rules, nor how a file is written anew.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import NamedTuple

from robotrules.analysis.crawlers import crawlers
from robotrules.analysis.neighbours import Neighbours
from robotrules.analysis.rules import covers
from robotrules.analysis.solver import IMPLICIT, Solver, Sought, vetted
from robotrules.analysis.values import Witness
from robotrules.errors import WrongWitnessError
from robotrules.profile import Role
from robotrules.robotstxt import RobotsTxt
from robotrules.robotstxt.internals import compile_groups, get_document
from robotrules.robotstxt.selection import choose_groups
from robotrules.robotstxt.values import Rule

# Of many crawlers that obey a rule, so many are asked why it can go; that it can, all.
MOST_ASKED = 8


class Listener(Neighbours):
    """Crawlers that obey the same groups under a profile, and the rules that are left for them."""

    def __init__(self, view: View, groups: Sequence[int]) -> None:
        own = [at for group in (None, *groups) for at in view.by_group.get(group, ())]
        super().__init__(view.solver, {at: view.entries[at] for at in sorted(own)})


class View:
    """A file as one profile reads it: its rules, and who obeys them."""

    def __init__(self, robots: RobotsTxt, budget: int, most: int | None = None) -> None:
        """*most* bounds the states of all questions together."""
        self.robots = robots
        compiled = compile_groups(robots, list(range(get_document(robots).group_count())))
        self.rules = compiled.rules
        self.solver = Solver(compiled, budget=budget, most=most)
        self.entries = self.solver.sides[0].entries
        self.by_line = {rule.line: number for number, rule in enumerate(self.rules)}
        groups = {record.line: record.group for record in robots.records}
        self.groups_of = [groups[rule.line] for rule in self.rules]
        self._own: dict[int, list[int]] = {}
        self.by_group: dict[int | None, list[int]] = {}
        """Entries of each group's rules; of none: `/robots.txt` itself."""
        for at, entry in self.entries.items():
            self._own.setdefault(entry.rule, []).append(at)
            group = None if entry.rule == IMPLICIT else self.groups_of[entry.rule]
            self.by_group.setdefault(group, []).append(at)
        # A group without any would join the one that follows it (§2.1).
        self._closing: dict[int | None, int] = {}
        for record in robots.records:
            if record.role is Role.RULE:
                self._closing[record.group] = self._closing.get(record.group, 0) + 1
        self._listen()

    def _listen(self) -> None:
        kinds: dict[tuple[int, ...], None] = {}
        for crawler in crawlers(self.robots):
            choice = choose_groups(self.robots, crawler.product_token, crawler.purposes)
            kinds[choice.indices] = None
        self._listeners: dict[int | None, list[Listener]] = {}
        for groups in kinds:
            listener = Listener(self, groups)
            for group in groups:
                self._listeners.setdefault(group, []).append(listener)

    def own(self, line: int) -> list[int]:
        """Return the entries of the rule of a line; none: it cannot match, or is no rule here."""
        return self._own.get(self.by_line.get(line, -1), [])

    def listeners(self, line: int) -> list[Listener]:
        """Return those who obey the rule of a line."""
        number = self.by_line.get(line)
        return [] if number is None else self._listeners.get(self.groups_of[number], [])

    def is_last(self, line: int) -> bool:
        """Tell whether the rule of a line is the last one of its group."""
        number = self.by_line.get(line)
        return number is not None and self._closing[self.groups_of[number]] == 1

    def take_out(self, line: int) -> None:
        """Do without the rule of a line from now on."""
        if (number := self.by_line.get(line)) is not None:
            for listener in self.listeners(line):
                listener.drop(self.own(line))
            self._closing[self.groups_of[number]] -= 1

    def vetted(self, path: bytes, line: int) -> Witness:
        """Return a path that a rule decides, after the matcher confirmed that it matches."""
        witness = vetted(path, [])
        found, matches = self.solver.sides[0].rules.find_matches(witness.url)
        if found != path or self.by_line[line] not in {number for number, _ in matches}:
            raise WrongWitnessError(f"{witness} is said to match line {line}: please report this")
        return witness


class Spare(NamedTuple):
    """A rule that can go, and why."""

    line: int
    code: str
    because: tuple[int, ...]
    """Lines of rules that make it unnecessary."""
    witness: Witness | None
    """A shortest URL that it decides."""


class Kept(NamedTuple):
    """A rule that could go under one profile, and not under another."""

    line: int
    profile: str
    witness: Witness


class RuleFacts:
    """What was found of rules while a file became smaller, by their lines in the file as it was."""

    def __init__(self) -> None:
        self.numbers: Sequence[int] = ()
        """The line in the file as it was, of each line of the file as it is."""
        self.undecided: set[int] = set()
        self._shown: dict[tuple[str, int], set[bytes]] = {}

    def shown(self, profile: str, line: int) -> set[bytes]:
        """Return paths that once showed that a rule has to stay: as long as they do, it does."""
        return self._shown.setdefault((profile, self.numbers[line - 1]), set())

    def is_undecided(self, line: int) -> bool:
        """Tell whether a question about a rule was not answered: nobody asks twice."""
        return self.numbers[line - 1] in self.undecided

    def give_up(self, line: int) -> None:
        """Remember a question that was not answered."""
        self.undecided.add(self.numbers[line - 1])


class Greedy:
    """Takes rules out as long as any can go. The first view is the one whose reasons are given."""

    def __init__(self, views: Sequence[View], lines: Iterable[int], known: RuleFacts) -> None:
        """*lines* may go."""
        self._views, self._known = views, known
        self._left = dict.fromkeys(self._ordered(lines))
        self.last: set[int] = set()
        """Rules that could go if they were not the last of their group."""
        self.kept: dict[int, Kept] = {}
        # What the first view's listeners answered about the rule that is looked at, or that none
        # had to be asked, because each obeys another rule that says the very same.
        self._answers: list[tuple[Listener, Sought]] = []
        self._twins: list[int] = []

    def _ordered(self, lines: Iterable[int]) -> list[int]:
        """Return the most specific first; of equals the later one, for people read downwards."""
        main = self._views[0]

        def order(line: int) -> tuple[int, int]:
            """Return what is smallest for the rule to ask about first."""
            number = main.by_line.get(line)
            octets = main.rules[number].octets if number is not None else 0
            return -octets, -line

        return sorted(lines, key=order)

    def run(self, told: Callable[[], None]) -> Iterator[Spare]:
        """Yield the rules that go; *told* is called for each that was looked at."""
        first = again = True
        while again:
            again = False
            for line in list(self._left):
                if self._can_go(line):
                    yield self._reason(line)
                    for view in self._views:
                        view.take_out(line)
                    del self._left[line]
                    again = True
                if first:
                    told()
            first = False

    def _can_go(self, line: int) -> bool:
        self.last.discard(line)
        self.kept.pop(line, None)
        self._answers = []
        self._twins = []
        if self._known.is_undecided(line):
            return False
        if self._has_twins(line):
            return not any(view.is_last(line) for view in self._views)
        for view in self._views:
            own = view.own(line)
            shown = self._known.shown(view.robots.profile.name, line)
            for listener in view.listeners(line) if own else ():
                path = next((path for path in shown if listener.still_changes(own, path)), None)
                if path is None:
                    found = listener.change_without(own)
                    path = found.path
                    if not found.decided:
                        self._known.give_up(line)
                        return False
                    if view is self._views[0]:
                        self._answers.append((listener, found))
                if path is not None:
                    shown.add(path)
                    if view is not self._views[0]:
                        name = view.robots.profile.name
                        self.kept[line] = Kept(line, name, view.vetted(path, line))
                    return False
        if any(view.is_last(line) for view in self._views):
            self.last.add(line)
            return False
        return True

    def _has_twins(self, line: int) -> bool:
        """Tell whether everybody who obeys a rule obeys another one that says the very same."""
        for view in self._views:
            own = view.own(line)
            for listener in view.listeners(line) if own else ():
                twin = listener.twin(own)
                if twin is None or twin == IMPLICIT:
                    return False
                if view is self._views[0]:
                    self._twins.append(view.rules[twin].line)
        return bool(self._twins)

    def _reason(self, line: int) -> Spare:
        view = self._views[0]
        number = view.by_line.get(line)
        if number is None:
            return Spare(line, "outside-group", (), None)
        own, answers = view.own(line), self._answers[:MOST_ASKED]
        if not view.rules[number].pattern:
            return Spare(line, "empty-rule", (), None)
        if self._twins:
            return Spare(line, "repeated-rule", tuple(sorted(set(self._twins[:MOST_ASKED]))), None)
        if not own or not answers:
            return Spare(line, "nobodys-rule" if own else "unusable-rule", (), None)
        first_view = [listener.twin(own) for listener, _ in answers]
        twins = [twin for twin in first_view if twin is not None and twin != IMPLICIT]
        if len(twins) == len(answers):
            lines = sorted({view.rules[twin].line for twin in twins})
            return Spare(line, "repeated-rule", tuple(lines), None)
        covering: set[int] = set()
        instead: set[int] = set()
        dead, witness = True, None
        for listener, answer in answers:
            alive = listener.alive(own)
            if alive.decided and alive.path is None:
                side = view.solver.sides[0]
                numbers = covers(view.solver, side, own, alive.heard[0])
                covering.update(view.rules[one].line for one in numbers)
                continue
            dead = False
            if alive.path is not None:
                witness = witness or view.vetted(alive.path, line)
            said = (at for at in answer.heard[1] if view.entries[at].rule != IMPLICIT)
            instead.update(map(self._line_of, said))
        if dead:
            return Spare(line, "dead-rule", tuple(sorted(covering)), None)
        return Spare(line, "redundant-rule", tuple(sorted(instead)), witness)

    def _line_of(self, at: int) -> int:
        view = self._views[0]
        return view.rules[view.entries[at].rule].line


def rule_lines(robots: RobotsTxt) -> dict[int, Rule | None]:
    """Return the lines that are rules; None: one before the first user-agent line."""
    found: dict[int, Rule | None] = {r.line: None for r in robots.records if r.is_rule}
    found.update((rule.line, rule) for group in robots.groups for rule in group.rules)
    return found
