"""RR615: an app directive that its application deprecated."""

from __future__ import annotations

from typing import Any

from robotrules.extensions.app_lines import Registration
from robotrules.linting.check import ParserNote, join_names, quote
from robotrules.linting.context import LintContext
from robotrules.linting.scoped_records import MOST_NAMED, find_directives
from robotrules.robotstxt.values import Note


class DeprecatedDirective(ParserNote):
    """
    What it finds:
        An app directive whose registered status is deprecated.

    Why it matters:
        It still works, and the application announced that it will not for ever. The page that the
        registry names says what to write in its place.

    Example:
        Where `teaser` is registered as deprecated:

            User-agent: *
            App-Directives: examplesearch;teaser=200

    Instead:
            User-agent: *
            App-Directives: examplesearch;widgets=?0
    """

    code = "RR615"
    slug = "deprecated-directive"
    level = "warning"
    message = "The application has deprecated {names}."
    reference = "draft-nottingham-plan-b §3.2; APP-3.2-01"

    def words(self, context: LintContext, note: Note) -> dict[str, Any]:
        """Name the app directives, and where their application says more."""
        names = []
        for application, one in find_directives(context, note, Registration.DEPRECATED)[
            :MOST_NAMED
        ]:
            entry = context.registries.directives.get((application, one.name))
            page = f" (see {entry.documentation})" if entry else ""
            names.append(f"{quote(f'{application};{one.name}')}{page}")
        return {"names": join_names(names)}
