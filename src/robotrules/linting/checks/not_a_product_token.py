"""RR807: a member of Robots-Tag that does not name a crawler."""

from __future__ import annotations

from robotrules.linting.check import PageCheck


class NotAProductToken(PageCheck):
    """
    What it finds:
        A member of a Robots-Tag field that is a number, a list in parentheses, or an empty string.

    Why it matters:
        Each member is the product token of a crawler, or `*`, followed by its rules. Any other
        member applies to no crawler. Repeat a rule for each crawler that it is for.

    Example:
            Robots-Tag: (ExampleBot OtherBot);noindex

    Instead:
            Robots-Tag: ExampleBot;noindex, OtherBot;noindex
    """

    code = "RR807"
    slug = "not-a-product-token"
    level = "error"
    message = (
        "The member {text} is not a product token, so it applies to no crawler. Write one member "
        "for each crawler."
    )
    reference = "draft-illyes-repext §3.1.1; AMB-65, AMB-76"
