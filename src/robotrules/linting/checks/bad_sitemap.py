"""RR651: a sitemap that is no URL."""

from __future__ import annotations

import re
from typing import Any

from robotrules.linting.check import ValueNote, quote
from robotrules.linting.context import LintContext
from robotrules.linting.note import Edit, Fix
from robotrules.robotstxt.values import Note

_NO_BREAK = re.compile(r"[\u00a0\u2000-\u200b\u202f\u3000\ufeff]+")


class BadSitemap(ValueNote):
    """
    What it finds:
        A `Sitemap` record whose value is no URL: two URLs in one line, or one with a slash missing
        after its scheme, for instance.

    Why it matters:
        One record names one sitemap, by its whole URL. What is no URL cannot be fetched, so the
        pages that are listed there are not found this way.

    Example:
            Sitemap: https:/example.com/sitemap.xml

    Instead:
        One record for each sitemap:

            Sitemap: https://example.com/sitemap.xml
            Sitemap: https://example.com/news.xml
    """

    code = "RR651"
    slug = "bad-sitemap"
    level = "error"
    message = "{text}, so the sitemap is not used."
    reference = "sitemaps.org protocol; REC-sitemap-01, AMB-117"

    def words(self, context: LintContext, note: Note) -> dict[str, Any]:
        """Say what stands there."""
        value = context.robots.body[note.start : note.end]
        what = "starts with a blank that is not trimmed" if self.fix(context, note) else "is no URL"
        return {"text": f"{quote(value)} {what}"}

    def fix(self, context: LintContext, note: Note) -> Fix | None:
        """Take a blank out that stands before the URL and is neither a space nor a tab."""
        value = context.robots.body[note.start : note.end].decode("utf-8", "replace")
        found = _NO_BREAK.match(value)
        if not found or not value[found.end() :].lower().startswith(("http://", "https://")):
            return None
        edit = Edit(note.start, note.start + len(found[0].encode()), b"")
        return Fix("Take the blank out", (edit,), changes_verdicts=True)
