"""RR703: a robots.txt that is not served to everybody."""

from __future__ import annotations

from collections.abc import Iterator

from robotrules.linting.context import LintContext, Received
from robotrules.linting.note import LintNote
from robotrules.linting.responses import ResponseCheck


class RobotsRestricted(ResponseCheck):
    """
    What it finds:
        A robots.txt for which the server answers 401 or 403.

    Why it matters:
        By RFC 9309 any answer from 400 to 499 means that there are no rules: Google and
        crawler-commons then read everything. The parser of Python, and texts older than the RFC,
        take 401 and 403 for a request to stay away altogether. Often a firewall answers so to all
        it takes for a program, and nobody at the site knows.

    Example:
            HTTP/1.1 403 Forbidden
            Content-Type: text/html

            <h1>Forbidden</h1>

    Instead:
        Serve the file to everybody, whoever may read the rest:

            HTTP/1.1 200 OK
            Content-Type: text/plain

            User-agent: *
            Disallow: /private/
    """

    code = "RR703"
    slug = "robots-restricted"
    level = "warning"
    message = (
        "The robots.txt answers {status}. RFC 9309 takes that for no rules, so that everything is "
        "allowed; some crawlers take it for the opposite."
    )
    reference = "RFC 9309 §2.3.1.3; AMB-51"

    def check_response(self, context: LintContext, received: Received) -> Iterator[LintNote]:
        """Yield a note for an answer that asks who is there."""
        if received.status in (401, 403):
            yield self.about_response(status=received.status)
