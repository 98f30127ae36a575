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
        The three signals that are defined take these two values. Another one is kept by those who
        read it and has no meaning. The letters `y` and `n` are those of `Content-Usage`.

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
    message = "The value in {text} is neither 'yes' nor 'no', so the signal says nothing."
    reference = "contentsignals.org (2025-09); REC-content-signal-01"

    def fix(self, context: LintContext, note: Note) -> Fix | None:
        """Write the word where its first letter stands."""
        found = _LETTER.fullmatch(context.robots.body[note.start : note.end])
        if not found:
            return None
        word = WORDS[found[1].lower()]
        edit = Edit(note.end - 1, note.end, word)
        return Fix(f"Write '{word.decode()}'", (edit,), changes_verdicts=True)
