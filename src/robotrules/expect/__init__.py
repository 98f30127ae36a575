"""
Expectations: the site owner's requirements for robots.txt and pages, as questions.

    from robotrules import parse
    from robotrules.expect import evaluate, read_expectations
    expected = read_expectations(toml_text)
    for question in expected.questions:
        result = evaluate(question, parse(body))
        result.passed, result.found, result.cure

An expectation file is TOML; `docs/expectations.md` lists its keys. Besides single URLs it can cover
all URLs that a path pattern matches, which the exact analysis decides. The package uses no files,
no network and no clock, except in `robotrules.expect.files`.
"""

from __future__ import annotations

from robotrules.expect.evaluate import counterexample, evaluate
from robotrules.expect.reader import read_expectations
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
