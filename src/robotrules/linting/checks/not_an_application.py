"""RR611: a member of App-Directives that is not a Token."""

from __future__ import annotations

from robotrules.linting.check import ParserNote


class NotAnApplication(ParserNote):
    """
    What it finds:
        An `App-Directives` record with a member that is a string in quotes, a number, or a list in
        parentheses.

    Why it matters:
        The name of an application is a Token, such as `examplesearch`, without quotes. A member of
        another type is ignored together with its app directives. The other members of the line
        still count.

    Example:
            User-agent: *
            App-Directives: "examplesearch";widgets=?0

    Instead:
            User-agent: *
            App-Directives: examplesearch;widgets=?0
    """

    code = "RR611"
    slug = "not-an-application"
    level = "error"
    message = (
        "A member of {text} is not a Token, so it is ignored. Write the name of the application "
        "without quotes or parentheses."
    )
    reference = "draft-nottingham-plan-b §2; RFC 9651 §3.3.4; APP-2-06"
