"""Linting never fails, every note is inside the file, and both engines give the same notes."""

from __future__ import annotations

import robotrules
from fuzz.generator import Case
from fuzz.targets.total import ENGINES
from robotrules import lint
from robotrules.linting import LEVELS

# The state budget of a search: cases are small, and a run has many of them.
MAX_STATES = 300


def check(case: Case) -> None:
    """Lint a file with each engine."""
    results = []
    for engine in ENGINES:
        robots = robotrules.parse(case.body, case.profile(), complete=case.complete, engine=engine)
        notes = lint(robots, max_states=MAX_STATES)
        # An incomplete last line is not among the lines of the file, but has a note.
        lines = len(robots.lines) + 1
        for note in notes:
            assert note.level in LEVELS
            assert note.line is None or 1 <= note.line <= lines, note
            assert note.message
            assert note.as_dict()["code"] == note.code
            for edit in note.fix.edits if note.fix else ():
                assert 0 <= edit.start <= edit.end <= len(robots.body), note
        results.append([note.as_dict() for note in notes])
    assert results[0] == results[-1]
