"""
One group with 1 to 10,000 rules, literal or with wildcards, to measure growth.

The rules of a smaller file are the first ones of a larger file. URLs are generated for each size;
half of them match a rule anywhere in the file, half match none. Their lengths are the same at every
size. See README.md beside this file.
"""

from __future__ import annotations

import random
from typing import Literal

from corpora import Case
from corpora.words import EXTENSIONS, WORDS

Shape = Literal["literal", "wildcard"]
MAX_RULES = 10_000
URLS = 100


def make_case(rules: int, shape: Shape) -> Case:
    """Return the file with this number of rules of a shape."""
    chance = random.Random(f"robotrules {shape}")
    pairs = [_make_rule(chance, number, shape) for number in range(MAX_RULES)][:rules]
    lines = ["User-agent: *"]
    lines.extend(
        f"{'Allow' if number % 10 == 9 else 'Disallow'}: {pattern}"
        for number, (pattern, _) in enumerate(pairs)
    )
    choice = random.Random(f"robotrules {shape} {rules}")
    urls = []
    for number in range(URLS):
        path = choice.choice(pairs)[1]
        if number % 2:
            # Same words, another number than any rule has: no rule matches.
            path = path.replace("-", "-9")
        urls.append(f"https://example.com{path}")
    return Case(
        name=f"{rules} {shape} rules",
        body="\n".join(lines).encode() + b"\n",
        token="ExampleBot",
        urls=tuple(urls),
        many=tuple(urls),
    )


def _make_rule(chance: random.Random, number: int, shape: Shape) -> tuple[str, str]:
    """Return a path pattern, and a path that it matches."""
    one, two, three = chance.choices(WORDS, k=3)
    mark = f"-{number:05}"
    if shape == "literal":
        return f"/{one}/{two}{mark}/", f"/{one}/{two}{mark}/{three}.html"
    extension = chance.choice(EXTENSIONS)
    match number % 5:
        case 0:
            return f"/{one}/*/{two}{mark}", f"/{one}/{three}/{two}{mark}/page"
        case 1:
            return f"/*?{one}={two}{mark}", f"/{three}/list?{one}={two}{mark}&page=2"
        case 2:
            return f"/{one}*{mark}.{extension}$", f"/{one}/{two}/{three}{mark}.{extension}"
        case 3:
            return f"/*/{one}{mark}/*.{extension}", f"/{two}/{one}{mark}/{three}.{extension}"
        case _:
            return f"*/{one}{mark}/", f"/{two}/{three}/{one}{mark}/"
