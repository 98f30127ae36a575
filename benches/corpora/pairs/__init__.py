"""
Pairs of generated files: equivalent rules written differently, and the same with one rule changed.

Shapes are `literal`, `mixed`, `wildcard`, and `tangled`, which is hostile. The rules of a smaller
file are the first ones of a larger. See README.md beside this file.
"""

from __future__ import annotations

import random
from string import ascii_letters
from typing import Literal

from corpora.words import EXTENSIONS, WORDS

Shape = Literal["literal", "mixed", "wildcard", "tangled"]
Rule = tuple[str, bool]
MAX_RULES = 5_000


def make_rules(count: int, shape: Shape) -> list[Rule]:
    """Return *count* rules of a shape: path pattern, and whether it allows."""
    chance = random.Random(f"robotrules pairs {shape}")
    if shape == "tangled":
        return _make_tangled(chance, count)
    rules: list[Rule] = []
    for number in range(MAX_RULES):
        pattern = _make_pattern(chance, number, shape)
        if number % 10 in (4, 9):
            # An exception to an earlier rule, and a rule that an earlier one makes redundant.
            earlier = rules[number - chance.randint(1, 4)][0]
            if not earlier.endswith("$"):
                pattern = f"{earlier}{chance.choice(WORDS)}/"
        rules.append((pattern, number % 10 == 4))
    return rules[:count]


def rewrite(rules: list[Rule]) -> list[Rule]:
    """
    Return equivalent rules in another order, none of them written as before.

    Each gets an additional star that changes nothing but makes it one octet more specific.
    """
    rewritten = [(_add_star(pattern), allow) for pattern, allow in rules]
    random.Random("robotrules rewritten").shuffle(rewritten)
    return rewritten


def change_one(rules: list[Rule]) -> list[Rule]:
    """Return rewritten rules with one rule changed: an octet appended to a Disallow rule."""
    changed = rewrite(rules)
    open_ended = [
        number
        for number, (pattern, allow) in enumerate(changed)
        if not allow and not pattern.endswith("$")
    ]
    at = open_ended[len(open_ended) // 2]
    changed[at] = f"{changed[at][0].rstrip('*')}~", False
    return changed


def make_body(rules: list[Rule]) -> bytes:
    """Return a file with these rules for all crawlers."""
    lines = [f"{'Allow' if allow else 'Disallow'}: {pattern}" for pattern, allow in rules]
    return "\n".join(["User-agent: *", *lines, ""]).encode()


def _add_star(pattern: str) -> str:
    if "*" in pattern:
        return pattern.replace("*", "**", 1)
    return f"{pattern}*"


def _make_pattern(chance: random.Random, number: int, shape: Shape) -> str:
    one, two = chance.choices(WORDS, k=2)
    mark = f"-{number:05}"
    extension = chance.choice(EXTENSIONS)
    if shape == "literal" or (shape == "mixed" and number % 2):
        return f"/{one}/{two}{mark}/"
    match number // 2 % 5:
        case 0:
            return f"/{one}/*/{two}{mark}"
        case 1:
            return f"/*?{one}={two}{mark}"
        case 2:
            return f"/{one}*{mark}.{extension}$"
        case 3:
            return f"/*/{one}{mark}/*.{extension}"
        case _:
            return f"*/{one}{mark}/"


def _make_tangled(chance: random.Random, count: int) -> list[Rule]:
    """
    Return rules that match letters in some order, and exceptions where some letters are adjacent.

    A path that such a rule decides has to separate enough letters to avoid every exception, and
    each exception may be matched up to any point: the states of the product automaton multiply.
    """
    rules: list[Rule] = []
    letters = ""
    for number in range(count):
        if number % 10 == 0:
            letters = "".join(chance.sample(ascii_letters, 40))
            rules.append((f"/*{'*'.join(letters)}", False))
        else:
            adjacent = sorted(chance.sample(range(len(letters) - 1), 3))
            pieces = "*".join(letters[at : at + 2] for at in adjacent)
            # Stars count as octets, so these make the exception more specific.
            rules.append((f"/*{pieces}{'*' * 2 * len(letters)}", True))
    return rules
