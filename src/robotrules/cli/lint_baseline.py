"""
The baseline of `robotrules lint`: a file with known notes, read for a run or written by it.

File names in a baseline are relative to its folder, so the current directory does not matter. What
a run did not look for, such as the notes of another file or of a check that is not selected, is
neither stale nor removed.
"""

from __future__ import annotations

import os

from robotrules.cli.atomic_write import write_atomically
from robotrules.cli.console import STDIN, CliError, quoted, report
from robotrules.cli.input_files import open_octets, read_error
from robotrules.cli.text import plural
from robotrules.linting import LintNote
from robotrules.linting.baseline import (
    MAX_BYTES,
    BaselineComparison,
    BaselineEntry,
    BaselineError,
    LintBaseline,
    Scope,
    read_baseline,
)
from robotrules.linting.render import LintedFile
from robotrules.linting.render.fingerprints import Fingerprints
from robotrules.linting.render.places import Places
from robotrules.url_lists import BLOCK

__all__ = ["BaselineFile"]

WRITE = "write it with --write-baseline"


class BaselineFile:
    """A baseline on disk: compares files with it, or collects their notes for it."""

    def __init__(self, path: str, *, writing: bool = False) -> None:
        """Read it; with *writing* it need not exist. Raises `CliError`."""
        self.path = path
        self.writing = writing
        self.known = self.stale = 0
        """The number of notes that it has, and of its entries whose notes are gone."""
        self._folder = os.path.dirname(os.path.abspath(path))
        self._updates: dict[str, list[BaselineEntry]] = {}
        self._baseline = LintBaseline()
        if not writing or os.path.exists(path):
            self._baseline = _read(path, "pass another name" if writing else WRITE)

    def compare(self, one: LintedFile, scope: Scope) -> LintedFile:
        """Return the result for a file with only its new notes; or, when writing, none."""
        if one.error:
            return one
        if self.writing:
            file, prints = self._name(one), Fingerprints(Places(one.body))
            self._updates[file] = self._baseline.entries(file, one.notes, prints, scope)
            return one._replace(has_baseline=True, notes=(), known=one.notes)
        found = self._compare(one, scope)
        self.known += len(found.known)
        self.stale += len(found.stale)
        return one._replace(
            has_baseline=True, notes=found.new, known=found.known, stale=found.stale
        )

    def new_notes(self, one: LintedFile, scope: Scope) -> tuple[LintNote, ...]:
        """Return the notes that it does not have; they are not counted."""
        return self._compare(one, scope).new

    def _compare(self, one: LintedFile, scope: Scope) -> BaselineComparison:
        prints = Fingerprints(Places(one.body))
        return self._baseline.compare(self._name(one), one.notes, prints, scope)

    @property
    def has_updates(self) -> bool:
        """Whether a file was linted for it."""
        return bool(self._updates)

    def write(self) -> None:
        """
        Write the notes of the run.

        Entries of files that no longer exist are removed; those of files that could not be read are
        kept.
        """
        old = self._baseline.files
        kept = {name: entries for name, entries in old.items() if self._exists(name)}
        made = LintBaseline({**kept, **self._updates})
        write_atomically(self.path, made.render())
        before = len(self._baseline)
        removed = f", {before:,} before" if before else ""
        where = plural(len(made.files), "file")
        report(f"{quoted(self.path)} written: {plural(len(made), 'note')} in {where}{removed}")

    def report_use(self, *, counted: bool) -> None:
        """Report how many notes it hides, unless the output *counted* them, and stale entries."""
        if self.known and not counted:
            report(f"{quoted(self.path)} hides {plural(self.known, 'known note')}")
        gone = [name for name in self._baseline.files if not self._exists(name)]
        stale = self.stale + sum(
            entry.notes for name in gone for entry in self._baseline.files[name]
        )
        if stale:
            have = "has 1 note that is" if stale == 1 else f"has {stale:,} notes that are"
            report(
                f"{quoted(self.path)} {have} gone: --write-baseline removes them",
                label="hint",
            )

    def _name(self, one: LintedFile) -> str:
        if not one.is_file:
            return one.name
        path = os.path.relpath(os.path.abspath(os.fsdecode(one.where)), self._folder)
        return path.replace(os.sep, "/")

    def _exists(self, name: str) -> bool:
        """Tell whether a file is still there; URLs and stdin are kept."""
        return "://" in name or name == "stdin" or os.path.exists(os.path.join(self._folder, name))


def _read(path: str, advice: str) -> LintBaseline:
    if path == STDIN:
        raise CliError("a baseline is a file: pass its name instead of '-'")
    if not os.path.exists(path):
        raise CliError(f"there is no baseline {quoted(path)}: {WRITE}, or correct the name")
    octets = bytearray()
    with open_octets(path, "the baseline") as stream:
        try:
            while len(octets) <= MAX_BYTES and (block := stream.read(BLOCK)):
                octets += block
        except OSError as error:
            raise read_error(path, "the baseline", error) from None
    try:
        return read_baseline(bytes(octets))
    except BaselineError as error:
        raise CliError(f"{quoted(path)} is not a baseline: {error}; {advice}") from None
