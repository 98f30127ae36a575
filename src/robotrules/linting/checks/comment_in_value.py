"""RR305: a `#` that cuts a Structured Field."""

from __future__ import annotations

from robotrules.linting.check import ParserNote


class CommentInValue(ParserNote):
    """
    What it finds:
        An App-Directives record whose value a `#` cuts, inside a string or right after something
        that is not finished.

    Why it matters:
        In a robots.txt a `#` starts a comment wherever it stands, in quotation marks too. What is
        before it does not parse as a List any more, or says less than was meant.

    Example:
            User-agent: *
            App-Directives: example-app;colour="#fff"

    Instead:
        Say it without a `#`; no escape for it exists in these values.

            User-agent: *
            App-Directives: example-app;colour="white"
    """

    code = "RR305"
    slug = "comment-in-value"
    level = "warning"
    message = "A '#' starts a comment even inside a value: all that is read is {text}."
    reference = "RFC 9309 §2.2.3 (REP-2.2-06); RFC 9651 §4.2; AMB-16"
