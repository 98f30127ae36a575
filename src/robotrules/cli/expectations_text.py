"""
What came of expectations, as text on a screen and as a JUnit report.

A file's failures come one after another, each with what was expected, what was found, how that came
about and what could be done; then one line counts. Passes are listed on request. What a stranger
wrote has no control characters left. It does not judge anything.
"""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from robotrules.cli.streams import Output
from robotrules.cli.text import plural
from robotrules.expect.values import ExpectationResult
from robotrules.junit import Case, Suite, report
from robotrules.octets import visible

# A pipe has no width, and what is pasted from one is read in 80 columns.
WIDTH = 80
FACT = 10


class Answered(NamedTuple):
    """A file with its answers."""

    name: str
    source: str
    """The robots.txt that was asked about."""
    judged: Sequence[ExpectationResult]
    trouble: str = ""
    """Why nothing was asked."""

    @property
    def failed(self) -> int:
        """How many questions failed."""
        return sum(not one.passed for one in self.judged)


class ExpectationsPage:
    """The answers of one file as lines of text."""

    def __init__(self, answered: Answered, output: Output, *, passes: bool) -> None:
        self._answered = answered
        self._paint = output.paint
        self._passes = passes
        self._room = max(output.width, 60) if output.terminal else WIDTH

    def lines(self) -> Iterator[str]:
        """Yield the lines."""
        after = False
        for one in self._answered.judged:
            if one.passed and self._passes:
                word = self._paint("allowed", "passed")
                yield f"{word}  {self._where(one)}: {visible(one.question.title)}"
                yield f"        {visible(one.found)}"
                if one.reading:
                    yield f"        {one.reading}"
            elif not one.passed:
                yield from [""] if after else []
                yield from self._failure(one)
            after = after or not one.passed
        if after:
            yield ""
        yield self._summary()

    def _summary(self) -> str:
        answered = self._answered
        failed, count = answered.failed, len(answered.judged)
        about = f"{visible(answered.name)}: {visible(answered.source)}"
        if not failed:
            return f"{about}: {self._paint('allowed', f'{count:,} passed')}"
        words = f"{failed:,} failed"
        return f"{about}: {self._paint('disallowed', words)}, {count - failed:,} passed"

    def _where(self, one: ExpectationResult) -> str:
        return f"{visible(self._answered.name)}:{one.question.line}"

    def _failure(self, one: ExpectationResult) -> Iterator[str]:
        word = self._paint("disallowed", "failed")
        yield f"{word}  {self._where(one)}: {visible(one.question.title)}"
        yield from self._fact("why", one.question.about.why)
        yield from self._fact("expected", one.expected)
        yield from self._fact("found", one.found)
        yield from self._fact("registry", one.reading)
        for line in one.told:
            text = visible(line.text)
            yield f"  {self._paint(line.style, text) if line.style else text}".rstrip()
        yield from self._fact("fix", one.cure)

    def _fact(self, name: str, words: str) -> Iterator[str]:
        if not words:
            return
        first, *more = textwrap.wrap(visible(words), self._room - FACT - 2) or [""]
        yield f"  {self._paint('heading', name)}{' ' * (FACT - len(name))}{first}"
        for line in more:
            yield f"  {' ' * FACT}{line}"


def junit(files: Sequence[Answered]) -> bytes:
    """Return the answers as JUnit XML: a suite for each file, a case for each question."""
    suites = [Suite(answered.name, tuple(_cases(answered))) for answered in files]
    return report("robotrules test", suites).encode()


def _cases(answered: Answered) -> Iterator[Case]:
    if answered.trouble:
        yield Case("expectations can be asked", "error", answered.trouble)
    for one in answered.judged:
        case = Case(one.question.title, file=answered.name, line=one.question.line)
        if not one.passed:
            message = f"expected {one.expected}, found {one.found}"
            key, text = one.question.key, str(one)
            case = case._replace(outcome="failure", message=message, kind=key, text=text)
        yield case


def total(files: Sequence[Answered]) -> str:
    """Return what came of several files, in a line."""
    failed = sum(answered.failed for answered in files)
    count = sum(len(answered.judged) for answered in files)
    words = f"{failed:,} failed, {count - failed:,} passed" if failed else f"{count:,} passed"
    troubles = sum(bool(answered.trouble) for answered in files)
    left = f"; {plural(troubles, 'file')} could not be asked" if troubles else ""
    return f"{plural(len(files), 'file')}: {words}{left}"
