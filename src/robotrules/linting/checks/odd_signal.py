"""RR638: a content signal that is neither yes nor no."""

from __future__ import annotations

import re

from robotrules.linting.check import ParserNote
from robotrules.linting.context import LintContext
from robotrules.linting.note import Edit, Fix
from robotrules.robotstxt.values import Note

_LETTER = re.compile(rb"[^=]*=[ \t]*([yn])", re.IGNORECASE)
WORDS = {b"y": b"yes", b"n": b"no"}


class OddSignal(ParserNote):
    """
    What it finds:
        A `Content-Signal` record in which `search`, `ai-input` or `ai-train` has another value than
        `yes` or `no`.

    Why it matters:
        The three defined signals take only these two values. Any other value has no defined
        meaning. The letters `y` and `n` are values of `Content-Usage`.

    Example:
            User-agent: *
            Content-Signal: ai-train=n

    Instead:
            User-agent: *
            Content-Signal: ai-train=no
    """

    code = "RR638"
    slug = "odd-signal"
    level = "warning"
    message = (
        "The value of {text} is neither 'yes' nor 'no', so the signal has no effect. Write 'yes' "
        "or 'no'."
    )
    reference = "contentsignals.org (2025-09); REC-content-signal-01"

    def fix(self, context: LintContext, note: Note) -> Fix | None:
        """Replace the letter `y` or `n` with its word."""
        match = _LETTER.fullmatch(context.robots.body[note.start : note.end])
        if not match:
            return None
        word = WORDS[match[1].lower()]
        edit = Edit(note.end - 1, note.end, word)
        return Fix(f"Write '{word.decode()}'", (edit,), changes_verdicts=True)
