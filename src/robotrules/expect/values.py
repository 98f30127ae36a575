"""
The values of expectations: Expectation, Question, ExpectationResult.

An expectation is a table of an expectation file. It has a question for each crawler and each value
that it names, so that each passes or fails separately. All values are immutable, and `as_dict()`
returns them for JSON. The module does not use TOML, and does not evaluate questions.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from robotrules.octets import visible
from robotrules.registries.crawlers import KnownCrawler
from robotrules.robotstxt.verdict import Explanation

# Increased when a value of `ExpectationResult.as_dict()` changes meaning or is removed.
SCHEMA_VERSION = 1
EVERYONE = ("*",)
# The groups that a crawler obeys, by the value of `obeys`.
OBEYED = {
    "own": "a group that names it",
    "purpose": "a group that names its purpose",
    "star": "the group for '*'",
    "none": "no group",
}


class PageSource(NamedTuple):
    """The source of a page's tags, as an expectation names it."""

    file: str | None = None
    """A file with its initial HTML."""
    url: str | None = None
    """A live page, to be fetched."""
    response: str | None = None
    """A file with a saved HTTP response."""
    headers: tuple[str, ...] = ()
    """Header lines, in addition to those of a response."""

    def __str__(self) -> str:
        return self.file or self.url or self.response or "headers"


class Carriers(NamedTuple):
    """The content of a page: octets and field lines, which the caller read or fetched."""

    headers: object = None
    html: bytes | None = None
    url: str | None = None
    """The URL at which a fetch of it ended."""


class Expectation(NamedTuple):
    """A table of an expectation file: its crawlers, and what is expected."""

    line: int
    crawlers: tuple[tuple[str, ...], ...] = ()
    """Each with its product tokens in order of preference; empty: everyone, `*`."""
    purposes: tuple[str, ...] = ()
    at: tuple[str, ...] = ()
    """URLs at which preferences, app directives and tags are evaluated."""
    page: PageSource | None = None
    application: str | None = None
    by_line: int | None = None
    by_rule: str | None = None
    why: str = ""
    """The purpose of the expectation, as its author wrote it."""


class Question(NamedTuple):
    """One expected fact, for one crawler, at one URL."""

    number: int
    """Its position in the file, from 1."""
    key: str
    """The key of the expectation, such as `disallowed` or `tags`."""
    line: int
    """Its line in the expectation file."""
    about: Expectation
    crawler: tuple[str, ...]
    """Its product tokens; empty if the question is not about a crawler."""
    url: str | None
    """A URL, a path, or for `all-allowed` and `all-disallowed` a path pattern."""
    value: Any
    """What is expected there."""

    @property
    def title(self) -> str:
        """The question in one line."""
        return _TITLES[self.key](self)

    def as_dict(self) -> dict[str, Any]:
        """Return it as plain values for JSON."""
        return {
            "number": self.number,
            "key": self.key,
            "line": self.line,
            "title": self.title,
            "crawler": list(self.crawler),
            "purposes": list(self.about.purposes),
            "url": self.url,
            "value": _plain(self.value),
            "why": self.about.why,
        }


class ReportLine(NamedTuple):
    """A line of an explanation, with its style."""

    text: str
    style: str = ""
    """`allowed`, `disallowed`, `heading`, `faint`, or nothing."""


class ExpectationResult(NamedTuple):
    """A question with its result."""

    question: Question
    passed: bool
    expected: str
    found: str
    cure: str = ""
    """How to fix a failure."""
    told: tuple[ReportLine, ...] = ()
    """The explanation: groups, the deciding rule, the rules that lose."""
    explanation: Explanation | None = None
    """The explanation as a value, if the question is about a verdict."""
    witness: str | None = None
    """A shortest URL of a pattern that does not have the expected verdict."""
    undecided: bool = False
    """Whether the question was not decided within the state limit; then it fails."""
    hint: str = ""
    """A hint about the question itself, whether it passed or not."""
    known: KnownCrawler | None = None
    """The well-known crawler whose names selected the groups; None: the name alone."""

    reading: str = ""
    """How the crawler selects groups, with source and date, if that matters here."""

    def __str__(self) -> str:
        """Return the result for people: question, expected, found, explanation and fix."""
        question = self.question
        lines = [f"{'passed' if self.passed else 'failed'}, line {question.line}: {question.title}"]
        lines += [f"why       {question.about.why}"] * bool(question.about.why)
        lines += [f"expected  {self.expected}", f"found     {self.found}"]
        lines += [f"registry  {self.reading}"] * bool(self.reading)
        lines += [line.text for line in self.told]
        lines += [f"fix       {self.cure}"] * bool(self.cure)
        lines += [f"hint      {self.hint}"] * bool(self.hint)
        return "\n".join(map(visible, lines))

    def as_dict(self) -> dict[str, Any]:
        """Return it as plain values for JSON."""
        return {
            **self.question.as_dict(),
            "passed": self.passed,
            "expected": self.expected,
            "found": self.found,
            "cure": self.cure,
            "witness": self.witness,
            "undecided": self.undecided,
            "hint": self.hint,
            "explanation": self.explanation.as_dict() if self.explanation else None,
            "known": self.known.short_dict() if self.known else None,
        }


class Expectations(NamedTuple):
    """An expectation file."""

    name: str
    robots: str | None = None
    """The path of the robots.txt, relative to the folder of this file."""
    url: str | None = None
    """Or the URL of a live one."""
    origin: str | None = None
    """The origin that the robots.txt applies to; paths belong to it."""
    profile: str | None = None
    questions: tuple[Question, ...] = ()
    robots_line: int | None = None
    """The line that names the robots.txt."""


def shown_crawler(question: Question) -> str:
    """Return the crawler of a question, with purposes."""
    names = ", ".join(question.crawler) if question.crawler != EVERYONE else "everyone else"
    purposes = ", ".join(question.about.purposes)
    return f"{names} (purpose {purposes})" if purposes else names


def _place(question: Question) -> str:
    return question.url or str(question.about.page or "the page")


def shown_value(value: Any) -> str:
    """Return an expected value as TOML writes it."""
    if isinstance(value, bool):
        return "true" if value else "false"
    return f"{value:g}" if isinstance(value, float) else str(value)


def _plain(value: Any) -> Any:
    if isinstance(value, (tuple, list)):
        return [_plain(part) for part in value]
    return value if isinstance(value, (str, int, float, bool, type(None))) else str(value)


_TITLES = {
    "allowed": lambda q: f"{shown_crawler(q)}: {q.url} is allowed",
    "disallowed": lambda q: f"{shown_crawler(q)}: {q.url} is disallowed",
    "all-allowed": lambda q: f"{shown_crawler(q)}: all of {q.url} is allowed",
    "all-disallowed": lambda q: f"{shown_crawler(q)}: all of {q.url} is disallowed",
    "obeys": lambda q: f"{shown_crawler(q)}: obeys {OBEYED[q.value]}",
    "crawl-delay": lambda q: (
        f"{shown_crawler(q)}: no crawl delay"
        if q.value is False
        else f"{shown_crawler(q)}: a crawl delay of {q.value:g} s"
    ),
    "tags": lambda q: f"{shown_crawler(q)}: {_place(q)} has {q.value}",
    "no-tags": lambda q: f"{shown_crawler(q)}: {_place(q)} has no {q.value}",
    "only-tags": lambda q: f"{shown_crawler(q)}: {_place(q)} has {_listed(q.value)} and no other",
    "preferences": lambda q: f"{shown_crawler(q)}: {q.value[0]} is {q.value[1]} at {q.url}",
    "app-directives": lambda q: (
        f"{q.about.application}: {q.value[0]} is {shown_value(q.value[1])} at {q.url}"
    ),
    "no-app-directives": lambda q: f"{q.about.application}: no {q.value} at {q.url}",
    "sitemaps": lambda q: f"the sitemaps are {_listed(q.value)}",
    "records": lambda q: f"there is a record {q.value}",
    "no-records": lambda q: f"there is no record {q.value}",
}
KEYS = tuple(_TITLES)


def _listed(values: tuple[str, ...]) -> str:
    return ", ".join(values) or "none"
