"""RR631: a category that the vocabulary does not have."""

from __future__ import annotations

from collections.abc import Iterator
from difflib import get_close_matches
from typing import Any

from robotrules.extensions.vocabulary import CATEGORIES
from robotrules.linting.check import ParserNote
from robotrules.linting.context import LintContext
from robotrules.linting.note import LintNote
from robotrules.linting.scoped_records import OLD_LABELS
from robotrules.octets import to_text
from robotrules.robotstxt.values import Note

# Labels of Content-Signal with the same meaning (REC-content-signal-03).
SIGNALS = {"ai-train": "train-ai"}


class UnknownLabel(ParserNote):
    """
    What it finds:
        A `Content-Usage` record with a label other than `train-ai` and `search`, the two labels of
        the vocabulary.

    Why it matters:
        Crawlers ignore unknown labels and read the other labels of the record. A misspelt label
        therefore has no effect. Labels are case-sensitive.

    Example:
            User-agent: *
            Content-Usage: ai-train=n

    Instead:
            User-agent: *
            Content-Usage: train-ai=n
    """

    code = "RR631"
    slug = "unknown-label"
    level = "info"
    message = "The vocabulary has no category {text}, so crawlers ignore it{hint}."
    reference = "draft-ietf-aipref-vocab-07 §6.1, §6.4; CU-V6.4-01"

    def check(self, context: LintContext) -> Iterator[LintNote]:
        """Yield unknown labels, except those of earlier revisions, which RR632 reports."""
        body = context.robots.body
        for note in super().check(context):
            if to_text(body[note.start : note.end]) not in OLD_LABELS:
                yield note

    def words(self, context: LintContext, note: Note) -> dict[str, Any]:
        """Return the label, and the label that was probably meant."""
        label = to_text(context.robots.body[note.start : note.end][:40])
        close = [SIGNALS[label]] if label in SIGNALS else get_close_matches(label, CATEGORIES, 1)
        hint = f". You probably mean '{close[0]}'" if close else ""
        return {**super().words(context, note), "hint": hint}
