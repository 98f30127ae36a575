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
        A `Sitemap` record that names another host than the one the robots.txt is for. This takes
        the address of the file.

    Why it matters:
        This is allowed: to name a sitemap of another host here is how a site shows that it stands
        behind it. But a copy of a robots.txt from a test system, or from the site of a customer,
        often brings its old sitemap along.

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
        "The sitemap is on {there}, and this file is for {here}: whoever runs that host decides "
        "what is listed."
    )
    reference = "sitemaps.org protocol (cross submits); REC-sitemap-01"

    def check(self, context: LintContext) -> Iterator[LintNote]:
        """Yield the first sitemap of each other host."""
        url = context.received.url
        here = _host(url) if url else None
        if url is None or here is None or "sitemap" not in context.keys:
            return
        told = {here.removeprefix("www.")}
        for one in sitemaps(context.robots, url):
            there = _host(one.url)
            if there is not None and there.removeprefix("www.") not in told:
                told.add(there.removeprefix("www."))
                yield self.about(context, one.record, there=quote(there), here=quote(here))


def _host(url: str) -> str | None:
    origin = origin_of(url)
    return urlsplit(origin).hostname if origin else None
