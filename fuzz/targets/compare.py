"""A file equals itself; if two files differ, a URL shows it; if they are equal, no URL does."""

from __future__ import annotations

from random import Random

import robotrules
from fuzz import generator
from fuzz.generator import Case
from robotrules.analysis import compare


def check(case: Case) -> None:
    """Compare a file with itself, and with a mutation of it."""
    profile, random = case.profile(), Random(case.body)
    old = robotrules.parse(case.body, profile)
    assert compare(old, old, max_states=300).equal in (True, None)
    new = robotrules.parse(generator.mutate(random, case.body), profile)
    found = compare(old, new, max_states=300, max_regions=20)
    for change in found.changes:
        for region in change.difference.regions:
            url = region.witness.url
            verdicts = [rules.check(url) for rules in (change.old_rules, change.new_rules)]
            assert verdicts[0].allowed != verdicts[1].allowed, region
    if found.equal:
        urls = [case.url, b"/", b"/a", b"/ab?a=1"]
        for robots in (old, new):
            assert robots.rules_for("*").allows_many(urls) == old.rules_for("*").allows_many(urls)
    assert isinstance(found.as_dict()["changes"], list)
