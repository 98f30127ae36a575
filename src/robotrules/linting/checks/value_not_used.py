"""RR824: a rule with a value that it does not take."""

from __future__ import annotations

from typing import Any

from robotrules.linting.check import PageCheck, quote
from robotrules.linting.context import PageContext
from robotrules.linting.mentions import find_rule_text
from robotrules.tags.codes import TagNote


class ValueNotUsed(PageCheck):
    """
    What it finds:
        A plain rule such as `noindex` with a value: `noindex=1`, `noindex:true`.

    Why it matters:
        The rule applies whatever its value is. `noindex:false` does not mean that the page may be
        indexed: some crawlers read it as `noindex`, others ignore it as an unknown rule.

    Example:
            <meta name="robots" content="noindex:false">

    Instead:
        A page that may be indexed needs no rule, or:

            <meta name="robots" content="index">
    """

    code = "RR824"
    slug = "value-not-used"
    level = "warning"
    message = (
        "The rule in {text} takes no value: some crawlers apply it whatever the value is, others "
        "ignore it. Remove the value, or the rule."
    )
    reference = "draft-illyes-repext §3.1.1; AMB-71"

    def words(self, page: PageContext, note: TagNote) -> dict[str, Any]:
        """Return the rule as written."""
        return {"text": quote(find_rule_text(page, note))}
