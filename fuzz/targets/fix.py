"""Safe fixes change no verdict of any crawler under any profile."""

from __future__ import annotations

import robotrules
from fuzz.generator import Case
from robotrules import lint
from robotrules.linting import fix
from robotrules.profile import PROFILES


def check(case: Case) -> None:
    """Fix a file, and compare verdicts on some URLs; then apply fixes that change verdicts too."""
    robots = robotrules.parse(case.body, case.base, complete=case.complete)
    notes = lint(robots, max_states=300)
    fixed = fix(robots, notes)
    assert not (fixed.refused and fixed.applied)
    if fixed.applied:
        assert fixed.body != robots.body
    urls = [case.url, b"/", b"/a", b"/ab/index.html?a=1", b"/robots.txt"]
    for profile in PROFILES:
        old, new = (robotrules.parse(body, profile) for body in (robots.body, fixed.body))
        for token in ("*", "a", "b", "ExampleBot"):
            before, after = (one.rules_for(token).allows_many(urls) for one in (old, new))
            assert before == after, (profile, token, fixed.applied)
    unsafe = fix(robots, notes, unsafe=True)
    lint(robotrules.parse(unsafe.body, case.base), max_states=300)
