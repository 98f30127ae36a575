"""A column of URLs is decided like single URLs, in every layout, by both engines."""

from __future__ import annotations

from typing import Any

import pyarrow as pa

import robotrules
from fuzz.generator import Case
from fuzz.targets.total import ENGINES
from robotrules import Verdict
from robotrules.http.origins import origin_of

LAYOUTS = (pa.binary(), pa.large_binary(), pa.binary_view(), pa.dictionary(pa.int8(), pa.binary()))


def as_row(verdict: Verdict) -> dict[str, Any]:
    """Return a verdict as a row of `decide_arrow()`."""
    return {"allowed": verdict.allowed, "reason": str(verdict.reason), "line": verdict.line}


def check(case: Case) -> None:
    """Compare columns with single calls, and the engines with each other."""
    url = case.url if isinstance(case.url, bytes) else case.url.encode("utf-8", "surrogatepass")
    # The same URL at other places of a buffer, next to other octets, and short ones.
    urls = [url, None, b"https://a.example" + url, url[:9], b"", url * 2, url, b"/robots.txt"]
    origins = [None if some is None else origin_of(some) for some in urls]
    for engine in ENGINES:
        profile = case.profile()
        robots = robotrules.parse(case.body, profile, complete=case.complete, engine=engine)
        if not case.is_askable(robots.profile):
            return
        rules = robots.rules_for(case.token)
        expected = [None if some is None else as_row(rules.check(some)) for some in urls]
        for layout in LAYOUTS:
            column = pa.array(urls, pa.binary()).cast(layout)
            decided = pa.array(rules.decide_arrow(column, threads=1))
            decided.validate(full=True)
            assert decided.to_pylist() == expected
            allowed = pa.array(rules.allows_arrow(column[1:], threads=1)).to_pylist()
            assert allowed == [v and v["allowed"] for v in expected[1:]]
            found = pa.array(engine.origins_column(column, 1, origin_of)).to_pylist()
            assert found == origins
