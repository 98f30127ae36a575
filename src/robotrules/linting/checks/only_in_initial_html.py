"""RR844: a rule that a script took away."""

from __future__ import annotations

from typing import Any

from robotrules.linting.check import PageCheck
from robotrules.linting.context import Page
from robotrules.linting.mentions import describe_rules
from robotrules.tags.codes import TagNote


class OnlyInInitialHtml(PageCheck):
    """
    What it finds:
        A rule in a meta element of the HTML the server sent that is not in the final DOM any more.
        This takes both states of the page.

    Why it matters:
        Rules of both states are united: a script cannot take back what the server sent. And Google
        may skip a page that says `noindex` before it runs any script, so nothing there is ever
        seen.

    Example:
            <head><meta name="robots" content="noindex"></head>
            %%% dom
            <head></head>

    Instead:
        Send the page without the rule, if it may be indexed:

            <head></head>
            %%% dom
            <head></head>
    """

    code = "RR844"
    slug = "only-in-initial-html"
    level = "info"
    message = (
        "A script took {rules} away, which lifts nothing: a rule in either state of the page holds."
    )
    reference = "draft-illyes-repext §4; RTG-4-04, RTG-4-05, AMB-94"

    def words(self, page: Page, note: TagNote) -> dict[str, Any]:
        """Name the rules of the element."""
        return {"rules": describe_rules(page, note)}
