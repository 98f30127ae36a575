"""RR711: a robots.txt whose redirect leads nowhere."""

from __future__ import annotations

from collections.abc import Iterator

from robotrules.linting.note import LintNote
from robotrules.linting.responses import MOST_HOPS, ResponseCheck
from robotrules.linting.subject import Received, Subject


class RobotsLost(ResponseCheck):
    """
    What it finds:
        A robots.txt for which the last answer is a redirect, from 300 to 399, that could not be
        followed: it names no address, or one that is none.

    Why it matters:
        A redirect that leads to no file is read like one that is too long. RFC 9309 lets crawlers
        take the file for unavailable, and then no rule counts; Google reads it as 404. Crawlers
        follow HTTP redirects only, and neither frames nor scripts.

    Example:
            HTTP/1.1 302 Found
            Content-Type: text/html

            <p>Please go on.</p>

    Instead:
            HTTP/1.1 200 OK
            Content-Type: text/plain

            User-agent: *
            Disallow: /private/
    """

    code = "RR711"
    slug = "robots-lost"
    level = "error"
    message = (
        "The robots.txt answers {status} and leads nowhere: most crawlers take that for no rules "
        "at all, so that everything is allowed."
    )
    reference = "RFC 9309 §2.3.1.2; AMB-54, AMB-55"

    def check_response(self, subject: Subject, received: Received) -> Iterator[LintNote]:
        """Yield a note for a redirect that is the last answer."""
        if received.status is None or not 300 <= received.status < 400:
            return
        visited = [url for url in (received.url, *received.redirects) if url]
        if len(received.redirects) <= MOST_HOPS and len(set(visited)) == len(visited):
            yield self.about_response(status=received.status)
