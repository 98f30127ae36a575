"""RR632: a category of an earlier draft."""

from __future__ import annotations

from collections.abc import Iterator

from robotrules.linting.check import Check, quote
from robotrules.linting.context import LintContext
from robotrules.linting.note import LintNote
from robotrules.linting.scoped_records import OLD_LABELS
from robotrules.octets import to_text


class OldUsageCategory(Check):
    """
    What it finds:
        A `Content-Usage` record with a label of an earlier revision of the vocabulary: `bots`,
        `ai`, `genai`, `train-genai` or `ai-output`.

    Why it matters:
        The vocabulary is a draft, and its labels have changed. A label that it no longer has is
        unknown, and crawlers that follow the current revision ignore unknown labels and the
        preference with them. `Content-Signal` is a separate record, not an earlier draft, and keeps
        its labels.

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
        "The category {label} is from an earlier draft; crawlers that follow the current one "
        "ignore it{hint}."
    )
    reference = "draft-ietf-aipref-vocab-07 §6.1, §6.4; CU-V6.1-01"

    def check(self, context: LintContext) -> Iterator[LintNote]:
        """Yield the labels of earlier revisions."""
        for note in context.parser_notes("unknown-label"):
            label = to_text(context.robots.body[note.start : note.end])
            if label in OLD_LABELS:
                replacement = OLD_LABELS[label]
                hint = f". The closest category is '{replacement}'" if replacement else ""
                yield self.note(context, note.start, note.end, label=quote(label), hint=hint)
