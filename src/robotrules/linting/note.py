"""
Notes: the findings of lint, each with a code, a location, a message, and a fix where it is certain.

Spans are octets of the parsed body; columns count octets from 1. All values are immutable and
`as_dict()` returns them as plain values for JSON.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from robotrules.octets import to_text

# The meaning of each level, most severe first.
MEANINGS = {
    "error": "something is ignored or does not work",
    "warning": "it works, but probably not as intended",
    "info": "for information",
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
    """A correction that is certain to be what the author wants."""

    title: str
    """What it does, in the imperative: `Write 'Disallow'`."""
    edits: tuple[Edit, ...]
    changes_verdicts: bool = False
    """False: the file means the same afterwards, which is proved before it is written."""

    def as_dict(self) -> dict[str, Any]:
        """Return it as plain values for JSON."""
        return {
            "title": self.title,
            "changes_verdicts": self.changes_verdicts,
            "edits": [edit.as_dict() for edit in self.edits],
        }


class Related(NamedTuple):
    """Another location that a note refers to."""

    message: str
    line: int
    column: int
    start: int
    end: int

    def as_dict(self) -> dict[str, Any]:
        """Return it as plain values for JSON."""
        return self._asdict()


class LintNote(NamedTuple):
    """One finding of a check."""

    code: str
    slug: str
    level: str
    message: str
    """One or two sentences. Quoted parts come from the file and are not trusted."""
    line: int | None
    """None if it is about the whole file, or about another part than the robots.txt."""
    column: int
    end_column: int
    start: int
    end: int
    part: str = ROBOTS_TXT
    """The part it is about: `robots.txt`, `X-Robots-Tag line 1`, `meta element 2`, `response`."""
    url: str | None = None
    """A URL that demonstrates it."""
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
