"""RR843: a rule that a script adds."""

from __future__ import annotations

from typing import Any

from robotrules.linting.check import PageCheck
from robotrules.linting.context import PageContext
from robotrules.linting.mentions import describe_rules
from robotrules.tags.codes import TagNote


class OnlyInFinalDom(PageCheck):
    """
    What it finds:
        A rule in a meta element of the final DOM that is not in the HTML that the server sent. The
        check needs both states of the page.

    Why it matters:
        Many crawlers read only the HTML that the server sent and run no scripts. They do not see
        the rule. Crawlers that run scripts do so later, and may have used the page before.

    Example:
            <head></head>
            %%% dom
            <head><meta name="robots" content="noindex"></head>

    Instead:
            <head><meta name="robots" content="noindex"></head>
            %%% dom
            <head><meta name="robots" content="noindex"></head>
    """

    code = "RR843"
    slug = "only-in-final-dom"
    level = "info"
    message = (
        "A script adds {rules}, which crawlers that run no scripts do not see. Put it into the "
        "HTML that the server sends."
    )
    reference = "draft-illyes-repext §4; RTG-4-05, RTG-4-06, AMB-94"

    def words(self, page: PageContext, note: TagNote) -> dict[str, Any]:
        """Name the rules of the element."""
        return {"rules": describe_rules(page, note)}
