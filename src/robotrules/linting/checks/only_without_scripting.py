"""RR842: a robots meta element in a noscript."""

from __future__ import annotations

from robotrules.linting.check import PageCheck


class OnlyWithoutScripting(PageCheck):
    """
    What it finds:
        A robots meta element inside of a `noscript` in the head.

    Why it matters:
        Where scripts run, the content of a `noscript` is text. Where they do not, it is markup.
        Crawlers that do both see both, and a restriction in either state holds.

    Example:
            <head><noscript><meta name="robots" content="noindex"></noscript></head>

    Instead:
            <head><meta name="robots" content="noindex"></head>
    """

    code = "RR842"
    slug = "only-without-scripting"
    level = "info"
    message = (
        "The element is in a noscript: it counts for crawlers that run no scripts, and not for "
        "those that do."
    )
    reference = "draft-illyes-repext §4; AMB-88"
