"""RR612: an app directive whose value does not have the registered type."""

from __future__ import annotations

from typing import Any

from robotrules.extensions.app_lines import Registration
from robotrules.linting.check import ParserNote, join_names, quote
from robotrules.linting.context import LintContext
from robotrules.linting.scoped_records import MOST_NAMED, find_directives
from robotrules.robotstxt.values import Note


class TypeMismatch(ParserNote):
    """
    What it finds:
        An app directive whose value has another type than its application registered, for example
        an Integer instead of a Boolean.

    Why it matters:
        The application defines the type. It ignores a value of another type, without a replacement.
        Booleans are written `?1` and `?0`; a bare name means true.

    Example:
        Where `widgets` is registered as a Boolean:

            User-agent: *
            App-Directives: examplesearch;widgets=0

    Instead:
            User-agent: *
            App-Directives: examplesearch;widgets=?0
    """

    code = "RR612"
    slug = "type-mismatch"
    level = "error"
    message = (
        "{what} as registered, so the application ignores the value. Write a value of the "
        "registered type."
    )
    reference = "draft-nottingham-plan-b §3.2; APP-3.2-02"

    def words(self, context: LintContext, note: Note) -> dict[str, Any]:
        """Return the app directives with their type and the registered type."""
        mismatches = []
        for application, one in find_directives(context, note, Registration.TYPE_MISMATCH)[
            :MOST_NAMED
        ]:
            entry = context.registries.directives.get((application, one.name))
            registered = entry.value_type if entry else "another type"
            name = f"{application};{one.name}"
            mismatches.append(f"{quote(name)} has type {one.type}, not {registered}")
        return {"what": join_names(mismatches)}
