"""
GitHub: notes as workflow commands, which GitHub shows beside the changed lines.

    ::error file=robots.txt,line=2,col=11,endColumn=19,title=RR505 pattern-start::The path …

A line that starts with `::` is a command to the runner, so the content of a file must not start
one: control characters are escaped, and separators of properties are percent-encoded. Columns count
characters; the end column is exclusive.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from robotrules.linting.note import LintNote
from robotrules.linting.render import LintedFile
from robotrules.linting.render.places import Places
from robotrules.octets import visible

COMMANDS = {"error": "error", "warning": "warning", "info": "notice"}


def github(files: Iterable[LintedFile]) -> Iterator[str]:
    """Yield a workflow command for each note, and for each file that was not linted."""
    for file in files:
        if file.error:
            yield command("error", {"title": "robotrules lint"}, file.error)
        places = Places(file.body)
        for note in file.notes:
            yield _render_note(file, note, places)


def _render_note(file: LintedFile, note: LintNote, places: Places) -> str:
    properties: dict[str, object] = {}
    message, where = note.message, ""
    if note.line is not None:
        start, end = places.at(note.start), places.at(note.end)
        where = f":{start.line}:{start.column}"
        properties = {"line": start.line, "col": start.column}
        if end.line == start.line and end.column > start.column:
            properties["endColumn"] = end.column
    elif note.part != "robots.txt":
        message = f"{note.part}: {message}"
    if note.url:
        message += f" Shown by {note.url}"
    if file.is_file:
        properties = {"file": file.name, **properties}
    else:  # not a file of the repository, so the message says where
        properties, message = {}, f"{file.name}{where}: {message}"
    properties["title"] = f"{note.code} {note.slug}"
    return command(COMMANDS[note.level], properties, message)


def command(name: str, properties: Mapping[str, object], message: str) -> str:
    """Return a workflow command; its values and its message may have any text."""
    rendered = (f"{key}={_escape_property(str(value))}" for key, value in properties.items())
    return f"::{name} {','.join(rendered)}::{_escape_data(message)}"


def _escape_data(text: str) -> str:
    # CR and LF as the runner unescapes them; other control characters have no such escape.
    return visible(text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A"))


def _escape_property(text: str) -> str:
    return _escape_data(text).replace(":", "%3A").replace(",", "%2C")
