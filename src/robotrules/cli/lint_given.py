"""
What `robotrules lint` is given: files, pages and settings, each read and vetted.

Settings come from the command line first, then from the project's file. Something that cannot be
linted ends with one line that says why, and leaves the others to be done. What is fetched is
`lint_live`'s. It does not know how notes are shown.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

from robotrules import RobotsTxt
from robotrules.cli.robots_file import refuse_binary
from robotrules.cli.streams import STDIN, CliError, open_octets, quoted, read_robots, unreadable
from robotrules.config import Config, check_names, find_config, read_config
from robotrules.errors import CheckError, ConfigError
from robotrules.http.origins import origin_of, robots_url
from robotrules.linting import BUDGET, LintNote, ServedResponse, lint, lint_page, select_checks
from robotrules.linting.render import LintedFile
from robotrules.octets import visible

PAGES = (".html", ".htm", ".xhtml")
# As much as readers of HTML look at.
MOST_PAGE = 2 * 1024 * 1024
# A page on a disk has no URL, and its tags say the same wherever it is.
SOMEWHERE = "https://example.com/"
# `example.com`, and `example.com/a`; but not `robots.txt`.
_HOST = re.compile(
    r"(?![\w.-]+\.(?:txt|x?html?|toml|json|xml|old|bak|orig)\Z)(?:[a-z0-9-]+\.)+[a-z]{2,}(?::\d+)?(?:/|\Z)",
    re.IGNORECASE,
)


class Choices(NamedTuple):
    """What the command line says; None or empty: nothing."""

    select: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()
    profile: str | None = None
    budget: int | None = None
    fail_on: str | None = None
    url: str | None = None
    config: str | None = None
    no_config: bool = False
    level: str | None = None


class LintSettings(NamedTuple):
    """What holds for one file."""

    select: tuple[str, ...]
    ignore: tuple[str, ...]
    profile: str
    budget: int
    fail_on: str
    url: str | None
    level: str
    """The least that counts."""


class LintInputReader:
    """Reads files, each with the settings that are for it."""

    def __init__(self, choices: Choices) -> None:
        """Raises `CliError` for options that nobody could mean."""
        self._choices = choices
        self._by_folder: dict[str, Config | ConfigError] = {}
        self._always: Config | None = Config() if choices.no_config else None
        if choices.config is not None:
            try:
                self._always = read_config(choices.config)
            except ConfigError as error:
                raise CliError(visible(str(error))) from None
        try:
            select_checks(choices.select, choices.ignore)
        except CheckError as error:
            raise CliError(f"--{visible(str(error))}") from None
        if choices.url is not None and origin_of(choices.url) is None:
            raise CliError(
                f"--url {quoted(choices.url)} has no origin: pass an http or https URL with a host"
            )

    def settings(self, file: str | None) -> LintSettings:
        """Return what holds for a file; None: for what is no file, by the folder one is in."""
        config, said = self._config(file), self._choices
        found = config.lint
        by_file = config.ignored_in(file) if file is not None else ()
        settings = LintSettings(
            said.select or found.select,
            (*(said.ignore or found.ignore), *by_file),
            said.profile or found.profile or "default",
            said.budget or found.budget or BUDGET,
            said.fail_on or found.fail_on or "warning",
            said.url or found.url,
            said.level or found.level or "info",
        )
        if settings.url is not None and origin_of(settings.url) is None:
            raise CliError(visible(f"{config.path}: lint.url has no origin: name one with a host"))
        # A name that is nobody's is wrong whichever file is linted.
        named = (name for names in found.per_file_ignores.values() for name in names)
        try:
            select_checks(settings.select, (*settings.ignore, *named))
        except CheckError as error:
            raise CliError(visible(_where(config, error))) from None
        return settings

    @property
    def format(self) -> str | None:
        """The form that the settings want, by the folder one is in; None: they do not say."""
        try:
            return self._config(None).lint.format
        except CliError:
            return None  # whatever is linted with these settings says so

    def _config(self, file: str | None) -> Config:
        if self._always is not None:
            return self._always
        folder = os.path.dirname(os.path.abspath(file)) if file is not None else os.getcwd()
        if folder not in self._by_folder:
            try:
                self._by_folder[folder] = find_config(Path(folder))
            except ConfigError as error:
                self._by_folder[folder] = error
        found = self._by_folder[folder]
        if isinstance(found, ConfigError):
            raise CliError(visible(str(found)))
        return found


def _where(config: Config, error: CheckError) -> str:
    """Return what is wrong with the name of a check in settings, and where it stands."""
    for place in check_names(config.path) if config.path else ():
        try:
            select_checks([place.value])
        except CheckError as wrong:
            return str(place.error(f"this {str(wrong).removeprefix('select ')}"))
    return f"{config.path}: {error}"


# --- A robots.txt ---------------------------------------------------------------------------------


class LintInput(NamedTuple):
    """A robots.txt that was read, with the settings for it."""

    robots: RobotsTxt
    octets: bytes
    settings: LintSettings

    def notes(self, robots: RobotsTxt | None = None) -> list[LintNote]:
        """Return what checks find, here or in what became of it."""
        given = self.settings
        received = ServedResponse(url=_robots_url(given.url)) if given.url else None
        return lint(
            self.robots if robots is None else robots,
            select=given.select,
            ignore=given.ignore,
            received=received,
            budget=given.budget,
        )


def read_file(file: str, settings: LintSettings) -> LintInput:
    """Read and parse a robots.txt; what is binary is refused."""
    robots, octets = read_robots(file, settings.profile)
    refuse_binary(octets, file)
    return LintInput(robots, octets, settings)


def linted(file: str, read: LintInput, notes: Iterable[LintNote]) -> LintedFile:
    """Return what was found in a file."""
    body = read.robots.body
    return LintedFile(
        *named(file),
        notes=tuple(notes),
        body=body,
        whole=read.octets.startswith(body),
        fail_on=read.settings.fail_on,
    )


def _robots_url(url: str) -> str:
    return robots_url(origin_of(url) or "")


# --- A page ---------------------------------------------------------------------------------------


def is_page(file: str) -> bool:
    """Tell whether a file is a page, by its name."""
    return file.lower().endswith(PAGES)


def linted_page(file: str, settings: LintSettings) -> LintedFile:
    """Read a saved page and return what its tags are found to say."""
    stream = open_octets(file, "the page")
    with stream:
        try:
            octets = stream.read(MOST_PAGE) or b""
        except OSError as error:
            raise unreadable(file, "the page", error) from None
    refuse_binary(octets, file)
    notes = lint_page(
        settings.url or SOMEWHERE, html=octets, select=settings.select, ignore=settings.ignore
    )
    return LintedFile(*named(file), notes=tuple(notes), fail_on=settings.fail_on)


# --- Both -----------------------------------------------------------------------------------------


def is_url(name: str) -> bool:
    """Tell whether an argument is a URL, and no file of that name."""
    return "://" in name and not os.path.exists(name)


def refuse_bare_name(name: str) -> None:
    """End with what is no file, and would be a URL with its scheme."""
    if _HOST.match(name) and not os.path.exists(name):
        raise CliError(f"{quoted(name)} is no file: did you mean https://{visible(name)}?")


def named(file: str) -> tuple[bytes, bool]:
    """Return what a file is called in reports, from the current folder, and that it is one."""
    if file == STDIN:
        return b"stdin", False
    here, whole = os.getcwd(), os.path.abspath(file)
    below = whole.startswith(os.path.join(here, ""))
    path = os.fsencode(os.path.relpath(whole, here) if below else whole)
    return path.replace(os.sep.encode(), b"/"), True
