"""
crawlee: robots.txt files by RFC 9309, in the place of crawlee's `RobotsTxtFile`.

    async with install("ExampleBot/1.0 (+https://example.com/bot)") as robots:
        crawler = HttpCrawler(respect_robots_txt_file=True, http_client=robots.http_client)
        await crawler.run([...])

`installation` replaces the methods with which crawlee finds a file, `robots_file` is the file, and
`request_hooks` is what the HTTP client does with each request.
See docs/integrations/crawlee.md.
"""

from __future__ import annotations

from robotrules.errors import MissingExtraError

try:
    from crawlee.http_clients import HttpxHttpClient as _HttpxHttpClient  # noqa: F401
except ImportError:
    raise MissingExtraError(
        "crawlee with its extra httpx is not installed: pip install 'robotrules[crawlee]'"
    ) from None

from robotrules.integrations.crawlee.installation import Installation, install
from robotrules.integrations.crawlee.request_hooks import CrawleeDisallowedError
from robotrules.integrations.crawlee.robots_file import RobotsTxtFile

__all__ = ["CrawleeDisallowedError", "Installation", "RobotsTxtFile", "install"]
