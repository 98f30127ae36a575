"""
Protego, the parser Scrapy uses; every ratio in the tables is to its time in the same round.

It takes text, so decoding is not part of its time. It caches the rules of a product token and
builds a prefix index at the first check, so later checks are its best case.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from engines.protocol import Engine


class Protego(Engine):
    """PyPI protego, pure Python."""

    name = "Protego"
    package = "protego"
    module = "protego"

    def bind(self, library: Any) -> str:
        self._parse = library.Protego.parse
        return ""

    def parse(self, body: Any, token: str) -> Any:
        return self._parse(body)

    def check(self, parsed: Any, url: str, token: str) -> Any:
        return parsed.can_fetch(url, token)

    def parse_and_check(self, body: Any, url: str, token: str) -> Any:
        return self._parse(body).can_fetch(url, token)

    def check_each(self, parsed: Any, urls: Sequence[str], token: str) -> None:
        can_fetch = parsed.can_fetch
        for url in urls:
            can_fetch(url, token)
