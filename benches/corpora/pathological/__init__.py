"""
Hostile inputs, each with the shortcut that it defeats.

A fast engine is fast because it skips work; each input defeats one way of skipping work. They are
within the limit of 500 KiB, except for one that states its size. See README.md beside this file.

Does not know: which engines are slow. Each check runs in a separate process with a time limit.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from corpora import Case

KIB = 1024
HOST = "https://example.com"


@dataclass(frozen=True, slots=True)
class Hostile:
    """
    One input: its name, the shortcut it defeats, the function that makes it, and the verdict.

    For most the verdict is "allowed", which requires that every rule is shown not to match.
    """

    name: str
    defeats: str
    make: Callable[[], tuple[str, str]]
    allowed: bool = True

    def case(self) -> Case:
        """Build the input."""
        body, url = self.make()
        return Case(self.name, body.encode(), "ExampleBot", (HOST + url,), (HOST + url,) * 8)


def _group(*patterns: str) -> str:
    return "User-agent: *\n" + "".join(f"Disallow: {pattern}\n" for pattern in patterns)


def _stars() -> tuple[str, str]:
    return _group("/" + "*a" * 10_000 + "$"), "/" + "a" * (8 * KIB)


def _overlapping() -> tuple[str, str]:
    return _group("/" + ("*" + "a" * 15 + "b") * 600), "/" + "a" * (8 * KIB)


def _late() -> tuple[str, str]:
    return _group("/" + "*a*b" * 2_000 + "*c$"), "/" + "ab" * (4 * KIB) + "d"


def _spread() -> tuple[str, str]:
    patterns = ["/" + "*a" * 200 + f"*{number}z" for number in range(1_000)]
    return _group(*patterns), "/" + "a" * (8 * KIB)


def _grams() -> tuple[str, str]:
    patterns = [f"/*-index.html?*page={number}$" for number in range(9_000)]
    return _group(*patterns), "/shop" + "-index.html?page=" * 400 + "x"


def _candidates() -> tuple[str, str]:
    patterns = [f"/*a{'ab' * (number % 7)}*{number}z" for number in range(9_000)]
    return _group(*patterns), "/" + "ab" * (4 * KIB)


def _repeated() -> tuple[str, str]:
    return _group(*["/*a*b"] * 29_000), "/" + "a" * (64 * KIB)


def _deep() -> tuple[str, str]:
    stem = "/" + "deep/" * 50
    return _group(*(f"{stem}{number:05}" for number in range(1_800))), stem + "01799x"


def _nested() -> tuple[str, str]:
    return _group(*("/" + "a" * length for length in range(1, 980))), "/" + "a" * (8 * KIB)


def _user_agents() -> tuple[str, str]:
    lines = "".join(f"User-agent: {_letters(number)}\n" for number in range(200_000))
    return lines + "Disallow: /a\n\nUser-agent: *\nDisallow: /b\n", "/b"


def _groups() -> tuple[str, str]:
    return "".join(f"User-agent: *\nDisallow: /{n}\n\n" for n in range(16_000)), "/15999"


def _long_line() -> tuple[str, str]:
    return _group("/" + "a" * 500_000), "/" + "a" * (8 * KIB)


def _escapes() -> tuple[str, str]:
    patterns = ["/" + "%61%2f%e3%83%84" * 10 + str(number) for number in range(2_500)]
    return _group(*patterns), "/" + "%61%2f%e3%83%84" * 546


def _escaped_stars() -> tuple[str, str]:
    return _group("/" + "*%61" * 5_000 + "$"), "/" + "%61" * 2_730


def _letters(number: int) -> str:
    """Return a product token of letters, different for each number."""
    letters = "bot"
    while True:
        number, rest = divmod(number, 26)
        letters += chr(ord("a") + rest)
        if not number:
            return letters


ALL: tuple[Hostile, ...] = (
    Hostile(
        "stars",
        "going back to an earlier star: 10,000 stars against 8 KiB in which every piece matches "
        "everywhere, so there are more ways to try than time",
        _stars,
    ),
    Hostile(
        "overlapping",
        "searching for pieces: each piece fails on its last octet at every position",
        _overlapping,
    ),
    Hostile(
        "late",
        "stopping at the first miss, and counting octets: 4,000 pieces fit and match before the "
        "anchored last one cannot",
        _late,
    ),
    Hostile(
        "spread",
        "handling one bad rule separately: 200,000 stars in 1,000 rules, each matching up to its "
        "end",
        _spread,
    ),
    Hostile(
        "grams",
        "looking rules up by one of their pieces: 9,000 wildcard rules share all pieces but one",
        _grams,
    ),
    Hostile(
        "candidates",
        "ruling rules out by their first piece: 9,000 rules whose first pieces are all there",
        _candidates,
    ),
    Hostile(
        "repeated",
        "relying on rules that differ: one wildcard rule 29,000 times, and 64 KiB of path in "
        "which its last piece is not found",
        _repeated,
    ),
    Hostile(
        "deep",
        "comparing from the left: 1,800 rules share a prefix of 251 octets",
        _deep,
        allowed=False,
    ),
    Hostile(
        "nested",
        "stopping at the first match: 979 rules match, each a prefix of the next",
        _nested,
        allowed=False,
    ),
    Hostile(
        "user-agent lines",
        "keeping a set of rules for each product token: 200,000 user-agent lines share one "
        "group, in 3.8 MiB (over our limit of 500 KiB, which is raised here)",
        _user_agents,
        allowed=False,
    ),
    Hostile(
        "groups",
        "joining groups one at a time: 16,000 groups for one product token",
        _groups,
        allowed=False,
    ),
    Hostile(
        "long line",
        "a line fits in a small buffer: one rule of 500,000 octets",
        _long_line,
    ),
    Hostile(
        "escapes",
        "comparing octets as they are: 2,500 rules and 8 KiB of path that are all escapes",
        _escapes,
    ),
    Hostile(
        "escaped stars",
        "normalising once: 5,000 stars, with every octet between them escaped on both sides",
        _escaped_stars,
    ),
)


def find_input(name: str) -> Hostile:
    """Return the input with this name."""
    for hostile in ALL:
        if hostile.name == name:
            return hostile
    raise LookupError(f"unknown input {name!r}")
