"""RR711: a robots.txt whose redirect cannot be followed."""

from __future__ import annotations

from collections.abc import Iterator

from robotrules.linting.context import LintContext, ServedResponse
from robotrules.linting.note import LintNote
from robotrules.linting.responses import MOST_HOPS, ResponseCheck


class RobotsLost(ResponseCheck):
    """
    What it finds:
        A robots.txt whose last response is a broken redirect: a status from 300 to 399 that is not
        followed, such as 300 or 305, or one whose Location is missing, not a URL, or not http or
        https.

    Why it matters:
        RFC 9309 does not define what a broken redirect means, so crawlers differ. Google treats it
        as 404, so that everything is allowed. A crawler that treats it as a server error, as this
        project does, stops crawling the whole site. Crawlers follow only HTTP redirects, not those
        of frames or scripts.

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
        "The robots.txt answers {status}, a redirect that crawlers cannot follow. Google then "
        "allows everything; other crawlers stop crawling the site. Answer 200 with the file."
    )
    reference = "RFC 9309 §2.3.1.2; AMB-54"

    def check_response(self, context: LintContext, received: ServedResponse) -> Iterator[LintNote]:
        """Yield a note if the last response is a redirect."""
        if received.status is None or not 300 <= received.status < 400:
            return
        visited = [url for url in (received.url, *received.redirects) if url]
        if len(received.redirects) <= MOST_HOPS and len(set(visited)) == len(visited):
            yield self.about_response(status=received.status)
