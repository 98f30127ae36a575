"""RR701: a robots.txt where no crawler looks for it."""

from __future__ import annotations

from collections.abc import Iterator

from robotrules.http.origins import authority_end, robots_url
from robotrules.linting.check import quote
from robotrules.linting.context import LintContext, Received
from robotrules.linting.note import LintNote
from robotrules.linting.responses import ResponseCheck


class WrongPlace(ResponseCheck):
    """
    What it finds:
        A robots.txt whose address has another path than `/robots.txt`: in a folder, in other
        letters, or with a query. This takes the address of the file.

    Why it matters:
        There is one place: the top of the host, in lower case. A file in a folder governs nothing,
        not even that folder, and each host, port and scheme has a file of its own. Whoever can
        change nothing at the top can use the tags of each page.

    Example:
            HTTP/1.1 200 OK
            URL: https://example.com/shop/robots.txt
            Content-Type: text/plain

            User-agent: *
            Disallow: /shop/private/

    Instead:
            HTTP/1.1 200 OK
            URL: https://example.com/robots.txt
            Content-Type: text/plain

            User-agent: *
            Disallow: /shop/private/
    """

    code = "RR701"
    slug = "wrong-place"
    level = "error"
    message = "Crawlers ask for {right} and for nothing else: nobody looks for {path}."
    reference = "RFC 9309 §2.3; REP-2.3-01, REP-2.3-02"

    def check_response(self, context: LintContext, received: Received) -> Iterator[LintNote]:
        """Yield a note for a path that is not the one of RFC 9309."""
        url = (received.url or "").partition("#")[0]
        end = authority_end(url)
        if end and url[end:] != "/robots.txt":
            right, path = robots_url(url[:end]), url[end:] or "/"
            yield self.about_response(right=quote(right), path=quote(path))
