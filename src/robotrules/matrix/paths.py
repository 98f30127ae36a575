"""
Which paths are asked about: `/`, and those that show best what the rules of a file do.

A path is made from a rule, as the plainest URL that the rule decides. Paths are told apart by their
first part, so that a reader knows the places of the site again; those that tell crawlers apart come
first, and those that say no more than `/` are left out. It does not know crawlers: only rule sets
and how many obey each.
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

# Columns beside `/`. More do not fit on a screen.
MOST_PATHS = 9
# Rules that are looked at, and those for which a URL has to be found, in all sets together; each
# set has its share of them, and at least so many.
MOST_RULES, LEAST_RULES = 400, 10
MOST_SOUGHT, LEAST_SOUGHT = 60, 2
# Rules of a set for which a shortest URL is sought: all of them are compiled for each.
MOST_COMPILED = 200
# Nobody reads a longer heading.
LONGEST = 48
# A small one: what is not found soon is not worth a column.
BUDGET = 2_000

Verdicts = tuple[bool, ...]


class _Candidate(NamedTuple):
    """A path that a rule decides."""

    path: str
    line: int
    said: Verdicts
    """What each rule set says about it."""
    weight: int
    """How many crawlers obey a set with a rule that is about this place alone."""


def url_of(path: str) -> str:
    """Return what is asked about for a path; what starts with // alone would be read as a host."""
    return ORIGIN + path if path.startswith("/") else path


def columns(sets: Sequence[tuple[RuleSet, int]], most: int = MOST_PATHS) -> tuple[Column, ...]:
    """Return the paths to ask about; each rule set comes with how many crawlers obey it."""
    rule_sets = [rules for rules, _ in sets]
    root = _said(rule_sets, ["/"])[0]
    candidates = list(_candidates(sets))
    apart = [one for one in candidates if one.said != root]
    # What says no more than `/` is worth a column only as an exception to what does.
    told = apart + [one for one in candidates if one.said == root and _is_exception(one, apart)]
    chosen: list[_Candidate] = []
    alike = Counter([root])
    places: Counter[str] = Counter()
    shown: set[tuple[str, Verdicts]] = set()
    while told and len(chosen) < most:
        # What tells crawlers apart counts double, and each further column like another less.
        def worth(one: _Candidate) -> tuple[float, int]:
            """Return how much a column would tell, given what is chosen."""
            double = 2 if len(set(one.said)) > 1 else 1
            seen = 1 + alike[one.said] + 3 * places[_place(one.path)]
            return double * one.weight / seen, -one.line

        best = max(told, key=worth)
        told.remove(best)
        place = _place(best.path)
        if (place, best.said) in shown:
            continue  # the same place, and the same answers
        chosen.append(best)
        shown.add((place, best.said))
        alike[best.said] += 1
        places[place] += 1
    chosen.sort(key=lambda one: one.line)
    return Column("/"), *(Column(one.path, one.line) for one in chosen)


def _is_exception(one: _Candidate, others: Iterable[_Candidate]) -> bool:
    """Tell whether a path lies in a place of which something else is said."""
    return any(one.path.startswith(other.path) for other in others)


def _place(path: str) -> str:
    """Return the first part of a path, by which people know where on a site it is."""
    return re.split(r"[/?.]", path[1:], maxsplit=1)[0].lower()


def _said(sets: Sequence[RuleSet], paths: Sequence[str]) -> list[Verdicts]:
    """Return what each rule set says about each path."""
    urls = [url_of(path) for path in paths]
    return list(zip(*(rules.allows_many(urls) for rules in sets), strict=True))


def _candidates(sets: Sequence[tuple[RuleSet, int]]) -> Iterator[_Candidate]:
    """Yield paths that rules decide, each path once."""
    lines: dict[str, int] = {}
    weights: Counter[str] = Counter()
    for rules, weight in sorted(sets, key=lambda one: -one[1]):
        plain = _Plain(max(MOST_SOUGHT // len(sets), LEAST_SOUGHT))
        for rule in _spread(rules.rules, max(MOST_RULES // len(sets), LEAST_RULES)):
            path = plain.path(rules, rule)
            if path is not None and path != "/":
                lines.setdefault(path, rule.line)
                weights[path] += weight
    paths = list(lines)
    for path, said in zip(paths, _said([rules for rules, _ in sets], paths), strict=True):
        yield _Candidate(path, lines[path], said, weights[path])


def _spread(rules: Sequence[Rule], most: int) -> Iterable[Rule]:
    """Return the rules, or of very many some from everywhere in the file."""
    step = -(-len(rules) // most) if rules else 1
    return rules[::step]


class _Plain:
    """Finds plain paths for rules, and stops looking after a while."""

    def __init__(self, most: int) -> None:
        self._left = most

    def path(self, rules: RuleSet, rule: Rule) -> str | None:
        """Return the plainest path that a rule of a set decides, if one is soon found."""
        for path in self._tries(rules, rule):
            if len(path) <= LONGEST and path.isprintable():
                decided = rules.check(url_of(path)).rule
                if decided is not None and decided.line == rule.line:
                    return path
        return None

    def _tries(self, rules: RuleSet, rule: Rule) -> Iterator[str]:
        form = rule.form.removesuffix("$")
        if not rule.pattern or len(form) - form.count("*") > LONGEST:
            return  # what it matches is longer still
        if "*" not in form and form.startswith("/"):
            yield form
        self._left -= 1
        if self._left < 0:
            return
        found = [one.path for one in describe(rule.pattern, rules.profile).matches]
        # The shortest is seldom the plainest: `//print` for `/*/print`.
        yield from sorted(found, key=lambda path: "//" in path or path.startswith("/."))
        # Exact, but all rules of the set are compiled for it.
        shortest = witness(rules, rule, budget=BUDGET) if len(rules) <= MOST_COMPILED else None
        if isinstance(shortest, Witness):
            yield shortest.path
