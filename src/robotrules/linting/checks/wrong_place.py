"""RR701: a robots.txt at a URL that no crawler requests."""

from __future__ import annotations

from collections.abc import Iterator

from robotrules.http.origins import authority_end, robots_url
from robotrules.linting.check import quote
from robotrules.linting.context import LintContext, ServedResponse
from robotrules.linting.note import LintNote
from robotrules.linting.responses import ResponseCheck


class WrongPlace(ResponseCheck):
    """
    What it finds:
        A robots.txt whose URL has another path than `/robots.txt`: in a folder, with capital
        letters, or with a query. The check needs the URL of the file.

    Why it matters:
        Crawlers request only `/robots.txt`, in lower case, at the root of a host. A file in a
        folder has no effect, not even for that folder. Each host, port and scheme has its own file.
        If you cannot change the file at the root, use tags on each page.

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
    message = (
        "Crawlers request only {right}, so they never read {path}. Move the file to '/robots.txt'."
    )
    reference = "RFC 9309 §2.3; REP-2.3-01, REP-2.3-02"

    def check_response(self, context: LintContext, received: ServedResponse) -> Iterator[LintNote]:
        """Yield a note for another path than that of RFC 9309."""
        url = (received.url or "").partition("#")[0]
        end = authority_end(url)
        if end and url[end:] != "/robots.txt":
            right, path = robots_url(url[:end]), url[end:] or "/"
            yield self.about_response(right=quote(right), path=quote(path))
