"""RR706: a robots.txt with too many redirects."""

from __future__ import annotations

from collections.abc import Iterator

from robotrules.linting.context import LintContext, ServedResponse
from robotrules.linting.note import LintNote
from robotrules.linting.responses import MOST_HOPS, ResponseCheck


class TooManyRedirects(ResponseCheck):
    """
    What it finds:
        A robots.txt that takes more than five consecutive redirects, or whose redirects form a
        loop.

    Why it matters:
        RFC 9309 requires crawlers to follow five. After that they may treat the file as
        unavailable, which allows everything. Google treats it as 404; crawler-commons postpones the
        whole site.

    Example:
        Six hosts in a row, each of which redirects `/robots.txt` to the next.

    Instead:
        Redirect to the file in one step:

            HTTP/1.1 200 OK
            URL: http://example.com/robots.txt
            Location: https://www.example.com/robots.txt
            Content-Type: text/plain

            User-agent: *
            Disallow: /private/
    """

    code = "RR706"
    slug = "too-many-redirects"
    level = "error"
    message = (
        "{what}. Crawlers may stop after five and treat the file as missing, which allows "
        "everything. Redirect to the file in one step."
    )
    reference = "RFC 9309 §2.3.1.2; REP-2.3.1.2-01, REP-2.3.1.2-05, AMB-55"

    def check_response(self, context: LintContext, received: ServedResponse) -> Iterator[LintNote]:
        """Yield a note for more redirects than crawlers have to follow."""
        visited = [url for url in (received.url, *received.redirects) if url]
        if len(set(visited)) < len(visited):
            yield self.about_response(what="The redirects of the robots.txt form a loop")
        elif len(received.redirects) > MOST_HOPS:
            count = len(received.redirects)
            yield self.about_response(what=f"The robots.txt takes {count} redirects")
