"""RR812: a rule after a scope, in a line that may be several joined lines."""

from __future__ import annotations

from robotrules.linting.check import PageCheck


class ScopeMayBeWider(PageCheck):
    """
    What it finds:
        A rule after a `token:` in an X-Robots-Tag field whose lines were received as one.

    Why it matters:
        Within a line, a token applies until the next token. But proxies and libraries join lines
        with commas, and a line for all crawlers after a line for one crawler then looks as if it
        were for that crawler only. Some crawlers read it that way.

    Example:
        Two lines, `X-Robots-Tag: otherbot: noindex` and `X-Robots-Tag: nofollow`, which a proxy
        joins.

    Instead:
        Put the line for all crawlers first: then it is read the same way, joined or not.

            X-Robots-Tag: nofollow, otherbot: noindex
    """

    code = "RR812"
    slug = "scope-may-be-wider"
    level = "warning"
    message = (
        "These may be joined X-Robots-Tag lines, so crawlers differ on whether {text} is for one "
        "crawler or for all. Put the rules for all crawlers first."
    )
    reference = "Google, X-Robots-Tag; XRT-04, AMB-82"
