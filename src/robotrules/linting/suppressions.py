"""
Suppressions: comments by which a file asks lint not to report something.

`# robotrules: ignore[RR501]` at the end of a line is for that line, on a line of its own for the
next one that is neither blank nor a comment, and `# robotrules: ignore-file[RR501]` for the file.
Codes and slugs may be named, several with commas; without brackets everything is meant. Crawlers
never see them: a comment is no part of any record (RFC 9309 §2.2). It does not know the checks.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from robotrules.linting.note import LintNote
from robotrules.robotstxt.values import Line

_ASKED = re.compile(
    rb"#[ \t]*robotrules:[ \t]*(ignore-file|ignore)\b[ \t]*(?:\[([^\]\r\n]*)\])?", re.IGNORECASE
)
_NAME = re.compile(rb"[^\s,]+")


class Named(NamedTuple):
    """A check that a suppression names, and where."""

    text: str
    start: int
    end: int


class Suppression(NamedTuple):
    """One comment that asks not to report."""

    line: int
    """Where the comment is."""
    about: int | None
    """The line that it is for; None: the file."""
    names: tuple[Named, ...]
    """Codes or slugs in lower case; empty: everything."""
    start: int
    end: int

    def covers(self, note: LintNote) -> bool:
        """Tell whether a note is one that it asks not to report."""
        if self.about is not None and note.line != self.about:
            return False
        named = [name.text for name in self.names]
        return not named or note.code.lower() in named or note.slug in named


def suppressions(lines: Iterable[Line]) -> tuple[Suppression, ...]:
    """Return the suppressions of a file, in its order."""
    return tuple(_found(tuple(lines)))


def _found(lines: tuple[Line, ...]) -> Iterator[Suppression]:
    waiting: list[Suppression] = []
    for line in lines:
        alone = line.comment is not None and not line.text[: line.comment - line.start].strip()
        if waiting and not alone and line.text.strip():
            yield from (one._replace(about=line.number) for one in waiting)
            waiting = []
        if line.comment is None:
            continue
        at = line.comment - line.start
        found = _ASKED.search(line.text, at)
        if not found:
            continue
        first = line.start + found.start(2)
        names = tuple(
            Named(
                name[0].decode("utf-8", "replace").lower(), first + name.start(), first + name.end()
            )
            for name in _NAME.finditer(found[2] or b"")
        )
        span = line.start + found.start(), line.start + found.end()
        whole = found[1].lower() == b"ignore-file"
        one = Suppression(line.number, None if whole else line.number, names, *span)
        if alone and not whole:
            waiting.append(one)
        else:
            yield one
    # With nothing after them they are for no line.
    yield from waiting
