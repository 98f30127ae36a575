"""RR634: a record without a statement."""

from __future__ import annotations

from robotrules.linting.check import ParserNote


class EmptyStatement(ParserNote):
    """
    What it finds:
        A `Content-Usage` or `Content-Signal` record without a value, or with a path and nothing
        behind it.

    Why it matters:
        A record that states nothing is no rule. It takes nothing back either: where a shorter path,
        or none, states a preference, that one goes on.

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
    message = "Nothing is stated, so the record is not used."
    reference = "draft-ietf-aipref-attach-05 §3; AMB-111"
