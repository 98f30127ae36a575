"""RR847: a page that nests too deeply to be parsed."""

from __future__ import annotations

from robotrules.linting.check import PageCheck


class PageTooComplex(PageCheck):
    """
    What it finds:
        A page with elements nested so deeply, or with so many different names, that parsing stops
        before the end of its head.

    Why it matters:
        HTML parsers have different limits of this kind. Some crawlers see the robots meta elements
        after that position and others do not. Ordinary pages do not come close to the limits.

    Example:
        A head with thousands of nested elements.

    Instead:
            <head><meta name="robots" content="noindex"></head>
    """

    code = "RR847"
    slug = "page-too-complex"
    level = "error"
    message = (
        "The page nests too deeply or has too many element names. Crawlers may ignore the robots "
        "meta elements after this; move them to the start of the head."
    )
    reference = "draft-illyes-repext §4; RTG-4-07"
