"""
Expectations: what a site's owner wants its robots.txt and its pages to say, as questions.

    from robotrules import parse
    from robotrules.expect import judge, read_expectations
    expected = read_expectations(toml_text)
    for question in expected.questions:
        judged = judge(question, parse(body))
        judged.passed, judged.found, judged.cure

An expectation file is TOML; `docs/expectations.md` has every key. Beside single URLs it can speak
of all URLs that a path pattern matches, which the exact analysis decides. Nothing here touches a
file, a network or a clock: `robotrules.expect.files` does.
"""

from __future__ import annotations

from robotrules.expect.evaluate import counterexample, evaluate
from robotrules.expect.reading import read_expectations
from robotrules.expect.values import (
    Carriers,
    Expectation,
    ExpectationResult,
    Expectations,
    PageSource,
    Question,
    ReportLine,
)

__all__ = [
    "Carriers",
    "Expectation",
    "ExpectationResult",
    "Expectations",
    "PageSource",
    "Question",
    "ReportLine",
    "counterexample",
    "evaluate",
    "read_expectations",
]
