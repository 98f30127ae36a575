"""
Value notes: checks that pass on that a value could not be read.

A record without any value is told once for all names of records, by `empty-value`; what is left
here stands in the file and can be quoted. It does not know which values are good.
"""

from __future__ import annotations

from collections.abc import Iterator

from robotrules.linting.check import ParserNote
from robotrules.linting.note import LintNote
from robotrules.linting.subject import Subject


class ValueNote(ParserNote):
    """A check that passes on what a reader noted about a value, if there is one."""

    def check(self, subject: Subject) -> Iterator[LintNote]:
        """Yield the notes that point at something."""
        return (note for note in super().check(subject) if note.end > note.start)
