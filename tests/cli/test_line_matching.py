"""Diffs of large files: bounded work, and always a diff that makes one file into the other."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from difflib import SequenceMatcher, unified_diff
from random import Random

import pytest

from robotrules.cli import line_matching
from robotrules.cli.line_matching import MAX_STATES, BoundedMatcher
from robotrules.cli.unified_diff import unified_lines

HUNK = re.compile(r"@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@")
LARGE = 20_000


def patched(old: Sequence[str], diff: Sequence[str]) -> list[str]:
    """Apply a unified diff; its context lines must match the old file."""
    result: list[str] = []
    at = 0
    for line in diff[2:]:
        if hunk := HUNK.fullmatch(line):
            start = int(hunk[1]) - (hunk[2] != "0")
            result += old[at:start]
            at = start
            assert int(hunk[3]) - (hunk[4] != "0") == len(result)
        elif line.startswith("+"):
            result.append(line[1:])
        else:
            assert old[at] == line[1:]
            at += 1
            if line.startswith(" "):
                result.append(line[1:])
    return result + list(old[at:])


def pairs(lines: int) -> Iterator[tuple[list[str], list[str]]]:
    """Yield random files of few distinct lines, and changed ones."""
    random = Random(7)
    for _ in range(150):
        old = [f"l{random.randrange(lines)}" for _ in range(random.randrange(lines))]
        new = [f"n{random.randrange(9)}" if random.random() < 0.2 else line for line in old]
        for _ in range(random.randrange(4)):
            cut = random.randrange(len(new) + 1)
            new = new[cut:] + new[: max(cut - 2, 0)] if random.random() < 0.3 else new
            new[cut:cut] = random.sample(new, min(3, len(new)))
        yield old, new


def test_small_files_read_as_difflib_writes_them() -> None:
    """The bound has no effect below it."""
    for old, new in pairs(60):
        assert list(unified_lines(old, new, "a", "b")) == list(
            unified_diff(old, new, "a", "b", lineterm="")
        )


def test_one_change_in_a_large_file() -> None:
    """Small changes of large files read as they always did."""
    old = [f"Disallow: /{n}" for n in range(LARGE)]
    new = [*old[:500], "Allow: /x", *old[500:9000], "Disallow: /y", *old[9003:]]
    diff = list(unified_lines(old, new, "a", "b"))
    assert diff == list(unified_diff(old, new, "a", "b", lineterm=""))


@pytest.mark.parametrize("max_steps", [0, 200, 800, 3_000, 20_000])
def test_every_diff_applies(max_steps: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """However small the limit on steps is, the diff makes the old file into the new one."""
    monkeypatch.setattr(line_matching.BoundedMatcher.__init__, "__defaults__", (max_steps,))
    for old, new in pairs(60):
        diff = list(unified_lines(old, new, "a", "b"))
        assert patched(old, diff) == new
        matcher = BoundedMatcher(old, new)
        matcher.get_opcodes()
        assert matcher.steps <= max_steps


# What fixes do to files: each takes the number of a line.
CHANGES: dict[str, tuple[Callable[[int], list[str]], Callable[[int], list[str]]]] = {
    "each second line": (lambda n: [f"/{n}"], lambda n: [f"/{n}" if n % 2 else f"/{n}/"]),
    "each line": (lambda n: [f"/{n}"], lambda n: [f"/{n}/"]),
    "gone": (lambda n: [f"/{n}"], lambda n: [f"/{n}"] if n % 2 else []),
    "identical, gone": (lambda n: ["/a"], lambda n: [] if n else ["/a"]),
    "identical, changed": (lambda n: ["/a"], lambda n: ["/a" if n % 2 else "/a*"]),
    "two kinds": (lambda n: [f"/{n % 2}"], lambda n: ["/1", "/0"] if n % 3 else ["/0"]),
    "few kinds": (lambda n: [f"/{n * n % 61}"], lambda n: [f"/{n * n % 59}"]),
    "pairs": (lambda n: [f"/{n // 2}"], lambda n: [f"/{n // 2}"] if n % 3 else []),
    "reversed": (lambda n: [f"/{n}"], lambda n: [f"/{LARGE - n}"]),
}


@pytest.mark.parametrize("change", CHANGES)
def test_the_work_is_bounded(change: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Counted are the lines that difflib searches, so that no clock decides."""
    searched = 0
    search = SequenceMatcher.find_longest_match

    def count(self: SequenceMatcher[str], *where: int) -> object:
        nonlocal searched
        searched += where[1] - where[0]
        assert searched <= MAX_STATES
        return search(self, *where)

    monkeypatch.setattr(SequenceMatcher, "find_longest_match", count)
    was, now = CHANGES[change]
    old = [line for n in range(LARGE) for line in was(n)]
    new = [line for n in range(LARGE) for line in now(n)]
    diff = list(unified_lines(old, new, "a", "b"))
    assert patched(old, diff) == new


@pytest.mark.parametrize("change", ["each second line", "gone", "identical, changed"])
def test_lines_that_stay_are_not_replaced(change: str) -> None:
    """The diff has only the changed lines, though difflib would be too slow to find them."""
    was, now = CHANGES[change]
    old = [line for n in range(LARGE) for line in was(n)]
    new = [line for n in range(LARGE) for line in now(n)]
    diff = list(unified_lines(old, new, "a", "b"))
    assert sum(line.startswith("-") for line in diff[2:]) == LARGE // 2
