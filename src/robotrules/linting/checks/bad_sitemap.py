"""RR651: a Sitemap record whose value is not a URL."""

from __future__ import annotations

import re
from typing import Any

from robotrules.linting.check import ValueNote, quote
from robotrules.linting.context import LintContext
from robotrules.linting.note import Edit, Fix
from robotrules.robotstxt.values import Note

_OTHER_SPACES = re.compile(r"[\u00a0\u2000-\u200b\u202f\u3000\ufeff]+")


class BadSitemap(ValueNote):
    """
    What it finds:
        A `Sitemap` record whose value is not a URL: for example two URLs in one line, or a URL with
        a slash missing after its scheme.

    Why it matters:
        One record names one sitemap by its absolute URL. Crawlers cannot fetch any other value, so
        they do not find the pages that the sitemap lists.

    Example:
            Sitemap: https:/example.com/sitemap.xml

    Instead:
        Write one record for each sitemap:

            Sitemap: https://example.com/sitemap.xml
            Sitemap: https://example.com/news.xml
    """

    code = "RR651"
    slug = "bad-sitemap"
    level = "error"
    message = "{text}, so crawlers ignore the sitemap. {advice}."
    reference = "sitemaps.org protocol; REC-sitemap-01, AMB-117"

    def words(self, context: LintContext, note: Note) -> dict[str, Any]:
        """Return the value with its problem, and what to do about it."""
        problem, advice = "is not a URL", "Write one absolute URL in each Sitemap line"
        if self.fix(context, note):
            problem, advice = "starts with a space that parsers do not trim", "Remove the space"
        value = quote(context.robots.body[note.start : note.end])
        return {"text": f"{value} {problem}", "advice": advice}

    def fix(self, context: LintContext, note: Note) -> Fix | None:
        """Remove a space character before the URL that is neither a plain space nor a tab."""
        value = context.robots.body[note.start : note.end].decode("utf-8", "replace")
        match = _OTHER_SPACES.match(value)
        if not match or not value[match.end() :].lower().startswith(("http://", "https://")):
            return None
        edit = Edit(note.start, note.start + len(match[0].encode()), b"")
        return Fix("Remove the space", (edit,), changes_verdicts=True)
