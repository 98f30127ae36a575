"""RR703: a robots.txt that is not served to all clients."""

from __future__ import annotations

from collections.abc import Iterator

from robotrules.linting.context import LintContext, ServedResponse
from robotrules.linting.note import LintNote
from robotrules.linting.responses import ResponseCheck


class RobotsRestricted(ResponseCheck):
    """
    What it finds:
        A robots.txt for which the server answers 401 or 403.

    Why it matters:
        In RFC 9309 any status from 400 to 499 means that there are no rules: Google and
        crawler-commons then fetch everything. Python's urllib.robotparser, and documents older than
        the RFC, treat 401 and 403 as a request to fetch nothing. Often a firewall sends this
        response to all clients that it takes for programs, without the owner's knowledge.

    Example:
            HTTP/1.1 403 Forbidden
            Content-Type: text/html

            <h1>Forbidden</h1>

    Instead:
        Serve the file to all clients, even if other pages require a login:

            HTTP/1.1 200 OK
            Content-Type: text/plain

            User-agent: *
            Disallow: /private/
    """

    code = "RR703"
    slug = "robots-restricted"
    level = "warning"
    message = (
        "The robots.txt answers {status}. Crawlers that follow RFC 9309 then fetch everything; "
        "Python's urllib.robotparser fetches nothing. Serve the file to all clients."
    )
    reference = "RFC 9309 §2.3.1.3; AMB-51"

    def check_response(self, context: LintContext, received: ServedResponse) -> Iterator[LintNote]:
        """Yield a note for status 401 or 403."""
        if received.status in (401, 403):
            yield self.about_response(status=received.status)
