"""RR704: a robots.txt that is unreachable."""

from __future__ import annotations

from collections.abc import Iterator

from robotrules.linting.context import LintContext, ServedResponse
from robotrules.linting.note import LintNote
from robotrules.linting.responses import ResponseCheck


class RobotsUnreachable(ResponseCheck):
    """
    What it finds:
        A robots.txt for which the server answers with a status from 500 to 599, or with 429.

    Why it matters:
        After a server error the rules are unknown, so RFC 9309 requires crawlers to assume that
        everything is blocked, until the file is available again. Google stops for 12 hours and then
        uses its last copy for up to 30 days. Google and this project treat 429 in the same way; by
        the letter of the RFC it means that there are no rules.

    Example:
            HTTP/1.1 503 Service Unavailable
            Content-Type: text/html

            <h1>Down for maintenance</h1>

    Instead:
        Serve this small text file even while the rest of the site is down.

            HTTP/1.1 200 OK
            Content-Type: text/plain

            User-agent: *
            Disallow: /private/
    """

    code = "RR704"
    slug = "robots-unreachable"
    level = "error"
    message = (
        "The robots.txt answers {status}, so crawlers treat the whole site as blocked{remark}. "
        "Answer 200 with the file."
    )
    reference = "RFC 9309 §2.3.1.4; REP-2.3.1.4-01, REP-2.3.1.4-02, AMB-50, AMB-58"

    def check_response(self, context: LintContext, received: ServedResponse) -> Iterator[LintNote]:
        """Yield a note for a server error or status 429."""
        status = received.status
        if status is not None and (status >= 500 or status == 429):
            remark = " (RFC 9309 also lets them allow everything)" if status == 429 else ""
            yield self.about_response(status=status, remark=remark)
