"""RR710: a robots.txt with a very short cache lifetime."""

from __future__ import annotations

from collections.abc import Iterator

from robotrules.linting.context import LintContext, ServedResponse
from robotrules.linting.note import LintNote
from robotrules.linting.responses import ResponseCheck, format_duration, read_freshness

SHORT = 300.0


class ShortLifetime(ResponseCheck):
    """
    What it finds:
        A robots.txt with `Cache-Control: no-store`, `no-cache`, or a `max-age` of less than five
        minutes.

    Why it matters:
        Most crawlers cache the file for some time anyway: fetching it before each page would double
        their requests. So a change may take up to a day to be seen, whatever the header says. A
        crawler that obeys a lifetime of a few minutes fetches the file often.

    Example:
            HTTP/1.1 200 OK
            Content-Type: text/plain
            Cache-Control: no-store

            User-agent: *
            Disallow: /private/

    Instead:
            HTTP/1.1 200 OK
            Content-Type: text/plain
            Cache-Control: max-age=3600

            User-agent: *
            Disallow: /private/
    """

    code = "RR710"
    slug = "short-lifetime"
    level = "info"
    message = (
        "The Cache-Control header asks crawlers {what}, but most cache it for longer, up to 24 "
        "hours. Set a longer max-age."
    )
    reference = "RFC 9309 §2.4; AMB-60"

    def check_response(self, context: LintContext, received: ServedResponse) -> Iterator[LintNote]:
        """Yield a note for a lifetime below `SHORT`."""
        requested = read_freshness(received)
        if requested is None:
            return
        lifetime = requested.lifetime
        if not requested.may_store or requested.must_validate:
            yield self.about_response(
                what="not to cache the robots.txt, or to revalidate it each time"
            )
        elif requested.reason == "max-age" and lifetime is not None and lifetime < SHORT:
            duration = format_duration(lifetime)
            yield self.about_response(what=f"to cache the robots.txt for only {duration}")
