"""
The inputs of `robotrules lint`: settings, local files and saved pages.

Options of the command line override the settings of the project. An input that cannot be linted
raises `CliError`; the caller reports it and continues with the others.

Sections: a robots.txt · a page · names.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from robotrules import RobotsTxt
from robotrules.cli.console import STDIN, CliError, quoted
from robotrules.cli.folder_search import Exclusion
from robotrules.cli.input_files import (
    is_host_name,
    open_octets,
    read_error,
    read_robots,
    refuse_binary,
)
from robotrules.config import Config, check_names, find_config, read_config
from robotrules.errors import CheckError, ConfigError
from robotrules.http.origins import origin_of
from robotrules.json_results.lint import notes_on
from robotrules.linting import LEVELS, MAX_STATES, LintNote, lint_page, select_checks
from robotrules.linting.baseline import Scope
from robotrules.linting.render import LintedFile
from robotrules.octets import visible

if TYPE_CHECKING:
    pass

PAGES = (".html", ".htm", ".xhtml")
# As many bytes as HTML readers use.
MOST_PAGE = 2 * 1024 * 1024
# A placeholder for the URL of a local page; its tags do not depend on it.
SOMEWHERE = "https://example.com/"


class LintOptions(NamedTuple):
    """The options of the command line; None or empty if not given."""

    select: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()
    profile: str | None = None
    max_states: int | None = None
    fail_on: str | None = None
    url: str | None = None
    config: str | None = None
    no_config: bool = False
    min_level: str | None = None
    exclude: tuple[str, ...] = ()
    baseline: str | None = None
    no_baseline: bool = False


class LintSettings(NamedTuple):
    """The settings for one file."""

    select: tuple[str, ...]
    ignore: tuple[str, ...]
    profile: str
    max_states: int
    fail_on: str
    url: str | None
    min_level: str
    """Notes below it are ignored."""
    baseline: str | None = None
    """The file with known notes."""

    def scope(self) -> Scope:
        """Return which notes this run looks for."""
        codes = frozenset(check.code for check in select_checks(self.select, self.ignore))
        return Scope(codes, LEVELS[: LEVELS.index(self.min_level) + 1])


class LintSettingsReader:
    """Combines options with the settings of the project, for each file."""

    def __init__(self, choices: LintOptions) -> None:
        """Raises `CliError` for invalid options."""
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
        """Return the settings for a file; None for stdin and URLs: those of this directory."""
        config, options = self._config(file), self._choices
        found = config.lint
        by_file = config.ignored_in(file) if file is not None else ()
        settings = LintSettings(
            options.select or found.select,
            (*(options.ignore or found.ignore), *by_file),
            options.profile or found.profile or "default",
            options.max_states or found.max_states or MAX_STATES,
            options.fail_on or found.fail_on or "warning",
            options.url or found.url,
            options.min_level or found.min_level or "info",
            self._baseline(config),
        )
        if settings.url is not None and origin_of(settings.url) is None:
            raise CliError(
                visible(
                    f"{config.path}: lint.url has no origin: use an http or https URL with a host"
                )
            )
        # Unknown names are an error even if no pattern matches this file.
        named = (name for names in found.per_file_ignores.values() for name in names)
        try:
            select_checks(settings.select, (*settings.ignore, *named))
        except CheckError as error:
            raise CliError(visible(_where(config, error))) from None
        return settings

    def excluded(self, folder: str) -> Exclusion:
        """Return what is left out of a folder: by the options, or by the settings."""
        if self._choices.exclude:
            return Exclusion(self._choices.exclude)
        try:
            config = self._config(os.path.join(folder, "robots.txt"))
        except CliError:
            return Exclusion()  # reported when a file is linted
        return Exclusion(config.lint.exclude, str(config.folder))

    def _baseline(self, config: Config) -> str | None:
        """Return the baseline: that of the options, or of the settings."""
        options = self._choices
        if options.no_baseline or options.baseline is not None or config.lint.baseline is None:
            return None if options.no_baseline else options.baseline
        return os.path.relpath(config.folder / config.lint.baseline)

    @property
    def format(self) -> str | None:
        """The output format of the settings of this directory; None if not set."""
        try:
            return self._config(None).lint.format
        except CliError:
            return None  # reported when a file is linted

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
    """Return the error about an unknown check in settings, with its line."""
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
        """Return the notes on this file, or on a fixed version of it."""
        given = self.settings
        return notes_on(
            self.robots if robots is None else robots,
            select=given.select,
            ignore=given.ignore,
            url=given.url,
            max_states=given.max_states,
        )


def read_file(file: str, settings: LintSettings) -> LintInput:
    """Read and parse a robots.txt; binary files are refused."""
    robots, octets = read_robots(file, settings.profile)
    refuse_binary(octets, file)
    return LintInput(robots, octets, settings)


def linted(file: str, read: LintInput, notes: Iterable[LintNote]) -> LintedFile:
    """Return the result for a file."""
    body = read.robots.body
    return LintedFile(
        *named(file),
        notes=tuple(notes),
        body=body,
        whole=read.octets.startswith(body),
        fail_on=read.settings.fail_on,
    )


# --- A page ---------------------------------------------------------------------------------------


def is_page(file: str) -> bool:
    """Tell whether a file is a page, by its name."""
    return file.lower().endswith(PAGES)


def lint_saved_page(file: str, settings: LintSettings) -> LintedFile:
    """Read and lint a saved page."""
    stream = open_octets(file, "the page")
    with stream:
        try:
            octets = stream.read(MOST_PAGE) or b""
        except OSError as error:
            raise read_error(file, "the page", error) from None
    refuse_binary(octets, file)
    notes = lint_page(
        settings.url or SOMEWHERE, html=octets, select=settings.select, ignore=settings.ignore
    )
    return LintedFile(*named(file), notes=tuple(notes), fail_on=settings.fail_on)


# --- Names ----------------------------------------------------------------------------------------


def is_url(name: str) -> bool:
    """Tell whether an argument is a URL and not an existing file."""
    return "://" in name and not os.path.exists(name)


def refuse_bare_name(name: str) -> None:
    """Refuse a host name without a scheme."""
    if is_host_name(name) and not os.path.exists(name):
        raise CliError(f"{quoted(name)} is not a file: did you mean https://{visible(name)}?")


def named(file: str) -> tuple[bytes, bool]:
    """Return the path of a file for reports, relative to this directory, and that it is one."""
    if file == STDIN:
        return b"stdin", False
    here, whole = os.getcwd(), os.path.abspath(file)
    below = whole == here or whole.startswith(os.path.join(here, ""))
    path = os.fsencode(os.path.relpath(whole, here) if below else whole)
    return path.replace(os.sep.encode(), b"/"), True
