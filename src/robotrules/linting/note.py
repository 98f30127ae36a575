"""
What lint reports: notes, each with a code, a place, words, and a fix where the fix is certain.

Spans are octets of the parsed body; columns count octets from 1. All values are immutable and go to
JSON with `as_dict()`. They do not know who makes a note or how it is shown.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from robotrules.octets import to_text

# What each level means, the worst first.
MEANINGS = {
    "error": "something is not used, or does not work",
    "warning": "it works, and probably not as meant",
    "info": "good to know",
}
LEVELS = tuple(MEANINGS)
ROBOTS_TXT = "robots.txt"


class Edit(NamedTuple):
    """Octets that take the place of a span of the body."""

    start: int
    end: int
    octets: bytes

    def as_dict(self) -> dict[str, Any]:
        """Return it as plain values for JSON."""
        return {"start": self.start, "end": self.end, "text": to_text(self.octets)}


class Fix(NamedTuple):
    """What a person would certainly do about a note."""

    words: str
    """What it does, as an order: `Write 'Disallow'`."""
    edits: tuple[Edit, ...]
    changes_verdicts: bool = False
    """False: the file means the same afterwards, which is proved before anything is written."""

    def as_dict(self) -> dict[str, Any]:
        """Return it as plain values for JSON."""
        return {
            "words": self.words,
            "changes_verdicts": self.changes_verdicts,
            "edits": [edit.as_dict() for edit in self.edits],
        }


class Related(NamedTuple):
    """Another place that a note speaks of."""

    words: str
    line: int
    column: int
    start: int
    end: int

    def as_dict(self) -> dict[str, Any]:
        """Return it as plain values for JSON."""
        return self._asdict()


class LintNote(NamedTuple):
    """One thing that a check found."""

    code: str
    slug: str
    level: str
    message: str
    """A sentence or two for people. What it quotes comes from strangers."""
    line: int | None
    """None when it is about the file, or about a part that is not the robots.txt."""
    column: int
    end_column: int
    start: int
    end: int
    part: str = ROBOTS_TXT
    """What it is about: the file, `X-Robots-Tag line 1`, `meta element 2`, `response`."""
    url: str | None = None
    """A URL that shows it."""
    related: tuple[Related, ...] = ()
    fix: Fix | None = None

    def __str__(self) -> str:
        where = f"line {self.line}: " if self.line else ""
        return f"{where}{self.level} {self.code} {self.slug}: {self.message}"

    def as_dict(self) -> dict[str, Any]:
        """Return it as plain values for JSON."""
        return {
            "code": self.code,
            "slug": self.slug,
            "level": self.level,
            "message": self.message,
            "part": self.part,
            "line": self.line,
            "column": self.column,
            "end_column": self.end_column,
            "start": self.start,
            "end": self.end,
            "url": self.url,
            "related": [related.as_dict() for related in self.related],
            "fix": self.fix.as_dict() if self.fix else None,
        }
