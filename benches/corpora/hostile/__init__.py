"""
Files of one size, each made to be the worst for some part of the library. Nobody wrote one of them.

Each function takes a size in octets and returns a file of at most that size.
"""

from __future__ import annotations

from collections.abc import Callable
from random import Random

SIZE = 500 * 1024


def _filled(size: int, line: Callable[[int], bytes], head: bytes = b"User-agent: *\n") -> bytes:
    body, number = bytearray(head), 0
    while len(body) + len(next_line := line(number)) <= size:
        body += next_line
        number += 1
    return bytes(body)


def _name(number: int) -> bytes:
    """Return a name of letters: digits are no part of a product token (RFC 9309 §2.2.1)."""
    letters = b""
    while True:
        letters = bytes([97 + number % 26]) + letters
        number //= 26
        if not number:
            return b"bot-" + letters


def identical_rules(size: int) -> bytes:
    """One rule over and over: all of them match where one does."""
    return _filled(size, lambda n: b"Disallow: /a\n")


def plain_rules(size: int) -> bytes:
    """Tens of thousands of rules without wildcards, no two alike."""
    return _filled(size, lambda n: b"Disallow: /p%d\n" % n)


def similar_wildcards(size: int) -> bytes:
    """Wildcard rules that nearly say the same: each may match where any other does."""
    return _filled(size, lambda n: b"Disallow: /*a%d*b%d*c\n" % (n % 97, n))


def tangled_wildcards(size: int) -> bytes:
    """Rules that are all wildcards over two letters, so that their automata share few states."""
    random = Random(1)

    def line(number: int) -> bytes:
        parts = ("*" + "".join(random.choice("ab") for _ in range(3)) for _ in range(6))
        return f"{random.choice(('Allow', 'Disallow'))}: /{''.join(parts)}\n".encode()

    return _filled(size, line)


def lone_carriage_returns(size: int) -> bytes:
    """Each octet is a line end."""
    return b"User-agent: *\nDisallow: /a\n" + b"\r" * (size - 30)


def empty_user_agents(size: int) -> bytes:
    """One group of user-agent lines that name nobody."""
    return _filled(size, lambda n: b"User-agent:\n", b"")


def group_a_line(size: int) -> bytes:
    """A group for each name: as many kinds of crawlers as there are."""
    return _filled(size, lambda n: b"User-agent: %s\nDisallow: /%d\n" % (_name(n), n), b"")


def purposes_only(size: int) -> bytes:
    """Groups that name purposes and no crawler."""
    return _filled(size, lambda n: b"User-agent-purpose: P%d\nDisallow: /%d\n" % (n, n), b"")


def long_lines(size: int) -> bytes:
    """Few rules of 16,000 octets with 8,000 wildcards each."""
    return _filled(size, lambda n: b"Disallow: /" + b"a*" * 8000 + b"%d\n" % n)


def misspelt_records(size: int) -> bytes:
    """A misspelt record a line, no two alike: each has a fix that changes verdicts."""
    return _filled(size, lambda n: b"Dissalow%d: /p%d\n" % (n, n))


def without_slash(size: int) -> bytes:
    """Patterns that no parser uses, and that all of them use after a fix."""
    return _filled(size, lambda n: b"Disallow: p%d\n" % n)


def without_colon(size: int) -> bytes:
    """As many notes as a file can have: one for each two octets."""
    return b"x\n" * (size // 2)


SHAPES: dict[str, Callable[[int], bytes]] = {
    "identical rules": identical_rules,
    "plain rules": plain_rules,
    "similar wildcards": similar_wildcards,
    "tangled wildcards": tangled_wildcards,
    "lone CRs": lone_carriage_returns,
    "empty user-agent lines": empty_user_agents,
    "a group a line": group_a_line,
    "purposes only": purposes_only,
    "long lines": long_lines,
    "misspelt records": misspelt_records,
    "without slash": without_slash,
    "without colon": without_colon,
}
