"""RR656: a sitemap by http in a file by https."""

from __future__ import annotations

from collections.abc import Iterator

from robotrules.linting.check import Check
from robotrules.linting.context import LintContext
from robotrules.linting.note import LintNote


class SitemapOverHttp(Check):
    """
    What it finds:
        A `Sitemap` record with an `http://` URL in a robots.txt that is served over https. This
        takes the address of the file.

    Why it matters:
        Such a line is mostly left over from the time before the move to https. It costs a redirect
        on each visit, if there is one, and what comes unencrypted can be changed on the way. The
        two schemes are two origins, each with its own robots.txt.

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
        "The sitemap is named by http{more}, and this file is served by https: anybody on the way "
        "can change what it lists."
    )
    reference = "RFC 9309 §2.3; REC-sitemap-01"

    def check(self, context: LintContext) -> Iterator[LintNote]:
        """Yield the first sitemap that is named by http, where the file is served by https."""
        if not (context.received.url or "").lower().startswith("https://"):
            return
        found = [one for one in context.records("sitemap") if one.value[:7].lower() == b"http://"]
        for record in found[:1]:
            count = len(found) - 1
            more = f", like {count:,} more" if count else ""
            yield self.about(context, record, more=more)
