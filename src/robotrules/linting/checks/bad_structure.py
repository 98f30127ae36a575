"""RR605: a value that is not the Structured Field it should be."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from robotrules.extensions.scoped import split
from robotrules.linting.check import ParserNote, quote
from robotrules.linting.context import LintContext
from robotrules.linting.note import LintNote
from robotrules.linting.scoped_records import find_star_path
from robotrules.robotstxt.values import Note
from robotrules.structured import parse_dictionary


class BadStructure(ParserNote):
    """
    What it finds:
        An `App-Directives` record whose value is no List, or a `Content-Usage` record whose value
        is no Dictionary, of Structured Fields. The note points at where reading failed, if that is
        known.

    Why it matters:
        These records have a strict grammar, and whoever reads them drops a value that does not fit:
        there is no half-right. Common slips are upper-case keys (`Train-AI=n`), a comma or
        semicolon at the end, blanks around `=`, and quotes of the wrong kind. Other records of the
        group still count.

    Example:
            User-agent: *
            Content-Usage: Train-AI=n

    Instead:
            User-agent: *
            Content-Usage: train-ai=n
    """

    code = "RR605"
    slug = "bad-structure"
    level = "error"
    message = "The value is no {what}, so the record is not used{where}."
    reference = "RFC 9651 §3.1, §3.2, §4.2; AMB-105, AMB-111"

    def check(self, context: LintContext) -> Iterator[LintNote]:
        """Yield the notes of values; a path that starts with `*` has a check of its own."""
        for note in super().check(context):
            if note.line is None or find_star_path(context.by_line[note.line]) is None:
                yield note

    def words(self, context: LintContext, note: Note) -> dict[str, Any]:
        """Say what it should be, and what stands where reading failed."""
        record = context.by_line[note.line] if note.line else None
        start, what = note.start, "List of applications"
        if record is not None and record.key == "content-usage":
            what = "Dictionary such as 'train-ai=n'"
            start += parse_dictionary(split(record).statement).position or 0
        rest = context.robots.body[start : note.end]
        return {"what": what, "where": f": reading failed at {quote(rest)}" if rest else ""}
