"""RR617: app directives that their application does not read."""

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
        than the one that the record stands in.

    Why it matters:
        Groups are not inherited: a crawler with a group of its own never looks into `*`. So a
        record in the `*` group does not reach an application whose crawler is named somewhere in
        the file.

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
    message = "{names} obeys other groups than this one, so it does not read the record."
    reference = "draft-nottingham-plan-b §1.3, §2.1; APP-2.1-03, APP-1.3-02"

    def words(self, context: LintContext, note: Note) -> dict[str, Any]:
        """Name the applications that do not look here."""
        names = list_applications(context, note)
        unseen = [quote(name) for name in names if _looks_elsewhere(context, note, name)]
        return {"names": join_names(unseen)}


def _looks_elsewhere(context: LintContext, note: Note, application: str) -> bool:
    entry = context.registries.applications.get(application)
    if entry is None or note.line is None:
        return False
    group = context.document_groups[note.line]
    regrouped = context.robots.grouped_for(KEYS[0])
    return group not in regrouped._choose(entry.product_token or "*")[0]
