"""
The drop-ins of `robotrules.compat` against their originals: parse, first check and can_fetch.

Both classes get the same text and the same calls, in the same process and in alternating rounds; a
ratio is the median of the ratios of the rounds. The files are generated here; if the corpus of
table *real* is there, a sample of it is timed too. A file on which an original raises is left out.

    python benches/compat.py                  about ten seconds
    python benches/compat.py --rounds 3 --files 50

Does not know: reppy, which does not build; whether answers agree (`docs/compat/` lists these).
"""

from __future__ import annotations

import argparse
import gc
import statistics
import time
import urllib.robotparser
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import protego
import robots as robotspy
from corpora import Case, real

from robotrules.compat import protego as our_protego
from robotrules.compat import robotparser as our_robotparser
from robotrules.compat import robotspy as our_robotspy

Parse = Callable[[str], Callable[[str], bool]]
USER_AGENT = "ExampleBot"


def make_robotparser(module: Any) -> Parse:
    """Return a function that parses a file with urllib's methods."""

    def parse(text: str) -> Callable[[str], bool]:
        parser = module.RobotFileParser()
        parser.parse(text.splitlines())
        can_fetch = parser.can_fetch
        return lambda url: can_fetch(USER_AGENT, url)

    return parse


def make_protego(module: Any) -> Parse:
    """Return a function that parses a file with Protego's methods."""

    def parse(text: str) -> Callable[[str], bool]:
        can_fetch = module.Protego.parse(text).can_fetch
        return lambda url: can_fetch(url, USER_AGENT)

    return parse


def make_robotspy(module: Any) -> Parse:
    """Return a function that parses a file with robotspy's methods."""

    def parse(text: str) -> Callable[[str], bool]:
        can_fetch = module.RobotsParser.from_string(text).can_fetch
        return lambda url: can_fetch(USER_AGENT, url)

    return parse


PAIRS: dict[str, tuple[Parse, Parse]] = {
    "urllib.robotparser": (
        make_robotparser(urllib.robotparser),
        make_robotparser(our_robotparser),
    ),
    "protego": (make_protego(protego), make_protego(our_protego)),
    "robotspy": (make_robotspy(robotspy), make_robotspy(our_robotspy)),
}


class File(NamedTuple):
    """A text and the URLs that are checked."""

    text: str
    urls: tuple[str, ...]


def generate(rules: int) -> File:
    """Make a file with a number of rules, every tenth with a wildcard, and 30 URLs."""
    lines = ["User-agent: *"]
    for number in range(rules):
        wildcard = f"/*/{number}.pdf$" if number % 10 == 9 else f"/folder{number}/page"
        lines.append(f"{'Allow' if number % 7 == 6 else 'Disallow'}: {wildcard}")
    urls = [f"https://example.com/folder{number * 7}/page/{number}.html" for number in range(30)]
    return File("\n".join(lines), tuple(urls))


def from_case(case: Case) -> File:
    """Make a file of a case of the corpus."""
    return File(case.body.decode("utf-8", "replace"), case.urls)


def usable(files: Sequence[File], pair: tuple[Parse, Parse]) -> list[File]:
    """Return the files on which neither class raises; this is also the warm-up."""
    kept = []
    for file in files:
        try:
            for parse in pair:
                check = parse(file.text)
                for url in file.urls:
                    check(url)
        except Exception:  # an original may raise anything on content
            continue
        kept.append(file)
    return kept


def time_round(parse: Parse, files: Sequence[File]) -> tuple[float, float, float]:
    """Return seconds to parse, to parse and check once, and to check all URLs."""
    began = time.perf_counter()
    for file in files:
        parse(file.text)
    parsed = time.perf_counter() - began
    began = time.perf_counter()
    for file in files:
        parse(file.text)(file.urls[0])
    first = time.perf_counter() - began
    checks = [(parse(file.text), file.urls) for file in files]
    for check, urls in checks:
        check(urls[0])
    began = time.perf_counter()
    for check, urls in checks:
        for url in urls:
            check(url)
    return parsed, first, time.perf_counter() - began


def compare(files: Sequence[File], pair: tuple[Parse, Parse], rounds: int) -> list[float]:
    """Return how many times faster ours is: parse, parse and first check, can_fetch."""
    ratios: list[list[float]] = []
    gc.collect()
    gc.disable()
    try:
        for number in range(rounds):
            order = (0, 1) if number % 2 else (1, 0)
            taken = {side: time_round(pair[side], files) for side in order}
            ratios.append([theirs / ours for theirs, ours in zip(taken[0], taken[1], strict=True)])
    finally:
        gc.enable()
    return [statistics.median(column) for column in zip(*ratios, strict=True)]


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description="Drop-ins against their originals.")
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--files", type=int, default=200, help="files of the corpus")
    given = parser.parse_args()
    inputs = {f"{rules:,} rules": [generate(rules)] * (1000 // rules) for rules in (10, 100, 1000)}
    if real.corpus_folder().exists():
        cases, _ = real.load_cases(given.files)
        inputs[f"{len(cases)} real files"] = [from_case(case) for case in cases if case.urls]
    print("How many times faster the drop-in is: original / ours\n")
    print("| original | files | parse | parse + first check | can_fetch |")
    print("|---|---|---|---|---|")
    for name, pair in PAIRS.items():
        for label, files in inputs.items():
            kept = usable(files, pair)
            left_out = f" ({len(files) - len(kept)} left out)" if len(kept) < len(files) else ""
            figures = " | ".join(f"{ratio:.1f}x" for ratio in compare(kept, pair, given.rounds))
            print(f"| {name} | {label}{left_out} | {figures} |", flush=True)


if __name__ == "__main__":
    main()
