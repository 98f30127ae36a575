"""Formatting never fails, changes no verdict, and is idempotent."""

from __future__ import annotations

import robotrules
from fuzz.generator import Case
from robotrules.formatting import format_robots
from robotrules.robotstxt.internals import get_received


def check(case: Case) -> None:
    """Format a file, and the result again."""
    robots = robotrules.parse(case.body, case.base, complete=case.complete)
    found = format_robots(robots, max_states=300)
    if found.refused:
        assert found.body == get_received(robots)
        return
    again = robotrules.parse(found.body, case.base)
    urls = [case.url, b"/", b"/a", b"/ab/index.html?a=1"]
    for token in ("*", "a", "b", "ExampleBot"):
        before, after = (one.rules_for(token).allows_many(urls) for one in (robots, again))
        assert before == after, token
    assert format_robots(again, max_states=300).body == found.body
