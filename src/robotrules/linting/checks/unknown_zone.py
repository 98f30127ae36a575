"""RR825: a time without a known time zone."""

from __future__ import annotations

from typing import Any

from robotrules.linting.check import PageCheck, quote
from robotrules.linting.context import PageContext
from robotrules.linting.mentions import find_rule_text
from robotrules.tags.codes import TagNote


class UnknownZone(PageCheck):
    """
    What it finds:
        `unavailable_after` with a time of day but without a time zone, or with an ambiguous zone
        name.

    Why it matters:
        Without a zone each crawler assumes one, so that the page leaves the results some hours
        earlier or later than intended. Zone names are ambiguous: IST is India, Israel and Ireland.

    Example:
            X-Robots-Tag: unavailable_after: 2030-06-25 15:00:00

    Instead:
            X-Robots-Tag: unavailable_after: 2030-06-25T15:00:00+02:00
    """

    code = "RR825"
    slug = "unknown-zone"
    level = "warning"
    message = (
        "The time zone in {text} is missing or unknown, so crawlers may read another time; "
        "robotrules assumes UTC. Write an offset such as '+02:00'."
    )
    reference = "Google, unavailable_after; XRT-12, AMB-83"

    def words(self, page: PageContext, note: TagNote) -> dict[str, Any]:
        """Return the rule as written."""
        return {"text": quote(find_rule_text(page, note))}
