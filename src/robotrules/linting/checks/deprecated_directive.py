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
        It still works, but the application announced that it will stop supporting it. The
        documentation that the registry links to names the replacement.

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
    message = (
        "The application has deprecated {names}. Replace it before the application drops support."
    )
    reference = "draft-nottingham-plan-b §3.2; APP-3.2-01"

    def words(self, context: LintContext, note: Note) -> dict[str, Any]:
        """Return the app directives, each with its documentation."""
        names = []
        for application, directive in find_directives(context, note, Registration.DEPRECATED)[
            :MOST_NAMED
        ]:
            entry = context.registries.directives.get((application, directive.name))
            page = f" (see {entry.documentation})" if entry else ""
            names.append(f"{quote(f'{application};{directive.name}')}{page}")
        return {"names": join_names(names)}
