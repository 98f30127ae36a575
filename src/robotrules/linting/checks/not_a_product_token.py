"""RR807: a member of Robots-Tag that names nobody."""

from __future__ import annotations

from robotrules.linting.check import PageCheck


class NotAProductToken(PageCheck):
    """
    What it finds:
        A member of a Robots-Tag field that is a number, a list in parentheses, or an empty string.

    Why it matters:
        Each member is the name of a crawler, or `*`, with rules behind it. What is no name speaks
        to nobody. To say one thing to several crawlers, repeat it for each.

    Example:
            Robots-Tag: (ExampleBot OtherBot);noindex

    Instead:
            Robots-Tag: ExampleBot;noindex, OtherBot;noindex
    """

    code = "RR807"
    slug = "not-a-product-token"
    level = "error"
    message = "The member {text} names no product token, so it says nothing."
    reference = "draft-illyes-repext §3.1.1; AMB-65, AMB-76"
