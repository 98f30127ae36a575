"""RR707: a robots.txt that is not sent as text/plain."""

from __future__ import annotations

from collections.abc import Iterator

from robotrules.linting.check import quote
from robotrules.linting.context import LintContext, ServedResponse
from robotrules.linting.note import LintNote
from robotrules.linting.responses import ResponseCheck, is_success


class WrongMediaType(ResponseCheck):
    """
    What it finds:
        A robots.txt whose `Content-Type` is not `text/plain`, or is missing.

    Why it matters:
        RFC 9309 says that the media type MUST be text/plain. Most crawlers, such as Google's, parse
        any media type; crawler-commons finds no rules in a file that is declared as HTML and has no
        user-agent line. Often the response *is* a page: a server that answers every URL with its
        home page sends 200 and text/html.

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
    message = (
        "The robots.txt is sent {how}, but RFC 9309 requires 'text/plain'. Change the Content-Type "
        "header."
    )
    reference = "RFC 9309 §2.3; REP-2.3-04, AMB-19"

    def check_response(self, context: LintContext, received: ServedResponse) -> Iterator[LintNote]:
        """Yield a note for another media type."""
        given = received.media_type
        if given is not None and given.lower() != "text/plain" and is_success(received):
            yield self.about_response(how=f"as {quote(given)}" if given else "without a media type")
