"""RR305: a `#` that cuts a Structured Field."""

from __future__ import annotations

from robotrules.linting.check import ParserNote


class CommentInValue(ParserNote):
    """
    What it finds:
        An App-Directives record whose value is cut by a `#`, inside a string or right after an
        unfinished part.

    Why it matters:
        In a robots.txt a `#` starts a comment anywhere, also inside quotation marks. The text
        before it no longer parses as a List, or states less than intended.

    Example:
            User-agent: *
            App-Directives: example-app;colour="#fff"

    Instead:
        Write the value without a `#`; these values have no escape for it.

            User-agent: *
            App-Directives: example-app;colour="white"
    """

    code = "RR305"
    slug = "comment-in-value"
    level = "warning"
    message = (
        "A '#' starts a comment even inside a value, so crawlers read only {text}. Write the value "
        "without '#'."
    )
    reference = "RFC 9309 §2.2.3 (REP-2.2-06); RFC 9651 §4.2; AMB-16"
