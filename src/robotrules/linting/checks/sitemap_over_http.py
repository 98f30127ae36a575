"""RR656: an http sitemap in a file served over https."""

from __future__ import annotations

from collections.abc import Iterator

from robotrules.linting.check import Check
from robotrules.linting.context import LintContext
from robotrules.linting.note import LintNote


class SitemapOverHttp(Check):
    """
    What it finds:
        A `Sitemap` record with an `http://` URL in a robots.txt that is served over https. The
        check needs the URL of the file.

    Why it matters:
        Such a line is usually left over from before the move to https. It costs a redirect on each
        fetch, if the server redirects, and unencrypted content can be changed in transit. The two
        schemes are two origins, each with its own robots.txt.

    Example:
            HTTP/1.1 200 OK
            URL: https://example.com/robots.txt

            Sitemap: http://example.com/sitemap.xml

    Instead:
            HTTP/1.1 200 OK
            URL: https://example.com/robots.txt

            Sitemap: https://example.com/sitemap.xml
    """

    code = "RR656"
    slug = "sitemap-over-http"
    level = "info"
    message = (
        "The sitemap URL uses http{more}, but this file is served over https. Write 'https://': "
        "the content of an http URL can be changed in transit."
    )
    reference = "RFC 9309 §2.3; REC-sitemap-01"

    def check(self, context: LintContext) -> Iterator[LintNote]:
        """Yield the first http sitemap of a file that is served over https."""
        if not (context.received.url or "").lower().startswith("https://"):
            return
        sitemaps = context.records("sitemap")
        insecure = [record for record in sitemaps if record.value[:7].lower() == b"http://"]
        for record in insecure[:1]:
            count = len(insecure) - 1
            more = f", like {count:,} more" if count else ""
            yield self.about(context, record, more=more)
