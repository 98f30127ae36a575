"""
Parser: `RobotParser` for Scrapy's setting ROBOTSTXT_PARSER.

Scrapy passes the whole User-Agent header; the rules are for the product token in it (RFC 9309
§2.2.1). Scrapy's own middleware still decides which response is parsed: the body of a 503 is parsed
like any other, and the file of `http://` is used for `https://`. `RobotsTxtMiddleware` is not
limited in this way.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

from scrapy.robotstxt import RobotParser as ScrapyRobotParser

from robotrules.extensions.crawl_delay import crawl_delay
from robotrules.robotstxt import parse
from robotrules.robotstxt.tokens import can_be_name, product_token

if TYPE_CHECKING:
    from scrapy.crawler import Crawler

# The rules for all crawlers that no group names.
ANY_CRAWLER = "*"


@lru_cache(maxsize=1024)
def token_in_header(user_agent: str | bytes) -> str:
    """Return the product token in a User-Agent header; `*` if it has none, as in a browser's."""
    if isinstance(user_agent, bytes):
        # Scrapy encodes fields in UTF-8.
        user_agent = user_agent.decode("utf-8", "replace")
    # ROBOTSTXT_USER_AGENT may be a name with letters of any script, which is compared as a whole.
    if not user_agent.isascii() and can_be_name(user_agent):
        return user_agent
    return product_token(user_agent) or ANY_CRAWLER


class RobotParser(ScrapyRobotParser):
    """The rules of one robots.txt, for Scrapy's middleware."""

    def __init__(self, robotstxt_body: bytes) -> None:
        self.robots = parse(robotstxt_body)

    @classmethod
    def from_crawler(cls, crawler: Crawler, robotstxt_body: bytes) -> RobotParser:
        """Parse the octets of a robots.txt; any octets are one."""
        return cls(robotstxt_body)

    def allowed(self, url: str | bytes, user_agent: str | bytes) -> bool:
        """Return whether the rules allow *url* to the crawler that *user_agent* names."""
        return self.robots.check(url, token_in_header(user_agent)).allowed

    def crawl_delay(self, user_agent: str | bytes) -> float | None:
        """Return the seconds of Crawl-delay for that crawler; None: there is no such record."""
        delay = crawl_delay(self.robots, token_in_header(user_agent))
        return None if delay is None else delay.seconds
