"""RR841: a robots meta element outside the head."""

from __future__ import annotations

from robotrules.linting.check import PageCheck


class MetaOutsideHead(PageCheck):
    """
    What it finds:
        A robots meta element that a browser puts into the body: because it is written there, or
        because an element before it ended the head.

    Why it matters:
        By the draft only the head counts, so that a comment or other text of a visitor cannot
        remove a page from an index. Google reads the body too, other crawlers do not. An element
        that belongs in the body, such as `div` or `img`, ends the head, and everything after it is
        body.

    Example:
            <head><div></div><meta name="robots" content="noindex"></head>

    Instead:
            <head><meta name="robots" content="noindex"></head>
    """

    code = "RR841"
    slug = "meta-outside-head"
    level = "warning"
    message = (
        "The robots meta element is not in the head: Google reads it, and other crawlers ignore "
        "it. Move it to the start of the head."
    )
    reference = "draft-illyes-repext §4; RTG-4-03, AMB-87"
