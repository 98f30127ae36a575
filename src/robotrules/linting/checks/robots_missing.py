"""RR702: a robots.txt that does not exist."""

from __future__ import annotations

from collections.abc import Iterator

from robotrules.linting.context import LintContext, ServedResponse
from robotrules.linting.note import LintNote
from robotrules.linting.responses import ResponseCheck

# Statuses about the client or its request rate, not about the file (AMB-50 to AMB-52).
NOT_MISSING = (401, 403, 408, 421, 425, 429)


class RobotsMissing(ResponseCheck):
    """
    What it finds:
        A robots.txt for which the server answers 404, 410 or another status from 400 to 499. Other
        checks report statuses that crawlers treat differently, such as 401, 403 and 429.

    Why it matters:
        This is not an error: without rules, all crawlers may fetch everything. Crawlers do not read
        the body of such a response as rules.

    Example:
            HTTP/1.1 404 Not Found
            Content-Type: text/html

            <h1>Not found</h1>

    Instead:
        A file that says the same explicitly:

            HTTP/1.1 200 OK
            Content-Type: text/plain

            User-agent: *
            Allow: /
    """

    code = "RR702"
    slug = "robots-missing"
    level = "info"
    message = (
        "The robots.txt answers {status}, which means that there is none: all crawlers may fetch "
        "everything."
    )
    reference = "RFC 9309 §2.3.1.3; REP-2.3.1.3-01, REP-2.3.1.3-02, AMB-52"

    def check_response(self, context: LintContext, received: ServedResponse) -> Iterator[LintNote]:
        """Yield a note for a status that means that there is no file."""
        status = received.status
        if status is not None and 400 <= status < 500 and status not in NOT_MISSING:
            yield self.about_response(status=status)
