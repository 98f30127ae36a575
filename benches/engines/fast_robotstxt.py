"""
fast-robotstxt: a C++20 fork of google/robotstxt behind ctypes; installs the module `robotstxt`.

The matcher has no parsed form: every check encodes and parses the whole body again.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from engines.protocol import Engine


class FastRobotstxt(Engine):
    """PyPI fast-robotstxt."""

    name = "fast-robotstxt"
    package = "fast-robotstxt"
    module = "robotstxt"
    reparses = True

    def bind(self, library: Any) -> str:
        # PyPI `robotstxt` is another package under the same import name.
        if not hasattr(library, "RobotsMatcher"):
            return "the module robotstxt is another package"
        self._matcher = library.RobotsMatcher()
        return ""

    def parse(self, body: Any, token: str) -> Any:
        return body

    def check(self, parsed: Any, url: str, token: str) -> Any:
        return self._matcher.is_allowed(parsed, token, url)

    def check_each(self, parsed: Any, urls: Sequence[str], token: str) -> None:
        is_allowed = self._matcher.is_allowed
        for url in urls:
            is_allowed(parsed, token, url)
