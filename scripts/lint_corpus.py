"""
Lint a collection of real files, and print how often each check finds something, as Markdown.

    python scripts/lint_corpus.py FOLDER                 the table of docs/lint-practice.md
    python scripts/lint_corpus.py FOLDER --examples 3    and some notes of each check, to look at

FOLDER has robots.txt files, at any depth; `--every 10` reads each tenth. What is printed with
`--examples` quotes files of strangers: it is for looking, and not for the repository.

A second table has files of common platforms, by their rules: Shopify's have /cart, /orders,
/checkout and /collections/*sort_by; WordPress' have /wp-admin/ with an Allow for admin-ajax.php;
MediaWiki's have /w/, index.php?title= or Special: in a rule. A file is stock if nine of ten of its
rules are among those that half of the files of its platform have.
"""

from __future__ import annotations

import argparse
import random
import re
import sys
import time
from collections import Counter
from pathlib import Path
from typing import NamedTuple

import robotrules
from robotrules.linting import CHECKS, LintNote, lint

MOST_KEPT = 500
COMMON, OTHERS = 0.5, 0.1
FAILING = ("error", "warning")
_SPECIAL = re.compile(r"/(?:w/|index\.php\?title=|(?:wiki/)?special(?::|%3a))")


class File(NamedTuple):
    """A file of a platform: its rules, and how many notes of each level it has."""

    rules: frozenset[str]
    levels: Counter[str]


def platforms(rules: frozenset[str]) -> list[str]:
    """Return the platforms whose file this is, by its rules in lower case."""
    found = []
    if {"disallow: /cart", "disallow: /orders", "disallow: /checkout"} <= rules:
        if any("/collections/*sort_by" in rule for rule in rules):
            found.append("Shopify")
    if {"disallow: /wp-admin/", "allow: /wp-admin/admin-ajax.php"} <= rules:
        found.append("WordPress")
    paths = [rule.partition(": ")[2] for rule in rules]
    if any(map(_SPECIAL.match, paths)) and any(re.search("special(?::|%3a)", p) for p in paths):
        found.append("MediaWiki")
    return found


def stock(files: list[File]) -> list[File]:
    """Return the files of a platform that nobody changed much."""
    counts = Counter(rule for file in files for rule in file.rules)
    usual = {rule for rule, count in counts.items() if count >= COMMON * len(files)}
    return [file for file in files if len(file.rules - usual) <= OTHERS * len(file.rules)]


def shares(name: str, files: list[File]) -> str:
    """Return a row: notes per file by level, and the share that a run fails on by default."""
    total = max(len(files), 1)
    failed = sum(any(file.levels[level] for level in FAILING) for file in files)
    notes = [
        f"{sum(file.levels[level] for file in files) / total:.2f}" for level in (*FAILING, "info")
    ]
    return f"| {name} | {len(files):,} | {' | '.join(notes)} | {failed / total:.1%} |"


class Seen:
    """What was found so far, by check."""

    def __init__(self) -> None:
        self.files: Counter[str] = Counter()
        self.notes: Counter[str] = Counter()
        self.levels: Counter[str] = Counter()
        self.examples: dict[str, list[tuple[str, LintNote]]] = {}
        self.seconds: list[float] = []
        self.by_platform: dict[str, list[File]] = {"all": []}

    def add(self, name: str, rules: frozenset[str], notes: list[LintNote]) -> None:
        """Count the notes of a file."""
        file = File(rules, Counter(note.level for note in notes))
        for platform in ("all", *platforms(rules)):
            self.by_platform.setdefault(platform, []).append(file)
        self.files.update({note.code for note in notes})
        self.notes.update(note.code for note in notes)
        worst = {note.level for note in notes}
        self.levels.update(
            [next((one for one in ("error", "warning", "info") if one in worst), "")]
        )
        for note in notes:
            kept = self.examples.setdefault(note.code, [])
            if len(kept) < MOST_KEPT:
                kept.append((name, note))


def table(seen: Seen, total: int) -> list[str]:
    """Return the rows: each check, how many files earn it, and how many notes there are."""
    rows = ["| check | level | files | of all | notes |", "|---|---|---:|---:|---:|"]
    for check in CHECKS:
        if check.code[2] in "78":
            continue
        files = seen.files[check.code]
        link = f"[{check.code}](lint/{check.slug}.md) {check.slug}"
        share = f"{files / total:.2%}" if total else ""
        rows.append(
            f"| {link} | {check.level} | {files:,} | {share} | {seen.notes[check.code]:,} |"
        )
    return rows


def main() -> int:
    """Read, count, print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[1])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--every", type=int, default=1)
    parser.add_argument("--examples", type=int, default=0)
    parser.add_argument("--select", default="")
    asked = parser.parse_args()
    found = (path for path in asked.folder.rglob("*") if path.is_file() and path.suffix != ".tsv")
    paths = sorted(found)[:: asked.every]
    seen = Seen()
    for number, path in enumerate(paths):
        robots = robotrules.parse(path.read_bytes())
        began = time.process_time()
        notes = lint(robots, select=list(filter(None, asked.select.split(","))))
        seen.seconds.append(time.process_time() - began)
        rules = (str(rule).lower() for group in robots.groups for rule in group.rules)
        seen.add(path.name, frozenset(rules), notes)
        if sys.stderr.isatty() and number % 100 == 0:
            print(f"\r{number:,} of {len(paths):,}", end="", file=sys.stderr)
    seconds = sorted(seen.seconds) or [0.0]
    print(f"{len(paths):,} files, none of which stopped lint.")
    print(
        "Worst note: "
        + ", ".join(f"{word or 'none'} {n:,}" for word, n in seen.levels.most_common())
    )
    middle, last = seconds[len(seconds) // 2], seconds[-1]
    print(f"CPU seconds: {sum(seconds):.1f} in all, median {middle:.4f}, longest {last:.2f}.\n")
    print("\n".join(table(seen, len(paths))))
    print("\n| files | number | errors each | warnings each | info each | fail by default |")
    print("|---|---:|---:|---:|---:|---:|")
    for name, files in seen.by_platform.items():
        print(shares(name, files))
        if name != "all":
            print(shares(f"{name}, stock", stock(files)))
    chosen = random.Random(1)
    for code, kept in sorted(seen.examples.items()) if asked.examples else ():
        for name, note in chosen.sample(kept, min(asked.examples, len(kept))):
            print(f"{code} {name}: {str(note)[:300]} {note.url or ''}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
