"""RR602: a purpose line with a star."""

from __future__ import annotations

from robotrules.linting.check import ParserNote


class StarPurpose(ParserNote):
    """
    What it finds:
        A `User-Agent-Purpose` line whose value is `*`.

    Why it matters:
        The star is for product tokens: `User-agent: *` is the group of all crawlers without one of
        their own. The draft knows no purpose of that name, so such a line opens a group that is for
        nobody, and what was meant for all does not happen.

    Example:
            User-Agent-Purpose: *
            Disallow: /private/

    Instead:
            User-agent: *
            Disallow: /private/
    """

    code = "RR602"
    slug = "star-purpose"
    level = "warning"
    message = (
        "There is no '*' purpose: the line names nobody, and its group is not one for everybody."
    )
    reference = "draft-illyes-rep-purpose §3; AMB-97"
