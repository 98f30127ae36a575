"""RR847: a page that nests too deep to be read."""

from __future__ import annotations

from robotrules.linting.check import PageCheck


class PageTooComplex(PageCheck):
    """
    What it finds:
        A page with elements nested so deep, or with so many different names, that reading stops
        before its head is over.

    Why it matters:
        Parsers of HTML have limits like these, each its own. Robots meta elements behind the place
        are seen by some crawlers and not by others. A page written for people does not come near.

    Example:
        A head with thousands of elements inside of each other.

    Instead:
            <head><meta name="robots" content="noindex"></head>
    """

    code = "RR847"
    slug = "page-too-complex"
    level = "error"
    message = (
        "The page nests too deep or has too many names to be parsed; what follows is not read."
    )
    reference = "draft-illyes-repext §4; RTG-4-07"
