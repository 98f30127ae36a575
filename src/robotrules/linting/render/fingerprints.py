"""
Fingerprints: identify a note from one run to the next, even if its line moved.

A fingerprint has the check, the part of the page that the note is about, and the text of the line
without differences of white space. Equal notes of a file have equal fingerprints; callers count
them. SARIF and the baseline use the same ones.
"""

from __future__ import annotations

from hashlib import sha256

from robotrules.linting.note import LintNote
from robotrules.linting.render.places import Places
from robotrules.octets import to_octets

__all__ = ["Fingerprints"]

# Hexadecimal digits of a hash: enough to distinguish lines.
_DIGITS = 16


class Fingerprints:
    """The fingerprints of the notes of one file; each line is hashed once."""

    __slots__ = ("_hashes", "_places")

    def __init__(self, places: Places) -> None:
        self._places = places
        self._hashes: dict[int, str] = {}

    def of(self, note: LintNote) -> str:
        """Return the fingerprint of a note: check, part, and text of the line."""
        line = 0 if note.line is None else self._places.at(note.start).line
        if line not in self._hashes:
            text = self._places.text(line) if line else b""
            self._hashes[line] = sha256(b" ".join(text.split())).hexdigest()[:_DIGITS]
        part = sha256(to_octets(note.part)).hexdigest()[:4]
        return f"{note.code}:{part}:{self._hashes[line]}"

    def line_text(self, note: LintNote) -> bytes:
        """Return the line of a note; empty if it is about the whole file."""
        return b"" if note.line is None else self._places.text(self._places.at(note.start).line)
