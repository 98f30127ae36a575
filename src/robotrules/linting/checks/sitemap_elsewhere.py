"""RR655: a sitemap on another host."""

from __future__ import annotations

from collections.abc import Iterator
from urllib.parse import urlsplit

from robotrules.extensions.sitemap import sitemaps
from robotrules.http.origins import origin_of
from robotrules.linting.check import Check, quote
from robotrules.linting.context import LintContext
from robotrules.linting.note import LintNote


class SitemapElsewhere(Check):
    """
    What it finds:
        A `Sitemap` record for another host than that of the robots.txt. The check needs the URL of
        the file.

    Why it matters:
        This is allowed: the record is how a site confirms a sitemap on another host. But a
        robots.txt that was copied from a test system or from another site often keeps the old
        sitemap.

    Example:
            HTTP/1.1 200 OK
            URL: https://example.com/robots.txt

            Sitemap: https://staging.example.net/sitemap.xml

    Instead:
            HTTP/1.1 200 OK
            URL: https://example.com/robots.txt

            Sitemap: https://example.com/sitemap.xml
    """

    code = "RR655"
    slug = "sitemap-elsewhere"
    level = "info"
    message = (
        "The sitemap is on {there}, but this file is for {here}. Check that the sitemap belongs to "
        "this site."
    )
    reference = "sitemaps.org protocol (cross submits); REC-sitemap-01"

    def check(self, context: LintContext) -> Iterator[LintNote]:
        """Yield the first sitemap of each other host."""
        url = context.received.url
        here = _host(url) if url else None
        if url is None or here is None or "sitemap" not in context.keys:
            return
        known = {here.removeprefix("www.")}
        for sitemap in sitemaps(context.robots, url):
            there = _host(sitemap.url)
            if there is not None and there.removeprefix("www.") not in known:
                known.add(there.removeprefix("www."))
                yield self.about(context, sitemap.record, there=quote(there), here=quote(here))


def _host(url: str) -> str | None:
    origin = origin_of(url)
    return urlsplit(origin).hostname if origin else None
