"""
Usage: the Content-Usage records of a file, by group and path, and the labels they once had.

Groups are those of the record's own document (AMB-29).

What counts for a URL, `extensions.content_usage` knows. Checks compare records of one group with
each other, and need them side by side. It does not know which of them is odd.
"""

from __future__ import annotations

from robotrules.extensions.content_usage import KEYS
from robotrules.extensions.scoped import split
from robotrules.extensions.vocabulary import Statement, StatementSource, read_values
from robotrules.http.structured_fields import parse_dictionary
from robotrules.linting.context import LintContext
from robotrules.robotstxt.values import Record

# Labels of earlier revisions, after which files were written, each with what takes its place, where
# something does (draft-ietf-aipref-vocab-07 §6.1, CU-V6.1-01).
OLD_LABELS: dict[str, str | None] = {
    "bots": None,
    "ai": "train-ai",
    "genai": "train-ai",
    "train-genai": "train-ai",
    "ai-output": None,
}
Stated = dict[tuple[int | None, bytes | None], tuple[tuple[Record, Statement], ...]]


def stated(context: LintContext) -> Stated:
    """Return the records that state something, by group and path; None: without a path."""
    found: dict[tuple[int | None, bytes | None], list[tuple[Record, Statement]]] = {}
    for record in context.records(*KEYS):
        path, text, _ = split(record)
        parsed = parse_dictionary(text)
        if parsed.value:
            statement = Statement(StatementSource.ROBOTS, read_values(parsed), record=record)
            found.setdefault((context.document_groups[record.line], path), []).append(
                (record, statement)
            )
    return {key: tuple(some) for key, some in found.items()}
