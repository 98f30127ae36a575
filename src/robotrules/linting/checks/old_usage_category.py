"""RR632: a category of an earlier draft."""

from __future__ import annotations

from collections.abc import Iterator

from robotrules.linting.check import Check, quote
from robotrules.linting.context import LintContext
from robotrules.linting.note import LintNote
from robotrules.linting.scoped_records import OLD_LABELS
from robotrules.robotstxt.values import shown


class OldUsageCategory(Check):
    """
    What it finds:
        A `Content-Usage` record with a label that earlier revisions of the vocabulary had: `bots`,
        `ai`, `genai`, `train-genai` or `ai-output`.

    Why it matters:
        The vocabulary is a draft and changed its words on the way. What it does not have any more
        is an unknown label, and unknown labels are ignored: the preference is stated to nobody who
        reads the present revision. `Content-Signal` is no earlier draft but a record of its own,
        and stays as it is.

    Example:
            User-agent: *
            Content-Usage: genai=n

    Instead:
            User-agent: *
            Content-Usage: train-ai=n
    """

    code = "RR632"
    slug = "old-usage-category"
    level = "warning"
    message = (
        "The category {label} is one of an earlier draft: readers of the present one ignore "
        "it{hint}."
    )
    reference = "draft-ietf-aipref-vocab-07 §6.1, §6.4; CU-V6.1-01"

    def check(self, context: LintContext) -> Iterator[LintNote]:
        """Yield the labels that the vocabulary had once."""
        for note in context.parser_notes("unknown-label"):
            label = shown(context.robots.body[note.start : note.end])
            if label in OLD_LABELS:
                now = OLD_LABELS[label]
                hint = f"; what comes nearest is '{now}'" if now else ""
                yield self.note(context, note.start, note.end, label=quote(label), hint=hint)
