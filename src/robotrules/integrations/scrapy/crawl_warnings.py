"""
Warnings of a crawl: what its user should know at once, and once for each origin or header.

A crawl has millions of requests, so each of them is logged at level DEBUG only.
"""

from __future__ import annotations

import logging

from scrapy.settings import default_settings

from robotrules.client.aio import AsyncClient

# So many origins and headers are remembered; after them, a warning may be repeated.
MOST_REMEMBERED = 10_000

logger = logging.getLogger(__name__)


class CrawlWarnings:
    """Logs each warning once for its subject."""

    def __init__(self) -> None:
        self._subjects: set[str] = set()

    def warn(self, subject: str, message: str, *values: object) -> None:
        """Log a warning about an origin or a header, unless it was logged before."""
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
