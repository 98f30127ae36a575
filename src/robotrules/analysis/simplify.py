"""
Simplify: the unnecessary lines of a robots.txt, and the smaller file that means the same.

Dead and redundant rules, repeated user-agent lines, groups that can be merged. The smaller file is
parsed and compared with the original for every crawler and every URL, under every requested
profile; well-known crawlers obey the groups that the registry says. If the proof fails, the step
that breaks it is found and left out. The module does not write files.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from operator import is_
from typing import NamedTuple

from robotrules.analysis.crawlers import EVERYONE_ELSE, crawlers, fold_case, is_complete
from robotrules.analysis.files import FileDifference, ProgressCallback, compare
from robotrules.analysis.group_edits import (
    GroupEdit,
    Groups,
    find_valid_subset,
    groups_same_as_star,
    mergeable_groups,
    redundant_groups,
    repeated_user_agents,
    split_groups,
)
from robotrules.analysis.line_edits import Draft, LineEdit, apply_edits
from robotrules.analysis.removable_rules import (
    GreedyRemoval,
    KeptRule,
    ProfileView,
    RuleFacts,
    rule_lines,
)
from robotrules.analysis.simplification import RetainedLine, Simplification, SimplificationStep
from robotrules.analysis.solver import MAX_STATES, total_state_limit
from robotrules.analysis.values import Witness
from robotrules.octets import to_text
from robotrules.profile import PROFILES, Profile, Role, find_profile
from robotrules.registries.crawlers import KNOWN_CRAWLERS, KnownCrawler
from robotrules.robotstxt import RobotsTxt, parse
from robotrules.robotstxt.internals import get_document, get_engine, get_received
from robotrules.robotstxt.selection import choose_groups
from robotrules.robotstxt.tokens import CrawlerNames
from robotrules.robotstxt.verdict import GroupMatch

# Distinct rules, counted for each class of crawlers that obeys them. Real files reach two thirds of
# this, and a tenth of the lines.
MAX_RULES = 10_000
MAX_LINES = 200_000
# Attempts to find a step that breaks the proof; after them, the proved steps are returned.
MAX_TRIES = 5
GROUP_EDITS = (repeated_user_agents, split_groups, mergeable_groups)


def simplify(
    robots: RobotsTxt,
    *,
    profiles: Iterable[str | Profile] = tuple(PROFILES),
    groups: bool = False,
    keep: Collection[int] = (),
    max_states: int = MAX_STATES,
    progress: ProgressCallback | None = None,
) -> Simplification:
    """
    Return the unnecessary parts of a file, and a smaller file that is proved to mean the same.

    It means the same under the file's own profile and under all *profiles*. A file that exceeds
    their size limits is read completely, because it may become smaller. *groups*: also remove
    groups with the same effect as that of `*`. *keep* has the numbers of lines that stay in any
    case, such as those of groups with a misspelt record. *max_states* limits the states of each
    query.
    *progress* is called with the number of work items that are done, and their total.
    """
    if not isinstance(robots, RobotsTxt):
        name = type(robots).__name__
        raise TypeError(f"a file is a RobotsTxt, not {name}: pass robotrules.parse(body)")
    return _Simplifier(robots, profiles, groups, keep, max_states, progress).run()


class _AppliedStep(NamedTuple):
    step: SimplificationStep
    edit: LineEdit


class _CurrentFile(NamedTuple):
    """The file after some steps, as each profile reads it."""

    files: list[RobotsTxt]
    numbers: list[int]
    """For each line, its number in the original file."""


class _Simplifier:
    """The simplification of one file."""

    def __init__(
        self,
        robots: RobotsTxt,
        profiles: Iterable[str | Profile],
        groups: bool,
        keep: Collection[int],
        max_states: int,
        progress: ProgressCallback | None,
    ) -> None:
        whole = dict.fromkeys([robots.profile, *map(find_profile, profiles)])
        received = get_received(robots)
        self._profiles = [_unlimited(profile, len(received)) for profile in whole]
        if self._profiles[0] != robots.profile:
            # It was truncated at the limit of its profile; the received octets are complete.
            robots = parse(get_received(robots), self._profiles[0], engine=get_engine(robots))
        self._robots, self._groups, self._max_states = robots, groups, max_states
        self._last: tuple[list[LineEdit], _CurrentFile] | None = None
        self._old = [robots, *self._read(get_received(robots), self._profiles[1:])]
        self._texts = [b"", *(line.text for line in robots.lines)]
        self._group_of = {r.line: r.group for r in robots.records}
        self._first_lines = [group.starts[0].line for group in robots.groups]
        self._rules = rule_lines(robots)
        self._progress, self._work_done = progress, 0
        self._known = RuleFacts()
        self._proof: FileDifference | None = None
        self._barred: set[int] = set(keep)
        self._unproved: list[RetainedLine] = []
        self._kept: list[KeptRule] = []
        self._needed: list[RetainedLine] = []

    def run(self) -> Simplification:
        """Search for steps, prove them, and leave out those that break the proof."""
        if refusal := self._refusal():
            return self._simplification([], (), refusal)
        done: list[_AppliedStep] = []
        for _ in range(MAX_TRIES):
            done = self._search()
            equal = self._is_proved(done)
            if equal:
                break
            done = self._proved_steps(done, equal)
        optional = () if self._groups else tuple(self._optional())
        return self._simplification(done, optional, "")

    # --- Search -------------------------------------------------------------------------------

    def _search(self) -> list[_AppliedStep]:
        """Return the steps, found in rounds until a round finds none."""
        done: list[_AppliedStep] = list(self._repeated_rules())
        checked = -1
        last: set[int] = set()
        while True:
            before = len(done)
            if self._groups:
                current = self._current_file(done)
                done += self._proved_edits(current, self._same_as_star(current), done)
            for find in GROUP_EDITS:
                current = self._current_file(done)
                found = find(Groups(current.files), Draft(current.files[0]))
                done += self._permitted(current, found)
            if len(done) != checked:
                last = self._remove_rules(done)
                checked = len(done)
            current = self._current_file(done)
            here = {at for at, line in enumerate(current.numbers, 1) if line in last}
            found = redundant_groups(Groups(current.files), here)
            done += self._proved_edits(current, found, done, same_names=True)
            if len(done) == before:
                return done

    def _repeated_rules(self) -> Iterator[_AppliedStep]:
        """Yield rules that repeat an earlier rule of their group exactly, for every profile."""
        # They need no query, and removing them first makes a large file small.
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
                    step = self._step("repeated-rule", (line,), (before,))
                    yield _AppliedStep(step, LineEdit([line]))

    def _current_file(self, done: Sequence[_AppliedStep]) -> _CurrentFile:
        edits = [applied.edit for applied in done]
        if not edits:
            return _CurrentFile(self._old, list(range(1, len(self._texts))))
        # Most rounds find no step: then the file is the same.
        if self._last is None or not _are_same(self._last[0], edits):
            body, numbers = apply_edits(self._robots, edits)
            self._last = edits, _CurrentFile(list(self._read(body, self._profiles)), numbers)
        return self._last[1]

    def _read(self, body: bytes, profiles: Iterable[Profile]) -> Iterator[RobotsTxt]:
        complete, engine = get_document(self._robots).complete, get_engine(self._robots)
        return (parse(body, profile, complete=complete, engine=engine) for profile in profiles)

    def _permitted(self, current: _CurrentFile, found: Iterable[GroupEdit]) -> list[_AppliedStep]:
        """Return group edits with original line numbers, except those of barred lines."""
        numbers = current.numbers
        done = []
        for code, lines, reason_lines, edit in found:
            edit = edit.renumbered(numbers)
            if not edit.lines & self._barred:
                lines, reason_lines = (
                    tuple(numbers[n - 1] for n in some) for some in (lines, reason_lines)
                )
                done.append(_AppliedStep(self._step(code, lines, reason_lines), edit))
        return done

    def _proved_edits(
        self,
        current: _CurrentFile,
        found: Iterable[GroupEdit],
        done: list[_AppliedStep],
        *,
        same_names: bool = False,
    ) -> list[_AppliedStep]:
        """Return group edits that are proved to change nothing together."""

        def holds(some: Sequence[_AppliedStep]) -> bool:
            """Return whether some of the edits change nothing."""
            new = self._current_file([*done, *some]).files
            if same_names and [*map(_names, current.files)] != [*map(_names, new)]:
                return False
            return all(self._compare(*pair).equal for pair in zip(current.files, new, strict=True))

        return find_valid_subset(self._permitted(current, found), holds)

    def _remove_rules(self, done: list[_AppliedStep]) -> set[int]:
        """Remove rules; return those that stay only because they are the last of a group."""
        current = self._current_file(done)
        numbers = current.numbers
        most = total_state_limit(self._max_states) // len(current.files)
        views = [ProfileView(robots, self._max_states, most) for robots in current.files]
        lines = {line for line in rule_lines(current.files[0]) if numbers[line - 1] in self._rules}
        lines = {line for line in lines if numbers[line - 1] not in self._barred}
        self._known.numbers = numbers
        greedy = GreedyRemoval(views, lines, self._known)
        for removed in greedy.run(lambda: self._report_progress(len(lines))):
            line = numbers[removed.line - 1]
            reason_lines = tuple(numbers[at - 1] for at in removed.reason_lines)
            step = self._step(removed.code, (line,), reason_lines, removed.witness)
            done.append(_AppliedStep(step, LineEdit([line])))
        self._kept = [kept._replace(line=numbers[at - 1]) for at, kept in greedy.kept.items()]
        return {numbers[line - 1] for line in greedy.last}

    def _optional(self) -> Iterator[SimplificationStep]:
        """Yield groups that could be removed if no crawler had several names."""
        current = self._current_file([])
        proved = self._proved_edits(current, self._same_as_star(current), [])
        return (applied.step for applied in proved)

    def _same_as_star(self, current: _CurrentFile) -> list[GroupEdit]:
        """Return groups with the effect of that of `*`, except those well-known crawlers need."""
        found = list(groups_same_as_star(Groups(current.files)))
        needed: dict[int, tuple[KnownCrawler, str]] = {}
        for robots in current.files if found else ():
            for first, known, instead in _without_star(robots):
                needed.setdefault(first, (known, instead))
        name = self._robots.profile.name
        # Edits are found in rounds, and the group of a crawler's next name may be removed already.
        self._needed = []
        for _, lines, _, _ in found:
            if needed_by := needed.get(lines[0]):
                line = current.numbers[lines[0] - 1]
                self._needed.append(
                    RetainedLine(
                        "well-known-crawler", line, self._text(line), name, None, *needed_by
                    )
                )
        return [edit for edit in found if edit.lines[0] not in needed]

    def _step(
        self,
        code: str,
        lines: tuple[int, ...],
        reason_lines: tuple[int, ...],
        witness: Witness | None = None,
    ) -> SimplificationStep:
        group = self._group_of[lines[0]]
        first = None if group is None else self._first_lines[group]
        return SimplificationStep(code, lines, reason_lines, self._text(lines[0]), first, witness)

    def _text(self, line: int) -> str:
        return to_text(self._texts[line].strip())

    def _report_progress(self, rules: int) -> None:
        self._work_done += 1
        if self._progress:
            total = max(rules + len(self._profiles), self._work_done)
            self._progress(self._work_done, total)

    # --- Proof --------------------------------------------------------------------------------

    def _refusal(self) -> str:
        """Return why a file is not simplified; empty if it is."""
        for robots in self._old:
            name, codes = robots.profile.name, {note.code for note in robots.notes}
            if "not-utf8" in codes:
                return (
                    "it is UTF-16, and robots.txt is UTF-8: save it as UTF-8 first, as "
                    "'robotrules lint FILE --unsafe-fixes' does"
                )
            if not get_document(robots).complete or codes & {"truncated", "cut-line"}:
                return f"it is truncated, or has longer lines than profile {name} reads"
            if len(self._texts) > MAX_LINES:
                return f"it has more than {MAX_LINES:,} lines"
            if not is_complete(robots):
                return "it names too many crawlers or purposes"
            if _rules_obeyed(robots) > MAX_RULES:
                return f"it has more than {MAX_RULES:,} rules, summed over all crawlers"
        return ""

    def _compare(self, old: RobotsTxt, new: RobotsTxt) -> FileDifference:
        return compare(old, new, literal=False, max_regions=1, max_states=self._max_states)

    def _is_proved(self, done: Sequence[_AppliedStep]) -> bool | None:
        """Return whether steps are proved to change nothing under any profile; None: undecided."""
        self._proof = None
        if not done:
            return True
        new = self._current_file(done).files
        if not _keeps_records(self._robots, new[0]):
            return False
        proofs: list[FileDifference] = []
        for pair in zip(self._old, new, strict=True):
            proofs.append(self._compare(*pair))
            if not proofs[-1].equal:
                return proofs[-1].equal
            self._report_progress(len(self._rules))
        self._proof = proofs[0]
        return True

    def _proved_steps(self, done: list[_AppliedStep], equal: bool | None) -> list[_AppliedStep]:
        """Return the steps that are proved; bar the step that breaks the proof."""
        if equal is None:
            # Undecided: keep these rules, and try the group edits again.
            rules = [d.step.lines[0] for d in done if d.step.lines[0] in self._rules]
            self._known.undecided.update(rules)
            self._barred.update(line for d in done if not rules for line in d.edit.lines)
            return []
        good, bad = 0, len(done)
        while bad - good > 1:
            half = (good + bad) // 2
            good, bad = (half, bad) if self._is_proved(done[:half]) else (good, half)
        self._barred |= done[good].edit.lines
        line, name = done[good].step.lines[0], self._robots.profile.name
        self._unproved.append(RetainedLine("not-proved", line, self._text(line), name))
        self._is_proved(done[:good])
        return done[:good]

    # --- Result -------------------------------------------------------------------------------

    def _simplification(
        self,
        done: Sequence[_AppliedStep],
        optional: tuple[SimplificationStep, ...],
        refused: str,
    ) -> Simplification:
        new = self._current_file(done).files[0] if done else self._robots
        left = [
            RetainedLine(
                "other-profile", kept.line, self._text(kept.line), kept.profile, kept.witness
            )
            for kept in self._kept
        ]
        # A merged group still names its crawlers.
        merged = {line for d in done for line in (*d.step.lines, *d.step.reason_lines)}
        left += [retained for retained in self._needed if retained.line not in merged]
        return Simplification(
            self._robots.profile.name,
            tuple(profile.name for profile in self._profiles),
            _resolve_reasons([applied.step for applied in done]),
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
            tuple(sorted([*left, *self._unproved], key=lambda retained: retained.line)),
            optional,
            refused,
        )

    def _equal_elsewhere(self, new: RobotsTxt) -> dict[str, bool | None]:
        """Return for each profile whether both files mean the same."""
        found: dict[str, bool | None] = {profile.name: True for profile in self._profiles}
        for profile in PROFILES.values():
            if profile.name not in found:
                pair = [*self._read(self._robots.body, [profile]), *self._read(new.body, [profile])]
                found[profile.name] = new is self._robots or self._compare(*pair).equal
        return found


def _resolve_reasons(steps: Sequence[SimplificationStep]) -> tuple[SimplificationStep, ...]:
    """Return steps in the order of the file, with reasons that remain in it where possible."""
    removed = {
        step.lines[0]: step.reason_lines
        for step in steps
        if step.code in ("redundant-rule", "repeated-rule")
    }
    found = []
    for step in steps:
        if step.lines[0] in removed:
            named, waiting = set(step.reason_lines), list(step.reason_lines)
            while waiting:
                more = [line for line in removed.get(waiting.pop(), ()) if line not in named]
                named.update(more)
                waiting += more
            stays = tuple(sorted(line for line in named if line not in removed))
            if stays or step.code != "repeated-rule":
                step = step._replace(reason_lines=stays)
        found.append(step)
    return tuple(sorted(found, key=lambda step: step.lines[0]))


def _rules_obeyed(robots: RobotsTxt) -> int:
    """Return the number of rules, summed over all classes of crawlers."""
    selections = {
        choose_groups(robots, crawler.product_token, crawler.purposes).indices
        for crawler in crawlers(robots)
    }
    rules = [len({(rule.allow, rule.pattern) for rule in group.rules}) for group in robots.groups]
    return sum(rules[group] for selection in selections for group in selection)


def _without_star(robots: RobotsTxt) -> Iterator[tuple[int, KnownCrawler, str]]:
    """
    Yield the first lines of groups whose crawlers would not obey the group of `*` without them.

    With the well-known crawler, and the name whose group it would obey; empty: no group.
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
    """Return a profile with a size limit of at least so many octets."""
    return profile if octets <= profile.max_bytes else profile.replace(max_bytes=octets)


def _are_same(some: Sequence[LineEdit], others: Sequence[LineEdit]) -> bool:
    return len(some) == len(others) and all(map(is_, some, others))


def _names(robots: RobotsTxt) -> tuple[bool, set[tuple[str, tuple[str, ...]]]]:
    """Return whether there is a group for `*`, and the crawlers that have a group."""
    star = bool(choose_groups(robots, EVERYONE_ELSE).indices)
    return star, {
        (fold_case(crawler.product_token), crawler.purposes) for crawler in crawlers(robots)
    }


def _keeps_records(old: RobotsTxt, new: RobotsTxt) -> bool:
    """Return whether both files have the same other records, ignoring repetitions."""
    before, after = (
        Counter((r.key, r.value) for r in robots.records if r.role is Role.OTHER)
        for robots in (old, new)
    )
    return before.keys() == after.keys()
