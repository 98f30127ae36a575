"""RR705: a robots.txt that redirects."""

from __future__ import annotations

from collections.abc import Iterator
from urllib.parse import urlsplit

from robotrules.http.origins import origin_of
from robotrules.linting.check import quote
from robotrules.linting.context import LintContext, ServedResponse
from robotrules.linting.note import LintNote
from robotrules.linting.responses import MOST_HOPS, ResponseCheck, is_success


class RobotsRedirected(ResponseCheck):
    """
    What it finds:
        A robots.txt that is reached through one to five redirects. It is a warning if they lead to
        another host.

    Why it matters:
        Crawlers follow at least five consecutive redirects, also to other hosts. The rules apply to
        the host that was requested first, not to the target. If the file is on a host of another
        operator, that operator controls the rules.

    Example:
            HTTP/1.1 200 OK
            URL: https://example.com/robots.txt
            Location: https://cdn.example.net/robots.txt
            Content-Type: text/plain

            User-agent: *
            Disallow: /private/

    Instead:
            HTTP/1.1 200 OK
            URL: https://example.com/robots.txt
            Content-Type: text/plain

            User-agent: *
            Disallow: /private/
    """

    code = "RR705"
    slug = "robots-redirected"
    level = "info"
    message = (
        "The robots.txt redirects to {url}{where}. Its rules apply to {here}, which was requested "
        "first."
    )
    reference = "RFC 9309 §2.3.1.2; REP-2.3.1.2-02, REP-2.3.1.2-04, AMB-56"

    def check_response(self, context: LintContext, received: ServedResponse) -> Iterator[LintNote]:
        """Yield a note for redirects that lead to the file."""
        hops = received.redirects
        if not hops or len(hops) > MOST_HOPS or not is_success(received):
            return
        origin = origin_of(received.url) if received.url else None
        here, there = _host(received.url), _host(hops[-1])
        away = here and there and here.removeprefix("www.") != there.removeprefix("www.")
        yield self.about_response(
            "warning" if away else None,
            url=quote(hops[-1]),
            where=", on another host" if away else "",
            here=origin or "the origin",
        )


def _host(url: str | None) -> str | None:
    origin = origin_of(url) if url else None
    return urlsplit(origin).hostname if origin else None
