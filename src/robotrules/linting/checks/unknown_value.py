"""RR633: a preference that is neither y nor n."""

from __future__ import annotations

import re

from robotrules.linting.check import ParserNote
from robotrules.linting.context import LintContext
from robotrules.linting.note import Edit, Fix
from robotrules.robotstxt.values import Note

# Only a value that ends after the word: otherwise the meaning is not certain.
_SPELLING = re.compile(rb'=("?)(y|yes|n|no)\1(?=[ \t]*(?:,|$))', re.IGNORECASE)


class UnknownValue(ParserNote):
    """
    What it finds:
        A `Content-Usage` record in which `train-ai` or `search` has another value than `y` or `n`,
        or none.

    Why it matters:
        The vocabulary has two values, each a single lower-case letter without quotes. For any other
        value crawlers treat the preference as unknown, and decide themselves what that means. `yes`
        and `no` are values of `Content-Signal`.

    Example:
            User-agent: *
            Content-Usage: train-ai=no

    Instead:
            User-agent: *
            Content-Usage: train-ai=n
    """

    code = "RR633"
    slug = "unknown-value"
    level = "warning"
    message = (
        "The value of {text} is neither 'y' nor 'n', so crawlers treat the preference as unknown. "
        "Write 'y' or 'n'."
    )
    reference = "draft-ietf-aipref-vocab-07 §6.2, §6.5; CU-V6.2-01"

    def fix(self, context: LintContext, note: Note) -> Fix | None:
        """Write the letter for another spelling of it."""
        if note.line is None:
            return None
        record = context.by_line[note.line]
        match = _SPELLING.match(context.robots.body[note.end : record.end])
        if not match:
            return None
        letter = match[2][:1].lower()
        edit = Edit(note.end, note.end + match.end(), b"=" + letter)
        return Fix(f"Write '{letter.decode()}'", (edit,), changes_verdicts=True)
