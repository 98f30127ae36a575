"""RR619: an App-Directives record without an application."""

from __future__ import annotations

from robotrules.linting.check import ParserNote


class NoApplication(ParserNote):
    """
    What it finds:
        An `App-Directives` record with no value, or with a path and nothing behind it.

    Why it matters:
        Each app directive hangs on the name of an application. A record without one is read by
        nobody.

    Example:
            User-agent: *
            App-Directives: /news/

    Instead:
            User-agent: *
            App-Directives: /news/ examplesearch;widgets=?0
    """

    code = "RR619"
    slug = "no-application"
    level = "warning"
    message = "The record names no application, so it says nothing."
    reference = "draft-nottingham-plan-b §2; APP-2-02"
