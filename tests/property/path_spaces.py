"""
Path spaces: all paths up to some size over a few tokens, and random rule sets.

A space is small enough for exhaustive testing: the rule that decides each path, the verdicts that
differ, the shortest path. Only `RuleSet.decide_many()` is used, and no automata. Some tokens are
longer than a letter, to test normal forms: an escape, a raw octet, the name of an index page. A
token that no pattern contains represents all other octets.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from itertools import product
from random import Random
from types import ModuleType
from typing import NamedTuple

import robotrules
from robotrules import RuleSet

Rule = tuple[str, bool]
ORIGIN = "https://example.com"

# Of each space: the tokens of patterns, the tokens of paths, and the highest number of tokens.
SPACES: tuple[tuple[tuple[str, ...], tuple[str, ...], int], ...] = (
    (("a", "b", "/"), ("a", "b", "x", "/"), 5),
    (("a", "/"), ("a", "x", "/"), 6),
    # Pieces that overlap with themselves: after a mismatch, another match may have begun.
    (("a", "b", "aab", "aba", "abaab"), ("a", "b"), 8),
    (("a", "?", "=", "/", "&"), ("a", "x", "?", "=", "/"), 4),
    (("a", "%2F", "%61", "é", "%C3", "/"), ("a", "x", "%2f", "é", "/"), 4),
    ((".", "a", "/", "?", "..", "$"), (".", "a", "/", "?", "x"), 4),
    (
        ("/robots.txt", "/index.htm", "index.html", "a", "/", "l"),
        ("robots.txt", "index.htm", "l", "a", "/"),
        4,
    ),
)


class PathSpace:
    """Every path of some tokens, in normal form, the shorter ones first."""

    def __init__(self, number: int, profile: str) -> None:
        self.letters, tokens, most = SPACES[number]
        self.profile = profile
        form = robotrules.parse("", profile).rules_for("a").find_matches
        spelled = (
            "/" + "".join(chosen)
            for size in range(most + 1)
            for chosen in product(tokens, repeat=size)
        )
        forms = {form(ORIGIN + text)[0].decode() for text in spelled}
        self.paths = sorted(forms, key=lambda path: (len(path.encode()), path))
        self.octets = [len(path.encode()) for path in self.paths]
        self.at = {path: number for number, path in enumerate(self.paths)}
        self.urls = [ORIGIN + path for path in self.paths]
        self._matched: dict[Rule, frozenset[int]] = {}

    def read(self, rules: Sequence[Rule], engine: ModuleType | None = None) -> RuleSet:
        """Compile rules; the first is on line 2."""
        lines = [f"{'Allow' if allow else 'Disallow'}: {value}" for value, allow in rules]
        body = "\n".join(["User-agent: *", *lines])
        return robotrules.parse(body, self.profile, engine=engine).rules_for("a")

    def matched(self, rule: Rule) -> frozenset[int]:
        """Return the paths that a rule decides if it is the only one."""
        if rule not in self._matched:
            decided = self.read([rule]).decide_many(self.urls)  # type: ignore[attr-defined]
            self._matched[rule] = frozenset(n for n, found in enumerate(decided) if found >= 0)
        return self._matched[rule]


class Decisions(NamedTuple):
    """The verdict on each path of a space, and the position of the deciding rule, or None."""

    allowed: list[bool]
    deciders: list[int | None]
    by_rule: dict[int, list[int]]
    """The paths each rule decides, shortest first."""


def decide_all(space: PathSpace, rules: RuleSet) -> Decisions:
    """Decide every path."""
    answers: list[int] = rules.decide_many(space.urls)  # type: ignore[attr-defined]
    by_answer: dict[int, list[int]] = {}
    for number, answer in enumerate(answers):
        if answer in by_answer:
            by_answer[answer].append(number)
        else:
            by_answer[answer] = [number]
    # The encoding of RuleSet: negative if no rule decides; the verdict is in the two lowest bits.
    allowed = {answer: answer < 0 or bool(answer & 3) for answer in by_answer}
    deciders = {answer: answer >> 2 if answer >= 0 else None for answer in by_answer}
    return Decisions(
        [allowed[answer] for answer in answers],
        [deciders[answer] for answer in answers],
        {rule: by_answer[answer] for answer, rule in deciders.items() if rule is not None},
    )


def get_space(number: int, profile: str) -> PathSpace:
    """Return a space, in rotation."""
    return _make_space(number % len(SPACES), profile)


@cache
def _make_space(number: int, profile: str) -> PathSpace:
    return PathSpace(number, profile)


def draw_rule_sets(space: PathSpace, seed: str) -> tuple[list[Rule], list[Rule]]:
    """Draw two rule sets, the second mostly made of the first; the same for the same seed."""
    chance = Random(seed)
    most = chance.choice((2, 3, 4, 5, 6))
    old = [_draw_rule(space, chance) for _ in range(chance.randint(1, most))]
    new = list(old)
    for _ in range(chance.choice((0, 1, 1, 2, 3))):
        at = chance.randrange(len(new) + 1)
        match chance.randrange(5):
            case 0:
                new.insert(at, _draw_rule(space, chance))
            case 1 if new:
                new.pop(at - 1)
            case 2 if new:
                new[at - 1] = new[at - 1][0], not new[at - 1][1]
            case 3 if new:
                new[at - 1] = _draw_rule(space, chance)[0], new[at - 1][1]
            case _:
                chance.shuffle(new)
    if chance.random() < 0.1:
        new = [_draw_rule(space, chance) for _ in range(chance.randint(0, most))]
    return old, new


def _draw_rule(space: PathSpace, chance: Random) -> Rule:
    parts = chance.choices((*space.letters, "*"), k=chance.choice((0, 1, 1, 2, 2, 3, 4)))
    first = chance.choice(("/", "/", "/", "/", "/*", "*"))
    end = chance.choice(("", "", "", "$", "*$"))
    if chance.random() < 0.03:
        first, end = chance.choice((("", ""), ("a", ""), ("", "$")))
        parts = parts[:1] if first else []
    return first + "".join(parts) + end, chance.random() < 0.5
