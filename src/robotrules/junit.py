"""
JUnit XML reports, which GitLab, Jenkins and others display.

XML 1.0 does not allow control characters, not even escaped ones (§2.2), so they are made visible.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Literal, NamedTuple
from xml.etree import ElementTree

from robotrules.octets import visible

__all__ = ["Case", "Suite", "report"]


class Case(NamedTuple):
    """A test case and its outcome."""

    name: str
    outcome: Literal["passed", "failure", "error"] = "passed"
    message: str = ""
    """Why it failed, in one line."""
    kind: str = ""
    """The kind of failure."""
    text: str = ""
    """The details; for a passed case, its output."""
    file: str = ""
    """The file it is about, which GitLab links to."""
    line: int | None = None


class Suite(NamedTuple):
    """Test cases that belong together."""

    name: str
    cases: Sequence[Case]


def report(name: str, suites: Iterable[Suite]) -> str:
    """Return a report as XML."""
    given = list(suites)
    root = ElementTree.Element("testsuites", _counted(name, given))
    for suite in given:
        element = ElementTree.SubElement(root, "testsuite", _counted(suite.name, [suite]))
        for case in suite.cases:
            _add(element, case)
    ElementTree.indent(root)
    text: str = ElementTree.tostring(root, "unicode")
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{text}\n'


def _counted(name: str, suites: Sequence[Suite]) -> dict[str, str]:
    outcomes = [case.outcome for suite in suites for case in suite.cases]
    return {
        "name": visible(name),
        "tests": str(len(outcomes)),
        "failures": str(outcomes.count("failure")),
        "errors": str(outcomes.count("error")),
    }


def _add(suite: ElementTree.Element, case: Case) -> None:
    about = {"classname": suite.get("name", ""), "name": visible(case.name)}
    about |= {"file": visible(case.file)} if case.file else {}
    about |= {"line": str(case.line)} if case.line is not None else {}
    element = ElementTree.SubElement(suite, "testcase", about)
    if case.outcome != "passed":
        attributes = {"message": visible(case.message)} | ({"type": case.kind} if case.kind else {})
        element = ElementTree.SubElement(element, case.outcome, attributes)
    elif case.text:
        element = ElementTree.SubElement(element, "system-out")
    if case.text:
        element.text = "\n".join(map(visible, case.text.split("\n")))
