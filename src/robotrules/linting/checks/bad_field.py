"""RR801: a Robots-Tag field that is not a Structured Fields List."""

from __future__ import annotations

from robotrules.linting.check import PageCheck


class BadField(PageCheck):
    """
    What it finds:
        A Robots-Tag field whose first member already fails to parse as a List of RFC 9651.

    Why it matters:
        Crawlers ignore a field that does not parse, and treat the page as if it had none.

    Example:
            Robots-Tag: ;noindex

    Instead:
            Robots-Tag: *;noindex
    """

    code = "RR801"
    slug = "bad-field"
    level = "error"
    message = (
        "The Robots-Tag field is not a Structured Fields List, so crawlers ignore all of it. Start "
        "it with a crawler's name or '*', as in '*;noindex'."
    )
    reference = "draft-illyes-repext §3.1.1; RFC 9651 §4.2"
