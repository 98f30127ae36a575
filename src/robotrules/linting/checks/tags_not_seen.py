"""RR862: tag rules that nobody reads."""

from __future__ import annotations

from typing import Any

from robotrules.linting.check import PageCheck, join_names, quote
from robotrules.linting.context import Page
from robotrules.tags.codes import TagNote


class TagsNotSeen(PageCheck):
    """
    What it finds:
        A page with tag rules other than `noindex` whose URL the robots.txt disallows. This takes
        both.

    Why it matters:
        A crawler that does not fetch a page does not know what the page says. Rules about excerpts
        or links are of no use there; one of the two can go.

    Example:
            User-agent: *
            Disallow: /
            ---
            X-Robots-Tag: nosnippet

    Instead:
            User-agent: *
            Allow: /
            ---
            X-Robots-Tag: nosnippet
    """

    code = "RR862"
    slug = "tags-not-seen"
    level = "warning"
    message = (
        "The page has {rules}, which nobody reads, because the robots.txt asks crawlers not to "
        "fetch it."
    )
    reference = "RFC 9309 §2.2.2; XRT-18, AMB-119"

    def words(self, page: Page, note: TagNote) -> dict[str, Any]:
        """Name the rules."""
        return {"rules": join_names([quote(name) for name in page.usage.rules])}
