"""
Lint a collection of real files, and print how often each check reports a note, as Markdown.

    python scripts/lint_corpus.py FOLDER                 the table of docs/lint-practice.md
    python scripts/lint_corpus.py FOLDER --examples 3    and some notes of each check

FOLDER has robots.txt files, at any depth; `--every 10` reads every tenth file. The output of
`--examples` quotes files of other sites: do not commit it.

A second table counts files of common platforms, recognised by their rules: Shopify's have /cart,
/orders, /checkout and /collections/*sort_by; WordPress' have /wp-admin/ with an Allow for
admin-ajax.php; MediaWiki's have /w/, index.php?title= or Special: in a rule. A file is stock if at
least 90 % of its rules occur in at least half of the files of its platform.
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

MAX_EXAMPLES = 500
# A rule that this share of a platform's files has is a stock rule.
MIN_STOCK_SHARE = 0.5
# A stock file has at most this share of other rules.
MAX_OTHER_RULES = 0.1
FAILING = ("error", "warning")
_SPECIAL = re.compile(r"/(?:w/|index\.php\?title=|(?:wiki/)?special(?::|%3a))")


class File(NamedTuple):
    """A file of a platform: its rules, and how many notes of each level it has."""

    rules: frozenset[str]
    levels: Counter[str]


def detect_platforms(rules: frozenset[str]) -> list[str]:
    """Return the platforms that a file is typical of, by its rules in lower case."""
    platforms = []
    if {"disallow: /cart", "disallow: /orders", "disallow: /checkout"} <= rules:
        if any("/collections/*sort_by" in rule for rule in rules):
            platforms.append("Shopify")
    if {"disallow: /wp-admin/", "allow: /wp-admin/admin-ajax.php"} <= rules:
        platforms.append("WordPress")
    paths = [rule.partition(": ")[2] for rule in rules]
    if any(map(_SPECIAL.match, paths)) and any(re.search("special(?::|%3a)", p) for p in paths):
        platforms.append("MediaWiki")
    return platforms


def select_stock(files: list[File]) -> list[File]:
    """Return the files of a platform that differ little from the usual one."""
    counts = Counter(rule for file in files for rule in file.rules)
    usual = {rule for rule, count in counts.items() if count >= MIN_STOCK_SHARE * len(files)}
    return [file for file in files if len(file.rules - usual) <= MAX_OTHER_RULES * len(file.rules)]


def render_platform_row(name: str, files: list[File]) -> str:
    """Return a row: notes per file by level, and the share of files that fail by default."""
    total = max(len(files), 1)
    failed = sum(any(file.levels[level] for level in FAILING) for file in files)
    notes = [
        f"{sum(file.levels[level] for file in files) / total:.2f}" for level in (*FAILING, "info")
    ]
    return f"| {name} | {len(files):,} | {' | '.join(notes)} | {failed / total:.1%} |"


class Statistics:
    """Counts of files and notes, by check."""

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
        for platform in ("all", *detect_platforms(rules)):
            self.by_platform.setdefault(platform, []).append(file)
        self.files.update({note.code for note in notes})
        self.notes.update(note.code for note in notes)
        levels = {note.level for note in notes}
        self.levels.update(
            [next((level for level in ("error", "warning", "info") if level in levels), "")]
        )
        for note in notes:
            examples = self.examples.setdefault(note.code, [])
            if len(examples) < MAX_EXAMPLES:
                examples.append((name, note))


def render_check_table(statistics: Statistics, total: int) -> list[str]:
    """Return the rows: each check, the number of files with a note, and the number of notes."""
    rows = ["| check | level | files | of all | notes |", "|---|---|---:|---:|---:|"]
    for check in CHECKS:
        if check.code[2] in "78":
            continue
        files = statistics.files[check.code]
        link = f"[{check.code}](lint/{check.slug}.md) {check.slug}"
        share = f"{files / total:.2%}" if total else ""
        rows.append(
            f"| {link} | {check.level} | {files:,} | {share} | {statistics.notes[check.code]:,} |"
        )
    return rows


def main() -> int:
    """Read, count, print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[1])
    parser.add_argument("folder", type=Path, help="robots.txt files, at any depth")
    parser.add_argument("--every", type=int, default=1, help="read every Nth file", metavar="N")
    parser.add_argument("--examples", type=int, default=0, help="notes to print for each check")
    parser.add_argument("--select", default="", help="codes or slugs of checks, with commas")
    options = parser.parse_args()
    candidates = (
        path for path in options.folder.rglob("*") if path.is_file() and path.suffix != ".tsv"
    )
    paths = sorted(candidates)[:: options.every]
    statistics = Statistics()
    for number, path in enumerate(paths):
        robots = robotrules.parse(path.read_bytes())
        began = time.process_time()
        notes = lint(robots, select=list(filter(None, options.select.split(","))))
        statistics.seconds.append(time.process_time() - began)
        rules = (str(rule).lower() for group in robots.groups for rule in group.rules)
        statistics.add(path.name, frozenset(rules), notes)
        if sys.stderr.isatty() and number % 100 == 0:
            print(f"\r{number:,} of {len(paths):,}", end="", file=sys.stderr)
    seconds = sorted(statistics.seconds) or [0.0]
    print(f"{len(paths):,} files; lint raised no exception.")
    print(
        "Worst note: "
        + ", ".join(f"{word or 'none'} {n:,}" for word, n in statistics.levels.most_common())
    )
    middle, last = seconds[len(seconds) // 2], seconds[-1]
    print(f"CPU seconds: {sum(seconds):.1f} in all, median {middle:.4f}, longest {last:.2f}.\n")
    print("\n".join(render_check_table(statistics, len(paths))))
    print("\n| files | number | errors each | warnings each | info each | fail by default |")
    print("|---|---:|---:|---:|---:|---:|")
    for name, files in statistics.by_platform.items():
        print(render_platform_row(name, files))
        if name != "all":
            print(render_platform_row(f"{name}, stock", select_stock(files)))
    rng = random.Random(1)
    for code, examples in sorted(statistics.examples.items()) if options.examples else ():
        for name, note in rng.sample(examples, min(options.examples, len(examples))):
            print(f"{code} {name}: {str(note)[:300]} {note.url or ''}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
