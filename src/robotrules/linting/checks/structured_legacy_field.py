"""RR809: the syntax of Robots-Tag in an X-Robots-Tag field."""

from __future__ import annotations

from robotrules.linting.check import PageCheck


class StructuredLegacyField(PageCheck):
    """
    What it finds:
        An X-Robots-Tag field in the new syntax, with `;` between a name and its rules.

    Why it matters:
        The old field has the old syntax: `noindex, nofollow`, perhaps after `googlebot:`. All
        vendors document it. The new syntax belongs to the new field.

    Example:
            X-Robots-Tag: *;noindex

    Instead:
            X-Robots-Tag: noindex
            Robots-Tag: *;noindex
    """

    code = "RR809"
    slug = "structured-legacy-field"
    level = "info"
    message = (
        "X-Robots-Tag has the syntax of Robots-Tag here, so crawlers that only support the old "
        "syntax ignore {text}. Separate rules with commas."
    )
    reference = "draft-illyes-repext §3.1.1; AMB-73"
