"""RR637: a content signal that is no pair."""

from __future__ import annotations

from robotrules.linting.check import ParserNote


class BadSignal(ParserNote):
    """
    What it finds:
        A part of a `Content-Signal` record that has no `=`, or nothing before or behind it.

    Why it matters:
        A signal is a key and a value, as in `ai-train=no`; commas part several. What has another
        form says nothing, and a signal that is missing neither grants nor restricts.

    Example:
            User-agent: *
            Content-Signal: search=yes, ai-train

    Instead:
            User-agent: *
            Content-Signal: search=yes, ai-train=no
    """

    code = "RR637"
    slug = "bad-signal"
    level = "error"
    message = "The signal {text} is no key=value pair, so it is not used."
    reference = "contentsignals.org (2025-09); REC-content-signal-01"
