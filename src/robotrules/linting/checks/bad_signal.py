"""RR637: a content signal that is not a key=value pair."""

from __future__ import annotations

from robotrules.linting.check import ParserNote


class BadSignal(ParserNote):
    """
    What it finds:
        A part of a `Content-Signal` record without `=`, or with nothing before or after the `=`.

    Why it matters:
        A signal is a key and a value, as in `ai-train=no`, and commas separate signals. Crawlers
        ignore any other form, and a missing signal neither grants nor restricts anything.

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
    message = (
        "The signal {text} is not a key=value pair, so crawlers ignore it. Write it in a form such "
        "as 'ai-train=no'."
    )
    reference = "contentsignals.org (2025-09); REC-content-signal-01"
