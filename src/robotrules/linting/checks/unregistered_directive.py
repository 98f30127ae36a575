"""RR614: an app directive that its application did not register."""

from __future__ import annotations

from typing import Any

from robotrules.extensions.app_lines import Registration
from robotrules.linting.check import ParserNote, join_names, quote
from robotrules.linting.context import LintContext
from robotrules.linting.scoped_records import MOST_NAMED, find_directives
from robotrules.robotstxt.values import Note


class UnregisteredDirective(ParserNote):
    """
    What it finds:
        An app directive of a registered application that the application has not registered.

    Why it matters:
        The application may still support it. More often it is misspelt, and the application ignores
        it.

    Example:
        Where `widgets` is registered:

            User-agent: *
            App-Directives: examplesearch;widget=?0

    Instead:
            User-agent: *
            App-Directives: examplesearch;widgets=?0
    """

    code = "RR614"
    slug = "unregistered-directive"
    level = "info"
    message = "The application has not registered {names} and may ignore it. Check the spelling."
    reference = "draft-nottingham-plan-b §1.1, §3.2; APP-1.1-01"

    def words(self, context: LintContext, note: Note) -> dict[str, Any]:
        """Return the names of the app directives."""
        found = find_directives(context, note, Registration.UNREGISTERED)[:MOST_NAMED]
        known = context.registries.applications
        names = [quote(f"{name};{one.name}") for name, one in found if name in known]
        return {"names": join_names(names)}
