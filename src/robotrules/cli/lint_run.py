"""
A run of `robotrules lint`: lints and fixes one file or URL after the other.

An input that fails is reported in one line, and the run continues. Fixed files are written
atomically, or printed as a diff. Fixes are applied in rounds until none is left; each round is
proved to keep the meaning (`linting.fixing`), except for unsafe fixes, whose changed verdicts are
listed.

Sections: the run · fixes.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from typing import TYPE_CHECKING, NamedTuple

from robotrules import RobotsTxt
from robotrules.analysis.files import FileDifference, compare
from robotrules.cli.atomic_write import write_atomically
from robotrules.cli.client import ClientOptions
from robotrules.cli.console import STDIN, CliError, quoted, report
from robotrules.cli.folder_search import describe_folder_error
from robotrules.cli.lint_baseline import BaselineFile
from robotrules.cli.lint_inputs import (
    LintSettings,
    LintSettingsReader,
    is_page,
    is_url,
    lint_saved_page,
    linted,
    named,
    read_file,
    refuse_bare_name,
)
from robotrules.cli.lint_text import fixes
from robotrules.cli.progress import Progress
from robotrules.cli.text import listed, truncate
from robotrules.cli.unified_diff import diff_lines
from robotrules.errors import MissingExtraError
from robotrules.linting import LEVELS, LintNote
from robotrules.linting.fix_rounds import NOT_UTF8, fix_in_rounds
from robotrules.linting.fixing import MAX_STATES
from robotrules.linting.render import LintedFile
from robotrules.octets import visible
from robotrules.profile import PROFILES
from robotrules.robotstxt.internals import reparse

if TYPE_CHECKING:
    from robotrules.cli.lint_urls import LiveSite

MOST_RECORDS = 4
# Advice after the file was overwritten.
AFTERWARDS = "see the diff of your version control, or use --diff before --unsafe-fixes"
# The most changed verdicts that are listed.
MOST_CHANGES = 10
MOST_NAMES = 4
LONGEST = 200


class LintRun:
    """Lints inputs one after the other and keeps the totals."""

    def __init__(
        self,
        given: LintSettingsReader,
        client_options: ClientOptions,
        *,
        as_diff: bool = False,
        fixing: bool = False,
        unsafe: bool = False,
        written: BaselineFile | None = None,
    ) -> None:
        """
        *fixing* writes files; *as_diff* prints a diff instead.

        *written* is a baseline that gets all notes; otherwise each file has that of its settings.
        """
        self._given = given
        self._client_options = client_options
        self._levels = LEVELS
        """The levels that count for the current input."""
        self._written = written
        self._baselines: dict[str, BaselineFile] = {}
        self._settings_now: LintSettings | None = None
        self._as_diff, self._unsafe, self._fixing = as_diff, unsafe, fixing
        self._progress: Progress | None = None
        self._reported: set[str] = set()
        self._live: LiveSite | None = None
        self._linted: set[bytes] = set()
        """The URLs of robots.txt files that were linted, one per origin."""
        self.diff: list[str] = []
        """The diff of the last file."""
        self.notes = 0
        self.errors = self.changed = self.failed = False
        self.has_unsafe_fixes = False
        """Whether unsafe fixes were not applied."""

    def run(self, files: Sequence[str], progress: Progress) -> Iterator[LintedFile]:
        """Yield the result for each input; an error is reported, and the run continues."""
        self._progress = progress
        with ExitStack() as opened:
            for file in files:
                self.diff = []
                try:
                    yield from map(self._count, self._parts(file, opened))
                except (CliError, MissingExtraError) as error:
                    words = error.message if isinstance(error, CliError) else str(error)
                    where = (os.fsencode(file), False) if is_url(file) else named(file)
                    yield self._count(LintedFile(*where, error=" ".join(words.split())))
                progress.add(1, 1)

    def _parts(self, file: str, opened: ExitStack) -> Iterator[LintedFile]:
        if not is_url(file):
            yield from self._lint_file(file)
            return
        settings = self._settings(None)
        if self._live is None:
            # Imported late: the client takes as long to import as everything else.
            from robotrules.cli.lint_urls import LiveSite

            self._live = opened.enter_context(LiveSite(self._client_options, settings.profile))
        robots, origin_state = self._live.robots(file, settings)
        if robots.where not in self._linted:
            self._linted.add(robots.where)
            yield robots
        yield from self._live.page(file, origin_state, settings)

    def _settings(self, file: str | None) -> LintSettings:
        self._settings_now = None
        found = self._given.settings(file)
        self._levels = LEVELS[: LEVELS.index(found.min_level) + 1]
        if self._written is None and found.baseline is not None:
            self._baseline(found.baseline)  # its errors are those of the file
        self._settings_now = found
        return found

    def _baseline(self, path: str) -> BaselineFile:
        if path not in self._baselines:
            self._baselines[path] = BaselineFile(path)
        return self._baselines[path]

    @property
    def baselines(self) -> list[BaselineFile]:
        """The baselines that were read."""
        return list(self._baselines.values())

    def _compared(self, one: LintedFile) -> LintedFile:
        """Return a result with only the notes that its baseline does not have."""
        settings = self._settings_now
        if settings is None or one.error:
            return one
        if self._written is not None:
            return self._written.compare(one, settings.scope())
        if settings.baseline is None:
            return one
        return self._baseline(settings.baseline).compare(one, settings.scope())

    def _count(self, one: LintedFile) -> LintedFile:
        kept = tuple(note for note in one.notes if note.level in self._levels)
        one = self._compared(one._replace(notes=kept))
        kept = one.notes
        self.notes += len(kept)
        if one.error:
            self.errors = True
            self._report_once(one.error)
        self.failed |= any(map(one.fails, kept))
        return one

    def _report_once(self, words: str, **how: str) -> None:
        """Report a message once: files of one directory share broken settings."""
        if words not in self._reported:
            self._reported.add(words)
            if self._progress is not None:
                self._progress.clear()
            report(words, **how)

    def _lint_file(self, file: str) -> Iterator[LintedFile]:
        if os.path.isdir(file):
            raise CliError(describe_folder_error(file))
        settings = self._settings(None if file == STDIN else file)
        refuse_bare_name(file)
        if is_page(file):
            yield lint_saved_page(file, settings)
        elif self._fixing or self._as_diff:
            yield self._fixed(file, settings)
        else:
            read = read_file(file, settings)
            yield linted(file, read, read.notes())

    def _fixed(self, file: str, settings: LintSettings) -> LintedFile:
        read = read_file(file, settings)

        def new_notes(robots: RobotsTxt) -> list[LintNote]:
            """Return the notes to fix: those that the baseline does not have."""
            one = linted(file, read._replace(robots=robots), read.notes(robots))
            if settings.baseline is None or self._written is not None:
                return list(one.notes)
            return list(self._baseline(settings.baseline).new_notes(one, settings.scope()))

        found = fix_in_rounds(
            read.robots, read.octets, new_notes, unsafe=self._unsafe, levels=self._levels
        )
        if settings.baseline is not None:  # it is compared with all notes
            found = found._replace(notes=tuple(read.notes(found.robots)))
        name = "stdin" if file == STDIN else quoted(file)
        if found.refused:
            error = f"{name} was not changed: {found.refused}"
            return linted(file, read, found.notes)._replace(error=error)
        left = (note.fix for note in found.notes if note.level in self._levels)
        self.has_unsafe_fixes |= not self._unsafe and any(
            one and one.changes_verdicts for one in left
        )
        body = found.robots.body
        if not found.applied or body == read.octets:
            return linted(file, read, found.notes)
        self.changed = True
        if self._as_diff:
            shown = "stdin" if file == STDIN else visible(os.fsencode(file))
            # A diff of UTF-16 would show NUL bytes.
            utf_16 = found.applied[0].slug == NOT_UTF8
            names = (f"{shown} (UTF-16)", "fixed (UTF-8)") if utf_16 else (shown, "fixed")
            old = read.robots.body if utf_16 else read.octets
            self.diff = list(diff_lines(old, body, *names))
            if utf_16 and not self.diff:  # only the encoding changes
                self.diff = [f"--- {names[0]}", f"+++ {names[1]}"]
        else:
            write_atomically(file, body, read.octets)
        done = fixes(len(found.applied))
        if later := max(0, len(found.applied) - found.offered):
            done += f" ({later:,} of them enabled by the others)"
        if found.changes_verdicts:
            self._summarise(name, done, changes(read.robots, found.robots))
        elif not self._as_diff:
            self._report_once(f"{name} written: {done}, proved to change no verdict")
        if found.more:
            rest = "run the command again after these are written"
            self._report_once(
                f"{name} is too large to apply all fixes in one run: {rest}", label="hint"
            )
        now = read._replace(robots=found.robots, octets=body)
        return linted(file, now, found.notes)._replace(fixed=found.applied)

    def _summarise(self, name: str, done: str, found: Changed) -> None:
        """Report what unsafe fixes change."""
        written, verb = ("", "would change") if self._as_diff else (" written", "changed")
        records = listed(list(found.records), MOST_RECORDS)
        if not found.verdicts:
            summary = "no verdict changes" if found.decided else "changed verdicts are not decided"
            if records:
                summary += f"; other records change: {records}"
            self._report_once(f"{name}{written}: {done}; {summary}")
            return
        self._report_once(f"{name}{written}: {done}; these verdicts {verb}:")
        for words in found.verdicts:
            self._report_once(f"{name}: {words}", style="warning", label="verdict")
        if found.more or not found.decided:
            where = "the diff shows every line" if self._as_diff else AFTERWARDS
            self._report_once(f"{name}: and more; {where}", style="warning", label="verdict")
        if records:
            self._report_once(f"{name}: other records {verb}, too: {records}")


# --- Fixes ----------------------------------------------------------------------------------------


class Changed(NamedTuple):
    """The changes from one file to another."""

    verdicts: tuple[str, ...]
    """Each with a URL, the crawlers, and the profile if it is not the selected one."""
    more: bool
    """Whether there are more."""
    records: tuple[str, ...]
    """Names of other records that change, with the profile as above."""
    decided: bool
    """Whether everything was decided."""


def changes(old: RobotsTxt, new: RobotsTxt) -> Changed:
    """Return the changes from one file to another, under all profiles."""
    verdicts: dict[str, list[str]] = {}
    records: dict[str, list[str]] = {}
    decided = True
    here = old.profile
    for profile in dict.fromkeys([here, *PROFILES.values()]):
        # Not parsed again under the same profile.
        was, now = (one if profile == here else reparse(one, profile) for one in (old, new))
        found = compare(was, now, max_regions=MOST_CHANGES, max_states=MAX_STATES)
        decided &= found.complete and None not in {one.difference.equal for one in found.changes}
        for record in dict.fromkeys(one.record for one in found.statements):
            records.setdefault(visible(record), []).append(profile.name)
        for words in _verdicts(found):
            verdicts.setdefault(words, []).append(profile.name)
    lines = [words + _under(names, here.name, ", ") for words, names in verdicts.items()]
    named = tuple(name + _under(names, here.name, " ") for name, names in records.items())
    some = tuple(lines[:MOST_CHANGES])
    return Changed(some, len(lines) > len(some), named, decided)


def _under(names: list[str], here: str, between: str) -> str:
    """Return the profiles with a change; empty if the selected profile is among them."""
    return "" if here in names else f"{between}under profile {' and '.join(names)}"


def _verdicts(found: FileDifference) -> Iterator[str]:
    for change in found.changes:
        names = listed([visible(crawler.name) for crawler in change.crawlers], MOST_NAMES)
        if len(found.changes) == len(change.crawlers) == 1:
            names = "all crawlers"
        for region in change.difference.regions:
            was, now = ("allowed" if one else "disallowed" for one in (region.old, region.new))
            url = truncate(visible(str(region.witness)), LONGEST)
            yield f"{url} was {was} and is {now}, for {names}"
