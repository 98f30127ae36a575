"""
Generated files of one size, each the worst case of some part of the library.

Each function takes a size in octets and returns a file of at most that size.
"""

from __future__ import annotations

from collections.abc import Callable
from random import Random

SIZE = 500 * 1024


def _fill(size: int, line: Callable[[int], bytes], head: bytes = b"User-agent: *\n") -> bytes:
    body, number = bytearray(head), 0
    while len(body) + len(next_line := line(number)) <= size:
        body += next_line
        number += 1
    return bytes(body)


def _make_name(number: int) -> bytes:
    """Return a name of letters: a product token has no digits (RFC 9309 §2.2.1)."""
    letters = b""
    while True:
        letters = bytes([97 + number % 26]) + letters
        number //= 26
        if not number:
            return b"bot-" + letters


def identical_rules(size: int) -> bytes:
    """One rule repeated: all copies match the same URLs."""
    return _fill(size, lambda n: b"Disallow: /a\n")


def plain_rules(size: int) -> bytes:
    """Tens of thousands of rules without wildcards, no two alike."""
    return _fill(size, lambda n: b"Disallow: /p%d\n" % n)


def similar_wildcards(size: int) -> bytes:
    """Wildcard rules that differ little: many match the same URLs."""
    return _fill(size, lambda n: b"Disallow: /*a%d*b%d*c\n" % (n % 97, n))


def tangled_wildcards(size: int) -> bytes:
    """Rules that are all wildcards over two letters, so that their automata share few states."""
    random = Random(1)

    def line(number: int) -> bytes:
        parts = ("*" + "".join(random.choice("ab") for _ in range(3)) for _ in range(6))
        return f"{random.choice(('Allow', 'Disallow'))}: /{''.join(parts)}\n".encode()

    return _fill(size, line)


def lone_carriage_returns(size: int) -> bytes:
    """Each octet is a line end."""
    return b"User-agent: *\nDisallow: /a\n" + b"\r" * (size - 30)


def empty_user_agents(size: int) -> bytes:
    """One group of user-agent lines without a product token."""
    return _fill(size, lambda n: b"User-agent:\n", b"")


def one_rule_groups(size: int) -> bytes:
    """A group with one rule for each of many product tokens."""
    return _fill(size, lambda n: b"User-agent: %s\nDisallow: /%d\n" % (_make_name(n), n), b"")


def purposes_only(size: int) -> bytes:
    """Groups that name purposes and no crawler."""
    return _fill(size, lambda n: b"User-agent-purpose: P%d\nDisallow: /%d\n" % (n, n), b"")


def long_lines(size: int) -> bytes:
    """Few rules of 16,000 octets with 8,000 wildcards each."""
    return _fill(size, lambda n: b"Disallow: /" + b"a*" * 8000 + b"%d\n" % n)


def misspelt_records(size: int) -> bytes:
    """A different misspelt record in each line: each has a fix that changes verdicts."""
    return _fill(size, lambda n: b"Dissalow%d: /p%d\n" % (n, n))


def without_slash(size: int) -> bytes:
    """Patterns that parsers ignore, and use after a fix."""
    return _fill(size, lambda n: b"Disallow: p%d\n" % n)


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
    "a group a line": one_rule_groups,
    "purposes only": purposes_only,
    "long lines": long_lines,
    "misspelt records": misspelt_records,
    "without slash": without_slash,
    "without colon": without_colon,
}
