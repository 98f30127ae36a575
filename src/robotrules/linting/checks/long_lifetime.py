"""RR709: a robots.txt with a cache lifetime of more than a day."""

from __future__ import annotations

from collections.abc import Iterator

from robotrules.linting.context import LintContext, ServedResponse
from robotrules.linting.note import LintNote
from robotrules.linting.responses import ResponseCheck, format_duration, read_freshness

DAY = 86_400.0


class LongLifetime(ResponseCheck):
    """
    What it finds:
        A `Cache-Control` of the robots.txt with a `max-age` of more than 24 hours.

    Why it matters:
        By RFC 9309, crawlers SHOULD NOT use a copy for longer than 24 hours, whatever the header
        says. The longer time affects caches: after you change the file, a CDN or a proxy in front
        of the server may serve the old one for that long.

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
        "Cache-Control lets caches keep the robots.txt for {time}. Crawlers that follow RFC 9309 "
        "use a copy for at most 24 hours, but a CDN may serve the old file for longer: set max-age "
        "to 86400 or less."
    )
    reference = "RFC 9309 §2.4; REP-2.4-03, AMB-60"

    def check_response(self, context: LintContext, received: ServedResponse) -> Iterator[LintNote]:
        """Yield a note for a lifetime of more than a day."""
        freshness = read_freshness(received)
        if freshness is None:
            return
        lifetime = freshness.lifetime or 0
        if freshness.may_store and not freshness.must_validate and lifetime > DAY:
            yield self.about_response(time=format_duration(lifetime))
