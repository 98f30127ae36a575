"""
Warnings of a crawl: what its user should know at once, and once for each origin or header.

A crawl has millions of requests, so each of them is logged at level DEBUG only.
"""

from __future__ import annotations

import logging

from scrapy import Request
from scrapy.settings import default_settings

from robotrules.client.aio import AsyncClient

# So many origins and headers are remembered; after them, a warning may be repeated.
MOST_REMEMBERED = 10_000

logger = logging.getLogger(__name__)


class CrawlWarnings:
    """Logs each warning once for its subject."""

    def __init__(self) -> None:
        self._subjects: set[str] = set()

    def warn_of_unreachable(self, origin: str, detail: str) -> None:
        """Say why nothing is requested from an origin."""
        message = "Requests to %s are ignored: its robots.txt is unreachable: %s"
        self._warn(f"file of {origin}", message, origin, detail)

    def warn_of_delay(self, host: str, why: str) -> None:
        """Say that a host asks for a longer delay than is permitted."""
        self._warn(f"delay of {host}", "Requests to %s are ignored: %s", host, why)

    def warn_of_header(self, header: bytes, request: Request, name: str) -> None:
        """Say that a User-Agent of a request names no crawler."""
        message = (
            "No product token in User-Agent %r of %s: the rules for all crawlers and those for %s "
            "apply. Send the crawler's name, or set ROBOTSTXT_USER_AGENT"
        )
        self._warn("a header", message, header, request, name)

    def _warn(self, subject: str, message: str, *values: object) -> None:
        if subject in self._subjects:
            return
        if len(self._subjects) >= MOST_REMEMBERED:
            self._subjects.clear()
        self._subjects.add(subject)
        logger.warning(message, *values)


def warn_of_user_agent(client: AsyncClient, sent: str) -> None:
    """Log what is wrong with the User-Agent that a crawl sends."""
    if sent == default_settings.USER_AGENT:
        logger.warning(
            "USER_AGENT is Scrapy's default, so the rules for %s apply: set it to your crawler's "
            "name, such as 'ExampleBot/1.0 (+https://example.com/bot)'",
            client.product_token,
        )
    for note in client.notes:
        logger.warning("USER_AGENT %r: %s", client.user_agent, note.message)
