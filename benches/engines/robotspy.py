"""
robotspy, pure Python; installs the module `robots`.

It builds and runs a regular expression for each wildcard rule at each check, and its time grows
with the square of the number of groups that name one product token.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from engines.protocol import Engine


class Robotspy(Engine):
    """PyPI robotspy."""

    name = "robotspy"
    package = "robotspy"
    module = "robots"

    def bind(self, library: Any) -> str:
        self._parse = library.RobotsParser.from_string
        return ""

    def parse(self, body: Any, token: str) -> Any:
        return self._parse(body)

    def check(self, parsed: Any, url: str, token: str) -> Any:
        return parsed.can_fetch(token, url)

    def check_each(self, parsed: Any, urls: Sequence[str], token: str) -> None:
        can_fetch = parsed.can_fetch
        for url in urls:
            can_fetch(token, url)
