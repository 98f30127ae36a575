"""
Layout: the lines of a robots.txt in canonical form, in the order in which they stand.

`Key: value`, one space after the colon, none at the ends, LF, a blank line before each group and
none inside. What is no record, or holds octets that do not belong into text, is copied as it is.
It reads the roles and groups that profile default sees. It does not know whether the new file means
what the old one did: `proof` does, and nothing is believed before.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping
from itertools import pairwise

from robotrules import extensions
from robotrules.formatting.comments import SPACE, beside, together
from robotrules.profile import Extension, Role
from robotrules.robotstxt import RobotsTxt
from robotrules.robotstxt.internals import get_document
from robotrules.robotstxt.values import Record

COMMENT, RECORD, COPIED = range(3)
# TAB is whitespace; a CR or an LF is in no line.
_CONTROL = re.compile(rb"[\x00-\x08\x0b-\x1f\x7f]")
# What a name that nobody knows must look like; `https` of a bare URL is none.
_NAME = re.compile(rb"[A-Za-z][-A-Za-z0-9_]*")
# A rule that was commented out is of the group above it.
_COMMENTED_RULE = re.compile(
    rb"[#\s]*(?:(?:dis)?allow|crawl-delay|request-rate|visit-time|noindex|content-\w+)\s*:",
    re.IGNORECASE,
)
# Notes of profile default on records that others do not see.
_TOLERATED = ("typo", "missing-colon")
BOM = b"\xef\xbb\xbf"
# A file that starts so is taken for one with a byte order mark, or half of one (AMB-07, AMB-08).
_LIKE_A_MARK = (b"\xef", b"\xfe\xff", b"\xff\xfe")


def canonical_names(more: Iterable[Extension] = ()) -> dict[bytes, bytes]:
    """Return how known names are spelled, by their lower case; *more* extensions come first."""
    declared = [extension.key for extension in (*more, *extensions.ALL)]
    found: dict[bytes, bytes] = {}
    for name in ("User-agent", "Allow", "Disallow", *declared):
        found.setdefault(name.lower().encode(), name.encode())
    return found


class _Line:
    """A line that is not blank."""

    __slots__ = ("gap", "number", "record", "sort", "text")

    def __init__(self, number: int, text: bytes, sort: int, record: Record | None) -> None:
        self.number, self.text, self.sort, self.record = number, text, sort, record
        self.gap = False
        """Whether a blank line stands before it."""


class Layout:
    """One file, and the forms it can have."""

    def __init__(self, robots: RobotsTxt, names: Mapping[bytes, bytes], longest: int) -> None:
        """*robots* is whole, and read with profile default; lines past *longest* are copied."""
        self._names, self._longest = names, longest
        body = robots.body
        self._body, self._marked = body, body.startswith(BOM)
        self._is_plain = _is_text(body)
        self._lines = self._read(robots)
        tolerated = {line for code, line, *_ in get_document(robots).notes() if code in _TOLERATED}
        self.misspelled = {
            line.number
            for line in (self._lines if tolerated else ())
            if line.number in tolerated and line.sort == RECORD
        }
        """Lines whose record is only known by a tolerance: a typo, a lost colon."""
        self._part(robots)

    def render(self, *, spelling: bool = False, copied: Collection[int] = ()) -> bytes:
        """
        Return the file in canonical form.

        *spelling*: names that are only known by a tolerance are put right, which may well change
        what the file means. Lines of these numbers are *copied*.
        """
        out: list[bytes] = []
        lines = self._lines
        at = 0
        while at < len(lines):
            end = at + 1
            if lines[at].sort == COMMENT:
                while end < len(lines) and lines[end].sort == COMMENT and not lines[end].gap:
                    end += 1
                texts = together([line.text for line in lines[at:end]])
            else:
                texts = [self._written(lines[at], spelling)]
            for line, text in zip(lines[at:end], texts, strict=True):
                kept = line.number in copied or len(text) > self._longest
                out += [b"\n"] if line.gap else []
                out += [line.text if kept else text, b"\n"]
            at = end
        return self._mark(out) + b"".join(out)

    def _mark(self, out: list[bytes]) -> bytes:
        """Return what must stand before all, for else octets would be taken for a mark."""
        if not out or not out[0].startswith(_LIKE_A_MARK):
            return b""
        if self._marked:
            return BOM
        return b"" if self._body.startswith(_LIKE_A_MARK) else b"\n"

    # --- Lines --------------------------------------------------------------------------------

    def _read(self, robots: RobotsTxt) -> list[_Line]:
        found: list[_Line] = []
        gap = False
        body, records = self._body, {record.line: record for record in robots.records}
        for number, start, end, _ in get_document(robots).lines():
            text = body[start:end]
            inner = text.strip(SPACE)
            if not inner:
                gap = True
                continue
            record = records.get(number)
            line = _Line(number, text, self._sort(text, inner, record), record)
            line.gap, gap = gap and bool(found), False
            found.append(line)
        return found

    def _sort(self, text: bytes, inner: bytes, record: Record | None) -> int:
        if len(text) > self._longest or not (self._is_plain or _is_text(text)):
            return COPIED
        if inner.startswith(b"#"):
            return COMMENT
        return COPIED if record is None else RECORD

    def _written(self, line: _Line, spelling: bool) -> bytes:
        """Return a line that is no comment as it is to be written."""
        text, record = line.text, line.record
        if line.sort == COPIED or record is None:
            return text
        before, hash_sign, after = text.partition(b"#")
        name, colon, _ = before.partition(b":")
        value, name = record.value, name.strip(SPACE)
        if line.number in self.misspelled:
            if spelling:
                name = self._names[record.key.encode()]
            elif not colon:
                return text
        elif known := self._names.get(name.lower()):
            name = known
        elif not _NAME.fullmatch(name) or value.startswith(b"//"):
            return text
        written = name + b": " + value if value else name + b":"
        if not hash_sign:
            return written
        # `/a#b` may be meant as a path: what it means must not be hidden by a space.
        if before.endswith(value) and value and after[:1].strip(SPACE):
            return written + hash_sign + after.rstrip(SPACE)
        return written + b"  " + beside(hash_sign + after)

    # --- Blank lines --------------------------------------------------------------------------

    def _part(self, robots: RobotsTxt) -> None:
        """Say where blank lines stand: before each group, and not inside one."""
        lines = self._lines
        places = [at for at, line in enumerate(lines) if line.record is not None]
        ends = _ends_of_stretches(robots)
        for before, at in pairwise(places):
            above, record = lines[before].record, lines[at].record
            assert above is not None
            assert record is not None
            between = lines[before + 1 : at + 1]
            if record.line <= ends.get(record.line, 0):
                for line in between:
                    line.gap = False
            elif record.group != above.group and not any(line.gap for line in between):
                _first_of_next(between).gap = True


def _first_of_next(between: list[_Line]) -> _Line:
    """Return the first line that is of the next group: its comments too."""
    for line in between[:-1]:
        if line.sort != COMMENT or not _COMMENTED_RULE.match(line.text):
            return line
    return between[-1]


def _ends_of_stretches(robots: RobotsTxt) -> dict[int, int]:
    """
    Return for each line of a group, but for its first, where the stretch ends that it is in.

    A stretch is user-agent lines and what follows up to the last record that is about crawlers, and
    most groups are one. User-agent lines behind a lone Crawl-delay are of the same group (AMB-28),
    but of another stretch: whoever wrote a blank line there meant two groups.
    """
    scoped = {ext.key.lower() for ext in extensions.ALL if ext.scope == "group"}
    found: dict[int, int] = {}
    stretch: list[int] = []
    end, above = 0, None
    for record in robots.records:
        if record.role is Role.START and above is not Role.START:
            found |= dict.fromkeys(stretch, end)
            stretch, end = [], record.line
        elif record.group is not None:
            stretch.append(record.line)
            if record.role is not Role.OTHER or record.key in scoped:
                end = record.line
        above = record.role
    return found | dict.fromkeys(stretch, end)


def _is_text(octets: bytes) -> bool:
    """Tell whether octets are UTF-8 without control characters; line ends are none."""
    try:
        octets.decode()
    except UnicodeDecodeError:
        return False
    return _CONTROL.search(octets.translate(None, b"\r\n")) is None
