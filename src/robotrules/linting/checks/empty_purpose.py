"""RR604: a purpose line without a value."""

from __future__ import annotations

from robotrules.linting.check import ParserNote


class EmptyPurpose(ParserNote):
    """
    What it finds:
        A `User-Agent-Purpose` line with nothing after the colon.

    Why it matters:
        It opens a group like any other purpose line does, and that group is for nobody. Rules below
        it, which may have been meant for the group above, are obeyed by no crawler.

    Example:
            User-Agent-Purpose:
            Disallow: /

    Instead:
        Name the purpose, or take the line out:

            User-Agent-Purpose: EXAMPLE-PURPOSE-1
            Disallow: /
    """

    code = "RR604"
    slug = "empty-purpose"
    level = "warning"
    message = "A purpose line without a value names nobody."
    reference = "draft-illyes-rep-purpose §3; AMB-24, AMB-97"
