"""RR704: a robots.txt that cannot be reached."""

from __future__ import annotations

from collections.abc import Iterator

from robotrules.linting.context import LintContext, Received
from robotrules.linting.note import LintNote
from robotrules.linting.responses import ResponseCheck


class RobotsUnreachable(ResponseCheck):
    """
    What it finds:
        A robots.txt for which the server answers with a status from 500 to 599, or with 429.

    Why it matters:
        A server error says nothing about the rules, so RFC 9309 has crawlers assume the strictest
        ones: nothing is read, on the whole site, until the file answers again. Google stops for 12
        hours and then uses the last copy it has for up to 30 days. 429 is read the same way by
        Google and by this project, and as "no rules" by the letter of the RFC.

    Example:
            HTTP/1.1 503 Service Unavailable
            Content-Type: text/html

            <h1>Down for maintenance</h1>

    Instead:
        Serve the file also while the rest is down; it is a small text file.

            HTTP/1.1 200 OK
            Content-Type: text/plain

            User-agent: *
            Disallow: /private/
    """

    code = "RR704"
    slug = "robots-unreachable"
    level = "error"
    message = (
        "The robots.txt answers {status}: crawlers then assume that everything is "
        "disallowed{remark}."
    )
    reference = "RFC 9309 §2.3.1.4; REP-2.3.1.4-01, REP-2.3.1.4-02, AMB-50, AMB-58"

    def check_response(self, context: LintContext, received: Received) -> Iterator[LintNote]:
        """Yield a note for an answer that says nothing about the file."""
        status = received.status
        if status is not None and (status >= 500 or status == 429):
            remark = ", though RFC 9309 lets them take it for no rules" if status == 429 else ""
            yield self.about_response(status=status, remark=remark)
