"""RR841: a robots meta element outside of the head."""

from __future__ import annotations

from robotrules.linting.check import PageCheck


class MetaOutsideHead(PageCheck):
    """
    What it finds:
        A robots meta element that a browser puts into the body: because it stands there, or because
        something before it ended the head.

    Why it matters:
        The draft wants the head alone to count, so that a comment or another text of a visitor
        cannot take a page out of an index. Google reads the body too, others do not. An element
        that belongs into the body, such as `div` or `img`, ends the head on the spot, and all that
        follows is body.

    Example:
            <head><div></div><meta name="robots" content="noindex"></head>

    Instead:
            <head><meta name="robots" content="noindex"></head>
    """

    code = "RR841"
    slug = "meta-outside-head"
    level = "warning"
    message = (
        "The robots meta element is not in the head: Google reads it all the same, and others do "
        "not."
    )
    reference = "draft-illyes-repext §4; RTG-4-03, AMB-87"
