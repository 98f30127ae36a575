"""The matrix never fails, and every cell is the verdict on its path."""

from __future__ import annotations

import robotrules
from fuzz.generator import Case
from robotrules.matrix import matrix
from robotrules.matrix.html import page
from robotrules.matrix.svg import picture


def check(case: Case) -> None:
    """Compute the matrix of the main paths, and render it."""
    robots = robotrules.parse(case.body, case.profile(), complete=case.complete)
    found = matrix(robots, max_states=300)
    for one in found.rows:
        names = one.known.names if one.known else one.product_token
        if one.known or one.product_token == "*" or robots.profile.any_product_token:
            rules = robots.rules_for(names, one.purposes)
            for cell in one.cells:
                url = f"https://example.com{cell.path}" if cell.path[:1] == "/" else cell.path
                assert cell.verdict == rules.check(url), (one.name, cell)
    assert sum(found.counts.values()) == len(found.rows)
    assert found.as_dict()["crawlers"]
    assert page(found)
    assert picture(found)
