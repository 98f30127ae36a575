"""
Pairs of generated files: the same rules in other words, and the same with one rule changed.

Shapes are `literal`, `mixed`, `wildcard`, and `tangled`, which is hostile. The rules of a smaller
file are the first ones of a larger. See README.md beside this file.

Does not know: who compares them.
"""

from __future__ import annotations

import random
from string import ascii_letters
from typing import Literal

from corpora.words import EXTENSIONS, WORDS

Shape = Literal["literal", "mixed", "wildcard", "tangled"]
Rule = tuple[str, bool]
MOST = 5_000


def rules(count: int, shape: Shape) -> list[Rule]:
    """That many rules of that shape: path pattern, and whether it allows."""
    chance = random.Random(f"robotrules pairs {shape}")
    if shape == "tangled":
        return _tangled(chance, count)
    found: list[Rule] = []
    for number in range(MOST):
        pattern = _pattern(chance, number, shape)
        if number % 10 in (4, 9):
            # An exception to a rule before, and a rule that one before says already.
            earlier = found[number - chance.randint(1, 4)][0]
            if not earlier.endswith("$"):
                pattern = f"{earlier}{chance.choice(WORDS)}/"
        found.append((pattern, number % 10 == 4))
    return found[:count]


def rewritten(written: list[Rule]) -> list[Rule]:
    """
    The same rules in other words and another order: none is written as before, all mean the same.

    Each gets one star more where a star says nothing, so each becomes one octet more specific.
    """
    found = [(_with_star(pattern), allow) for pattern, allow in written]
    random.Random("robotrules rewritten").shuffle(found)
    return found


def changed(written: list[Rule]) -> list[Rule]:
    """Those with one rule changed: a Disallow rule with an octet more at its end."""
    found = rewritten(written)
    open_ended = [
        number
        for number, (pattern, allow) in enumerate(found)
        if not allow and not pattern.endswith("$")
    ]
    at = open_ended[len(open_ended) // 2]
    found[at] = f"{found[at][0].rstrip('*')}~", False
    return found


def body(written: list[Rule]) -> bytes:
    """A file with these rules for everyone."""
    lines = [f"{'Allow' if allow else 'Disallow'}: {pattern}" for pattern, allow in written]
    return "\n".join(["User-agent: *", *lines, ""]).encode()


def _with_star(pattern: str) -> str:
    if "*" in pattern:
        return pattern.replace("*", "**", 1)
    return f"{pattern}*"


def _pattern(chance: random.Random, number: int, shape: Shape) -> str:
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


def _tangled(chance: random.Random, count: int) -> list[Rule]:
    """
    Letters in some order with anything between them; and exceptions, each where some of them touch.

    To decide one of the former a path has to keep apart enough letters to escape every exception,
    and each exception may have come any part of its way: all of that has to be known at once.
    """
    found: list[Rule] = []
    letters = ""
    for number in range(count):
        if number % 10 == 0:
            letters = "".join(chance.sample(ascii_letters, 40))
            found.append((f"/*{'*'.join(letters)}", False))
        else:
            touching = sorted(chance.sample(range(len(letters) - 1), 3))
            pieces = "*".join(letters[at : at + 2] for at in touching)
            # Stars count as octets, so these make it the more specific one.
            found.append((f"/*{pieces}{'*' * 2 * len(letters)}", True))
    return found
