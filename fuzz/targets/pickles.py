"""A pickled file equals the original: lines, records and verdicts."""

from __future__ import annotations

import pickle

import robotrules
from fuzz.generator import Case


def check(case: Case) -> None:
    """Pickle and unpickle a file, and compare."""
    profile = case.profile()
    robots = robotrules.parse(case.body, profile, complete=case.complete)
    again = pickle.loads(pickle.dumps(robots))
    assert again == robots
    assert again.profile == profile
    assert (again.lines, again.records) == (robots.lines, robots.records)
    assert again.groups == robots.groups
    if case.is_askable():
        assert again.check(case.url, case.token) == robots.check(case.url, case.token)
        rules = robots.rules_for(case.token)
        unpickled = pickle.loads(pickle.dumps(rules))
        assert unpickled == rules
        assert unpickled.check(case.url) == rules.check(case.url)
