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

# `example.com/sitemap.xml`: a name with a dot before the first slash.
# What a program should have put a value for: {{siteUrl}}, {1}, ${url}, <%= url %>.
_TEMPLATE = re.compile(rb"\{[^{}]*\}|<%|\$\{")
_PART = "only a part of one"
_HOST = re.compile(r"[-\w]+(?:\.[-\w]+)+(?=/)")


class RelativeSitemap(ParserNote):
    """
    What it finds:
        A `Sitemap` record whose value does not start with a scheme such as `https://`.

    Why it matters:
        The format wants an absolute URL. Some readers resolve a relative one against the address of
        the robots.txt, others drop it. And `www.example.com/sitemap.xml` is a relative one too: it
        means a file in a folder of that name.

    Example:
            Sitemap: /sitemap.xml

    Instead:
            Sitemap: https://example.com/sitemap.xml
    """

    code = "RR652"
    slug = "relative-sitemap"
    level = "warning"
    message = "A sitemap is named by its whole URL, and {text} is {what}{hint}."
    reference = "sitemaps.org protocol; REC-sitemap-02, AMB-117"

    def words(self, context: LintContext, note: Note) -> dict[str, Any]:
        """Say where the scheme alone is missing."""
        value = context.robots.body[note.start : note.end]
        hint = ": 'https://' is missing" if _HOST.match(value.decode("utf-8", "replace")) else ""
        what = "a template that nobody filled in" if _TEMPLATE.search(value) else _PART
        return {"text": quote(value), "what": what, "hint": hint}

    def fix(self, context: LintContext, note: Note) -> Fix | None:
        """Write the whole URL, where the file's own is known."""
        url = context.received.url
        value = context.robots.body[note.start : note.end]
        if url is None or not origin_of(url) or not value.isascii():
            return None
        if _TEMPLATE.search(value):
            return None
        text = value.decode()
        host = _HOST.match(text)
        if host and host[0].lower() != urlsplit(url).hostname:
            return None  # a folder or another host: its author knows
        whole = f"{urlsplit(url).scheme}://{text}" if host else urljoin(url, text)
        edit = Edit(note.start, note.end, whole.encode())
        return Fix(f"Write {quote(whole)}", (edit,), changes_verdicts=True)
