"""
jwm.robotstxt: google/robotstxt (C++) bound to Python with pybind11.

The matcher has no parsed form: every check parses the whole body again, and calls back through
Python's method tables for each record. It takes octets.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from engines.protocol import Engine


class JwmRobotstxt(Engine):
    """PyPI jwm.robotstxt."""

    name = "jwm.robotstxt"
    package = "jwm.robotstxt"
    module = "jwm.robotstxt.googlebot"
    reads = "bytes"
    reparses = True

    def bind(self, library: Any) -> str:
        self._matcher = library.RobotsMatcher
        return ""

    def parse(self, body: Any, token: str) -> Any:
        return body

    def check(self, parsed: Any, url: str, token: str) -> Any:
        return self._matcher().OneAgentAllowedByRobots(parsed, token, url)

    def check_each(self, parsed: Any, urls: Sequence[str], token: str) -> None:
        is_allowed = self._matcher().OneAgentAllowedByRobots
        for url in urls:
            is_allowed(parsed, token, url)
