"""
Suppressions: comments by which a file asks lint not to report something.

`# robotrules: ignore[RR501]` at the end of a line is for that line, on a line of its own for the
next one that is neither blank nor a comment, and `# robotrules: ignore-file[RR501]` for the file.
Codes and slugs may be named, several with commas; the word alone, with nothing behind it but
another comment, means everything. What only looks like a request asks for nothing (`misread`).
Crawlers never see them: a comment is no part of any record (RFC 9309 §2.2). It does not know the
checks.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import NamedTuple

from robotrules.linting.note import Edit, Fix, LintNote
from robotrules.robotstxt.values import Line

IGNORE, IGNORE_FILE = "ignore", "ignore-file"
_BEGIN = re.compile(rb"#[ \t]*robotrules:[ \t]*(?=[^\s#])", re.IGNORECASE)
# Brackets that are not closed end with the line: half a request must not ask for everything, and
# neither must a word with more behind it.
_ASKED = re.compile(
    rb"(ignore-file|ignore)(?:[ \t]*\[([^\]\r\n]*)\]?|(?=\s*(?:#|\Z)))", re.IGNORECASE
)
_WORD = re.compile(rb"[-\w]*")
_NAME = re.compile(rb"[^\s,]+")
# Names of a comment out of which one is taken: each is looked at for each.
MOST_NAMES = 100


class Named(NamedTuple):
    """A check that a suppression names, and where."""

    text: str
    """In lower case."""
    written: str
    start: int
    end: int


class Suppression(NamedTuple):
    """One comment that asks not to report."""

    line: int
    """Where the comment is."""
    about: int | None
    """The line that it is for; None: the file."""
    names: tuple[Named, ...]
    """Codes or slugs; empty: everything."""
    start: int
    end: int


class Misread(NamedTuple):
    """A comment that looks like a suppression, and asks for nothing."""

    line: int
    word: str
    """The word that should be `ignore` or `ignore-file`."""
    rest: str
    """What stands behind it, up to the next comment."""
    start: int
    end: int


# What each suppression kept back, by the names it has for it; the empty name is everything's.
Used = Mapping[Suppression, frozenset[str]]


def sieved(notes: Iterable[LintNote], asked: Iterable[Suppression]) -> tuple[list[LintNote], Used]:
    """Return the notes that nothing asks not to report, and what kept the others back."""
    asked = tuple(asked)
    named = {one: {name.text for name in one.names} or {""} for one in asked}
    # By line and name, so that many comments and many notes are no product.
    wanted = {(one.about, name) for one in asked for name in named[one]}
    kept, met = [], set()
    for note in notes:
        names = ("", note.code.lower(), note.slug)
        over = wanted.intersection((at, name) for at in (None, note.line) for name in names)
        met |= over
        if not over:
            kept.append(note)
    used = {
        one: frozenset(name for name in names if (one.about, name) in met)
        for one, names in named.items()
    }
    return kept, {one: names for one, names in used.items() if names}


def suppressions(lines: Iterable[Line]) -> tuple[Suppression, ...]:
    """Return the suppressions of a file, in its order."""
    return tuple(sorted(_found(tuple(lines)), key=lambda one: one.start))


def _found(lines: tuple[Line, ...]) -> Iterator[Suppression]:
    waiting: list[Suppression] = []
    for line in lines:
        alone = line.comment is not None and not line.text[: line.comment - line.start].strip()
        if waiting and not alone and line.text.strip():
            yield from (one._replace(about=line.number) for one in waiting)
            waiting = []
        if line.comment is None:
            continue
        one = _request(line)
        if not isinstance(one, Suppression):
            continue
        if alone and one.about is not None:
            waiting.append(one)
        else:
            yield one
    # With nothing after them they are for no line.
    yield from waiting


def misread(lines: Iterable[Line]) -> Iterator[Misread]:
    """Yield what looks like a suppression of a file, and asks for nothing."""
    for line in lines:
        one = _request(line)
        if isinstance(one, Misread):
            yield one


def _request(line: Line) -> Suppression | Misread | None:
    """Return what the comment of a line asks for; the first request of a line counts."""
    if line.comment is None:
        return None
    begin = _BEGIN.search(line.text, line.comment - line.start)
    if not begin:
        return None
    start, found = line.start + begin.start(), _ASKED.match(line.text, begin.end())
    names = tuple(_names(found, line.start)) if found else ()
    if found and (names or found[2] is None):
        about = None if found[1].lower() == IGNORE_FILE.encode() else line.number
        return Suppression(line.number, about, names, start, line.start + found.end())
    said = line.text[begin.end() :].partition(b"#")[0].rstrip()
    word = _WORD.match(said)
    text = word[0] if word else b""
    rest = said[len(text) :].decode("utf-8", "replace")
    end = line.start + begin.end() + len(said)
    return Misread(line.number, text.decode("utf-8", "replace"), rest, start, end)


def _names(found: re.Match[bytes], offset: int) -> Iterator[Named]:
    at = offset + found.start(2)
    for name in _NAME.finditer(found[2] or b""):
        written = name[0].decode("utf-8", "replace")
        yield Named(written.lower(), written, at + name.start(), at + name.end())


def without(
    line: Line, whole: tuple[int, int], one: Suppression, names: Collection[Named] = ()
) -> Fix | None:
    """
    Return a fix that takes names out of a suppression; without any left, or given, the comment.

    The rest of the line stays as it is. A line with nothing else goes; *whole* is its span with its
    line end. A comment with very many names is left to people: None.
    """
    if len(one.names) > MOST_NAMES:
        return None
    kept = [name for name in one.names if name not in names]
    if names and kept:
        said = [line.text[name.start - line.start : name.end - line.start] for name in kept]
        edit = Edit(one.names[0].start, one.names[-1].end, b", ".join(said))
        return Fix(f"Take out {' and '.join(name.written for name in names)}", (edit,))
    before, after = line.text[: one.start - line.start], line.text[one.end - line.start :]
    if after.strip():
        # What follows is a comment still, by its own '#' or by that of the text before it.
        octets = b"#" if one.start == line.comment and not after.lstrip().startswith(b"#") else b""
        return Fix("Take out the request", (Edit(one.start, one.end, octets),))
    left = before.rstrip(b" \t")
    edit = Edit(line.start + len(left), line.end, b"") if left else Edit(*whole, b"")
    return Fix("Take out the comment", (edit,))
