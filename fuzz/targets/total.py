"""Parsing never fails, and lines and terminators rejoin to the body, on every engine."""

from __future__ import annotations

import robotrules
from fuzz.generator import Case
from robotrules import RobotsTxt
from robotrules._engine import native, pure

ENGINES = (pure,) if native is None else (native, pure)
MARKS = (b"", b"\xef", b"\xef\xbb", b"\xef\xbb\xbf")


def check(case: Case) -> None:
    """Parse the file, decide its URL, and rejoin the lines."""
    profile = case.profile()
    for engine in ENGINES:
        robots = robotrules.parse(case.body, profile, complete=case.complete, engine=engine)
        check_lines_rejoin(robots)
        if case.is_askable():
            robots.check(case.url, case.token)
            robots.explain(case.url, case.token).as_dict()


def check_lines_rejoin(robots: RobotsTxt) -> None:
    """Assert that lines and terminators rejoin to the body."""
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
    # The rest is the last terminator, up to the part that a note reports as unread.
    unread = [note for note in robots.notes if note.code in ("truncated", "cut-line")]
    rest = body[at : unread[0].start if unread else len(body)]
    assert rest in (b"", b"\n", b"\r", b"\r\n"), rest
