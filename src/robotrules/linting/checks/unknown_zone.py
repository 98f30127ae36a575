"""RR825: a date without a time zone that is known."""

from __future__ import annotations

from typing import Any

from robotrules.linting.check import PageCheck, quote
from robotrules.linting.context import Page
from robotrules.linting.mentions import find_rule_text
from robotrules.tags.codes import TagNote


class UnknownZone(PageCheck):
    """
    What it finds:
        `unavailable_after` with a time of day and without a zone, or with a name of a zone that is
        not unique.

    Why it matters:
        Without a zone each reader takes its own, so that the page goes out of the results some
        hours earlier or later than meant. Names of zones are not unique: IST is India, Israel and
        Ireland.

    Example:
            X-Robots-Tag: unavailable_after: 2030-06-25 15:00:00

    Instead:
            X-Robots-Tag: unavailable_after: 2030-06-25T15:00:00+02:00
    """

    code = "RR825"
    slug = "unknown-zone"
    level = "warning"
    message = "The time zone in {text} is missing or unknown; the time was read as UTC."
    reference = "Google, unavailable_after; XRT-12, AMB-83"

    def words(self, page: Page, note: TagNote) -> dict[str, Any]:
        """Quote the rule as written."""
        return {"text": quote(find_rule_text(page, note))}
