"""RR616: App-Directives outside the `*` group."""

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
        An application reads its app directives from the groups that its crawler obeys. A crawler
        without a group obeys `*`, and never sees the records in the group of another crawler. The
        draft recommends the `*` group, which most crawlers obey.

    Example:
            User-agent: ExampleBot
            App-Directives: examplesearch;widgets=?0
            Disallow: /private/

    Instead:
        Put the record in the `*` group, and also in the named group if that crawler has an
        application too:

            User-agent: *
            App-Directives: examplesearch;widgets=?0
            Allow: /
    """

    code = "RR616"
    slug = "named-group-directives"
    level = "warning"
    message = (
        "Only applications whose crawler obeys the group of {names} read this record. Put app "
        "directives in a '*' group."
    )
    reference = "draft-nottingham-plan-b §1.3; APP-1.3-01, APP-1.3-02"

    def words(self, context: LintContext, note: Note) -> dict[str, Any]:
        """Return the crawlers that the group names."""
        regrouped = context.robots.grouped_for(KEYS[0])
        group = context.document_groups[note.line] if note.line else None
        names = describe_group(regrouped.groups[group]) if group is not None else "no crawler"
        return {"names": names}
