"""RR842: a robots meta element in a noscript element."""

from __future__ import annotations

from robotrules.linting.check import PageCheck


class OnlyWithoutScripting(PageCheck):
    """
    What it finds:
        A robots meta element inside a `noscript` in the head.

    Why it matters:
        With scripting, the content of a `noscript` is text; without, it is markup. Crawlers that
        process a page both ways see both states, and obey a restriction in either.

    Example:
            <head><noscript><meta name="robots" content="noindex"></noscript></head>

    Instead:
            <head><meta name="robots" content="noindex"></head>
    """

    code = "RR842"
    slug = "only-without-scripting"
    level = "info"
    message = (
        "The element is in a noscript: crawlers that run scripts ignore it, others obey it. Move "
        "it out of the noscript."
    )
    reference = "draft-illyes-repext §4; AMB-88"
