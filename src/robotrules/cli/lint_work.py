"""
The work of `robotrules lint`: one file or URL after the other, and how it went.

Trouble with one is said in a line, and the next is done. Files are fixed here, too: written in one
piece, or shown as a diff. It does not know the forms of output.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from typing import TYPE_CHECKING

from robotrules.cli.atomic_write import save
from robotrules.cli.client import Opening
from robotrules.cli.diffs import diff_lines
from robotrules.cli.lint_fixing import NOT_UTF8, Changed, changes, mended
from robotrules.cli.lint_given import (
    LintInputReader,
    LintSettings,
    is_page,
    is_url,
    linted,
    linted_page,
    named,
    read_file,
    refuse_bare_name,
)
from robotrules.cli.lint_text import fixes
from robotrules.cli.progress import Progress
from robotrules.cli.streams import STDIN, CliError, quoted, say
from robotrules.cli.text import listed
from robotrules.errors import MissingExtraError
from robotrules.linting import LEVELS
from robotrules.linting.render import LintedFile
from robotrules.octets import visible

if TYPE_CHECKING:
    from robotrules.cli.lint_live import Live

MOST_RECORDS = 4
# The old file is gone.
AFTERWARDS = "see the diff of your version control, or use --diff before --fix-verdicts"


class Work:
    """Lints one thing after the other, and remembers how it went."""

    def __init__(
        self,
        given: LintInputReader,
        opening: Opening,
        *,
        as_diff: bool,
        fixing: bool,
        verdicts: bool,
    ) -> None:
        """*fixing* writes files, and *as_diff* shows how."""
        self._given = given
        self._opening = opening
        self._levels = LEVELS
        """Those that count in what is done now."""
        self._as_diff, self._verdicts, self._fixing = as_diff, verdicts, fixing
        self._progress: Progress | None = None
        self._said: set[str] = set()
        self._live: Live | None = None
        self._linted: set[bytes] = set()
        """The robots.txt files that were fetched and linted: one for each origin."""
        self.diff: list[str] = []
        """That of the last file."""
        self.notes = 0
        self.troubles = self.changed = self.failed = False
        self.waiting = False
        """Whether fixes that change verdicts were left, as nobody asked for them."""

    def done(self, files: Sequence[str], progress: Progress) -> Iterator[LintedFile]:
        """Yield what was found in each; trouble with one is told, and the next is done."""
        self._progress = progress
        with ExitStack() as opened:
            for file in files:
                self.diff = []
                try:
                    yield from map(self._judged, self._parts(file, opened))
                except (CliError, MissingExtraError) as error:
                    words = error.message if isinstance(error, CliError) else str(error)
                    where = (os.fsencode(file), False) if is_url(file) else named(file)
                    yield self._judged(LintedFile(*where, error=" ".join(words.split())))
                progress.add(1, 1)

    def _parts(self, file: str, opened: ExitStack) -> Iterator[LintedFile]:
        if not is_url(file):
            yield from self._of_file(file)
            return
        settings = self._settings(None)
        if self._live is None:
            # What fetches takes as long to import as all the rest.
            from robotrules.cli.lint_live import Live

            self._live = opened.enter_context(Live(self._opening, settings.profile))
        robots, held = self._live.robots(file, settings)
        if robots.where not in self._linted:
            self._linted.add(robots.where)
            yield robots
        yield from self._live.page(file, held, settings)

    def _settings(self, file: str | None) -> LintSettings:
        found = self._given.settings(file)
        self._levels = LEVELS[: LEVELS.index(found.level) + 1]
        return found

    def _judged(self, one: LintedFile) -> LintedFile:
        kept = tuple(note for note in one.notes if note.level in self._levels)
        one = one._replace(notes=kept)
        self.notes += len(kept)
        if one.error:
            self.troubles = True
            self._say(one.error)
        self.failed |= any(map(one.fails, kept))
        return one

    def _say(self, words: str, **how: str) -> None:
        """Say something once: files of one folder have the same broken settings."""
        if words not in self._said:
            self._said.add(words)
            if self._progress is not None:
                self._progress.step_aside()
            say(words, **how)

    def _of_file(self, file: str) -> Iterator[LintedFile]:
        settings = self._settings(None if file == STDIN else file)
        refuse_bare_name(file)
        if is_page(file):
            yield linted_page(file, settings)
        elif self._fixing or self._as_diff:
            yield self._fixed(file, settings)
        else:
            read = read_file(file, settings)
            yield linted(file, read, read.notes())

    def _fixed(self, file: str, settings: LintSettings) -> LintedFile:
        read = read_file(file, settings)
        found = mended(read, verdicts=self._verdicts, levels=self._levels)
        name = "stdin" if file == STDIN else quoted(file)
        if found.refused:
            trouble = f"{name} is left alone: {found.refused}"
            return linted(file, read, found.notes)._replace(error=trouble)
        left = (note.fix for note in found.notes if note.level in self._levels)
        self.waiting |= not self._verdicts and any(one and one.changes_verdicts for one in left)
        body = found.robots.body
        if not found.applied or body == read.octets:
            return linted(file, read, found.notes)
        self.changed = True
        if self._as_diff:
            shown = "stdin" if file == STDIN else visible(os.fsencode(file))
            # A diff of UTF-16 would be one of NULs.
            utf_16 = found.applied[0].slug == NOT_UTF8
            names = (f"{shown} (UTF-16)", "fixed (UTF-8)") if utf_16 else (shown, "fixed")
            old = read.robots.body if utf_16 else read.octets
            self.diff = list(diff_lines(old, body, *names))
            if utf_16 and not self.diff:  # no character changes, and every octet does
                self.diff = [f"--- {names[0]}", f"+++ {names[1]}"]
        else:
            save(file, body, read.octets)
        done = fixes(len(found.applied))
        if later := max(0, len(found.applied) - found.offered):
            done += f" ({later:,} of them made possible by the others)"
        if found.changes_verdicts:
            self._tell(name, done, changes(read.robots, found.robots))
        elif not self._as_diff:
            self._say(f"{name} was written: {done}, proved to change no verdict")
        if found.more:
            rest = "run the command again once these are written"
            self._say(f"{name} is too large to apply all fixes in one run: {rest}", label="hint")
        now = read._replace(robots=found.robots, octets=body)
        return linted(file, now, found.notes)._replace(fixed=found.applied)

    def _tell(self, name: str, done: str, found: Changed) -> None:
        """Say what fixes change that were not proved to change nothing."""
        written, verb = ("", "would change") if self._as_diff else (" was written", "changed")
        records = listed(list(found.records), MOST_RECORDS)
        if not found.verdicts:
            said = "no verdict changes" if found.decided else "which verdicts change is not decided"
            if records:
                said += f"; what other records say does: {records}"
            self._say(f"{name}{written}: {done}; {said}")
            return
        self._say(f"{name}{written}: {done}, and these verdicts {verb}:")
        for words in found.verdicts:
            self._say(f"{name}: {words}", style="warning", label="verdict")
        if found.more or not found.decided:
            where = "the diff shows every line" if self._as_diff else AFTERWARDS
            self._say(f"{name}: and more; {where}", style="warning", label="verdict")
        if records:
            self._say(f"{name}: what other records say {verb}, too: {records}")
