"""RR605: a value that is not the Structured Field that its record requires."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from robotrules.extensions.scoped import split
from robotrules.http.structured_fields import parse_dictionary
from robotrules.linting.check import ParserNote, quote
from robotrules.linting.context import LintContext
from robotrules.linting.note import LintNote
from robotrules.linting.scoped_records import find_star_path
from robotrules.robotstxt.values import Note


class BadStructure(ParserNote):
    """
    What it finds:
        An `App-Directives` record whose value is not a Structured Fields List, or a `Content-Usage`
        record whose value is not a Structured Fields Dictionary. The note points at where parsing
        failed, if that is known.

    Why it matters:
        These records have a strict grammar, and crawlers that read them ignore a value with any
        error. Common errors are upper-case keys (`Train-AI=n`), a comma or semicolon at the end,
        spaces around `=`, and quotation marks of the wrong kind. Other records of the group still
        apply.

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
    message = (
        "The value is not a {what}{where}, so crawlers ignore the record. Write it in a form such "
        "as {example}."
    )
    reference = "RFC 9651 §3.1, §3.2, §4.2; AMB-105, AMB-111"

    def check(self, context: LintContext) -> Iterator[LintNote]:
        """Yield the notes of values; a path that starts with `*` has a separate check."""
        for note in super().check(context):
            if note.line is None or find_star_path(context.by_line[note.line]) is None:
                yield note

    def words(self, context: LintContext, note: Note) -> dict[str, Any]:
        """Return the required form with an example, and the text at which parsing failed."""
        record = context.by_line[note.line] if note.line else None
        start, what, example = note.start, "list of applications", "'examplesearch;widgets=?0'"
        if record is not None and record.key == "content-usage":
            what, example = "dictionary of preferences", "'train-ai=n'"
            start += parse_dictionary(split(record).statement).position or 0
        rest = context.robots.body[start : note.end]
        where = f" (parsing fails at {quote(rest)})" if rest else ""
        return {"what": what, "where": where, "example": example}
