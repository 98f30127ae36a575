"""RR809: the grammar of Robots-Tag in an X-Robots-Tag field."""

from __future__ import annotations

from robotrules.linting.check import PageCheck


class StructuredLegacyField(PageCheck):
    """
    What it finds:
        An X-Robots-Tag field in the new grammar, with `;` between a name and its rules.

    Why it matters:
        The old field has the old grammar: `noindex, nofollow`, perhaps with `googlebot:` in front.
        It is what all vendors document. The new grammar belongs to the new name.

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
        "X-Robots-Tag in the grammar of Robots-Tag: crawlers that know the old grammar alone do "
        "not understand {text}."
    )
    reference = "draft-illyes-repext §3.1.1; AMB-73"
