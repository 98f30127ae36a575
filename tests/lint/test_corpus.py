"""
Real files: lint handles each within its bounds, and its fixes keep the meaning of the file.

The collection is not part of the repository. `ROBOTRULES_CORPUS` names its folder; without it these
tests are skipped. Every sixteenth file is read, or all files with `ROBOTRULES_WHOLE_CORPUS=1`.
"""

from __future__ import annotations

import os

import pytest

import robotrules
from robotrules.analysis import compare
from robotrules.linting import LEVELS, fix, lint
from tests.test_corpus import FILES, bodies

EVERY = 1 if os.environ.get("ROBOTRULES_WHOLE_CORPUS") else 16
pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(
        not FILES.exists(),
        reason="no collection of real files: set ROBOTRULES_CORPUS to its folder",
    ),
]


def test_every_file_is_linted_and_fixes_keep_its_meaning() -> None:
    """No file stops lint; every span lies in the body; a fixed file decides as before."""
    read = fixed = 0
    for number, (name, body) in enumerate(bodies()):
        if number % EVERY:
            continue
        read += 1
        robots = robotrules.parse(body)
        notes = lint(robots)
        for note in notes:
            assert note.level in LEVELS, name
            assert 0 <= note.start <= note.end <= len(robots.body), f"{name}: {note}"
            assert note.line is None or 1 <= note.line <= max(len(robots.lines), 1), (
                f"{name}: {note}"
            )
            assert note.message[-1] in ".?", f"{name}: {note}"
        done = fix(robots, notes)
        if done.applied and fixed < 200:
            fixed += 1
            after = robotrules.parse(done.body)
            assert compare(robots, after, max_regions=1).equal is True, name
    assert read > 500
    assert fixed > 10
