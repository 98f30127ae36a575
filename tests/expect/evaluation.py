"""Evaluation of expectations in tests: a robots.txt, some TOML, and the results."""

from __future__ import annotations

from robotrules import parse
from robotrules.expect import Carriers, ExpectationResult, evaluate, read_expectations

ROBOTS = """\
User-agent: *
Disallow: /private/
Allow: /private/press/
Content-Usage: train-ai=n
Content-Usage: /news/ train-ai=y
App-Directives: examplesearch;widgets;depth=3;tone=plain

User-agent: Googlebot
User-agent-purpose: EXAMPLE-PURPOSE-1
Disallow: /search
Allow: /search?q=
Disallow: /search?q=x$
Crawl-delay: 5

Sitemap: https://example.com/sitemap.xml
"""


def evaluate_all(
    toml: str, robots: str = ROBOTS, carriers: Carriers | None = None, max_states: int = 100_000
) -> list[ExpectationResult]:
    """Return the results of the questions of an expectation."""
    expected = read_expectations(f"[[expect]]\n{toml}")
    parsed = parse(robots)
    return [
        evaluate(question, parsed, carriers, origin=expected.origin, max_states=max_states)
        for question in expected.questions
    ]


def evaluate_one(
    toml: str, robots: str = ROBOTS, carriers: Carriers | None = None
) -> ExpectationResult:
    """Return the result of the only question of an expectation."""
    [result] = evaluate_all(toml, robots, carriers)
    return result


def passed(toml: str, robots: str = ROBOTS, carriers: Carriers | None = None) -> list[bool]:
    """Return which questions of an expectation passed."""
    return [result.passed for result in evaluate_all(toml, robots, carriers)]
