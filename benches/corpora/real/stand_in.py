"""
A generated stand-in for the real corpus, for machines that do not have it.

It resembles the real corpus in what takes time: the median file has some 300 octets and the mean
several times as many, most groups are for `*`, one rule in four has a wildcard, and some files
repeat one list of rules for many crawlers. It lacks the unusual files of the real corpus, so its
figures are not comparable with recorded ones, and the table states which corpus was used.
"""

from __future__ import annotations

import random
from collections.abc import Iterator

from corpora import Case
from corpora.words import EXTENSIONS, WORDS

TOKENS = ("ExampleBot", "ResearchBot", "ArchiveBot", "NewsBot", "ImageBot", "PreviewBot")


def generate_stand_in(files: int) -> Iterator[Case]:
    """Yield *files* generated cases, the same for each run."""
    chance = random.Random(9309)
    for number in range(files):
        patterns = [
            _make_pattern(chance) for _ in range(max(1, int(chance.lognormvariate(1.5, 1.7))))
        ]
        yield Case(
            name=f"stand-in/{number:05}",
            body=_make_body(chance, patterns),
            token=TOKENS[number % len(TOKENS)] if number % 3 else "FooBot",
            urls=tuple(_make_url(chance, chance.choice(patterns)) for _ in range(5)),
            many=tuple(_make_url(chance, chance.choice(patterns)) for _ in range(30)),
        )


def _make_pattern(chance: random.Random) -> str:
    words = "/".join(chance.choices(WORDS, k=chance.randint(1, 3)))
    match chance.randrange(8):
        case 0:
            return f"/*.{chance.choice(EXTENSIONS)}$"
        case 1:
            return f"/{words}/*/{chance.choice(WORDS)}"
        case 2:
            return f"/*?{chance.choice(WORDS)}="
        case _:
            return f"/{words}/"


def _make_body(chance: random.Random, patterns: list[str]) -> bytes:
    lines = ["# made for measuring", ""] if chance.random() < 0.5 else []
    named = chance.sample(TOKENS, k=chance.choice((0, 0, 0, 1, 2, 6)))
    for token in ("*", *named):
        lines.append(f"User-agent: {token}")
        lines.extend(
            f"{'Allow' if chance.random() < 0.1 else 'Disallow'}: {pattern}" for pattern in patterns
        )
        lines.append("")
    lines.append("Sitemap: https://example.com/sitemap.xml")
    return "\n".join(lines).encode() + b"\n"


def _make_url(chance: random.Random, pattern: str) -> str:
    path = pattern.replace("*", chance.choice(WORDS)).rstrip("$")
    if chance.random() < 0.5:
        path = f"/{chance.choice(WORDS)}{path}"
    return f"https://example.com{path}{chance.choice(('', 'x', '?id=1', '/index.html'))}"
