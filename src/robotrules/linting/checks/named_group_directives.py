"""RR616: App-Directives outside of the star group."""

from __future__ import annotations

from typing import Any

from robotrules.extensions.app_lines import KEYS
from robotrules.linting.check import ParserNote
from robotrules.linting.context import LintContext
from robotrules.linting.scoped_records import describe_group
from robotrules.robotstxt.values import Note


class NamedGroupDirectives(ParserNote):
    """
    What it finds:
        An `App-Directives` record in a group that is not one for `*`.

    Why it matters:
        An application looks for its app directives in the groups that its own crawler obeys. One
        whose crawler has no group obeys `*`, and never sees what stands in the group of somebody
        else. The draft recommends the `*` group, where most look.

    Example:
            User-agent: ExampleBot
            App-Directives: examplesearch;widgets=?0
            Disallow: /private/

    Instead:
        Say it to everybody, and in the named group too if that crawler has an application of its
        own:

            User-agent: *
            App-Directives: examplesearch;widgets=?0
            Allow: /
    """

    code = "RR616"
    slug = "named-group-directives"
    level = "warning"
    message = (
        "Only who obeys the group of {names} reads this record; app directives belong in a '*' "
        "group."
    )
    reference = "draft-nottingham-plan-b §1.3; APP-1.3-01, APP-1.3-02"

    def words(self, context: LintContext, note: Note) -> dict[str, Any]:
        """Say whose group it is."""
        regrouped = context.robots.grouped_for(KEYS[0])
        group = context.document_groups[note.line] if note.line else None
        return {"names": describe_group(regrouped.groups[group]) if group is not None else "nobody"}
