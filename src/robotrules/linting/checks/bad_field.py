"""RR801: a Robots-Tag field that is no Structured Fields List."""

from __future__ import annotations

from robotrules.linting.check import PageCheck


class BadField(PageCheck):
    """
    What it finds:
        A Robots-Tag field that fails to parse as a List of RFC 9651 from its first member on.

    Why it matters:
        A field that does not parse says nothing at all, and the page is treated as if it had none.

    Example:
            Robots-Tag: ;noindex

    Instead:
            Robots-Tag: *;noindex
    """

    code = "RR801"
    slug = "bad-field"
    level = "error"
    message = "The field is no Structured Fields List, so none of it is used."
    reference = "draft-illyes-repext §3.1.1; RFC 9651 §4.2"
