"""RR634: a Content-Usage or Content-Signal record without a preference."""

from __future__ import annotations

from robotrules.linting.check import ParserNote


class EmptyStatement(ParserNote):
    """
    What it finds:
        A `Content-Usage` or `Content-Signal` record without a value, or with a path and nothing
        after it.

    Why it matters:
        Crawlers ignore a record that states no preference. It does not reset anything either: a
        preference for a shorter path, or without a path, still applies.

    Example:
            User-agent: *
            Content-Usage: /news/

    Instead:
            User-agent: *
            Content-Usage: /news/ train-ai=n
    """

    code = "RR634"
    slug = "empty-statement"
    level = "error"
    message = (
        "The record states no preference, so crawlers ignore it. Add a preference, or remove the "
        "record."
    )
    reference = "draft-ietf-aipref-attach-05 §3; AMB-111"
