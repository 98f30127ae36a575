"""
Response rules: what a response says about its use, in `response.meta["robotrules"]`.

`ResponseRules` reads header fields and HTML when they are asked for, and once: a crawl that does
not ask pays nothing. It keeps no page alive, because spiders pass `response.meta` on to other
requests. Following links is up to the spider.
"""

from __future__ import annotations

import logging
from typing import Any
from weakref import ref

from scrapy.http import HtmlResponse, Response

from robotrules.guide import Guidance, guidance
from robotrules.robotstxt import RobotsTxt, Tokens
from robotrules.robotstxt.verdict import Verdict

logger = logging.getLogger(__name__)

META_KEY = "robotrules"
# Scheme of responses that have rules.
HTTP_SCHEMES = ("http:", "https:")
# Flags of responses whose body was not received to its end.
_CUT = frozenset(("dataloss", "download_stopped", "partial"))


class ResponseRules:
    """The verdict on a page, and its guidance, which is read on first use."""

    def __init__(
        self,
        url: str,
        product_token: Tokens,
        verdict: Verdict | None = None,
        robots: RobotsTxt | None = None,
        response: Response | None = None,
    ) -> None:
        self.url = url
        self.product_token = product_token
        self.verdict = verdict
        """Why the page was requested; None: it was exempt, by `dont_obey_robotstxt`."""
        self._robots = robots
        self._response = None if response is None else ref(response)
        self._guidance: Guidance | None = None

    @property
    def guidance(self) -> Guidance:
        """
        The guidance of robots.txt, header fields and HTML.

        If the response is gone or was replaced before the first use, its tags are unknown, and
        `guidance.may_index` is None.
        """
        return self.read(None if self._response is None else self._response())

    @property
    def may_index(self) -> bool | None:
        """Whether nothing forbids indexing the page; None: unknown, as in `Guidance`."""
        return self.guidance.may_index

    def read(self, response: Response | None) -> Guidance:
        """Return the guidance; it is read from *response* if it was not read before."""
        if self._guidance is None:
            self._guidance = guidance(
                self.url,
                self.product_token,
                robots=self._robots,
                headers=None if response is None else response.headers,
                html=None if response is None else _html_of(response),
                complete=response is None or not _CUT.intersection(response.flags),
            )._replace(verdict=self.verdict)
        return self._guidance

    def __reduce__(self) -> tuple[type[ResponseRules], tuple[Any, ...]]:
        """Pickle it without file and page: a queue on disk has the meta of requests."""
        return ResponseRules, (self.url, self.product_token, self.verdict)

    def __repr__(self) -> str:
        return f"ResponseRules({self.url!r}, {self.product_token!r}, {str(self.verdict)!r})"


def _html_of(response: Response) -> bytes | None:
    """Return the HTML of a response; None if it is not HTML, or still compressed."""
    is_html = isinstance(response, HtmlResponse) and b"Content-Encoding" not in response.headers
    return response.body if is_html else None
