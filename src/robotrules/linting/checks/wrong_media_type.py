"""RR707: a robots.txt that is not sent as text/plain."""

from __future__ import annotations

from collections.abc import Iterator

from robotrules.linting.check import quote
from robotrules.linting.context import LintContext, Received
from robotrules.linting.note import LintNote
from robotrules.linting.responses import ResponseCheck, is_success


class WrongMediaType(ResponseCheck):
    """
    What it finds:
        A robots.txt whose `Content-Type` is another than `text/plain`, or that comes without one.

    Why it matters:
        RFC 9309 says that the media type MUST be text/plain. Most crawlers parse whatever comes,
        Google among them; crawler-commons reads no rules in what is called HTML and has no
        user-agent line. Mostly it *is* a page: a server that answers every address with its start
        page says 200 and text/html.

    Example:
            HTTP/1.1 200 OK
            Content-Type: text/html; charset=utf-8

            User-agent: *
            Disallow: /private/

    Instead:
            HTTP/1.1 200 OK
            Content-Type: text/plain; charset=utf-8

            User-agent: *
            Disallow: /private/
    """

    code = "RR707"
    slug = "wrong-media-type"
    level = "error"
    message = "The robots.txt is sent {how}; its media type is text/plain."
    reference = "RFC 9309 §2.3; REP-2.3-04, AMB-19"

    def check_response(self, context: LintContext, received: Received) -> Iterator[LintNote]:
        """Yield a note for another media type."""
        given = received.media_type
        if given is not None and given.lower() != "text/plain" and is_success(received):
            yield self.about_response(how=f"as {quote(given)}" if given else "without a media type")
