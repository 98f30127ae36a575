"""RR844: a rule that a script removes."""

from __future__ import annotations

from typing import Any

from robotrules.linting.check import PageCheck
from robotrules.linting.context import PageContext
from robotrules.linting.mentions import describe_rules
from robotrules.tags.codes import TagNote


class OnlyInInitialHtml(PageCheck):
    """
    What it finds:
        A rule in a meta element of the HTML that the server sent that is no longer in the final
        DOM. The check needs both states of the page.

    Why it matters:
        The rules of both states apply: a script cannot revoke a rule that the server sent. Google
        may also skip rendering a page with `noindex`, and then it never runs the script.

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
        "A script removes {rules}, but crawlers obey a rule in either state of the page. If it "
        "should not apply, remove it from the HTML that the server sends."
    )
    reference = "draft-illyes-repext §4; RTG-4-04, RTG-4-05, AMB-94"

    def words(self, page: PageContext, note: TagNote) -> dict[str, Any]:
        """Name the rules of the element."""
        return {"rules": describe_rules(page, note)}
