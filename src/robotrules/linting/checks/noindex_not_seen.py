"""RR861: a noindex that nobody reads."""

from __future__ import annotations

from typing import Any

from robotrules.linting.check import PageCheck, quote
from robotrules.linting.context import Page
from robotrules.tags.codes import TagNote


class NoindexNotSeen(PageCheck):
    """
    What it finds:
        A page that says `noindex` and whose URL the robots.txt disallows. This takes both.

    Why it matters:
        A crawler that does not fetch a page does not know what the page says. The URL can be listed
        all the same, by what others link to it, with no text below it. To keep a page out of search
        results, let crawlers read the `noindex`.

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
        "The page says noindex to nobody, because the robots.txt asks crawlers not to read "
        "it{why}: allow the crawl, or drop the noindex."
    )
    reference = "RFC 9309 §2.2.2; XRT-18, AMB-119"

    def words(self, page: Page, note: TagNote) -> dict[str, Any]:
        """Say which rule keeps crawlers away."""
        verdict = page.guidance.verdict if page.guidance else None
        rule = verdict.rule if verdict is not None else None
        return {"why": f" (line {rule.line}: {quote(str(rule))})" if rule else ""}
