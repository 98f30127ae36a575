"""RR804: a rule with capital letters in Robots-Tag."""

from __future__ import annotations

from robotrules.linting.check import PageCheck


class UppercaseKey(PageCheck):
    """
    What it finds:
        A Robots-Tag field with capital letters in the name of a rule.

    Why it matters:
        X-Robots-Tag and meta elements are case-insensitive. Robots-Tag is a Structured Field, whose
        keys are lower case: a parser that follows RFC 9651 ignores the whole field because of one
        capital letter.

    Example:
            Robots-Tag: *;NoIndex

    Instead:
            Robots-Tag: *;noindex
    """

    code = "RR804"
    slug = "uppercase-key"
    level = "warning"
    message = (
        "Crawlers that follow RFC 9651 ignore the whole field because of a capital letter. Write "
        "the rules of Robots-Tag in lower case."
    )
    reference = "draft-illyes-repext §3.1.3; RFC 9651 §3.1.2; AMB-66"
