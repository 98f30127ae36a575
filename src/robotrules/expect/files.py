"""
Expectation files on disk: found by convention, read with the robots.txt they are about, and asked.

A file is `robots.test.toml` beside a `robots.txt`, or in the folder `tests` beside it, or named in
the settings. What it names is read from its own folder; what is live is fetched by whoever is
handed in. Whatever cannot be read or fetched raises `ExpectationError` in one line. What questions
mean is in `robotrules.expect`.
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
from robotrules.expect.reading import LARGEST
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
# Of a page only its head is read; what is larger than this is cut.
LARGEST_PAGE = 20 << 20


class Fetcher(Protocol):
    """Who gets what is live."""

    def robots(self, url: str, profile: str) -> RobotsTxt:
        """Return the robots.txt of the origin of a URL, or raise ExpectationError."""

    def page(self, url: str, crawler: tuple[str, ...], purposes: tuple[str, ...]) -> Carriers:
        """Return headers and HTML of a page, or raise ExpectationError."""


class FileOptions(NamedTuple):
    """What is said beside the file, and comes before what it says."""

    robots: str | None = None
    """Another robots.txt than the one it names."""
    live: str | None = None
    """A URL of the origin whose live robots.txt is asked about instead."""
    profile: str | None = None
    budget: int | None = None
    literal: bool = False
    """Whether crawlers choose groups by their names alone, whatever the registry says of them."""


def find_files(folder: Path, config: Config) -> list[Path]:
    """
    Return the expectation files of a folder.

    Those that the settings name, if they name any; otherwise those that the convention knows. A
    name in the settings that no file has raises ExpectationError.
    """
    found: dict[Path, None] = {}
    for name in config.test.files:
        where = shown_path(config.folder) / name
        matching = sorted(glob(str(where), recursive=True)) if has_magic(name) else [str(where)]
        if not matching:
            cure = "correct files under [test]"
            raise ExpectationError(
                f"{shown_path(Path(config.path or ''))}: no file is called {name!r}; {cure}"
            )
        found |= dict.fromkeys(map(Path, matching))
    if config.test.files:
        return list(found)
    return [folder / name for name in BY_CONVENTION if os.path.isfile(folder / name)]


class Trial:
    """An expectation file with its robots.txt, to be asked."""

    def __init__(
        self,
        path: Path,
        config: Config,
        fetcher: Fetcher | None = None,
        given: FileOptions = FileOptions(),  # noqa: B008  # an immutable value
    ) -> None:
        """Read the expectations; the robots.txt is read, or fetched, when it is asked for."""
        self.path = path
        self.expected: Expectations = read_expectations(_octets(path, LARGEST), str(path))
        self._fetcher = fetcher
        wanted = given.profile or self.expected.profile or config.test.profile
        self.profile = find_profile(wanted or "default").name
        self.budget = given.budget or config.test.budget or MAX_STATES
        self.literal = given.literal
        self._pages: dict[tuple[object, ...], Carriers] = {}
        self.live = given.live or (None if given.robots else self.expected.url)
        """The URL whose origin has the robots.txt; None: it is a file."""
        self.origin = origin_of(self.live) if self.live else self.expected.origin
        self._file = Path(given.robots) if given.robots else self._robots_file()
        self._named_by = "" if given.robots else self._naming()
        self.source = self.live or str(self._file)
        """Where the robots.txt is, for people."""

    @cached_property
    def robots(self) -> RobotsTxt:
        """The robots.txt; one that cannot be had raises ExpectationError."""
        if self.live is not None:
            return self._fetching().robots(self.live, self.profile)
        return _read_robots(self._file, self.profile, self._named_by)

    @property
    def questions(self) -> tuple[Question, ...]:
        """What is asked."""
        return self.expected.questions

    def judge(self, question: Question) -> ExpectationResult:
        """Return the answer to one question; a page that is not there raises ExpectationError."""
        carriers = None
        if question.about.page is not None:
            carriers = self._carriers(question, question.about.page)
        return evaluate(
            question,
            self.robots,
            carriers,
            origin=self.origin,
            budget=self.budget,
            literal=self.literal,
        )

    def judged(self) -> Iterator[ExpectationResult]:
        """Yield all answers in the order of the file."""
        return map(self.judge, self.questions)

    # --- What it names ---

    def _robots_file(self) -> Path:
        folder = self.path.parent
        if self.expected.robots is not None:
            return folder / self.expected.robots
        # By convention it stands beside this file, or above the folder `tests`.
        beside, above = folder / "robots.txt", folder.parent / "robots.txt"
        is_above = folder.absolute().name == "tests" and not os.path.exists(beside)
        return above if is_above else beside

    def _naming(self) -> str:
        """Return where the robots.txt is named, and how to name another."""
        if self.expected.robots is None:
            return f'put it there, or say robots = "…" in {self.path}'
        line = self.expected.robots_line
        where = f"{self.path}, line {line}" if line else str(self.path)
        return f"correct robots in {where}"

    def _fetching(self) -> Fetcher:
        if self._fetcher is None:
            raise ExpectationError(f"{self.path}: nothing is fetched here; name a file with robots")
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
            return Carriers(fields, _octets(self.path.parent / page.file, LARGEST_PAGE))
        if page.response is None:
            return Carriers(fields)
        file = self.path.parent / page.response
        try:
            saved = read_response(_octets(file, LARGEST_PAGE))
        except SavedResponseError as error:
            raise ExpectationError(f"{file}: {error}") from None
        lines = Fields(saved.fields.lines + (fields.lines if fields else ()), saved.fields.apart)
        body = saved.body.encode() if isinstance(saved.body, str) else saved.body
        return Carriers(lines, body or None)


class ClientFetcher:
    """Gets what is live with a client, which is opened when something is."""

    def __init__(self, opened: Callable[[], Client]) -> None:
        self._opened = opened

    @cached_property
    def _client(self) -> Client:
        return self._opened()

    def robots(self, url: str, profile: str) -> RobotsTxt:
        """Return the robots.txt of the origin of a URL; none there is one that allows all."""
        from robotrules.cache import EffectivePolicy

        held = self._client.lookup(url)
        if held is None:
            raise ExpectationError(f"{url}: no robots.txt governs it; name an http or https URL")
        if held.policy is EffectivePolicy.DISALLOW:
            visit = held.entry.last_failure or held.fetch_record
            why = f" ({visit.detail or visit.status})" if visit else ""
            raise ExpectationError(f"{held.origin}: the robots.txt is unreachable{why}; try again")
        return held.robots

    def page(self, url: str, crawler: tuple[str, ...], purposes: tuple[str, ...]) -> Carriers:
        """Return headers and HTML of a page; of one that may not be crawled, nothing."""
        fetched = self._client.fetch(url, crawler, purposes)
        if not fetched.verdict.allowed and fetched.origin_state and not fetched.failure_reason:
            return Carriers(url=url)
        if not fetched.ok:
            why = fetched.detail or (f"status {fetched.status}" if fetched.status else "no answer")
            raise ExpectationError(f"{url}: the page cannot be read: {why}; name another")
        return Carriers(fetched.fields, fetched.body)


def _read_robots(file: Path, profile: str, cure: str) -> RobotsTxt:
    # Twice the limit, because UTF-16 has two octets where UTF-8 has one.
    most = 2 * find_profile(profile).max_bytes + 1
    octets = _octets(file, most, cure)
    return parse(octets, profile, complete=len(octets) < most)


def _octets(path: Path, most: int, cure: str = "") -> bytes:
    """Return what is in a file, cut after a little more than *most* octets; *cure*: if none is."""
    try:
        with path.open("rb") as file:
            return file.read(most + 1)
    except IsADirectoryError:
        why = "it is a folder; name a file in it"
    except FileNotFoundError:
        why = f"there is no such file; {cure or 'check the name'}"
    except (OSError, ValueError) as error:
        why = getattr(error, "strerror", None) or str(error)
    raise ExpectationError(f"{path}: {why}")
