"""RR604: a purpose line without a value."""

from __future__ import annotations

from robotrules.linting.check import ParserNote


class EmptyPurpose(ParserNote):
    """
    What it finds:
        A `User-Agent-Purpose` line with nothing after the colon.

    Why it matters:
        It starts a group like any other purpose line, and that group applies to no crawler. The
        rules below it, which may have been meant for the group above, have no effect.

    Example:
            User-Agent-Purpose:
            Disallow: /

    Instead:
        Name the purpose, or remove the line:

            User-Agent-Purpose: EXAMPLE-PURPOSE-1
            Disallow: /
    """

    code = "RR604"
    slug = "empty-purpose"
    level = "warning"
    message = (
        "The User-Agent-Purpose line is empty and matches no crawler. Name a purpose, or remove "
        "the line."
    )
    reference = "draft-illyes-rep-purpose §3; AMB-24, AMB-97"
