"""
Render: lint results in machine-readable formats, one module each.

`json_form`, `sarif`, `github` and `junit` take notes and return values or text. All of them accept
files one by one, as they are linted. The content of a file is not trusted, so each format escapes
it. Nothing is written here; the command line renders the coloured text.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import TYPE_CHECKING, NamedTuple

from robotrules.linting.note import LEVELS, LintNote
from robotrules.octets import to_text

if TYPE_CHECKING:
    from robotrules.linting.baseline import BaselineEntry

__all__ = ["NEVER", "STDIN", "LintedFile", "count_notes", "file_uri"]

STDIN = "stdin"
NEVER = "never"
# RFC 3986 §2.3, and the slash between segments. A colon would end a scheme.
_UNRESERVED = frozenset(b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._~/")
# Reserved characters of a URL (§2.2), and the percent sign, because a URL is encoded already.
_RESERVED = frozenset(b":?#[]@!$&'()*+,;=%")


class LintedFile(NamedTuple):
    """One file, page or response, and its notes."""

    where: bytes
    """A path in the file system's encoding, a URL, or `stdin`."""
    is_file: bool = True
    notes: tuple[LintNote, ...] = ()
    body: bytes = b""
    """The octets that the spans of notes refer to; empty if they refer to something else."""
    whole: bool = True
    """Whether the file on disk has the same octets as `body`: a UTF-16 file does not."""
    fixed: tuple[LintNote, ...] = ()
    """Notes whose fixes were written, with the lines that they had before."""
    fail_on: str = "warning"
    """The lowest level that fails: one of `LEVELS`, or `never`."""
    error: str = ""
    """Why it was not linted, or not fixed; empty: no error."""
    has_baseline: bool = False
    """Whether the notes were compared with a baseline; then `notes` are only the new ones."""
    known: tuple[LintNote, ...] = ()
    """Notes that the baseline has."""
    stale: tuple[BaselineEntry, ...] = ()
    """Entries of the baseline whose notes are gone."""

    @property
    def name(self) -> str:
        """The name for output; its content is not trusted."""
        return to_text(self.where)

    @property
    def uri(self) -> str:
        """The location as a URI reference."""
        return file_uri(self.where, is_file=self.is_file)

    def fails(self, note: LintNote) -> bool:
        """Return whether the level of a note makes the file fail."""
        if self.fail_on == NEVER:
            return False
        return LEVELS.index(note.level) <= LEVELS.index(self.fail_on)


def count_notes(files: Iterable[LintedFile]) -> dict[str, int]:
    """Return the number of notes of each level, most severe first."""
    counts = Counter(note.level for file in files for note in file.notes)
    return {level: counts[level] for level in LEVELS}


def file_uri(where: bytes, *, is_file: bool) -> str:
    """Return a path or a URL as a percent-encoded URI reference (RFC 3986 §4.1)."""
    keep = _UNRESERVED if is_file else _UNRESERVED | _RESERVED
    encoded = "".join(chr(octet) if octet in keep else f"%{octet:02X}" for octet in where)
    return f"file://{encoded}" if is_file and where.startswith(b"/") else encoded
