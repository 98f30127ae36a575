"""RR861: a noindex that no crawler reads."""

from __future__ import annotations

from typing import Any

from robotrules.linting.check import PageCheck, quote
from robotrules.linting.context import PageContext
from robotrules.tags.codes import TagNote


class NoindexNotSeen(PageCheck):
    """
    What it finds:
        A page with `noindex` whose URL the robots.txt blocks. The check needs both.

    Why it matters:
        A crawler that does not fetch a page does not see its `noindex`. Search engines may still
        list the URL, without a description, because other pages link to it. To keep a page out of
        search results, let crawlers fetch it and read the `noindex`.

    Example:
            User-agent: *
            Disallow: /
            ---
            X-Robots-Tag: noindex

    Instead:
            User-agent: *
            Allow: /
            ---
            X-Robots-Tag: noindex
    """

    code = "RR861"
    slug = "noindex-not-seen"
    level = "warning"
    message = (
        "Crawlers do not see this noindex, because the robots.txt blocks the page{why}. Allow the "
        "page, or remove the noindex."
    )
    reference = "RFC 9309 §2.2.2; XRT-18, AMB-119"

    def words(self, page: PageContext, note: TagNote) -> dict[str, Any]:
        """Return the rule that blocks the page."""
        verdict = page.guidance.verdict if page.guidance else None
        rule = verdict.rule if verdict is not None else None
        return {"why": f" (line {rule.line}: {quote(str(rule))})" if rule else ""}
