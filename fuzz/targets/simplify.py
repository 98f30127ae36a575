"""A simplified file is not longer, and gives every crawler the same verdicts in every profile."""

from __future__ import annotations

import robotrules
from fuzz.generator import Case
from robotrules.analysis import simplify
from robotrules.profile import PROFILES


def check(case: Case) -> None:
    """Simplify a file, and compare verdicts on some URLs."""
    robots = robotrules.parse(case.body, case.base, complete=case.complete)
    found = simplify(robots, max_states=300)
    assert not (found.refused and found.steps)
    if not found.steps:
        return
    assert len(found.body) <= len(robots.body)
    assert found.proof is not None
    assert found.proof.equal is True
    urls = [case.url, b"/", b"/a", b"/ab/index.html?a=1", b"/robots.txt"]
    for profile in PROFILES:
        old, new = (robotrules.parse(body, profile) for body in (robots.body, found.body))
        for token in ("*", "a", "b", "ExampleBot"):
            before, after = (one.rules_for(token).allows_many(urls) for one in (old, new))
            assert before == after, (profile, token, found.steps)
    assert isinstance(found.as_dict()["steps"], list)
