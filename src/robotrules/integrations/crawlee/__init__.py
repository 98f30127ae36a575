"""
crawlee: robots.txt files by RFC 9309, in the place of crawlee's `RobotsTxtFile`.

    async with install("ExampleBot/1.0 (+https://example.com/bot)"):
        crawler = HttpCrawler(respect_robots_txt_file=True)
        await crawler.run([...])

`installation` replaces the methods with which crawlee finds a file, and `robots_file` is the file.
See docs/integrations/crawlee.md.
"""

from __future__ import annotations

from robotrules.errors import MissingExtraError

try:
    import crawlee as _crawlee  # noqa: F401
except ImportError:
    raise MissingExtraError("crawlee is not installed: pip install 'robotrules[crawlee]'") from None

from robotrules.integrations.crawlee.installation import Installation, install
from robotrules.integrations.crawlee.robots_file import RobotsTxtFile

__all__ = ["Installation", "RobotsTxtFile", "install"]
