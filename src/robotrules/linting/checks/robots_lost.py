"""RR711: a robots.txt whose redirect cannot be followed."""

from __future__ import annotations

from collections.abc import Iterator

from robotrules.linting.context import LintContext, Received
from robotrules.linting.note import LintNote
from robotrules.linting.responses import MOST_HOPS, ResponseCheck


class RobotsLost(ResponseCheck):
    """
    What it finds:
        A robots.txt for which the last answer is a broken redirect: a status from 300 to 399 that
        is not followed, such as 300 or 305, or one whose Location is missing, not a URL, or not
        http or https.

    Why it matters:
        RFC 9309 does not say what a broken redirect means, so crawlers differ. Google reads it as
        404, and then no rule counts. A crawler that takes it for a server error, as this project
        does, stops crawling the whole site. Crawlers follow HTTP redirects only, and neither frames
        nor scripts.

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
        "The robots.txt answers {status}, a redirect that cannot be followed: Google takes that "
        "for no rules at all, and other crawlers stop crawling the site."
    )
    reference = "RFC 9309 §2.3.1.2; AMB-54"

    def check_response(self, context: LintContext, received: Received) -> Iterator[LintNote]:
        """Yield a note for a redirect that is the last answer."""
        if received.status is None or not 300 <= received.status < 400:
            return
        visited = [url for url in (received.url, *received.redirects) if url]
        if len(received.redirects) <= MOST_HOPS and len(set(visited)) == len(visited):
            yield self.about_response(status=received.status)
