"""RR706: a robots.txt behind too many redirects."""

from __future__ import annotations

from collections.abc import Iterator

from robotrules.linting.context import LintContext, Received
from robotrules.linting.note import LintNote
from robotrules.linting.responses import MOST_HOPS, ResponseCheck


class TooManyRedirects(ResponseCheck):
    """
    What it finds:
        A robots.txt behind more than five redirects in a row, or behind redirects that lead in a
        circle.

    Why it matters:
        RFC 9309 wants crawlers to follow five. What is further away they may take for unavailable,
        and then no rule counts. Google reads it as 404; crawler-commons puts the whole site off.

    Example:
        Six hosts in a row, each of which redirects `/robots.txt` to the next.

    Instead:
        Redirect to where the file is, in one step:

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
        "{what}: crawlers may give up after five and take the file for missing, which allows "
        "everything."
    )
    reference = "RFC 9309 §2.3.1.2; REP-2.3.1.2-01, REP-2.3.1.2-05, AMB-55"

    def check_response(self, context: LintContext, received: Received) -> Iterator[LintNote]:
        """Yield a note for more redirects than crawlers have to follow."""
        visited = [url for url in (received.url, *received.redirects) if url]
        if len(set(visited)) < len(visited):
            yield self.about_response(what="The redirects of the robots.txt lead in a circle")
        elif len(received.redirects) > MOST_HOPS:
            count = len(received.redirects)
            yield self.about_response(what=f"The robots.txt is behind {count} redirects")
