"""
Lint's cost: it grows with the file, and hostile files do not make it grow faster.

Times are those of the processor, of one run against another: twice the file may take twice as long
and some, and never four times.
"""

from __future__ import annotations

import time
from collections.abc import Callable

import pytest

from robotrules.linting import lint

STAR = b"User-agent: *\n"


def letters(number: int) -> bytes:
    """Return a number as letters, as product tokens have them."""
    return bytes(97 + number // 26**place % 26 for place in range(4))


def lines(line: bytes) -> Callable[[int], bytes]:
    """Return what makes a file of so many equal lines."""
    return lambda count: STAR + line * count


HOSTILE: dict[str, Callable[[int], bytes]] = {
    "rules": lambda n: STAR + b"".join(b"Disallow: /p%d/\n" % i for i in range(n)),
    "wildcards": lambda n: STAR + b"".join(b"Disallow: /*a*b%d*c\n" % i for i in range(n)),
    "nested": lambda n: STAR + b"".join(b"Disallow: /%s\n" % (b"a/" * (i // 20)) for i in range(n)),
    "crawlers": lambda n: b"".join(
        b"User-agent: bot%s\nDisallow: /%d\n" % (letters(i), i) for i in range(n)
    ),
    "purposes": lambda n: b"".join(b"User-agent-purpose: P%d\nDisallow: /\n" % i for i in range(n)),
    "delays": lambda n: b"User-agent: a\nCrawl-delay: 5\n" * n,
    "usage": lambda n: STAR + b"".join(b"Content-Usage: /p%d train-ai=n\n" % i for i in range(n)),
    "directives": lambda n: STAR + b"".join(b"App-Directives: /p%d a;b\n" % i for i in range(n)),
    "duplicates": lines(b"Disallow: /same\n"),
    "typos": lines(b"Disalow: /same\n"),
    "no colons": lines(b"Disallow same\n"),
    "no records": lines(b"what is this\n"),
    "sitemaps": lines(b"Sitemap: /map.xml\n"),
    "suppressions": lines(b"Disallow: x # robotrules: ignore[RR505]\n"),
    "agents": lines(b"User-agent: a\n"),
    "unknown records": lambda n: b"".join(b"Record-%s: x\n" % letters(i) for i in range(n)),
}


def seconds(body: bytes) -> float:
    """Return how long lint takes, of the processor, at best of two."""
    best = 60.0
    for _ in range(2):
        began = time.process_time()
        lint(body)
        best = min(best, time.process_time() - began)
    return best


@pytest.mark.slow
@pytest.mark.parametrize("name", HOSTILE)
def test_twice_the_file_is_about_twice_the_work(name: str) -> None:
    """Eight times the lines cost less than three times eight, which no quadratic work does."""
    make = HOSTILE[name]
    small, large = seconds(make(1_500)), seconds(make(12_000))
    assert large < 24 * small + 0.5
