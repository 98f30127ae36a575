"""RR826: rules separated by spaces instead of commas."""

from __future__ import annotations

from typing import Any

from robotrules.linting.check import PageCheck, quote
from robotrules.linting.context import PageContext
from robotrules.linting.mentions import find_rule_text
from robotrules.tags.codes import TagNote


class SpaceSeparated(PageCheck):
    """
    What it finds:
        Two rules in a header field or a robots meta element with only whitespace between them.

    Why it matters:
        The grammar requires commas. Some crawlers read a space as a comma, others read both rules
        as one unknown word and ignore both.

    Example:
            <meta name="robots" content="noindex nofollow">

    Instead:
            <meta name="robots" content="noindex, nofollow">
    """

    code = "RR826"
    slug = "space-separated"
    level = "warning"
    message = (
        "Some crawlers read the space before {text} as a comma, others ignore both rules. Separate "
        "rules with commas."
    )
    reference = "draft-illyes-repext §3.1.2; AMB-93"

    def words(self, page: PageContext, note: TagNote) -> dict[str, Any]:
        """Quote the rule as written."""
        return {"text": quote(find_rule_text(page, note))}
