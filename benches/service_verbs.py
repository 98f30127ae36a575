"""
The verb check of the service: decisions per second, from the bytes of a body to those of an answer.

No network and no HTTP: what a worker of the service spends on a request beside them. Run it with
`python benches/service_verbs.py`. With a new file in each call nothing is found in the cache of
compiled rules. The last line compares with the target.
"""

from __future__ import annotations

import json
import time
from collections.abc import Sequence
from typing import Any

from robotrules.service.verbs import Verb, load_verbs
from robotrules.service.work import run_verb

CALLS, ROUNDS = 50, 7
URLS = 1_000
TARGET = 1_000_000
# Rules of a file: a small site, and a file near the limit of 500 KiB.
SIZES = (50, 12_000)
KINDS: dict[str, dict[str, Any]] = {"one URL": {}, "lines": {}, "allowed": {"fields": "allowed"}}


def rules(count: int) -> str:
    """Return a file with wildcards and plain paths."""
    pairs = (f"Disallow: /p{number}/*x\nAllow: /a{number}\n" for number in range(count))
    return f"User-agent: *\n{''.join(pairs)}"


def seconds(verb: Verb, bodies: Sequence[bytes]) -> float:
    """Return the shortest average time of a call; the bodies are used in turns."""
    taken = []
    for _ in range(ROUNDS):
        start = time.perf_counter()
        for number in range(CALLS):
            run_verb(verb, bodies[number % len(bodies)])
        taken.append((time.perf_counter() - start) / CALLS)
    return min(taken)


def main() -> None:
    """Print time and decisions per second, with the same file and with a new file in each call."""
    verb = load_verbs()["/v1/check"]
    urls = [f"https://example.com/p{n % 80}/some/path/page-{n}.html?q={n * 7}" for n in range(URLS)]
    rates = []
    for count in SIZES:
        robots = rules(count)
        for name, fields in KINDS.items():
            asked: dict[str, Any] = {"as": "ExampleBot", **fields}
            asked |= {"urls": urls} if name != "one URL" else {"url": urls[0]}
            same = [json.dumps({**asked, "robots": robots}).encode()]
            others = [
                json.dumps({**asked, "robots": f"{robots}# {number}"}).encode()
                for number in range(CALLS)
            ]
            decisions = 1 if name == "one URL" else URLS
            taken = [seconds(verb, bodies) for bodies in (same, others)]
            shown = "  ".join(
                f"{each * 1e6:>7,.0f} µs {decisions / each:>12,.0f}/s" for each in taken
            )
            print(f"{len(robots):>9,} bytes  {name:8}  {shown}")
            if name == "allowed":
                rates.append(decisions / taken[0])
    print(f"allowed, same file, to the target of {TARGET:,}/s: {min(rates) / TARGET:.1f}x")


if __name__ == "__main__":
    main()
