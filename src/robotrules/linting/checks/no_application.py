"""RR619: an App-Directives record without an application."""

from __future__ import annotations

from robotrules.linting.check import ParserNote


class NoApplication(ParserNote):
    """
    What it finds:
        An `App-Directives` record with no value, or with only a path.

    Why it matters:
        Each app directive belongs to an application. Without the name of one, no application reads
        the record.

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
    message = "The record names no application, so it has no effect. Add an application's name."
    reference = "draft-nottingham-plan-b §2; APP-2-02"
