"""Linting is total, each note lies in the file, and both engines lead to the same notes."""

from __future__ import annotations

import robotrules
from fuzz.nasty import Case
from fuzz.targets.total import ENGINES
from robotrules import lint
from robotrules.linting import LEVELS

# States of a question: a case is small, and a run asks about many.
BUDGET = 300


def check(case: Case) -> None:
    """Lint a file as each engine reads it."""
    told = []
    for engine in ENGINES:
        robots = robotrules.parse(case.body, case.profile(), complete=case.complete, engine=engine)
        notes = lint(robots, budget=BUDGET)
        # A line that was cut is no line of the file, and is noted all the same.
        lines = len(robots.lines) + 1
        for note in notes:
            assert note.level in LEVELS
            assert note.line is None or 1 <= note.line <= lines, note
            assert note.message
            assert note.as_dict()["code"] == note.code
            for edit in note.fix.edits if note.fix else ():
                assert 0 <= edit.start <= edit.end <= len(robots.body), note
        told.append([note.as_dict() for note in notes])
    assert told[0] == told[-1]
