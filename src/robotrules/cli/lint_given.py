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
from robotrules.cli.streams import STDIN, Trouble, open_octets, quoted, read_robots, unreadable
from robotrules.cli.text import visible
from robotrules.config import Config, find_config, read_config
from robotrules.errors import CheckError, ConfigError
from robotrules.linting import BUDGET, LintNote, Received, chosen, lint, lint_page
from robotrules.linting.render import Linted
from robotrules.origins import origin_of, robots_url

PAGES = (".html", ".htm", ".xhtml")
# As much as readers of HTML look at.
MOST_PAGE = 2 * 1024 * 1024
# What is looked at to tell a text from something else, and how much of it no text has.
SAMPLE = 64 * 1024
CONTROLS = bytes({*range(0x20), 0x7F} - set(b"\t\n\v\f\r\x1b"))
FEWEST, SHARE = 3, 20
UTF16 = (b"\xff\xfe", b"\xfe\xff")
# What starts like a robots.txt is one to crawlers, whatever follows, and checks have notes on that.
_RECORD = re.compile(rb"^[ \t]*(?:user-agent|disallow|allow|sitemap)[ \t]*:", re.I | re.M)
RECORD_WITHIN = 1024
# A page on a disk has no URL, and its tags say the same wherever it is.
SOMEWHERE = "https://example.com/"


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


class Settings(NamedTuple):
    """What holds for one file."""

    select: tuple[str, ...]
    ignore: tuple[str, ...]
    profile: str
    budget: int
    fail_on: str
    url: str | None


class Given:
    """Reads files, each with the settings that are for it."""

    def __init__(self, choices: Choices) -> None:
        """Raises `Trouble` for options that nobody could mean."""
        self._choices = choices
        self._by_folder: dict[str, Config | ConfigError] = {}
        self._always: Config | None = Config() if choices.no_config else None
        if choices.config is not None:
            try:
                self._always = read_config(choices.config)
            except ConfigError as error:
                raise Trouble(visible(str(error))) from None
        try:
            chosen(choices.select, choices.ignore)
        except CheckError as error:
            raise Trouble(f"--{visible(str(error))}") from None
        if choices.url is not None and origin_of(choices.url) is None:
            raise Trouble(
                f"--url {quoted(choices.url)} has no origin: pass an http or https URL with a host"
            )

    def settings(self, file: str | None) -> Settings:
        """Return what holds for a file; None: for what is no file, by the folder one is in."""
        config, said = self._config(file), self._choices
        found = config.lint
        by_file = config.ignored_in(file) if file is not None else ()
        settings = Settings(
            said.select or found.select,
            (*(said.ignore or found.ignore), *by_file),
            said.profile or found.profile or "default",
            said.budget or found.budget or BUDGET,
            said.fail_on or found.fail_on or "warning",
            said.url,
        )
        try:
            chosen(settings.select, settings.ignore)
        except CheckError as error:
            raise Trouble(visible(f"{config.path}: {error}")) from None
        return settings

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
            raise Trouble(visible(str(found)))
        return found


# --- A robots.txt ---------------------------------------------------------------------------------


class Read(NamedTuple):
    """A robots.txt that was read, with the settings for it."""

    robots: RobotsTxt
    octets: bytes
    settings: Settings

    def notes(self, robots: RobotsTxt | None = None) -> list[LintNote]:
        """Return what checks find, here or in what became of it."""
        given = self.settings
        received = Received(url=_robots_url(given.url)) if given.url else None
        return lint(
            self.robots if robots is None else robots,
            select=given.select,
            ignore=given.ignore,
            received=received,
            budget=given.budget,
        )


def read_file(file: str, settings: Settings) -> Read:
    """Read and parse a robots.txt; what is binary is refused."""
    robots, octets = read_robots(file, settings.profile)
    refuse_binary(octets, file)
    return Read(robots, octets, settings)


def linted(file: str, read: Read, notes: Iterable[LintNote]) -> Linted:
    """Return what was found in a file."""
    body = read.robots.body
    return Linted(
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


def linted_page(file: str, settings: Settings) -> Linted:
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
    return Linted(*named(file), notes=tuple(notes), fail_on=settings.fail_on)


# --- Both -----------------------------------------------------------------------------------------


def is_url(name: str) -> bool:
    """Tell whether an argument is a URL, and no file of that name."""
    return "://" in name and not os.path.exists(name)


def named(file: str) -> tuple[bytes, bool]:
    """Return what a file is called in reports, from the current folder, and that it is one."""
    if file == STDIN:
        return b"stdin", False
    here, whole = os.getcwd(), os.path.abspath(file)
    below = whole.startswith(os.path.join(here, ""))
    path = os.fsencode(os.path.relpath(whole, here) if below else whole)
    return path.replace(os.sep.encode(), b"/"), True


def refuse_binary(octets: bytes, file: str) -> None:
    """End with a file that is no text: too many of its octets are control characters."""
    sample = octets[:SAMPLE]
    if sample.startswith(UTF16) or _RECORD.search(sample[:RECORD_WITHIN]):
        return
    controls = len(sample) - len(sample.translate(None, CONTROLS))
    if controls >= FEWEST and controls * SHARE >= len(sample):
        name = "stdin" if file == STDIN else quoted(file)
        raise Trouble(
            f"{name} is binary: {controls:,} of its first {len(sample):,} octets are control "
            "characters; pass a text file"
        )
