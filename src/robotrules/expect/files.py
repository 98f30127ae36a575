"""
Expectation files on disk: found by convention, read with their robots.txt, and evaluated.

A file is `robots.test.toml` beside a `robots.txt`, or in the folder `tests` beside it, or named in
the settings. Its paths are relative to its folder; live files are fetched by the `Fetcher` that the
caller passes. Anything that cannot be read or fetched raises `ExpectationError` in one line. The
meaning of questions is in `robotrules.expect`.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from functools import cached_property
from glob import glob, has_magic
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, Protocol

from robotrules.analysis.solver import MAX_STATES
from robotrules.config import Config, shown_path
from robotrules.errors import ExpectationError, SavedResponseError
from robotrules.expect import (
    Carriers,
    ExpectationResult,
    Expectations,
    Question,
    evaluate,
    read_expectations,
)
from robotrules.expect.reader import MAX_BYTES
from robotrules.expect.values import PageSource
from robotrules.http.fields import Fields, read_fields
from robotrules.http.origins import origin_of
from robotrules.profile import find_profile
from robotrules.robotstxt import RobotsTxt, parse
from robotrules.tags.saved_responses import read_response

if TYPE_CHECKING:
    from robotrules.client.sync import Client

NAME = "robots.test.toml"
BY_CONVENTION = (NAME, f"tests/{NAME}")
# Only the head of a page is read; a larger page is truncated.
MAX_PAGE_BYTES = 20 << 20


class Fetcher(Protocol):
    """The interface for fetching live files."""

    def robots(self, url: str, profile: str) -> RobotsTxt:
        """Return the robots.txt of the origin of a URL, or raise ExpectationError."""

    def page(self, url: str, crawler: tuple[str, ...], purposes: tuple[str, ...]) -> Carriers:
        """Return headers and HTML of a page, or raise ExpectationError."""


class FileOptions(NamedTuple):
    """Options of the caller, which override the file."""

    robots: str | None = None
    """Another robots.txt than the one the file names."""
    live: str | None = None
    """A URL of the origin whose live robots.txt is used instead."""
    profile: str | None = None
    max_states: int | None = None
    literal: bool = False
    """Whether crawlers select groups by their names alone, regardless of the registry."""


def find_files(folder: Path, config: Config) -> list[Path]:
    """
    Return the expectation files of a folder.

    Those that the settings name, if they name any; otherwise those found by convention. A name in
    the settings without a file raises ExpectationError.
    """
    found: dict[Path, None] = {}
    for name in config.test.files:
        where = shown_path(config.folder) / name
        matching = sorted(glob(str(where), recursive=True)) if has_magic(name) else [str(where)]
        if not matching:
            raise ExpectationError(
                f"{shown_path(Path(config.path or ''))}: no file is called {name!r}; correct files "
                "under [test]"
            )
        found |= dict.fromkeys(map(Path, matching))
    if config.test.files:
        return list(found)
    return [folder / name for name in BY_CONVENTION if os.path.isfile(folder / name)]


class ExpectationFile:
    """An expectation file with its robots.txt, to be evaluated."""

    def __init__(
        self,
        path: Path,
        config: Config,
        fetcher: Fetcher | None = None,
        given: FileOptions = FileOptions(),  # noqa: B008  # an immutable value
    ) -> None:
        """Read the expectations; the robots.txt is read or fetched on first use."""
        self.path = path
        self.expected: Expectations = read_expectations(_read_bytes(path, MAX_BYTES), str(path))
        self._fetcher = fetcher
        profile = given.profile or self.expected.profile or config.test.profile
        self.profile = find_profile(profile or "default").name
        self.max_states = given.max_states or config.test.max_states or MAX_STATES
        self.literal = given.literal
        self._pages: dict[tuple[object, ...], Carriers] = {}
        self.live = given.live or (None if given.robots else self.expected.url)
        """The URL whose origin has the robots.txt; None: it is a file."""
        self.origin = origin_of(self.live) if self.live else self.expected.origin
        self._file = Path(given.robots) if given.robots else self._robots_file()
        self._fix = "" if given.robots else self._suggest_fix()
        self.source = self.live or str(self._file)
        """The location of the robots.txt, for people."""

    @cached_property
    def robots(self) -> RobotsTxt:
        """The robots.txt; raises ExpectationError if it cannot be read or fetched."""
        if self.live is not None:
            return self._fetching().robots(self.live, self.profile)
        return _read_robots(self._file, self.profile, self._fix)

    @property
    def local_files(self) -> list[Path]:
        """The files of this machine that it reads: itself, the robots.txt and pages."""
        pages = [one.about.page for one in self.questions if one.about.page is not None]
        names = [name for page in pages for name in (page.file, page.response) if name is not None]
        found = [self.path, *([self._file] if self.live is None else [])]
        return list(dict.fromkeys([*found, *(self.path.parent / name for name in names)]))

    @property
    def questions(self) -> tuple[Question, ...]:
        """The questions of the file."""
        return self.expected.questions

    def evaluate(self, question: Question) -> ExpectationResult:
        """Return the result of one question; raises ExpectationError if a page is missing."""
        carriers = None
        if question.about.page is not None:
            carriers = self._carriers(question, question.about.page)
        return evaluate(
            question,
            self.robots,
            carriers,
            origin=self.origin,
            max_states=self.max_states,
            literal=self.literal,
        )

    def evaluate_all(self) -> Iterator[ExpectationResult]:
        """Yield all results in the order of the file."""
        return map(self.evaluate, self.questions)

    # --- Referenced files ---

    def _robots_file(self) -> Path:
        folder = self.path.parent
        if self.expected.robots is not None:
            return folder / self.expected.robots
        # By convention it is beside this file, or above the folder `tests`.
        beside, above = folder / "robots.txt", folder.parent / "robots.txt"
        is_above = folder.absolute().name == "tests" and not os.path.exists(beside)
        return above if is_above else beside

    def _suggest_fix(self) -> str:
        """Return how to correct the name of the robots.txt."""
        if self.expected.robots is None:
            return f'create it, or set robots = "…" in {self.path}'
        line = self.expected.robots_line
        where = f"{self.path}, line {line}" if line else str(self.path)
        return f"correct robots in {where}"

    def _fetching(self) -> Fetcher:
        if self._fetcher is None:
            raise ExpectationError(f"{self.path}: cannot fetch here; name a file with robots")
        return self._fetcher

    def _carriers(self, question: Question, page: PageSource) -> Carriers:
        purposes = question.about.purposes
        key = (page, question.crawler, purposes) if page.url else (page,)
        if key not in self._pages:
            self._pages[key] = (
                self._fetching().page(page.url, question.crawler, purposes)
                if page.url
                else self._read_page(page)
            )
        return self._pages[key]

    def _read_page(self, page: PageSource) -> Carriers:
        pairs = [line.partition(":")[::2] for line in page.headers]
        fields: Fields | None = None
        if pairs:
            fields = read_fields([(name.strip(), value.strip()) for name, value in pairs])
        if page.file is not None:
            return Carriers(fields, _read_bytes(self.path.parent / page.file, MAX_PAGE_BYTES))
        if page.response is None:
            return Carriers(fields)
        file = self.path.parent / page.response
        try:
            saved = read_response(_read_bytes(file, MAX_PAGE_BYTES))
        except SavedResponseError as error:
            raise ExpectationError(f"{file}: {error}") from None
        lines = Fields(saved.fields.lines + (fields.lines if fields else ()), saved.fields.apart)
        body = saved.body.encode() if isinstance(saved.body, str) else saved.body
        return Carriers(lines, body or None)


class ClientFetcher:
    """Fetches live files with a client, which is opened on first use."""

    def __init__(self, open_client: Callable[[], Client]) -> None:
        self._open_client = open_client

    @cached_property
    def _client(self) -> Client:
        return self._open_client()

    def robots(self, url: str, profile: str) -> RobotsTxt:
        """Return the robots.txt of the origin of a URL; a missing one allows all URLs."""
        from robotrules.cache import EffectivePolicy

        state = self._client.lookup(url)
        if state is None:
            raise ExpectationError(f"{url}: not an http or https URL, so it has no robots.txt")
        if state.policy is EffectivePolicy.DISALLOW:
            failure = state.entry.last_failure or state.fetch_record
            why = f" ({failure.detail or failure.status})" if failure else ""
            raise ExpectationError(f"{state.origin}: the robots.txt is unreachable{why}; try again")
        return state.robots

    def page(self, url: str, crawler: tuple[str, ...], purposes: tuple[str, ...]) -> Carriers:
        """Return headers and HTML of a page; nothing if the page may not be crawled."""
        fetched = self._client.fetch(url, crawler, purposes)
        if not fetched.verdict.allowed and fetched.origin_state and not fetched.failure_reason:
            return Carriers(url=url)
        if not fetched.ok:
            why = fetched.detail or (f"status {fetched.status}" if fetched.status else "no answer")
            raise ExpectationError(f"{url}: the page cannot be read: {why}; name another")
        return Carriers(fetched.fields, fetched.body)


def _read_robots(file: Path, profile: str, fix: str) -> RobotsTxt:
    # Twice the limit, because UTF-16 has two octets where UTF-8 has one.
    most = 2 * find_profile(profile).max_bytes + 1
    octets = _read_bytes(file, most, fix)
    return parse(octets, profile, complete=len(octets) < most)


def _read_bytes(path: Path, most: int, fix: str = "") -> bytes:
    """Return at most *most* + 1 octets of a file; *fix* says what to do if it does not exist."""
    try:
        with path.open("rb") as file:
            return file.read(most + 1)
    except IsADirectoryError:
        why = "it is a folder; name a file in it"
    except FileNotFoundError:
        why = f"there is no such file; {fix or 'check the name'}"
    except (OSError, ValueError) as error:
        why = getattr(error, "strerror", None) or str(error)
    raise ExpectationError(f"{path}: {why}")
