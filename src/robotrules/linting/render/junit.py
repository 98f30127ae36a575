"""
JUnit: notes as test cases.

A file is a test suite. Each note is a test case: a failure if its level fails the run, otherwise a
passed case with output. A file without notes is one passed case, so that it appears in the report.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from robotrules.junit import Case, Suite, report
from robotrules.linting.note import LintNote
from robotrules.linting.render import LintedFile
from robotrules.linting.render.places import Places
from robotrules.octets import visible


def junit(files: Iterable[LintedFile]) -> str:
    """Return a JUnit XML report."""
    return report("robotrules lint", suites(files))


def suites(files: Iterable[LintedFile]) -> Iterator[Suite]:
    """Yield the suites of files, for a report with other suites."""
    return (Suite(file.name, tuple(_cases(file))) for file in files)


def _cases(file: LintedFile) -> Iterator[Case]:
    path = file.name if file.is_file else ""
    if file.error:
        yield Case("readable", "error", file.error, file=path)
    elif not file.notes:
        yield Case("clean", file=path)
    places = Places(file.body)
    for note in file.notes:
        yield _render_note(file, note, places)._replace(file=path)


def _render_note(file: LintedFile, note: LintNote, places: Places) -> Case:
    name, where, line = f"{note.code} {note.slug}", file.name, None
    if note.line is not None:
        place = places.at(note.start)
        line = place.line
        name += f" {place.line}:{place.column}"
        where += f":{place.line}:{place.column}"
    elif note.part != "robots.txt":
        where += f": {note.part}"
    text = f"{where}: {note.level} {note.code} {note.slug}: {note.message}"
    if note.url:
        text += f" Shown by {note.url}"
    text = visible(text)  # a single line, whatever it quotes
    if not file.fails(note):
        return Case(name, text=text, line=line)
    return Case(name, "failure", note.message, note.level, text, line=line)
