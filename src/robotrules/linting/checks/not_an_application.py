"""RR611: a member of App-Directives that is no Token."""

from __future__ import annotations

from robotrules.linting.check import ParserNote


class NotAnApplication(ParserNote):
    """
    What it finds:
        An `App-Directives` record with a member that is a string in quotes, a number, or a list in
        parentheses.

    Why it matters:
        An application is named by a Token, such as `examplesearch`, without quotes. A member of
        another type is skipped, and the app directives that hang on it are lost. The other members
        of the line still count.

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
    message = "A member of the list is no Token, so it names no application: {text}."
    reference = "draft-nottingham-plan-b §2; RFC 9651 §3.3.4; APP-2-06"
