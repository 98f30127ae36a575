"""
Sitemaps by their URLs: fetched through the client, which asks the robots.txt of their site first.

A sitemap is fetched as any page: at the rate limit of its origin, under the rules for the product
token of this program, and never from a private address. Numbers and sizes are limited.
"""

from __future__ import annotations

from robotrules.cli.client import library_errors
from robotrules.client.sync import Client
from robotrules.json_results.access import describe_failure
from robotrules.url_lists import MOST_SITEMAP_OCTETS, Unusable


class SitemapFetcher:
    """Fetches up to a number of sitemaps; calling it returns a body, or raises `Unusable`."""

    def __init__(self, client: Client, most: int) -> None:
        """*most* is the maximum number of sitemaps, including indexes."""
        self._client = client
        self._left = self._most = most

    def __call__(self, url: bytes) -> bytes:
        """Return the body of a URL."""
        if not self._left:
            raise Unusable(f"the limit is {self._most:,} sitemaps; raise it with --max-sitemaps")
        self._left -= 1
        with library_errors():
            page = self._client.fetch(
                url.decode("utf-8", "backslashreplace"), limit=MOST_SITEMAP_OCTETS
            )
        if not page.verdict:
            raise Unusable(f"robots.txt does not allow this program to fetch it ({page.verdict})")
        if page.failure_reason is not None:
            raise Unusable(
                f"it cannot be fetched: {describe_failure(page.failure_reason, page.detail)}"
            )
        if not page.ok:
            raise Unusable(f"it cannot be fetched: status {page.status}")
        if not page.complete:
            raise Unusable(f"it is longer than {MOST_SITEMAP_OCTETS:,} bytes, or was cut off")
        return page.body


__all__ = ["SitemapFetcher"]
