"""
The paths of a matrix: `/`, and paths that show best what the rules of a file do.

A path is derived from a rule: the plainest URL that the rule decides. Paths are grouped by their
first segment, which identifies a section of the site; paths that distinguish crawlers come first,
and paths with the verdicts of `/` are left out. The module uses rule sets and the number of
crawlers that obey each; it does not use crawlers.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from robotrules.analysis import Witness, describe, witness
from robotrules.analysis.values import ORIGIN
from robotrules.matrix.values import Column
from robotrules.robotstxt.ruleset import RuleSet
from robotrules.robotstxt.values import Rule

# Columns besides `/`. More do not fit on a screen.
MAX_PATHS = 9
# Rules to consider, and rules to search a URL for, in all sets together; each set has an equal
# share of them, and at least the minimum.
MAX_RULES, MIN_RULES = 400, 10
MAX_SEARCHES, MIN_SEARCHES = 60, 2
# In a larger set no shortest URL is searched: each search compiles all rules.
MAX_COMPILED = 200
# A longer heading is unreadable.
MAX_LENGTH = 48
# A small limit: a path that is hard to find is not worth a column.
MAX_STATES = 2_000

Verdicts = tuple[bool, ...]


class _Candidate(NamedTuple):
    """A path that a rule decides."""

    path: str
    line: int
    verdicts: Verdicts
    """The verdict of each rule set on it."""
    weight: int
    """The number of crawlers that obey a set with a rule for this path."""


def url_of(path: str) -> str:
    """Return the URL of a path; one that starts with // would be read as a host."""
    return ORIGIN + path if path.startswith("/") else path


def columns(sets: Sequence[tuple[RuleSet, int]], most: int = MAX_PATHS) -> tuple[Column, ...]:
    """Return the paths to show; each rule set comes with the number of crawlers that obey it."""
    rule_sets = [rules for rules, _ in sets]
    root = _verdicts(rule_sets, ["/"])[0]
    candidates = list(_candidates(sets))
    different = [c for c in candidates if c.verdicts != root]
    # A path with the verdicts of `/` is shown only as an exception to another path.
    left = different + [c for c in candidates if c.verdicts == root and _is_exception(c, different)]
    chosen: list[_Candidate] = []
    same_verdicts = Counter([root])
    sections: Counter[str] = Counter()
    shown: set[tuple[str, Verdicts]] = set()
    while left and len(chosen) < most:
        # A path that distinguishes crawlers counts double; each similar column reduces the score.
        def score(candidate: _Candidate) -> tuple[float, int]:
            """Return the value of a further column, given those that are chosen."""
            double = 2 if len(set(candidate.verdicts)) > 1 else 1
            section = sections[_section(candidate.path)]
            similar = 1 + same_verdicts[candidate.verdicts] + 3 * section
            return double * candidate.weight / similar, -candidate.line

        best = max(left, key=score)
        left.remove(best)
        section = _section(best.path)
        if (section, best.verdicts) in shown:
            continue  # the same section and the same verdicts
        chosen.append(best)
        shown.add((section, best.verdicts))
        same_verdicts[best.verdicts] += 1
        sections[section] += 1
    chosen.sort(key=lambda candidate: candidate.line)
    return Column("/"), *(Column(candidate.path, candidate.line) for candidate in chosen)


def _is_exception(candidate: _Candidate, others: Iterable[_Candidate]) -> bool:
    """Return whether a path is below another one with different verdicts."""
    return any(candidate.path.startswith(other.path) for other in others)


def _section(path: str) -> str:
    """Return the first segment of a path, which identifies a section of the site."""
    return re.split(r"[/?.]", path[1:], maxsplit=1)[0].lower()


def _verdicts(sets: Sequence[RuleSet], paths: Sequence[str]) -> list[Verdicts]:
    """Return the verdict of each rule set on each path."""
    urls = [url_of(path) for path in paths]
    return list(zip(*(rules.allows_many(urls) for rules in sets), strict=True))


def _candidates(sets: Sequence[tuple[RuleSet, int]]) -> Iterator[_Candidate]:
    """Yield paths that rules decide, each path once."""
    lines: dict[str, int] = {}
    weights: Counter[str] = Counter()
    for rules, weight in sorted(sets, key=lambda pair: -pair[1]):
        finder = _PathFinder(max(MAX_SEARCHES // len(sets), MIN_SEARCHES))
        for rule in _spread(rules.rules, max(MAX_RULES // len(sets), MIN_RULES)):
            path = finder.path(rules, rule)
            if path is not None and path != "/":
                lines.setdefault(path, rule.line)
                weights[path] += weight
    paths = list(lines)
    verdicts = _verdicts([rules for rules, _ in sets], paths)
    for path, of_path in zip(paths, verdicts, strict=True):
        yield _Candidate(path, lines[path], of_path, weights[path])


def _spread(rules: Sequence[Rule], most: int) -> Iterable[Rule]:
    """Return the rules, or an evenly spaced selection if there are very many."""
    step = -(-len(rules) // most) if rules else 1
    return rules[::step]


class _PathFinder:
    """Finds plain paths for rules, with a limit on searches."""

    def __init__(self, most: int) -> None:
        self._left = most

    def path(self, rules: RuleSet, rule: Rule) -> str | None:
        """Return the plainest path that a rule of a set decides, if one is found quickly."""
        for path in self._candidates(rules, rule):
            if len(path) <= MAX_LENGTH and path.isprintable():
                decided = rules.check(url_of(path)).rule
                if decided is not None and decided.line == rule.line:
                    return path
        return None

    def _candidates(self, rules: RuleSet, rule: Rule) -> Iterator[str]:
        form = rule.form.removesuffix("$")
        if not rule.pattern or len(form) - form.count("*") > MAX_LENGTH:
            return  # its matches are longer still
        if "*" not in form and form.startswith("/"):
            yield form
        self._left -= 1
        if self._left < 0:
            return
        found = [match.path for match in describe(rule.pattern, rules.profile).matches]
        # The shortest is seldom the plainest: `//print` for `/*/print`.
        yield from sorted(found, key=lambda path: "//" in path or path.startswith("/."))
        # Exact, but compiles all rules of the set.
        shortest = (
            witness(rules, rule, max_states=MAX_STATES) if len(rules) <= MAX_COMPILED else None
        )
        if isinstance(shortest, Witness):
            yield shortest.path
