"""
Lint's cost: it grows linearly with the file, also for hostile files.

Times are processor times of one run against another: a file of twice the size may take a little
more than twice as long, and never four times.
"""

from __future__ import annotations

import time
from collections.abc import Callable

import pytest

from robotrules.linting import lint

STAR = b"User-agent: *\n"


def letters(number: int) -> bytes:
    """Return a number as letters, which product tokens allow."""
    return bytes(97 + number // 26**place % 26 for place in range(4))


def lines(line: bytes) -> Callable[[int], bytes]:
    """Return a function that makes a file of equal lines."""
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
    """Return the processor time of lint, the better of two runs."""
    best = 60.0
    for _ in range(2):
        began = time.process_time()
        lint(body)
        best = min(best, time.process_time() - began)
    return best


@pytest.mark.slow
@pytest.mark.parametrize("name", HOSTILE)
def test_cost_is_linear(name: str) -> None:
    """Eight times the lines cost less than 24 times as much, which rules out quadratic cost."""
    make = HOSTILE[name]
    small, large = seconds(make(1_500)), seconds(make(12_000))
    assert large < 24 * small + 0.5
