"""
Layout: the lines of a robots.txt in canonical form, in their order.

`Key: value`, one space after the colon, none at the ends, LF, a blank line before each group and
none inside. A line that is not a record, or is not clean text, is copied unchanged. Roles and
groups are those of profile default. The module does not prove that the new file means the same:
`proof` does.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping
from itertools import pairwise

from robotrules import extensions
from robotrules.formatting.comments import SPACE, format_comment_block, format_trailing_comment
from robotrules.profile import Extension, Role
from robotrules.robotstxt import RobotsTxt
from robotrules.robotstxt.internals import get_document
from robotrules.robotstxt.values import Record

COMMENT, RECORD, COPIED = range(3)
# TAB is whitespace; CR and LF end lines.
_CONTROL = re.compile(rb"[\x00-\x08\x0b-\x1f\x7f]")
# The form of an unknown name; `https` of a bare URL is not a name.
_NAME = re.compile(rb"[A-Za-z][-A-Za-z0-9_]*")
# A commented-out rule belongs to the group above it.
_COMMENTED_RULE = re.compile(
    rb"[#\s]*(?:(?:dis)?allow|crawl-delay|request-rate|visit-time|noindex|content-\w+)\s*:",
    re.IGNORECASE,
)
# Notes of profile default on records that other profiles do not read.
_TOLERATED = ("typo", "missing-colon")
BOM = b"\xef\xbb\xbf"
# A file that starts with these is read as one with a byte order mark, or part of one (AMB-07,
# AMB-08).
_LIKE_A_MARK = (b"\xef", b"\xfe\xff", b"\xff\xfe")


def canonical_names(more: Iterable[Extension] = ()) -> dict[bytes, bytes]:
    """Return the spelling of known names, by lower case; *more* extensions take precedence."""
    declared = [extension.key for extension in (*more, *extensions.ALL)]
    found: dict[bytes, bytes] = {}
    for name in ("User-agent", "Allow", "Disallow", *declared):
        found.setdefault(name.lower().encode(), name.encode())
    return found


class _Line:
    """A line that is not blank."""

    __slots__ = ("gap", "kind", "number", "record", "text")

    def __init__(self, number: int, text: bytes, kind: int, record: Record | None) -> None:
        self.number, self.text, self.kind, self.record = number, text, kind, record
        self.gap = False
        """Whether a blank line precedes it."""


class Layout:
    """A file, and its canonical forms."""

    def __init__(self, robots: RobotsTxt, names: Mapping[bytes, bytes], max_line: int) -> None:
        """*robots* is complete, and read with profile default; longer lines are copied."""
        self._names, self._max_line = names, max_line
        body = robots.body
        self._body, self._marked = body, body.startswith(BOM)
        self._is_plain = _is_text(body)
        self._lines = self._read(robots)
        tolerated = {line for code, line, *_ in get_document(robots).notes() if code in _TOLERATED}
        self.misspelled = {
            line.number
            for line in (self._lines if tolerated else ())
            if line.number in tolerated and line.kind == RECORD
        }
        """Lines whose record is only read because of a tolerance: a typo, a missing colon."""
        self._place_blank_lines(robots)

    def render(self, *, spelling: bool = False, copied: Collection[int] = ()) -> bytes:
        """
        Return the file in canonical form.

        With *spelling*, names that are only read because of a tolerance are corrected, which may
        change the meaning of the file. The lines with the numbers *copied* are unchanged.
        """
        out: list[bytes] = []
        lines = self._lines
        at = 0
        while at < len(lines):
            end = at + 1
            if lines[at].kind == COMMENT:
                while end < len(lines) and lines[end].kind == COMMENT and not lines[end].gap:
                    end += 1
                texts = format_comment_block([line.text for line in lines[at:end]])
            else:
                texts = [self._format_line(lines[at], spelling)]
            for line, text in zip(lines[at:end], texts, strict=True):
                kept = line.number in copied or len(text) > self._max_line
                out += [b"\n"] if line.gap else []
                out += [line.text if kept else text, b"\n"]
            at = end
        return self._mark(out) + b"".join(out)

    def _mark(self, out: list[bytes]) -> bytes:
        """Return a prefix that keeps the first octets from being read as a byte order mark."""
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
            line = _Line(number, text, self._kind_of(text, inner, record), record)
            line.gap, gap = gap and bool(found), False
            found.append(line)
        return found

    def _kind_of(self, text: bytes, inner: bytes, record: Record | None) -> int:
        if len(text) > self._max_line or not (self._is_plain or _is_text(text)):
            return COPIED
        if inner.startswith(b"#"):
            return COMMENT
        return COPIED if record is None else RECORD

    def _format_line(self, line: _Line, spelling: bool) -> bytes:
        """Return the canonical form of a line that is not a comment."""
        text, record = line.text, line.record
        if line.kind == COPIED or record is None:
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
        # `/a#b` may be intended as a path: a space must not hide that the rest is a comment.
        if before.endswith(value) and value and after[:1].strip(SPACE):
            return written + hash_sign + after.rstrip(SPACE)
        return written + b"  " + format_trailing_comment(hash_sign + after)

    # --- Blank lines --------------------------------------------------------------------------

    def _place_blank_lines(self, robots: RobotsTxt) -> None:
        """Put blank lines before each group, and not inside one."""
        lines = self._lines
        positions = [at for at, line in enumerate(lines) if line.record is not None]
        ends = _ends_of_stretches(robots)
        for before, at in pairwise(positions):
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
    """Return the first line that belongs to the next group, including its comments."""
    for line in between[:-1]:
        if line.kind != COMMENT or not _COMMENTED_RULE.match(line.text):
            return line
    return between[-1]


def _ends_of_stretches(robots: RobotsTxt) -> dict[int, int]:
    """
    Return, for each line of a group but the first, the end of its stretch.

    A stretch is user-agent lines and the following lines up to the last record about crawlers; most
    groups are one stretch. User-agent lines after a lone Crawl-delay belong to the same group
    (AMB-28), but to another stretch: the author of a blank line there intended two groups.
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
    """Return whether octets are UTF-8 without control characters, except line ends."""
    try:
        octets.decode()
    except UnicodeDecodeError:
        return False
    return _CONTROL.search(octets.translate(None, b"\r\n")) is None
