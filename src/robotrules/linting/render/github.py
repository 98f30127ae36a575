"""
GitHub: notes as workflow commands, which a run on GitHub shows beside the lines of a change.

    ::error file=robots.txt,line=2,col=11,endColumn=19,title=RR505 pattern-start::The path …

A line that starts with `::` is an order to the runner, so nothing that a file holds may start one:
all control characters are escaped, and what separates parts is %NN. Columns count characters, the
last one excluded. It does not know where lines are written.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from robotrules.linting.note import LintNote
from robotrules.linting.render import Linted
from robotrules.linting.render.places import Places
from robotrules.octets import visible

COMMANDS = {"error": "error", "warning": "warning", "info": "notice"}


def github(files: Iterable[Linted]) -> Iterator[str]:
    """Yield a workflow command for each note, and for each file that was not linted."""
    for one in files:
        if one.trouble:
            yield _command("error", {"title": "robotrules lint"}, one.trouble)
        places = Places(one.body)
        for note in one.notes:
            yield _noted(one, note, places)


def _noted(one: Linted, note: LintNote, places: Places) -> str:
    parts: dict[str, object] = {}
    message, where = note.message, ""
    if note.line is not None:
        start, end = places.at(note.start), places.at(note.end)
        where = f":{start.line}:{start.column}"
        parts = {"line": start.line, "col": start.column}
        if end.line == start.line and end.column > start.column:
            parts["endColumn"] = end.column
    elif note.part != "robots.txt":
        message = f"{note.part}: {message}"
    if note.url:
        message += f" Shown by {note.url}"
    if one.is_file:
        parts = {"file": one.name, **parts}
    else:  # there is no file beside whose lines it could stand
        parts, message = {}, f"{one.name}{where}: {message}"
    return _command(COMMANDS[note.level], {**parts, "title": f"{note.code} {note.slug}"}, message)


def _command(name: str, parts: dict[str, object], message: str) -> str:
    said = ",".join(f"{key}={_part(str(value))}" for key, value in parts.items())
    return f"::{name} {said}::{_data(message)}"


def _data(text: str) -> str:
    # CR and LF as the runner unescapes them; other control characters have no such form.
    return visible(text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A"))


def _part(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")
