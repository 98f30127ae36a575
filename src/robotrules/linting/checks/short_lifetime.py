"""RR710: a robots.txt that asks not to be kept."""

from __future__ import annotations

from collections.abc import Iterator

from robotrules.linting.context import LintContext, Received
from robotrules.linting.note import LintNote
from robotrules.linting.responses import ResponseCheck, format_duration, read_freshness

SHORT = 300.0


class ShortLifetime(ResponseCheck):
    """
    What it finds:
        A `Cache-Control` of the robots.txt with `no-store`, `no-cache`, or a `max-age` of less than
        five minutes.

    Why it matters:
        Crawlers may go by the header, and most keep the file for some time all the same: to ask for
        it before each page would double their requests. A change may therefore take up to a day to
        be seen, whatever the header says. With a few minutes a crawler that keeps to it asks often.

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
    message = "The robots.txt asks {what}; most crawlers keep it for longer, up to 24 hours."
    reference = "RFC 9309 §2.4; AMB-60"

    def check_response(self, context: LintContext, received: Received) -> Iterator[LintNote]:
        """Yield a note for a lifetime of next to nothing."""
        said = read_freshness(received)
        if said is None:
            return
        if not said.may_store or said.must_validate:
            yield self.about_response(what="not to be kept, or not without asking again")
        elif said.because == "max-age" and said.lifetime is not None and said.lifetime < SHORT:
            yield self.about_response(what=f"to be kept for {format_duration(said.lifetime)} only")
