"""
What is expected of a robots.txt and of pages, and what came of it: Expectation, Question, Judged.

An expectation is a table of an expectation file. It asks one question for each crawler and each
thing that it names, so that each passes or fails by itself. All are immutable and go to JSON with
`as_dict()`. They know neither TOML nor how a question is answered.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from robotrules.octets import visible
from robotrules.registries.crawlers import KnownCrawler
from robotrules.robotstxt.verdict import Explanation

# Raised when a value of `ExpectationResult.as_dict()` changes meaning or goes away.
SCHEMA_VERSION = 1
EVERYONE = ("*",)
# Which groups a crawler obeys, as an expectation says it.
OBEYED = {
    "own": "a group that names it",
    "purpose": "a group that names its purpose",
    "star": "the group for '*'",
    "none": "no group",
}


class PageSource(NamedTuple):
    """Where the tags of a page are read, as an expectation names it."""

    file: str | None = None
    """A file with its initial HTML."""
    url: str | None = None
    """A live page, to be fetched."""
    response: str | None = None
    """A file with a saved HTTP response."""
    headers: tuple[str, ...] = ()
    """Header lines, beside those of a response."""

    def __str__(self) -> str:
        return self.file or self.url or self.response or "headers"


class Carriers(NamedTuple):
    """What was read of a page: octets and field lines, by whoever touches files and networks."""

    headers: object = None
    html: bytes | None = None
    url: str | None = None
    """Where a fetch of it ended."""


class Expectation(NamedTuple):
    """One table of an expectation file: whom it is about, and what is expected."""

    line: int
    crawlers: tuple[tuple[str, ...], ...] = ()
    """Each with its product tokens in its order of preference; none: everyone, `*`."""
    purposes: tuple[str, ...] = ()
    at: tuple[str, ...] = ()
    """URLs at which preferences, app directives and tags are asked for."""
    page: PageSource | None = None
    application: str | None = None
    by_line: int | None = None
    by_rule: str | None = None
    why: str = ""
    """What it is for, in the words of whoever wrote it."""


class Question(NamedTuple):
    """One thing that is expected, of one crawler, at one URL."""

    number: int
    """Its place in the file, from 1."""
    key: str
    """The key that asks it, such as `disallowed` or `tags`."""
    line: int
    """The line of the expectation file that it stands on."""
    about: Expectation
    crawler: tuple[str, ...]
    """Its product tokens; none where no crawler is asked about."""
    url: str | None
    """A URL, a path, or for `all-allowed` and `all-disallowed` a path pattern."""
    value: Any
    """What is expected there."""

    @property
    def title(self) -> str:
        """What is asked, in a line."""
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
    """A line of an explanation, and what it is, for those who have colours."""

    text: str
    style: str = ""
    """`allowed`, `disallowed`, `heading`, `faint`, or nothing."""


class ExpectationResult(NamedTuple):
    """A question with its answer."""

    question: Question
    passed: bool
    expected: str
    found: str
    cure: str = ""
    """What could be done where it failed."""
    told: tuple[ReportLine, ...] = ()
    """How that was found: groups, the rule that decides, those that lose."""
    explanation: Explanation | None = None
    """The same as a value, where a verdict was asked for."""
    witness: str | None = None
    """A shortest URL that is otherwise than all URLs of a pattern should be."""
    undecided: bool = False
    """Whether the question was not answered within the budget: then it fails, and says so."""
    hint: str = ""
    """What is odd about the question itself, whether it passed or not."""
    known: KnownCrawler | None = None
    """The well-known crawler by whose names groups were chosen; None: by the name alone."""

    reading: str = ""
    """How the crawler chooses groups, with source and day, where that makes a difference here."""

    def __str__(self) -> str:
        """Return it for people: what was asked, expected and found, how, and the cure."""
        question = self.question
        lines = [f"{'passed' if self.passed else 'failed'}, line {question.line}: {question.title}"]
        lines += [f"why       {question.about.why}"] * bool(question.about.why)
        lines += [f"expected  {self.expected}", f"found     {self.found}"]
        lines += [f"registry  {self.reading}"] * bool(self.reading)
        lines += [line.text for line in self.told]
        lines += [f"cure      {self.cure}"] * bool(self.cure)
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
    """A whole expectation file."""

    name: str
    robots: str | None = None
    """The robots.txt it is about: a file, from the folder of this one."""
    url: str | None = None
    """Or where a live one is."""
    origin: str | None = None
    """What the robots.txt governs; paths are of it."""
    profile: str | None = None
    questions: tuple[Question, ...] = ()
    robots_line: int | None = None
    """The line that names the robots.txt."""


def shown_crawler(question: Question) -> str:
    """Return who is asked about, with purposes."""
    names = ", ".join(question.crawler) if question.crawler != EVERYONE else "everyone else"
    purposes = ", ".join(question.about.purposes)
    return f"{names} (purpose {purposes})" if purposes else names


def _place(question: Question) -> str:
    return question.url or str(question.about.page or "the page")


def shown_value(value: Any) -> str:
    """Return an expected value as TOML has it."""
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
