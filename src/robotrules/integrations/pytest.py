"""
pytest plug-in: collects expectation files; each expectation is a test.

`robots.test.toml` is found like any test file; the setting `robotrules_files` changes the names. A
failure shows what was expected and found, the deciding line and how to fix it, without a traceback.
`expect_robots` is for tests of an application that generates its robots.txt:

    def test_robots(client, expect_robots):
        expect_robots(client.get("/robots.txt").content, "robots.test.toml")

Other modules of robotrules are imported only if there is such a file.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from fnmatch import fnmatch
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from robotrules.expect.files import ExpectationFile
    from robotrules.expect.values import ExpectationResult, Question

SETTING = "robotrules_files"
NAMES = ["robots.test.toml", "*.robots.test.toml"]


def pytest_addoption(parser: pytest.Parser) -> None:
    """Declare the setting."""
    words = "file name patterns of robots.txt expectation files (robotrules)"
    parser.addini(SETTING, words, type="args", default=NAMES)


def pytest_collect_file(file_path: Path, parent: pytest.Collector) -> ExpectationsCollector | None:
    """Collect a file if its name matches the setting."""
    if file_path.suffix != ".toml":
        return None
    if not any(fnmatch(file_path.name, name) for name in parent.config.getini(SETTING)):
        return None
    found: ExpectationsCollector = ExpectationsCollector.from_parent(parent, path=file_path)
    return found


class ExpectationsCollector(pytest.File):
    """An expectation file."""

    def collect(self) -> Iterator[QuestionItem]:
        """Yield its expectations; an invalid file is one error in one line."""
        from robotrules.errors import RobotrulesError
        from robotrules.octets import visible

        try:
            trial = _trial(self.path, self._opened)
            if trial.live is None:
                _ = trial.robots  # a live file is fetched by the first test
        except RobotrulesError as error:
            raise self.CollectError(str(error)) from None
        for question in trial.questions:
            name = f"line {question.line}: {visible(question.title)}"
            yield QuestionItem.from_parent(self, name=name, trial=trial, question=question)

    @property
    def _opened(self) -> ExitStack:
        if not hasattr(self, "_open"):
            self._open = ExitStack()
        return self._open

    def teardown(self) -> None:
        """Close the client."""
        self._opened.close()


class QuestionItem(pytest.Item):
    """One expectation of a file."""

    def __init__(self, *, trial: ExpectationFile, question: Question, **more: Any) -> None:
        super().__init__(**more)
        self._trial = trial
        self._question = question

    def runtest(self) -> None:
        """Evaluate it."""
        judged = self._trial.evaluate(self._question)
        if not judged.passed:
            raise NotAsExpected(_words(judged))

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException], style: Any = None) -> Any:
        """Return the explanation; a traceback only for internal errors."""
        from robotrules.errors import RobotrulesError

        if isinstance(excinfo.value, (NotAsExpected, RobotrulesError)):
            return str(excinfo.value)
        return super().repr_failure(excinfo, style)

    def reportinfo(self) -> tuple[Path, int, str]:
        """Return the position of the expectation."""
        return self.path, self._question.line - 1, self.name


class NotAsExpected(AssertionError):
    """A robots.txt or page does not meet an expectation; the message explains it."""


@pytest.fixture
def expect_robots(request: pytest.FixtureRequest) -> Callable[..., None]:
    """Return a function that tests a robots.txt against an expectation file."""

    def expect(body: bytes | str, file: str | Path = NAMES[0]) -> None:
        """Fail if *body* does not meet the expectations of *file*, relative to the test."""
        from robotrules.robotstxt import parse

        __tracebackhide__ = True
        with ExitStack() as opened:
            trial = _trial(request.path.parent / file, opened)
            trial.robots = parse(body, trial.profile)
            failed = [one for one in trial.evaluate_all() if not one.passed]
        if failed:
            pytest.fail("\n\n".join(map(_words, failed)), pytrace=False)

    return expect


def _words(judged: ExpectationResult) -> str:
    """Return an explanation whose first line suits short summaries."""
    from robotrules.octets import visible

    return f"expected {visible(judged.expected)}, found {visible(judged.found)}\n{judged}"


def _trial(path: Path, opened: ExitStack) -> ExpectationFile:
    from robotrules.config import find_config
    from robotrules.expect.files import ClientFetcher, ExpectationFile

    def client() -> Any:
        """Open a client with an in-memory store."""
        from robotrules.client.sync import Client

        return opened.enter_context(Client("robotrules (pytest)", store="memory:"))

    return ExpectationFile(path, find_config(path), ClientFetcher(client))
