"""RR826: rules with blanks and no commas between."""

from __future__ import annotations

from typing import Any

from robotrules.linting.check import PageCheck, quote
from robotrules.linting.context import Page
from robotrules.linting.mentions import find_rule_text
from robotrules.tags.codes import TagNote


class SpaceSeparated(PageCheck):
    """
    What it finds:
        Two rules in a field or a robots meta element with only whitespace between.

    Why it matters:
        The grammar has commas. Some crawlers take a blank for one, others see one long word that
        they do not know, and then neither rule is in force.

    Example:
            <meta name="robots" content="noindex nofollow">

    Instead:
            <meta name="robots" content="noindex, nofollow">
    """

    code = "RR826"
    slug = "space-separated"
    level = "warning"
    message = (
        "Commas part rules; the blank before {text} was read like one, and not everybody does that."
    )
    reference = "draft-illyes-repext §3.1.2; AMB-93"

    def words(self, page: Page, note: TagNote) -> dict[str, Any]:
        """Quote the rule as written."""
        return {"text": quote(find_rule_text(page, note))}
