"""
Suppressions: comments that tell lint not to report something.

`# robotrules: ignore[RR501]` at the end of a line is for that line; on a separate line it is for
the next line that is neither blank nor a comment; `# robotrules: ignore-file[RR501]` is for the
file. It names codes or slugs, separated by commas; the word alone, followed by nothing but another
comment, means all checks. A comment that only looks like a suppression has no effect
(`find_malformed`). Crawlers ignore comments: they are not part of any record (RFC 9309 §2.2). This
module does not know the checks.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import NamedTuple

from robotrules.linting.note import Edit, Fix, LintNote
from robotrules.robotstxt.values import Line

IGNORE, IGNORE_FILE = "ignore", "ignore-file"
_BEGIN = re.compile(rb"#[ \t]*robotrules:[ \t]*(?=[^\s#])", re.IGNORECASE)
# Unclosed brackets end with the line: an incomplete suppression must not suppress all checks, nor
# must a word that is followed by text.
_SUPPRESSION = re.compile(
    rb"(ignore-file|ignore)(?:[ \t]*\[([^\]\r\n]*)\]?|(?=\s*(?:#|\Z)))", re.IGNORECASE
)
_WORD = re.compile(rb"[-\w]*")
_NAME = re.compile(rb"[^\s,]+")
# Names in a comment from which a fix removes some; the cost is quadratic.
MOST_NAMES = 100


class CheckName(NamedTuple):
    """The name of a check in a suppression, with its span."""

    text: str
    """In lower case."""
    written: str
    start: int
    end: int


class Suppression(NamedTuple):
    """One suppression comment."""

    line: int
    """The line of the comment."""
    about: int | None
    """The line that it applies to; None: the file."""
    names: tuple[CheckName, ...]
    """Codes or slugs; empty: all checks."""
    start: int
    end: int


class MalformedSuppression(NamedTuple):
    """A comment that looks like a suppression and has no effect."""

    line: int
    word: str
    """The word that should be `ignore` or `ignore-file`."""
    rest: str
    """The text after it, up to the next comment."""
    start: int
    end: int


# The names of each suppression that suppressed a note; the empty name stands for all checks.
Used = Mapping[Suppression, frozenset[str]]


def filter_notes(
    notes: Iterable[LintNote], suppressions: Iterable[Suppression]
) -> tuple[list[LintNote], Used]:
    """Return the notes that are not suppressed, and the suppressions that suppressed a note."""
    by_names = {one: {name.text for name in one.names} or {""} for one in suppressions}
    # Indexed by line and name, so that the cost is not comments times notes.
    targets = {(one.about, name) for one, names in by_names.items() for name in names}
    kept, matched = [], set()
    for note in notes:
        names = ("", note.code.lower(), note.slug)
        over = targets.intersection((at, name) for at in (None, note.line) for name in names)
        matched |= over
        if not over:
            kept.append(note)
    used = {
        one: frozenset(name for name in names if (one.about, name) in matched)
        for one, names in by_names.items()
    }
    return kept, {one: names for one, names in used.items() if names}


def parse_suppressions(lines: Iterable[Line]) -> tuple[Suppression, ...]:
    """Return the suppressions of a file, in file order."""
    return tuple(sorted(_find_suppressions(tuple(lines)), key=lambda one: one.start))


def _find_suppressions(lines: tuple[Line, ...]) -> Iterator[Suppression]:
    waiting: list[Suppression] = []
    for line in lines:
        alone = line.comment is not None and not line.text[: line.comment - line.start].strip()
        if waiting and not alone and line.text.strip():
            yield from (one._replace(about=line.number) for one in waiting)
            waiting = []
        if line.comment is None:
            continue
        suppression = _parse_comment(line)
        if not isinstance(suppression, Suppression):
            continue
        if alone and suppression.about is not None:
            waiting.append(suppression)
        else:
            yield suppression
    # At the end of the file they apply to no other line.
    yield from waiting


def find_malformed(lines: Iterable[Line]) -> Iterator[MalformedSuppression]:
    """Yield the comments that look like a suppression and have no effect."""
    for line in lines:
        suppression = _parse_comment(line)
        if isinstance(suppression, MalformedSuppression):
            yield suppression


def _parse_comment(line: Line) -> Suppression | MalformedSuppression | None:
    """Return the suppression in the comment of a line; the first one of a line counts."""
    if line.comment is None:
        return None
    begin = _BEGIN.search(line.text, line.comment - line.start)
    if not begin:
        return None
    start, match = line.start + begin.start(), _SUPPRESSION.match(line.text, begin.end())
    names = tuple(_parse_names(match, line.start)) if match else ()
    if match and (names or match[2] is None):
        about = None if match[1].lower() == IGNORE_FILE.encode() else line.number
        return Suppression(line.number, about, names, start, line.start + match.end())
    text = line.text[begin.end() :].partition(b"#")[0].rstrip()
    first = _WORD.match(text)
    word = first[0] if first else b""
    rest = text[len(word) :].decode("utf-8", "replace")
    end = line.start + begin.end() + len(text)
    return MalformedSuppression(line.number, word.decode("utf-8", "replace"), rest, start, end)


def _parse_names(match: re.Match[bytes], offset: int) -> Iterator[CheckName]:
    at = offset + match.start(2)
    for name in _NAME.finditer(match[2] or b""):
        written = name[0].decode("utf-8", "replace")
        yield CheckName(written.lower(), written, at + name.start(), at + name.end())


def removal_fix(
    line: Line, whole: tuple[int, int], suppression: Suppression, names: Collection[CheckName] = ()
) -> Fix | None:
    """
    Return a fix that removes *names* from a suppression; the comment if none is left or given.

    The rest of the line stays as it is. A line with nothing else is removed; *whole* is its span
    with its line end. None for a comment with very many names.
    """
    if len(suppression.names) > MOST_NAMES:
        return None
    start, end = suppression.start, suppression.end
    kept = [name for name in suppression.names if name not in names]
    if names and kept:
        texts = [line.text[name.start - line.start : name.end - line.start] for name in kept]
        span = suppression.names[0].start, suppression.names[-1].end
        edit = Edit(*span, b", ".join(texts))
        return Fix(f"Remove {' and '.join(name.written for name in names)}", (edit,))
    before, after = line.text[: start - line.start], line.text[end - line.start :]
    if after.strip():
        # The text after it stays a comment, by its own '#' or by that of the text before it.
        octets = b"#" if start == line.comment and not after.lstrip().startswith(b"#") else b""
        return Fix("Remove the suppression", (Edit(start, end, octets),))
    left = before.rstrip(b" \t")
    edit = Edit(line.start + len(left), line.end, b"") if left else Edit(*whole, b"")
    return Fix("Remove the comment", (edit,))
