"""RR812: a rule behind a scope in a line that may be several."""

from __future__ import annotations

from robotrules.linting.check import PageCheck


class ScopeMayBeWider(PageCheck):
    """
    What it finds:
        A rule behind a `token:` in an X-Robots-Tag field, where the lines of the field came as one.

    Why it matters:
        In one line a token holds until the next. But proxies and libraries join lines with commas,
        and a line for all that comes after a line for one crawler then looks as if it was for that
        crawler too. Some crawlers read it so.

    Example:
        Two lines, `X-Robots-Tag: otherbot: noindex` and `X-Robots-Tag: nofollow`, which a proxy
        makes one.

    Instead:
        Put the line for all crawlers first: joined or not, it is read the same way.

            X-Robots-Tag: nofollow, otherbot: noindex
    """

    code = "RR812"
    slug = "scope-may-be-wider"
    level = "warning"
    message = (
        "Lines of X-Robots-Tag may have been joined here: whether {text} is for one crawler or "
        "for all cannot be told."
    )
    reference = "Google, X-Robots-Tag; XRT-04, AMB-82"
