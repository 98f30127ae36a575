"""Parsing is total, and the lines re-join to the body with their terminators, on every engine."""

from __future__ import annotations

import robotrules
from fuzz.nasty import Case
from robotrules import RobotsTxt
from robotrules._engine import native, pure

ENGINES = (pure,) if native is None else (native, pure)
MARKS = (b"", b"\xef", b"\xef\xbb", b"\xef\xbb\xbf")


def check(case: Case) -> None:
    """Read the file, look at all that was found, and put the lines together again."""
    profile = case.profile()
    for engine in ENGINES:
        robots = robotrules.parse(case.body, profile, complete=case.complete, engine=engine)
        rejoined(robots)
        if case.is_askable():
            robots.check(case.url, case.token)
            robots.explain(case.url, case.token).as_dict()


def rejoined(robots: RobotsTxt) -> None:
    """Assert that nothing of the body is lost between the lines."""
    body, at = robots.body, 0
    for number, line in enumerate(robots.lines, 1):
        between = body[at : line.start]
        assert between in ((b"\n", b"\r", b"\r\n") if number > 1 else MARKS), between
        assert (line.number, line.text) == (number, body[line.start : line.end])
        assert b"\n" not in line.text
        assert b"\r" not in line.text
        at = line.end
    if not robots.lines:
        at = next(len(mark) for mark in reversed(MARKS) if body.startswith(mark))
    # What is left is the last terminator, or what a note says was not read.
    unread = [note for note in robots.notes if note.code in ("truncated", "cut-line")]
    rest = body[at : unread[0].start if unread else len(body)]
    assert rest in (b"", b"\n", b"\r", b"\r\n"), rest
