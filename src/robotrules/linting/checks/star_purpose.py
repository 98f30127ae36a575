"""RR602: a purpose line with a star."""

from __future__ import annotations

from robotrules.linting.check import ParserNote


class StarPurpose(ParserNote):
    """
    What it finds:
        A `User-Agent-Purpose` line whose value is `*`.

    Why it matters:
        The star is for product tokens: `User-agent: *` opens the group of all crawlers that no
        other group names. The draft has no `*` purpose, so the line opens a group that applies to
        no crawler.

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
        "'*' is not a purpose, so this group applies to no crawler. Write 'User-agent: *' for all "
        "crawlers."
    )
    reference = "draft-illyes-rep-purpose §3; AMB-97"
