"""RR862: tag rules that no crawler reads."""

from __future__ import annotations

from typing import Any

from robotrules.linting.check import PageCheck, join_names, quote
from robotrules.linting.context import PageContext
from robotrules.tags.codes import TagNote


class TagsNotSeen(PageCheck):
    """
    What it finds:
        A page with tag rules other than `noindex` whose URL the robots.txt blocks. The check needs
        both.

    Why it matters:
        A crawler that does not fetch a page does not see its tags, so its rules about snippets or
        links have no effect.

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
        "Crawlers do not see {rules}, because the robots.txt blocks the page. Allow the page, or "
        "remove the tags."
    )
    reference = "RFC 9309 §2.2.2; XRT-18, AMB-119"

    def words(self, page: PageContext, note: TagNote) -> dict[str, Any]:
        """Return the rules of the page."""
        return {"rules": join_names([quote(name) for name in page.usage.rules])}
