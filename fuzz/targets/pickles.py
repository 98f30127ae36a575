"""A file that was pickled is the same file: equal, with the same lines, records and verdicts."""

from __future__ import annotations

import pickle

import robotrules
from fuzz.nasty import Case


def check(case: Case) -> None:
    """Pickle a file, and ask both."""
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
