"""RR804: a rule in capitals in Robots-Tag."""

from __future__ import annotations

from robotrules.linting.check import PageCheck


class UppercaseKey(PageCheck):
    """
    What it finds:
        A Robots-Tag field with capital letters in the name of a rule.

    Why it matters:
        In X-Robots-Tag and in meta elements case does not matter. Robots-Tag is a Structured Field,
        whose keys are in lower case: one capital makes the whole field unreadable to a strict
        parser, with all that it says to everybody.

    Example:
            Robots-Tag: *;NoIndex

    Instead:
            Robots-Tag: *;noindex
    """

    code = "RR804"
    slug = "uppercase-key"
    level = "warning"
    message = (
        "A rule in Robots-Tag is in lower case; with capitals the whole field fails to parse for "
        "those who keep to RFC 9651."
    )
    reference = "draft-illyes-repext §3.1.3; RFC 9651 §3.1.2; AMB-66"
