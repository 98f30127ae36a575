"""
JUnit: notes as test cases.

A file is a test suite. Each note is a case: it failed if the note is bad enough to fail the run,
and passed with words otherwise. A file without notes is one case that passed, so that it is seen to
have been looked at. It does not know where the text is written.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from robotrules.junit import Case, Suite, report
from robotrules.linting.note import LintNote
from robotrules.linting.render import Linted
from robotrules.linting.render.places import Places
from robotrules.octets import visible


def junit(files: Iterable[Linted]) -> str:
    """Return a report of tests."""
    return report("robotrules lint", (Suite(one.name, tuple(_cases(one))) for one in files))


def _cases(one: Linted) -> Iterator[Case]:
    file = one.name if one.is_file else ""
    if one.trouble:
        yield Case("readable", "error", one.trouble, file=file)
    elif not one.notes:
        yield Case("clean", file=file)
    places = Places(one.body)
    for note in one.notes:
        yield _noted(one, note, places)._replace(file=file)


def _noted(one: Linted, note: LintNote, places: Places) -> Case:
    name, where, line = f"{note.code} {note.slug}", one.name, None
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
    text = visible(text)  # one line, whatever it quotes
    if not one.fails(note):
        return Case(name, text=text, line=line)
    return Case(name, "failure", note.message, note.level, text, line=line)
