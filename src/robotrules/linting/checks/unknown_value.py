"""RR633: a preference that is neither y nor n."""

from __future__ import annotations

import re

from robotrules.linting.check import ParserNote
from robotrules.linting.context import LintContext
from robotrules.linting.note import Edit, Fix
from robotrules.robotstxt.values import Note

# A value that goes on behind the word is left to its author.
_MEANT = re.compile(rb'=("?)(y|yes|n|no)\1(?=[ \t]*(?:,|$))', re.IGNORECASE)


class UnknownValue(ParserNote):
    """
    What it finds:
        A `Content-Usage` record in which `train-ai` or `search` has another value than `y` or `n`,
        or none.

    Why it matters:
        The vocabulary has two values, each one letter, in lower case and without quotes. Anything
        else is as good as nothing: readers take the preference for unknown, and what that means is
        theirs to decide. `yes` and `no` are words of `Content-Signal`.

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
    message = "The value of {text} is neither 'y' nor 'n', so the preference is unknown."
    reference = "draft-ietf-aipref-vocab-07 §6.2, §6.5; CU-V6.2-01"

    def fix(self, context: LintContext, note: Note) -> Fix | None:
        """Write the letter where another spelling of it stands."""
        if note.line is None:
            return None
        record = context.by_line[note.line]
        found = _MEANT.match(context.robots.body[note.end : record.end])
        if not found:
            return None
        letter = found[2][:1].lower()
        edit = Edit(note.end, note.end + found.end(), b"=" + letter)
        return Fix(f"Write '{letter.decode()}'", (edit,), changes_verdicts=True)
