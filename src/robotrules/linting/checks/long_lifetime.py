"""RR709: a robots.txt that asks to be kept for more than a day."""

from __future__ import annotations

from collections.abc import Iterator

from robotrules.linting.context import LintContext, Received
from robotrules.linting.note import LintNote
from robotrules.linting.responses import ResponseCheck, format_duration, read_freshness

DAY = 86_400.0


class LongLifetime(ResponseCheck):
    """
    What it finds:
        A `Cache-Control` of the robots.txt with a `max-age` of more than 24 hours.

    Why it matters:
        RFC 9309 says that crawlers SHOULD NOT use a copy for longer than 24 hours, whatever the
        header asks. The longer time is for others: a CDN or a proxy in front of the server may hand
        out the old file for as long as it says, after you changed it.

    Example:
            HTTP/1.1 200 OK
            Content-Type: text/plain
            Cache-Control: max-age=2592000

            User-agent: *
            Disallow: /private/

    Instead:
            HTTP/1.1 200 OK
            Content-Type: text/plain
            Cache-Control: max-age=3600

            User-agent: *
            Disallow: /private/
    """

    code = "RR709"
    slug = "long-lifetime"
    level = "info"
    message = (
        "The robots.txt asks to be kept for {time}; crawlers use a copy for no longer than 24 "
        "hours."
    )
    reference = "RFC 9309 §2.4; REP-2.4-03, AMB-60"

    def check_response(self, context: LintContext, received: Received) -> Iterator[LintNote]:
        """Yield a note for a lifetime of more than a day."""
        said = read_freshness(received)
        if said is None:
            return
        if said.may_store and not said.must_validate and (said.lifetime or 0) > DAY:
            yield self.about_response(time=format_duration(said.lifetime or 0))
