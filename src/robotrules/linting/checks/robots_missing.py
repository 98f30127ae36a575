"""RR702: a robots.txt that is not there."""

from __future__ import annotations

from collections.abc import Iterator

from robotrules.linting.context import LintContext, Received
from robotrules.linting.note import LintNote
from robotrules.linting.responses import ResponseCheck

# Answers that are about who asks, or how often, and not about the file (AMB-50 to AMB-52).
OTHERS = (401, 403, 408, 421, 425, 429)


class RobotsMissing(ResponseCheck):
    """
    What it finds:
        A robots.txt for which the server answers 404, 410 or another status from 400 to 499. Those
        that mean something else to crawlers, such as 401, 403 and 429, have checks of their own.

    Why it matters:
        Nothing is wrong with that: without rules every crawler may read everything. Whatever stands
        in the body of such an answer is not read as rules.

    Example:
            HTTP/1.1 404 Not Found
            Content-Type: text/html

            <h1>Not found</h1>

    Instead:
        A file that says the same, so that nobody has to wonder:

            HTTP/1.1 200 OK
            Content-Type: text/plain

            User-agent: *
            Allow: /
    """

    code = "RR702"
    slug = "robots-missing"
    level = "info"
    message = (
        "The robots.txt answers {status}: there is none, so everything is allowed to everybody."
    )
    reference = "RFC 9309 §2.3.1.3; REP-2.3.1.3-01, REP-2.3.1.3-02, AMB-52"

    def check_response(self, context: LintContext, received: Received) -> Iterator[LintNote]:
        """Yield a note for an answer that says that there is no file."""
        status = received.status
        if status is not None and 400 <= status < 500 and status not in OTHERS:
            yield self.about_response(status=status)
