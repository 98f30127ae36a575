"""
Render: what lint found, in the forms that other programs read; one file each.

Notes go in, values or text come out: `json_form`, `sarif`, `github` and `junit`. All of them may be
handed files one by one, as they are linted. What a file holds comes from strangers, so each form
escapes it in its own way. Nothing here is written anywhere; the text for people, with its colours,
is the command line's.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import NamedTuple

from robotrules.linting.note import LEVELS, LintNote
from robotrules.octets import to_text

__all__ = ["NEVER", "STDIN", "Linted", "counted", "uri_of"]

STDIN = "stdin"
NEVER = "never"
# RFC 3986 §2.3, and the slash between segments. A colon would end a scheme.
_UNRESERVED = frozenset(b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._~/")
# What a URL may have beside those (§2.2), a percent sign included: it is encoded already.
_RESERVED = frozenset(b":?#[]@!$&'()*+,;=%")


class Linted(NamedTuple):
    """One file, page or response, and what was found there."""

    where: bytes
    """A path as the system has it, a URL, or `stdin`."""
    is_file: bool = True
    notes: tuple[LintNote, ...] = ()
    body: bytes = b""
    """What the spans of notes are spans of; empty where they are of something else."""
    whole: bool = True
    """Whether the file has those octets at those places: UTF-16 has others."""
    fixed: tuple[LintNote, ...] = ()
    """Notes whose fixes were written, with the lines that they had before."""
    fail_on: str = "warning"
    """The least level that fails: one of `LEVELS`, or `never`."""
    trouble: str = ""
    """Why it was not linted, or not fixed; empty: nothing went wrong."""

    @property
    def name(self) -> str:
        """What people call it; may hold anything."""
        return to_text(self.where)

    @property
    def uri(self) -> str:
        """Where it is, as a URI reference."""
        return uri_of(self.where, is_file=self.is_file)

    def fails(self, note: LintNote) -> bool:
        """Tell whether a note is so bad that the file fails."""
        if self.fail_on == NEVER:
            return False
        return LEVELS.index(note.level) <= LEVELS.index(self.fail_on)


def counted(files: Iterable[Linted]) -> dict[str, int]:
    """Return how many notes have each level, the worst first."""
    found = Counter(note.level for one in files for note in one.notes)
    return {level: found[level] for level in LEVELS}


def uri_of(where: bytes, *, is_file: bool) -> str:
    """Return a path or a URL as a URI reference (RFC 3986 §4.1): what has no place there is %NN."""
    keep = _UNRESERVED if is_file else _UNRESERVED | _RESERVED
    made = "".join(chr(octet) if octet in keep else f"%{octet:02X}" for octet in where)
    return f"file://{made}" if is_file and where.startswith(b"/") else made
