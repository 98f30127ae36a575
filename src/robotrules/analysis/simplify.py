"""
Simplify: what a robots.txt could do without, and the smaller file that says the same.

Rules that decide nothing or say what others say, user-agent lines that repeat, groups that could be
one. The smaller file is never trusted: it is parsed again and compared with the file it came from,
for every crawler and every URL, under every profile that is asked for; well-known crawlers obey the
groups that the registry says they do. Where that proof fails, the
step that breaks it is found and left out. It writes nothing anywhere.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from operator import is_
from typing import NamedTuple

from robotrules.analysis.crawlers import EVERYONE_ELSE, crawlers, folded, is_complete
from robotrules.analysis.files import FileDifference, Told, compare
from robotrules.analysis.regroup import (
    Groups,
    Regrouping,
    groups_of_the_same_crawlers,
    groups_with_the_same_rules,
    most_of,
    repeated_user_agents,
    same_as_star,
    told_elsewhere,
)
from robotrules.analysis.removable_rules import Greedy, Kept, RuleFacts, View, rule_lines
from robotrules.analysis.rewrite import Draft, LineEdit, rewritten
from robotrules.analysis.solver import MAX_STATES, most_states
from robotrules.analysis.steps import Left, Simplification, SimplificationStep
from robotrules.analysis.values import Witness
from robotrules.octets import to_text
from robotrules.profile import PROFILES, Profile, Role, find_profile
from robotrules.registries.crawlers import KNOWN_CRAWLERS, KnownCrawler
from robotrules.robotstxt import RobotsTxt, parse
from robotrules.robotstxt.internals import get_document, get_engine, get_received
from robotrules.robotstxt.selection import choose_groups
from robotrules.robotstxt.tokens import CrawlerNames
from robotrules.robotstxt.verdict import GroupMatch

# Rules that differ, counted once for each kind of crawler that obeys them. Real files have two
# thirds of this, and a tenth of the lines.
MOST_RULES = 10_000
MOST_LINES = 200_000
# How often a step that breaks the proof is looked for; then what is proved so far is enough.
MOST_TRIES = 5
REGROUPINGS = (repeated_user_agents, groups_of_the_same_crawlers, groups_with_the_same_rules)


def simplify(
    robots: RobotsTxt,
    *,
    profiles: Iterable[str | Profile] = tuple(PROFILES),
    groups: bool = False,
    keep: Collection[int] = (),
    budget: int = MAX_STATES,
    progress: Told | None = None,
) -> Simplification:
    """
    Return what can go from a file, and the smaller file, which is proved to mean the same.

    It means the same under the file's own profile and under all *profiles*: everybody reads it. A
    file that is longer than they read is taken whole: what it says is to fit into fewer octets.
    *groups*: also take out groups that say what everyone is told. *keep* has numbers of lines that
    stay whatever is proved, such as those of groups with a misspelt record. *budget* bounds the
    states of each question. *progress* is told how many parts of the work are done, and of how
    many.
    """
    if not isinstance(robots, RobotsTxt):
        name = type(robots).__name__
        raise TypeError(f"a file is a RobotsTxt, not {name}: pass robotrules.parse(body)")
    return _Work(robots, profiles, groups, keep, budget, progress).result()


class _Done(NamedTuple):
    step: SimplificationStep
    edit: LineEdit


class _Present(NamedTuple):
    """The file as it is after some steps, read by each profile."""

    files: list[RobotsTxt]
    numbers: list[int]
    """Of each of its lines the number in the file as it was."""


class _Work:
    """One file on its way."""

    def __init__(
        self,
        robots: RobotsTxt,
        profiles: Iterable[str | Profile],
        groups: bool,
        keep: Collection[int],
        budget: int,
        progress: Told | None,
    ) -> None:
        whole = dict.fromkeys([robots.profile, *map(find_profile, profiles)])
        received = get_received(robots)
        self._profiles = [_unlimited(profile, len(received)) for profile in whole]
        if self._profiles[0] != robots.profile:
            # It was cut at the limit of its profile, and what was received is taken for whole.
            robots = parse(received, self._profiles[0], engine=get_engine(robots))
        self._robots, self._groups, self._budget = robots, groups, budget
        self._last: tuple[list[LineEdit], _Present] | None = None
        self._old = [robots, *self._read(received, self._profiles[1:])]
        self._texts = [b"", *(line.text for line in robots.lines)]
        self._group_of = {r.line: r.group for r in robots.records}
        self._first_lines = [group.starts[0].line for group in robots.groups]
        self._rules = rule_lines(robots)
        self._progress, self._parts = progress, 0
        self._known = RuleFacts()
        self._proof: FileDifference | None = None
        self._barred: set[int] = set(keep)
        self._unproved: list[Left] = []
        self._kept: list[Kept] = []
        self._needed: list[Left] = []

    def result(self) -> Simplification:
        """Look, prove, and leave out what breaks the proof."""
        if why := self._refusal():
            return self._simplification([], (), why)
        done: list[_Done] = []
        for _ in range(MOST_TRIES):
            done = self._search()
            equal = self._is_proved(done)
            if equal:
                break
            done = self._fewer(done, equal)
        optional = () if self._groups else tuple(self._optional())
        return self._simplification(done, optional, "")

    # --- Looking ------------------------------------------------------------------------------

    def _search(self) -> list[_Done]:
        """Return what can go, found in rounds until nothing can."""
        done: list[_Done] = list(self._repeated())
        looked_at = -1
        last: set[int] = set()
        while True:
            before = len(done)
            if self._groups:
                present = self._present(done)
                done += self._proved(present, self._same_as_star(present), done)
            for find in REGROUPINGS:
                present = self._present(done)
                found = find(Groups(present.files), Draft(present.files[0]))
                done += self._allowed(present, found)
            if len(done) != looked_at:
                last = self._take_out_rules(done)
                looked_at = len(done)
            present = self._present(done)
            here = {at for at, line in enumerate(present.numbers, 1) if line in last}
            found = told_elsewhere(Groups(present.files), here)
            done += self._proved(present, found, done, same_names=True)
            if len(done) == before:
                return done

    def _repeated(self) -> Iterator[_Done]:
        """Yield rules that stand in their group before, letter by letter, for every profile."""
        # Nothing has to be asked about them, and a file of many becomes small before it is.
        keys: dict[int, list[tuple[object, ...]]] = {}
        for robots in self._old:
            for record in robots.records:
                if record.is_rule and record.group is not None:
                    key = record.group, record.key, record.value
                    keys.setdefault(record.line, []).append(key)
        first: dict[tuple[object, ...], int] = {}
        for line, read in keys.items():
            before = first.setdefault(tuple(read), line)
            if before != line and len(read) == len(self._old) and line not in self._barred:
                if line in self._rules and line not in self._known.undecided:
                    yield _Done(self._step("repeated-rule", (line,), (before,)), LineEdit([line]))

    def _present(self, done: Sequence[_Done]) -> _Present:
        edits = [one.edit for one in done]
        if not edits:
            return _Present(self._old, list(range(1, len(self._texts))))
        # Steps are looked for in rounds, and most rounds find none: then the file is the same.
        if self._last is None or not _are_same(self._last[0], edits):
            body, numbers = rewritten(self._robots, edits)
            self._last = edits, _Present(list(self._read(body, self._profiles)), numbers)
        return self._last[1]

    def _read(self, body: bytes, profiles: Iterable[Profile]) -> Iterator[RobotsTxt]:
        complete, engine = get_document(self._robots).complete, get_engine(self._robots)
        return (parse(body, profile, complete=complete, engine=engine) for profile in profiles)

    def _allowed(self, present: _Present, found: Iterable[Regrouping]) -> list[_Done]:
        """Return regroupings with the numbers of the file as it was, but for what is barred."""
        numbers = present.numbers
        done = []
        for code, lines, because, edit in found:
            edit = edit.renumbered(numbers)
            if not edit.lines & self._barred:
                lines, because = (
                    tuple(numbers[line - 1] for line in of) for of in (lines, because)
                )
                done.append(_Done(self._step(code, lines, because), edit))
        return done

    def _proved(
        self,
        present: _Present,
        found: Iterable[Regrouping],
        done: list[_Done],
        *,
        same_names: bool = False,
    ) -> list[_Done]:
        """Return regroupings that were tried and change nothing, as many as go together."""

        def holds(some: Sequence[_Done]) -> bool:
            """Tell whether nothing changes with some of them."""
            new = self._present([*done, *some]).files
            if same_names and [*map(_names, present.files)] != [*map(_names, new)]:
                return False
            return all(self._compared(*pair).equal for pair in zip(present.files, new, strict=True))

        return most_of(self._allowed(present, found), holds)

    def _take_out_rules(self, done: list[_Done]) -> set[int]:
        """Take out rules; return those that only stay because they are the last of a group."""
        present = self._present(done)
        numbers = present.numbers
        most = most_states(self._budget) // len(present.files)
        views = [View(robots, self._budget, most) for robots in present.files]
        lines = {line for line in rule_lines(present.files[0]) if numbers[line - 1] in self._rules}
        lines = {line for line in lines if numbers[line - 1] not in self._barred}
        self._known.numbers = numbers
        greedy = Greedy(views, lines, self._known)
        for line, code, because, witness in greedy.run(lambda: self._tell(len(lines))):
            was, others = numbers[line - 1], tuple(numbers[at - 1] for at in because)
            done.append(_Done(self._step(code, (was,), others, witness), LineEdit([was])))
        self._kept = [kept._replace(line=numbers[at - 1]) for at, kept in greedy.kept.items()]
        return {numbers[line - 1] for line in greedy.last}

    def _optional(self) -> Iterator[SimplificationStep]:
        """Yield groups that could go if no crawler had two names."""
        present = self._present([])
        return (done.step for done in self._proved(present, self._same_as_star(present), []))

    def _same_as_star(self, present: _Present) -> list[Regrouping]:
        """Return groups that say what everyone is told, but for those well-known crawlers need."""
        found = list(same_as_star(Groups(present.files)))
        needed: dict[int, tuple[KnownCrawler, str]] = {}
        for robots in present.files if found else ():
            for first, known, instead in _without_star(robots):
                needed.setdefault(first, (known, instead))
        name = self._robots.profile.name
        # Groups go in rounds, and a crawler's next name may have lost its group in the last one.
        self._needed = []
        for _, lines, _, _ in found:
            if why := needed.get(lines[0]):
                line = present.numbers[lines[0] - 1]
                left = Left("well-known-crawler", line, self._text(line), name, None, *why)
                self._needed.append(left)
        return [one for one in found if one.lines[0] not in needed]

    def _step(
        self,
        code: str,
        lines: tuple[int, ...],
        because: tuple[int, ...],
        witness: Witness | None = None,
    ) -> SimplificationStep:
        group = self._group_of[lines[0]]
        first = None if group is None else self._first_lines[group]
        return SimplificationStep(code, lines, because, self._text(lines[0]), first, witness)

    def _text(self, line: int) -> str:
        return to_text(self._texts[line].strip())

    def _tell(self, rules: int) -> None:
        self._parts += 1
        if self._progress:
            whole = max(rules + len(self._profiles), self._parts)
            self._progress(self._parts, whole)

    # --- Proving ------------------------------------------------------------------------------

    def _refusal(self) -> str:
        """Return why a file is left alone; empty: it is not."""
        for robots in self._old:
            name, codes = robots.profile.name, {note.code for note in robots.notes}
            if "not-utf8" in codes:
                return (
                    "it is UTF-16, and robots.txt is UTF-8: save it as UTF-8 first, as "
                    "'robotrules lint FILE --fix-verdicts' does"
                )
            if not get_document(robots).complete or codes & {"truncated", "cut-line"}:
                return f"it is not whole, or has longer lines than profile {name} reads"
            if len(self._texts) > MOST_LINES:
                return f"it has more lines than are looked at: {MOST_LINES:,}"
            if not is_complete(robots):
                return "it names more crawlers or purposes than can be told apart"
            if _rules_obeyed(robots) > MOST_RULES:
                return f"it has more rules than are looked at: {MOST_RULES:,}, for all crawlers"
        return ""

    def _compared(self, old: RobotsTxt, new: RobotsTxt) -> FileDifference:
        return compare(old, new, literal=False, most=1, budget=self._budget)

    def _is_proved(self, done: Sequence[_Done]) -> bool | None:
        """Tell whether it is proved that steps change nothing under any profile; None: neither."""
        self._proof = None
        if not done:
            return True
        new = self._present(done).files
        if not _keeps_records(self._robots, new[0]):
            return False
        proofs: list[FileDifference] = []
        for pair in zip(self._old, new, strict=True):
            proofs.append(self._compared(*pair))
            if not proofs[-1].equal:
                return proofs[-1].equal
            self._tell(len(self._rules))
        self._proof = proofs[0]
        return True

    def _fewer(self, done: list[_Done], equal: bool | None) -> list[_Done]:
        """Return steps that are proved, of some that are not; bar what the proof fails at."""
        if equal is None:
            # Too much to decide: rules then stay, and groups may still become fewer.
            rules = [one.step.lines[0] for one in done if one.step.lines[0] in self._rules]
            self._known.undecided.update(rules)
            self._barred.update(line for one in done if not rules for line in one.edit.lines)
            return []
        good, bad = 0, len(done)
        while bad - good > 1:
            half = (good + bad) // 2
            good, bad = (half, bad) if self._is_proved(done[:half]) else (good, half)
        self._barred |= done[good].edit.lines
        line, name = done[good].step.lines[0], self._robots.profile.name
        self._unproved.append(Left("not-proved", line, self._text(line), name))
        self._is_proved(done[:good])
        return done[:good]

    # --- Telling ------------------------------------------------------------------------------

    def _simplification(
        self,
        done: Sequence[_Done],
        optional: tuple[SimplificationStep, ...],
        refused: str,
    ) -> Simplification:
        new = self._present(done).files[0] if done else self._robots
        left = [
            Left("other-profile", kept.line, self._text(kept.line), kept.profile, kept.witness)
            for kept in self._kept
        ]
        # A group that becomes one with another still names its crawlers.
        merged = {line for one in done for line in (*one.step.lines, *one.step.reason_lines)}
        left += [one for one in self._needed if one.line not in merged]
        return Simplification(
            self._robots.profile.name,
            tuple(profile.name for profile in self._profiles),
            _settled([one.step for one in done]),
            new.body,
            len(self._rules),
            len(rule_lines(new)),
            len(self._robots.groups),
            len(new.groups),
            len(self._robots.body),
            len(new.body),
            self._proof,
            {} if refused else self._equal_elsewhere(new),
            tuple(rule for line in sorted(self._known.undecided) if (rule := self._rules[line])),
            tuple(sorted([*left, *self._unproved], key=lambda one: one.line)),
            optional,
            refused,
        )

    def _equal_elsewhere(self, new: RobotsTxt) -> dict[str, bool | None]:
        """Return under which profiles both files mean the same."""
        found: dict[str, bool | None] = {profile.name: True for profile in self._profiles}
        for profile in PROFILES.values():
            if profile.name not in found:
                pair = [*self._read(self._robots.body, [profile]), *self._read(new.body, [profile])]
                found[profile.name] = new is self._robots or self._compared(*pair).equal
        return found


def _settled(steps: Sequence[SimplificationStep]) -> tuple[SimplificationStep, ...]:
    """Return steps in the order of the file; what they name is still there, where that can be."""
    gone = {
        step.lines[0]: step.reason_lines
        for step in steps
        if step.code in ("redundant-rule", "repeated-rule")
    }
    found = []
    for step in steps:
        if step.lines[0] in gone:
            named, waiting = set(step.reason_lines), list(step.reason_lines)
            while waiting:
                more = [line for line in gone.get(waiting.pop(), ()) if line not in named]
                named.update(more)
                waiting += more
            stays = tuple(sorted(line for line in named if line not in gone))
            if stays or step.code != "repeated-rule":
                step = step._replace(reason_lines=stays)
        found.append(step)
    return tuple(sorted(found, key=lambda step: step.lines[0]))


def _rules_obeyed(robots: RobotsTxt) -> int:
    """Return how many rules there are for all kinds of crawlers together."""
    kinds = {
        choose_groups(robots, crawler.product_token, crawler.purposes).indices
        for crawler in crawlers(robots)
    }
    rules = [len({(rule.allow, rule.pattern) for rule in group.rules}) for group in robots.groups]
    return sum(rules[group] for kind in kinds for group in kind)


def _without_star(robots: RobotsTxt) -> Iterator[tuple[int, KnownCrawler, str]]:
    """
    Yield groups by their first lines whose crawlers would not obey the star's without them.

    With the well-known crawler, and the name whose group it would obey; empty: it would obey none.
    """
    groups = robots.groups
    for known in KNOWN_CRAWLERS:
        if not (known.also or known.ignores_star):
            continue
        choice = robots.select_groups(known.names)
        if choice.matched_by is not GroupMatch.TOKEN:
            continue
        later = known.names[known.names.index(choice.matched_tokens[0]) + 1 :]
        fallback = robots.select_groups(CrawlerNames(later, ignores_star=known.ignores_star))
        names = fallback.matched_tokens
        if known.ignores_star or fallback.matched_by is GroupMatch.TOKEN:
            for number in choice.indices:
                yield groups[number].starts[0].line, known, names[0] if names else ""


def _unlimited(profile: Profile, octets: int) -> Profile:
    """Return a profile that reads so many octets: a file that is too long is to become shorter."""
    return profile if octets <= profile.max_bytes else profile.replace(max_bytes=octets)


def _are_same(some: Sequence[LineEdit], others: Sequence[LineEdit]) -> bool:
    return len(some) == len(others) and all(map(is_, some, others))


def _names(robots: RobotsTxt) -> tuple[bool, set[tuple[str, tuple[str, ...]]]]:
    """Return whether there is a group for everyone, and for whom else there is one."""
    star = bool(robots.select_groups(EVERYONE_ELSE).indices)
    return star, {(folded(one.product_token), one.purposes) for one in crawlers(robots)}


def _keeps_records(old: RobotsTxt, new: RobotsTxt) -> bool:
    """Tell whether all other records are there, and no new one; copies of a group's may go."""
    before, after = (
        Counter((r.key, r.value) for r in robots.records if r.role is Role.OTHER)
        for robots in (old, new)
    )
    return before.keys() == after.keys()
