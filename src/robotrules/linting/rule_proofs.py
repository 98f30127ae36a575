"""
Exact: what the analysis proves about the rules of a file, for all its crawlers at once.

Most rules show at a glance that they decide something: the URL that a pattern spells out is put to
the matcher, and that is a proof. Only rules that fail at that are put to the exact analysis, so a
clean file of 500 KiB costs some matching and no search. What is asked has a budget, and what was
not decided is counted: a check says so and never guesses. It does not know what notes are.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cached_property
from typing import Any, NamedTuple

from robotrules.analysis.crawlers import Crawler, displayed_crawlers
from robotrules.analysis.rules import dead_rules, redundant_rules
from robotrules.analysis.solver import MAX_QUERIES
from robotrules.analysis.values import ORIGIN, DeadRuleFinding, RedundantRuleFinding, RuleFindings
from robotrules.robotstxt.ruleset import RuleSet
from robotrules.robotstxt.values import Rule

# States that one question may see. Rules of real files need some hundreds.
BUDGET = 2_000
# Rungs that all questions about a file may climb: each costs as many as the file has rules.
MOST_RUNGS = 2_000_000
# With more rules that have wildcards than this, which one is needed is not looked at.
MOST_WILD = 2_000
# Patterns with wildcards that are tried on paths, for all rules together: each is tried on each.
MOST_TRIED = 5_000_000
INDEX = "/index.htm"


class Kind(NamedTuple):
    """Crawlers that obey the same groups."""

    crawlers: tuple[Crawler, ...]
    groups: tuple[int, ...]
    rules: RuleSet
    written: tuple[Rule, ...]
    """The rules as values, as `rules.rules` would make them anew."""

    @property
    def names(self) -> list[str]:
        """What people would call these crawlers: product tokens, purposes, everyone else."""
        return [crawler.name for crawler in displayed_crawlers(self.crawlers)]


class Answers(NamedTuple):
    """What was proved of rules, by line."""

    found: dict[int, Any]
    undecided: dict[int, Rule]


class Exact:
    """The exact answers about the rules of a file. Rules without a pattern are not asked about."""

    def __init__(
        self, kinds: Iterable[Kind], budget: int = BUDGET, unasked: Iterable[Rule] = ()
    ) -> None:
        self._kinds = tuple(kinds)
        self._budget = budget
        self._states = budget * MAX_QUERIES
        self._rungs = MOST_RUNGS
        self._unasked = {rule.line: rule for rule in unasked}

    @cached_property
    def twins(self) -> dict[int, Rule]:
        """
        Rules that lose to one with the same pattern, by line, with that rule.

        Of equal patterns Allow wins, and of two that say the same the first (§2.2.2).
        """
        found: dict[int, Rule] = {}
        needed: set[int] = set()
        for kind in self._kinds:
            winners: dict[str, Rule] = {}
            for rule in sorted(kind.written, key=lambda rule: not rule.allow):
                if rule.form:
                    winner = winners.setdefault(rule.form, rule)
                    if winner is rule:
                        needed.add(rule.line)
                    else:
                        found.setdefault(rule.line, winner)
        return {line: winner for line, winner in found.items() if line not in needed}

    @cached_property
    def dead(self) -> dict[int, DeadRuleFinding]:
        """Rules that decide no URL for any crawler, by line."""
        return self._dead.found

    @cached_property
    def redundant(self) -> dict[int, RedundantRuleFinding]:
        """Rules that decide something, and without which nothing would change, by line."""
        return {
            line: one
            for line, one in self._redundant.found.items()
            if line not in self.dead and not one.dead
        }

    @property
    def undecided(self) -> tuple[Rule, ...]:
        """Rules of which something was not decided, in the order of the file."""
        both = self._unasked | self._dead.undecided | self._redundant.undecided
        return tuple(both[line] for line in sorted(both))

    @cached_property
    def _dead(self) -> Answers:
        return self._answered(_deciding, dead_rules)

    @cached_property
    def _redundant(self) -> Answers:
        return self._answered(_needed, redundant_rules)

    @cached_property
    def decided(self) -> tuple[dict[int, str], ...]:
        """For each kind, paths that rules are known to decide, by the positions of the rules."""
        return tuple(map(_decided, self._kinds))

    def _answered(
        self, glance: Callable[[Kind, dict[int, str]], set[int]], ask: Callable[..., RuleFindings]
    ) -> Answers:
        """Return what holds of a rule for each kind of crawlers that it is for."""
        for_all: dict[int, Any] = {}
        not_so: set[int] = set()
        undecided: dict[int, Rule] = {}
        for kind, decided in zip(self._kinds, self.decided, strict=True):
            written = kind.written
            known = glance(kind, decided)
            not_so.update(written[at].line for at in known)
            # What does not hold for one kind holds not for all, whatever the others say.
            suspects = [
                at
                for at, rule in enumerate(written)
                if at not in known
                and rule.form[:1] in ("/", "*")
                and rule.line not in not_so
                and rule.line not in self.twins
            ]
            found, open_ones = self._asked(kind, suspects, ask)
            for one in found:
                for_all.setdefault(one.rule.line, one)
            for rule in open_ones:
                undecided.setdefault(rule.line, rule)
            held = {one.rule.line for one in found} | {rule.line for rule in open_ones}
            not_so.update(written[at].line for at in suspects if written[at].line not in held)
        for line in not_so:
            for_all.pop(line, None)
            undecided.pop(line, None)
        return Answers({n: o for n, o in for_all.items() if n not in undecided}, undecided)

    def _asked(
        self, kind: Kind, suspects: Sequence[int], ask: Callable[..., RuleFindings]
    ) -> tuple[tuple[Any, ...], tuple[Rule, ...]]:
        """Put rules to the exact analysis, as far as the budget of the file goes."""
        clauses = len(kind.written)
        most = self._rungs // clauses if clauses and self._states else 0
        asked, rest = suspects[:most], suspects[most:]
        open_ones = tuple(kind.written[at] for at in rest)
        if not asked:
            return (), open_ones
        self._rungs -= len(asked) * clauses
        found = ask(kind.rules, among=asked, budget=min(self._budget, self._states))
        self._states = max(self._states - found.states, 0)
        return found.rules, (*found.undecided, *open_ones)


# --- At a glance ----------------------------------------------------------------------------------


def _deciding(kind: Kind, decided: dict[int, str]) -> set[int]:
    """Return the positions of rules that a path is known for which they decide."""
    return set(decided)


def affordable(written: Sequence[Rule], paths: int) -> int:
    """Return for how many rules so many paths can be put to the matcher, each against all."""
    wild = sum("*" in rule.form for rule in written)
    return MOST_TRIED // (paths * wild) if wild else len(written)


def _decided(kind: Kind) -> dict[int, str]:
    found: dict[int, str] = {}
    for at, rule in enumerate(kind.written[: affordable(kind.written, 2)]):
        for path in spelled_out(rule):
            if kind.rules.decide(ORIGIN + path) >> 2 == at:
                found[at] = path
                break
    return found


def spelled_out(rule: Rule) -> Iterator[str]:
    """Yield paths that a pattern spells out, with nothing and with something for each `*`."""
    form = rule.form.removesuffix("$")
    if form[:1] in ("/", "*"):
        for filled in ("", "x")[: 1 + form.count("*")]:
            path = form.replace("*", filled)
            yield path if path.startswith("/") else "/" + path


def _needed(kind: Kind, decided: dict[int, str]) -> set[int]:
    """Return the positions of rules without which a known path would get another verdict."""
    prefixes = Prefixes(kind)
    if len(prefixes.others) > MOST_WILD:
        return set()
    needed = set()
    for at, path in decided.items():
        found = [(rule.octets, rule.allow) for n, rule in prefixes.matching(path) if n != at]
        most = max(found)[0] if found else 0
        # Where nothing matches, the URL is allowed (§2.2.2).
        allowed = not found or any(allow for octets, allow in found if octets == most)
        if allowed != kind.written[at].allow:
            needed.add(at)
    return needed


class Prefixes:
    """
    Finds the rules that match a path: plain ones by its beginnings, the others by matching.

    This spares questions, and answers none: what it takes for redundant is put to the analysis.
    """

    def __init__(self, kind: Kind) -> None:
        self._written = kind.written
        self._plain: dict[str, list[int]] = {}
        self.others: list[int] = []
        """Rules with `*` or `$`, each of which is tried."""
        by_directory = kind.rules.profile.index_page
        for at, rule in enumerate(kind.written):
            if not rule.form:
                continue  # a rule without a path matches nothing
            if by_directory or "*" in rule.form or rule.form.endswith("$"):
                self.others.append(at)
            else:
                self._plain.setdefault(rule.form, []).append(at)
        self._sizes = sorted({len(form) for form in self._plain})
        patterns = [kind.written[at].form for at in self.others]
        self._rules = RuleSet.from_patterns(patterns, kind.rules.profile)

    def matching(self, path: str) -> Iterator[tuple[int, Rule]]:
        """Yield the rules that match a path in normal form, with their positions."""
        for size in self._sizes:
            if size > len(path):
                break
            yield from ((at, self._written[at]) for at in self._plain.get(path[:size], ()))
        if self.others:
            for number, _ in self._rules.find_matches(ORIGIN + path)[1]:
                at = self.others[number]
                rule = self._written[at]
                # Patterns are compiled as those of Allow, and only an Allow for an index page is
                # for its directory too (AMB-47).
                if rule.allow or INDEX not in rule.form or INDEX in path:
                    yield at, rule
