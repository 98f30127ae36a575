"""RR652: a sitemap without scheme and host."""

from __future__ import annotations

import re
from typing import Any
from urllib.parse import urljoin, urlsplit

from robotrules.http.origins import origin_of
from robotrules.linting.check import ParserNote, quote
from robotrules.linting.context import LintContext
from robotrules.linting.note import Edit, Fix
from robotrules.robotstxt.values import Note

# A placeholder that a program should have replaced: {{siteUrl}}, {1}, ${url}, <%= url %>.
_TEMPLATE = re.compile(rb"\{[^{}]*\}|<%|\$\{")
# `example.com/sitemap.xml`: a name with a dot before the first slash.
_HOST = re.compile(r"[-\w]+(?:\.[-\w]+)+(?=/)")


class RelativeSitemap(ParserNote):
    """
    What it finds:
        A `Sitemap` record whose value does not start with a scheme such as `https://`.

    Why it matters:
        The format requires an absolute URL. Some crawlers resolve a relative URL against the URL of
        the robots.txt, others ignore it. `www.example.com/sitemap.xml` is relative too: it means a
        file in a folder of that name.

    Example:
            Sitemap: /sitemap.xml

    Instead:
            Sitemap: https://example.com/sitemap.xml
    """

    code = "RR652"
    slug = "relative-sitemap"
    level = "warning"
    message = "{text} is {what}, which some crawlers ignore. {advice}."
    reference = "sitemaps.org protocol; REC-sitemap-02, AMB-117"

    def words(self, context: LintContext, note: Note) -> dict[str, Any]:
        """Return the value, what it is, and how to correct it."""
        value = context.robots.body[note.start : note.end]
        has_host = _HOST.match(value.decode("utf-8", "replace"))
        advice = "Write 'https://' before it" if has_host else "Write the absolute URL"
        what = "an unfilled template" if _TEMPLATE.search(value) else "a relative URL"
        return {"text": quote(value), "what": what, "advice": advice}

    def fix(self, context: LintContext, note: Note) -> Fix | None:
        """Write the absolute URL, if the file's own URL is known."""
        url = context.received.url
        value = context.robots.body[note.start : note.end]
        if url is None or not origin_of(url) or not value.isascii():
            return None
        if _TEMPLATE.search(value):
            return None
        text = value.decode()
        host = _HOST.match(text)
        if host and host[0].lower() != urlsplit(url).hostname:
            return None  # a folder or another host: not certain
        absolute = f"{urlsplit(url).scheme}://{text}" if host else urljoin(url, text)
        edit = Edit(note.start, note.end, absolute.encode())
        return Fix(f"Write {quote(absolute)}", (edit,), changes_verdicts=True)
