"""
Small worlds: all paths up to some size over a few tokens, and random rule sets to put to them.

In a world everything can be tried: who decides each path, which verdicts differ, which path is the
shortest. What is tried is `RuleSet.decide_many()` and nothing else; nothing here knows automata.
Tokens are more than letters where normal forms are at stake: an escape, a raw octet, the name of an
index page. A token that no pattern has stands for all the octets nobody asks about.
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

# Of each world: what patterns are made of, what paths are made of, and of how many tokens at most.
WORLDS: tuple[tuple[tuple[str, ...], tuple[str, ...], int], ...] = (
    (("a", "b", "/"), ("a", "b", "x", "/"), 5),
    (("a", "/"), ("a", "x", "/"), 6),
    # Pieces that begin as they end: where one does not fit, another may have begun before.
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


class World:
    """Every path of some tokens, in normal form, the shorter ones first."""

    def __init__(self, number: int, profile: str) -> None:
        self.letters, tokens, most = WORLDS[number]
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
        """Compile rules; the first stands on line 2."""
        lines = [f"{'Allow' if allow else 'Disallow'}: {value}" for value, allow in rules]
        body = "\n".join(["User-agent: *", *lines])
        return robotrules.parse(body, self.profile, engine=engine).rules_for("a")

    def matched(self, rule: Rule) -> frozenset[int]:
        """Return the paths that a rule decides if there is no other."""
        if rule not in self._matched:
            decided = self.read([rule]).decide_many(self.urls)  # type: ignore[attr-defined]
            self._matched[rule] = frozenset(n for n, found in enumerate(decided) if found >= 0)
        return self._matched[rule]


class Trial(NamedTuple):
    """Who decides each path of a world: the position of the rule, or None."""

    allowed: list[bool]
    deciders: list[int | None]
    by_rule: dict[int, list[int]]
    """The paths each rule decides, shortest first."""


def tried(world: World, rules: RuleSet) -> Trial:
    """Ask about every path."""
    answers: list[int] = rules.decide_many(world.urls)  # type: ignore[attr-defined]
    by_answer: dict[int, list[int]] = {}
    for number, answer in enumerate(answers):
        if answer in by_answer:
            by_answer[answer].append(number)
        else:
            by_answer[answer] = [number]
    # As RuleSet has it: no rule is below 0; what one says is in its two lowest bits.
    says = {answer: answer < 0 or bool(answer & 3) for answer in by_answer}
    who = {answer: answer >> 2 if answer >= 0 else None for answer in by_answer}
    return Trial(
        [says[answer] for answer in answers],
        [who[answer] for answer in answers],
        {rule: by_answer[answer] for answer, rule in who.items() if rule is not None},
    )


def world_of(number: int, profile: str) -> World:
    """Return a world; all of them in turn."""
    return _made(number % len(WORLDS), profile)


@cache
def _made(number: int, profile: str) -> World:
    return World(number, profile)


def drawn(world: World, seed: str) -> tuple[list[Rule], list[Rule]]:
    """Draw two rule sets, the second mostly made of the first; the same for the same seed."""
    chance = Random(seed)
    most = chance.choice((2, 3, 4, 5, 6))
    old = [_rule(world, chance) for _ in range(chance.randint(1, most))]
    new = list(old)
    for _ in range(chance.choice((0, 1, 1, 2, 3))):
        at = chance.randrange(len(new) + 1)
        match chance.randrange(5):
            case 0:
                new.insert(at, _rule(world, chance))
            case 1 if new:
                new.pop(at - 1)
            case 2 if new:
                new[at - 1] = new[at - 1][0], not new[at - 1][1]
            case 3 if new:
                new[at - 1] = _rule(world, chance)[0], new[at - 1][1]
            case _:
                chance.shuffle(new)
    if chance.random() < 0.1:
        new = [_rule(world, chance) for _ in range(chance.randint(0, most))]
    return old, new


def _rule(world: World, chance: Random) -> Rule:
    parts = chance.choices((*world.letters, "*"), k=chance.choice((0, 1, 1, 2, 2, 3, 4)))
    first = chance.choice(("/", "/", "/", "/", "/*", "*"))
    end = chance.choice(("", "", "", "$", "*$"))
    if chance.random() < 0.03:
        first, end = chance.choice((("", ""), ("a", ""), ("", "$")))
        parts = parts[:1] if first else []
    return first + "".join(parts) + end, chance.random() < 0.5
