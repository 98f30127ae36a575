"""RR846: a head that is longer than the limit for parsing."""

from __future__ import annotations

from typing import Any

from robotrules.linting.check import PageCheck
from robotrules.linting.context import PageContext
from robotrules.tags.codes import TagNote
from robotrules.tags.profile import DEFAULT


class HeadNotFinal(PageCheck):
    """
    What it finds:
        A page whose head is longer than 2 MiB.

    Why it matters:
        Crawlers read a limited part of a page, at least 8 KiB by the draft. Some crawlers see
        robots meta elements after that and others do not. Large scripts and styles in the head are
        the usual cause.

    Example:
        A head with megabytes of styles before its robots meta element.

    Instead:
        Put the element first:

            <head><meta name="robots" content="noindex"><style></style></head>
    """

    code = "RR846"
    slug = "head-not-final"
    level = "error"
    message = (
        "The head of the page does not end within {limit:,} bytes, and crawlers may ignore robots "
        "meta elements after that. Put them first in the head."
    )
    reference = "draft-illyes-repext §4; RTG-4-07, AMB-92"

    def words(self, page: PageContext, note: TagNote) -> dict[str, Any]:
        """Return the limit."""
        return {"limit": DEFAULT.max_html_bytes}
