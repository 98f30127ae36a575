"""
Rule proofs: dead, redundant and repeated rules of a file, proved for all of its crawlers.

Most rules have a cheap proof that they are needed: they decide the URL that their pattern spells
out. Only the other rules go to the exact analysis, so a clean file of 500 KiB costs some matching
and no search. Each query has a state limit. Undecided rules are listed; nothing is guessed.
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

# States that one query may visit. Rules of real files need some hundreds.
MAX_STATES = 2_000
# Clauses that all queries about a file may use: each query has as many as the file has rules.
MOST_CLAUSES = 2_000_000
# With more wildcard rules than this, the cheap proof that a rule is needed is skipped.
MOST_WILD = 2_000
# Wildcard patterns times paths that the matcher tries, for all rules together.
MOST_TRIED = 5_000_000
INDEX = "/index.htm"


class CrawlerClass(NamedTuple):
    """Crawlers that obey the same groups."""

    crawlers: tuple[Crawler, ...]
    groups: tuple[int, ...]
    rules: RuleSet
    written: tuple[Rule, ...]
    """The same rules as values; `rules.rules` would create them anew."""

    @property
    def names(self) -> list[str]:
        """What people would call these crawlers: product tokens, purposes, everyone else."""
        return [crawler.name for crawler in displayed_crawlers(self.crawlers)]


class Proved(NamedTuple):
    """The results for rules, by line: what was proved, and the rules that were not decided."""

    found: dict[int, Any]
    undecided: dict[int, Rule]


class RuleProofs:
    """What is proved about the rules of a file. Rules without a pattern are not examined."""

    def __init__(
        self,
        crawler_classes: Iterable[CrawlerClass],
        max_states: int = MAX_STATES,
        unexamined: Iterable[Rule] = (),
    ) -> None:
        self._classes = tuple(crawler_classes)
        self._max_states = max_states
        self._states = max_states * MAX_QUERIES
        self._clauses = MOST_CLAUSES
        self._unexamined = {rule.line: rule for rule in unexamined}

    @cached_property
    def equal_patterns(self) -> dict[int, Rule]:
        """
        Rules that lose to a rule with the same pattern, by line, with that rule.

        Of equal patterns Allow wins, and of two equal rules the first (§2.2.2).
        """
        losers: dict[int, Rule] = {}
        needed: set[int] = set()
        for crawler_class in self._classes:
            winners: dict[str, Rule] = {}
            for rule in sorted(crawler_class.written, key=lambda rule: not rule.allow):
                if rule.form:
                    winner = winners.setdefault(rule.form, rule)
                    if winner is rule:
                        needed.add(rule.line)
                    else:
                        losers.setdefault(rule.line, winner)
        return {line: winner for line, winner in losers.items() if line not in needed}

    @cached_property
    def dead(self) -> dict[int, DeadRuleFinding]:
        """Rules that decide no URL for any crawler, by line."""
        return self._dead.found

    @cached_property
    def redundant(self) -> dict[int, RedundantRuleFinding]:
        """Rules that decide some URL, and whose removal would change no verdict, by line."""
        return {
            line: redundant
            for line, redundant in self._redundant.found.items()
            if line not in self.dead and not redundant.dead
        }

    @property
    def undecided(self) -> tuple[Rule, ...]:
        """Rules that were not fully decided, in file order."""
        both = self._unexamined | self._dead.undecided | self._redundant.undecided
        return tuple(both[line] for line in sorted(both))

    @cached_property
    def _dead(self) -> Proved:
        return self._prove(_deciding_rules, dead_rules)

    @cached_property
    def _redundant(self) -> Proved:
        return self._prove(_needed_rules, redundant_rules)

    @cached_property
    def decided_paths(self) -> tuple[dict[int, str], ...]:
        """For each class of crawlers, a path that a rule decides, by position of the rule."""
        return tuple(map(_find_decided_paths, self._classes))

    def _prove(
        self,
        disprove: Callable[[CrawlerClass, dict[int, str]], set[int]],
        query: Callable[..., RuleFindings],
    ) -> Proved:
        """Return the rules for which a query holds in every class of crawlers that obeys them."""
        for_all: dict[int, Any] = {}
        disproved: set[int] = set()
        undecided: dict[int, Rule] = {}
        for crawler_class, paths in zip(self._classes, self.decided_paths, strict=True):
            written = crawler_class.written
            known = disprove(crawler_class, paths)
            disproved.update(written[at].line for at in known)
            # What does not hold for one class does not hold for all.
            suspects = [
                at
                for at, rule in enumerate(written)
                if at not in known
                and rule.form[:1] in ("/", "*")
                and rule.line not in disproved
                and rule.line not in self.equal_patterns
            ]
            proofs, unresolved = self._run_query(crawler_class, suspects, query)
            for proof in proofs:
                for_all.setdefault(proof.rule.line, proof)
            for rule in unresolved:
                undecided.setdefault(rule.line, rule)
            open_lines = {proof.rule.line for proof in proofs} | {rule.line for rule in unresolved}
            lines = {written[at].line for at in suspects}
            disproved.update(lines - open_lines)
        for line in disproved:
            for_all.pop(line, None)
            undecided.pop(line, None)
        return Proved({n: o for n, o in for_all.items() if n not in undecided}, undecided)

    def _run_query(
        self,
        crawler_class: CrawlerClass,
        suspects: Sequence[int],
        query: Callable[..., RuleFindings],
    ) -> tuple[tuple[Any, ...], tuple[Rule, ...]]:
        """Return what the exact analysis proves, and the rules beyond the budget of the file."""
        clauses = len(crawler_class.written)
        most = self._clauses // clauses if clauses and self._states else 0
        among, rest = suspects[:most], suspects[most:]
        unresolved = tuple(crawler_class.written[at] for at in rest)
        if not among:
            return (), unresolved
        self._clauses -= len(among) * clauses
        found = query(
            crawler_class.rules, among=among, max_states=min(self._max_states, self._states)
        )
        self._states = max(self._states - found.states, 0)
        return found.rules, (*found.undecided, *unresolved)


# --- Cheap proofs ---------------------------------------------------------------------------------


def _deciding_rules(crawler_class: CrawlerClass, decided_paths: dict[int, str]) -> set[int]:
    """Return the positions of rules that are known to decide a path."""
    return set(decided_paths)


def count_affordable(written: Sequence[Rule], paths: int) -> int:
    """Return for how many rules the matcher can try *paths* paths each, against all rules."""
    wild = sum("*" in rule.form for rule in written)
    return MOST_TRIED // (paths * wild) if wild else len(written)


def _find_decided_paths(crawler_class: CrawlerClass) -> dict[int, str]:
    written, rules = crawler_class.written, crawler_class.rules
    decided: dict[int, str] = {}
    for at, rule in enumerate(written[: count_affordable(written, 2)]):
        for path in sample_paths(rule):
            if rules.decide(ORIGIN + path) >> 2 == at:
                decided[at] = path
                break
    return decided


def sample_paths(rule: Rule) -> Iterator[str]:
    """Yield paths that a pattern spells out, with each `*` empty and with each `*` filled."""
    form = rule.form.removesuffix("$")
    if form[:1] in ("/", "*"):
        for filled in ("", "x")[: 1 + form.count("*")]:
            path = form.replace("*", filled)
            yield path if path.startswith("/") else "/" + path


def _needed_rules(crawler_class: CrawlerClass, decided_paths: dict[int, str]) -> set[int]:
    """Return the positions of rules without which a known path would get another verdict."""
    prefixes = PlainPatternIndex(crawler_class)
    if len(prefixes.others) > MOST_WILD:
        return set()
    needed = set()
    for at, path in decided_paths.items():
        others = [(rule.octets, rule.allow) for n, rule in prefixes.matching(path) if n != at]
        most = max(others)[0] if others else 0
        # Where nothing matches, the URL is allowed (§2.2.2).
        allowed = not others or any(allow for octets, allow in others if octets == most)
        if allowed != crawler_class.written[at].allow:
            needed.add(at)
    return needed


class PlainPatternIndex:
    """
    Finds the rules that match a path: plain patterns by prefix lookup, the others by matching.

    It only saves queries: a rule that looks redundant here goes to the exact analysis.
    """

    def __init__(self, crawler_class: CrawlerClass) -> None:
        self._written = written = crawler_class.written
        profile = crawler_class.rules.profile
        self._plain: dict[str, list[int]] = {}
        self.others: list[int] = []
        """Positions of rules with `*` or `$`, each of which is matched."""
        for at, rule in enumerate(written):
            if not rule.form:
                continue  # a rule without a path matches nothing
            if profile.index_page or "*" in rule.form or rule.form.endswith("$"):
                self.others.append(at)
            else:
                self._plain.setdefault(rule.form, []).append(at)
        self._sizes = sorted({len(form) for form in self._plain})
        patterns = [written[at].form for at in self.others]
        self._rules = RuleSet.from_patterns(patterns, profile)

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
                # Patterns are compiled as Allow rules, and only an Allow for an index page also
                # matches its directory (AMB-47).
                if rule.allow or INDEX not in rule.form or INDEX in path:
                    yield at, rule
