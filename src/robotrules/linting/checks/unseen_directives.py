"""RR617: app directives that their application ignores."""

from __future__ import annotations

from typing import Any

from robotrules.extensions.app_lines import KEYS
from robotrules.linting.check import ParserNote, join_names, quote
from robotrules.linting.context import LintContext
from robotrules.linting.scoped_records import list_applications
from robotrules.robotstxt.values import Note


class UnseenDirectives(ParserNote):
    """
    What it finds:
        An `App-Directives` record for an application whose registered crawler obeys other groups
        than that of the record.

    Why it matters:
        Groups are not inherited: a crawler that a group names ignores the `*` group. So an
        application whose crawler is named in the file ignores the records of the `*` group.

    Example:
        Where `examplesearch` is registered with the crawler ExampleSearch:

            User-agent: *
            App-Directives: examplesearch;widgets=?0
            Allow: /

            User-agent: ExampleSearch
            Disallow: /drafts/

    Instead:
            User-agent: *
            App-Directives: examplesearch;widgets=?0
            Allow: /

            User-agent: ExampleSearch
            App-Directives: examplesearch;widgets=?0
            Disallow: /drafts/
    """

    code = "RR617"
    slug = "unseen-directives"
    level = "warning"
    message = (
        "{names} obeys other groups and ignores this record. Repeat the record in the group of the "
        "application's crawler."
    )
    reference = "draft-nottingham-plan-b §1.3, §2.1; APP-2.1-03, APP-1.3-02"

    def words(self, context: LintContext, note: Note) -> dict[str, Any]:
        """Return the applications that ignore the record."""
        names = list_applications(context, note)
        ignoring = [quote(name) for name in names if _obeys_other_groups(context, note, name)]
        return {"names": join_names(ignoring)}


def _obeys_other_groups(context: LintContext, note: Note, application: str) -> bool:
    entry = context.registries.applications.get(application)
    if entry is None or note.line is None:
        return False
    group = context.document_groups[note.line]
    regrouped = context.robots.grouped_for(KEYS[0])
    return group not in regrouped.select_groups(entry.product_token or "*").indices
