"""RR823: a tag rule with an invalid value."""

from __future__ import annotations

from typing import Any

from robotrules.linting.check import PageCheck, quote
from robotrules.linting.context import PageContext
from robotrules.linting.mentions import find_rule_text
from robotrules.tags.codes import TagNote


class BadValue(PageCheck):
    """
    What it finds:
        `max-snippet` or `max-video-preview` without a number, `max-image-preview` with a word other
        than `none`, `standard` or `large`, or `unavailable_after` without a date.

    Why it matters:
        Crawlers ignore a rule with an invalid value, so no limit applies.

    Example:
            <meta name="robots" content="max-snippet:short">

    Instead:
            <meta name="robots" content="max-snippet:50">
    """

    code = "RR823"
    slug = "bad-value"
    level = "error"
    message = (
        "{text} does not have a valid value, so crawlers ignore the rule. Write a value that the "
        "rule accepts, as in 'max-snippet:50'."
    )
    reference = "Google, robots meta tag; XRT-08 to XRT-12"

    def words(self, page: PageContext, note: TagNote) -> dict[str, Any]:
        """Quote the rule as written."""
        return {"text": quote(find_rule_text(page, note))}
