"""
App words: which applications and app directives a note on an App-Directives record is about.

The reader of the record notes that something is odd about a line; this finds out what, in words for
a message. It does not know what is odd in general: the registries do.
"""

from __future__ import annotations

from collections.abc import Sequence

from robotrules.extensions.app_lines import AppDirective, Registration, read_line, statement_for
from robotrules.linting.check import listed, quote
from robotrules.linting.context import LintContext
from robotrules.robotstxt.values import Group, Note, Record

# What a message names at most, though a line may have a thousand.
MOST = 4


def applications(context: LintContext, note: Note) -> list[str]:
    """Return the applications that the record of a note names."""
    if note.line is None:
        return []
    return list(read_line(context.by_line[note.line], context.robots).parameters)


def told(context: LintContext, note: Note, status: Registration) -> list[tuple[str, AppDirective]]:
    """Return the app directives of a standing, each with its application."""
    if note.line is None:
        return []
    line = read_line(context.by_line[note.line], context.robots)
    return [
        (application, one)
        for application in line.parameters
        for one in statement_for(application, line, context.registries).directives
        if one.status is status
    ]


def called(group: Group) -> str:
    """Return whom a group is for, in words."""
    return named(group.starts)


def named(starts: Sequence[Record]) -> str:
    """Return whom user-agent lines name: a few of them, for there may be thousands."""
    names = [quote(start.text) for start in starts[:MOST]]
    more = len(starts) - len(names)
    return f"{', '.join(names)} and {more:,} more" if more else listed(names, MOST)
